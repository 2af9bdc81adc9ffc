//! Plugins that observe the JVM itself.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use jvm_event_table::{EventDetails, Id};
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::filter::Filter;
use crate::observing::classhook::plugin::{jvm_events, jvm_requests};
use crate::reporter::Report;
use crate::source::{EventNames, RequestSink, SubscriptionSink};
use crate::wit::MethodInfo;

/// A plugin that observes the JVM. Its only instance runs on a thread of the agent, and may keep
/// state.
///
/// A call may take 250 ms of CPU time. After a call the plugin pauses for four times its duration.
/// Events that do not fit into the queue meanwhile are counted ([`Batch::lost`]). Three failed
/// calls in a row switch the plugin off.
///
/// ```
/// use classhook_sdk::prelude::*;
/// use classhook_sdk::{Batch, EventDetails, Filter, JvmEvent, Observer, Subscriptions};
///
/// const THROWN: Table = Table { name: "thrown", columns: &[("exceptions", ColumnKind::Integer)] };
///
/// struct Thrown(u64);
///
/// impl Observer for Thrown {
///     type Config = NoSettings;
///
///     fn new(_: NoSettings) -> Result<Self> {
///         Ok(Self(0))
///     }
///
///     fn subscribe(&self, to: &mut Subscriptions<'_>) -> Result {
///         to.exceptions(&Filter::default().class("com.acme.**"))
///     }
///
///     fn observe(&mut self, batch: &Batch<'_>) -> Result {
///         let thrown = |event: &JvmEvent<'_>| matches!(event.details(), EventDetails::Exception { .. });
///         self.0 += batch.events().filter(thrown).count() as u64;
///         Ok(())
///     }
///
///     fn report(&mut self, report: &mut Report<'_>) -> Result {
///         report.add(&THROWN, [[self.0.to_string()]])
///     }
/// }
///
/// classhook_sdk::export!(observer: Thrown);
/// # fn main() {}
/// ```
pub trait Observer: Sized + 'static {
    /// The settings in `[plugin.config]`.
    type Config: DeserializeOwned;

    /// Creates an instance.
    ///
    /// # Errors
    /// If the settings are invalid; the user sees the text.
    fn new(config: Self::Config) -> Result<Self>;

    /// Makes the subscriptions, the same each time.
    ///
    /// # Errors
    /// If a subscription is rejected; the user sees the text.
    fn subscribe(&self, to: &mut Subscriptions<'_>) -> Result;

    /// Receives events. If the call fails, the events are lost.
    ///
    /// # Errors
    /// A text of the plugin.
    fn observe(&mut self, batch: &Batch<'_>) -> Result;

    /// Reports the plugin's tables; called every few seconds, and at the end.
    ///
    /// # Errors
    /// A text of the plugin.
    fn report(&mut self, report: &mut Report<'_>) -> Result;
}

/// The available subscriptions. Each one that a plugin calls needs a grant: `jvm-events.samples` for
/// [`Subscriptions::samples`], and so on.
pub struct Subscriptions<'a>(Option<&'a dyn SubscriptionSink>);

macro_rules! subscriptions {
    (
        kinds { $(
            #[$doc:meta]
            $kind:ident $function:ident {
                text: $text:literal,
                details: $details:literal,
                events: $events:tt, optional: $optional:tt,
                capabilities: $capabilities:tt,
                filter: $filter:tt,
                types: $types:tt
            }
        )+ }
        recordings $recordings:tt
        answers $answers:tt
    ) => {
        impl Subscriptions<'_> {
            $(
                #[doc = concat!("Subscribes to ", $text, ". ", $details)]
                ///
                /// # Errors
                /// If the filter is invalid, or the plugin has already subscribed to this kind.
                pub fn $function(&mut self, filter: &Filter) -> Result {
                    Ok(match self.0 {
                        None => jvm_events::$function(&wit(filter)),
                        Some(native) => native.subscribe(stringify!($function), filter),
                    }?)
                }
            )+
        }
    };
}

jvm_event_table::jvm_event_table!(subscriptions);

/// Converts to the type of the interface.
fn wit(filter: &Filter) -> jvm_events::Filter {
    jvm_events::Filter {
        classes: filter.classes.clone(),
        threads: filter.threads.clone(),
        at_least: filter.at_least,
        every: filter.every,
        frames: filter.frames,
    }
}

impl<'a> Subscriptions<'a> {
    /// Uses the subscriptions of the host.
    #[must_use]
    pub fn host() -> Self {
        Self(None)
    }

    /// Uses the subscriptions of a test.
    #[must_use]
    pub fn native(sink: &'a dyn SubscriptionSink) -> Self {
        Self(Some(sink))
    }
}

/// The available requests to the JVM. The answer is a series of events in the next batch, which
/// ends with [`EventDetails::Answered`]. Each request that a plugin calls needs a grant: `jvm-requests.threads` for
/// [`Requests::threads`], and so on.
///
/// A request is rejected until the previous one of the same kind was answered. The plugin pauses
/// for 49 times the JVM's time for the answer. Without events, it is called once a second.
pub struct Requests<'a>(Option<&'a dyn RequestSink>);

impl Requests<'_> {
    /// Requests all threads at one moment as events [`EventDetails::Thread`], with their innermost `frames`
    /// frames.
    ///
    /// # Errors
    /// If the previous request is unanswered, or `frames` is too large.
    pub fn threads(&self, frames: u32) -> Result {
        Ok(match self.0 {
            None => jvm_requests::threads(frames),
            Some(native) => native.ask("threads", &[u64::from(frames)]),
        }?)
    }

    /// Requests the CPU times of all threads as events [`EventDetails::CpuTime`].
    ///
    /// # Errors
    /// If the previous request is unanswered.
    pub fn cpu_times(&self) -> Result {
        Ok(match self.0 {
            None => jvm_requests::cpu_times(),
            Some(native) => native.ask("cpu-times", &[]),
        }?)
    }

    /// Requests the number and size of objects as events [`EventDetails::Objects`], for the classes with
    /// the most bytes. With `live`, the JVM first collects the garbage. The program is stopped
    /// meanwhile.
    ///
    /// # Errors
    /// If the previous request is unanswered, or `most` is too large.
    pub fn histogram(&self, live: bool, most: u32) -> Result {
        Ok(match self.0 {
            None => jvm_requests::histogram(live, most),
            Some(native) => native.ask("histogram", &[u64::from(live), u64::from(most)]),
        }?)
    }

    /// Requests the system properties as events [`EventDetails::Property`].
    ///
    /// # Errors
    /// If the previous request is unanswered.
    pub fn properties(&self) -> Result {
        Ok(match self.0 {
            None => jvm_requests::properties(),
            Some(native) => native.ask("properties", &[]),
        }?)
    }

    /// Requests the threads with this name as events [`EventDetails::Thread`], with their innermost
    /// `frames` frames.
    ///
    /// # Errors
    /// If the previous request is unanswered, or `frames` is too large.
    pub fn stack(&self, thread: &str, frames: u32) -> Result {
        Ok(match self.0 {
            None => jvm_requests::stack(thread, frames),
            Some(native) => native.ask("stack", &[u64::from(frames)]),
        }?)
    }

    /// Requests the owners and waiters of monitors as events [`EventDetails::Owns`], [`EventDetails::WaitsToEnter`]
    /// and [`EventDetails::WaitsFor`]; only in JVMs that were started with the agent.
    ///
    /// # Errors
    /// If the previous request is unanswered.
    pub fn monitors(&self) -> Result {
        Ok(match self.0 {
            None => jvm_requests::monitors(),
            Some(native) => native.ask("monitors", &[]),
        }?)
    }

    /// Requests the owners and waiters of the monitors of a class's instances, of at most 1,000, as
    /// events [`EventDetails::Owns`], [`EventDetails::WaitsToEnter`] and [`EventDetails::WaitsFor`]. The class is named as
    /// in Java. The program is stopped for each instance.
    ///
    /// # Errors
    /// If the previous request is unanswered.
    pub fn monitor_usage(&self, class: &str) -> Result {
        Ok(match self.0 {
            None => jvm_requests::monitor_usage(class),
            Some(native) => native.ask("monitor-usage", &[]),
        }?)
    }

    /// Requests the reference paths to a class's instances as events [`EventDetails::Held`]. The class is
    /// named as in Java. The program is stopped meanwhile.
    ///
    /// # Errors
    /// If the previous request is unanswered.
    pub fn paths(&self, class: &str) -> Result {
        Ok(match self.0 {
            None => jvm_requests::paths(class),
            Some(native) => native.ask("paths", &[]),
        }?)
    }
}

/// Number of `u64` words per event.
const WORDS: usize = 5;

/// A batch of events.
pub struct Batch<'a> {
    generation: u32,
    words: &'a [u64],
    lost: u64,
    names: Names<'a>,
    requests: Requests<'a>,
}

/// A cache of texts by their numbers.
struct Names<'a> {
    source: &'a dyn EventNames,
    texts: RefCell<HashMap<u32, Rc<str>>>,
}

impl Names<'_> {
    fn text(&self, id: u32) -> Rc<str> {
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(id).or_insert_with(|| match id {
            0 => "".into(),
            id => self.source.name(id).unwrap_or_default().into(),
        });
        Rc::clone(text)
    }
}

impl<'a> Batch<'a> {
    /// Creates a batch of the host's events.
    #[must_use]
    pub fn new(generation: u32, words: &'a [u64], lost: u64, source: &'a dyn EventNames) -> Self {
        let names = Names {
            source,
            texts: RefCell::default(),
        };
        Self {
            generation,
            words,
            lost,
            names,
            requests: Requests(None),
        }
    }

    /// Sends requests to `sink`.
    #[must_use]
    pub fn asking(mut self, sink: &'a dyn RequestSink) -> Self {
        self.requests = Requests(Some(sink));
        self
    }

    /// Returns the available requests to the JVM.
    #[must_use]
    pub fn requests(&self) -> &Requests<'a> {
        &self.requests
    }

    /// The events, in the order in which the agent read them.
    pub fn events(&self) -> impl Iterator<Item = JvmEvent<'_>> {
        let events = self.words.chunks_exact(WORDS);
        events.map(|words| JvmEvent {
            words,
            names: &self.names,
        })
    }

    /// The number of events since the previous batch that were lost because the queue was full or
    /// their batch failed.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The generation of stack numbers. Numbers are comparable only within the same generation.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }
}

/// An event.
#[derive(Clone, Copy)]
pub struct JvmEvent<'a> {
    words: &'a [u64],
    names: &'a Names<'a>,
}

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq)]
pub struct StackFrame {
    /// The method.
    pub method: MethodInfo,
    /// The line; `None` in native methods, and if unknown.
    pub line: Option<u32>,
}

impl JvmEvent<'_> {
    fn halves(&self, word: usize) -> (u32, u32) {
        let word = self.words[word];
        (word as u32, (word >> 32) as u32)
    }

    /// Returns the type of the event, with its fields.
    #[must_use]
    pub fn details(&self) -> EventDetails {
        EventDetails::new(self.halves(0).0 as u16, [self.words[3], self.words[4]])
    }

    /// Nanoseconds since the start of the recording.
    #[must_use]
    pub fn nanos(&self) -> u64 {
        self.words[1]
    }

    /// The name of the thread; empty if the event has no thread, or the thread has no name.
    #[must_use]
    pub fn thread(&self) -> Rc<str> {
        self.names.text(self.halves(0).1)
    }

    /// The name of the class, as in Java; empty if the event has no class.
    #[must_use]
    pub fn class(&self) -> Rc<str> {
        self.names.text(self.halves(2).0)
    }

    /// The number of the stack, unique within a [`Batch::generation`]; 0 if the event has no stack.
    #[must_use]
    pub fn stack_id(&self) -> u32 {
        self.halves(2).1
    }

    /// The frames of the stack, the innermost first.
    #[must_use]
    pub fn stack(&self) -> Vec<StackFrame> {
        let frames = match self.stack_id() {
            0 => Vec::new(),
            stack => self.names.source.frames(stack),
        };
        let frame = |frame: u64| {
            let line = (frame >> 32) as u32 as i32;
            Some(StackFrame {
                method: self.names.source.method(frame as u32)?,
                line: u32::try_from(line).ok(),
            })
        };
        frames.into_iter().filter_map(frame).collect()
    }

    /// The method of the event: the compiled or bound method, or the one that catches the
    /// exception.
    #[must_use]
    pub fn method(&self) -> Option<MethodInfo> {
        let id = self.details().has_method().then_some(self.words[3] as u32);
        self.names.source.method(id.filter(|id| *id != 0)?)
    }

    /// The name and value of a property; `None` for other events.
    #[must_use]
    pub fn property(&self) -> Option<(Rc<str>, Rc<str>)> {
        let text = |word: usize| self.names.text(self.words[word] as u32);
        (self.details() == EventDetails::Property).then(|| (text(3), text(4)))
    }

    /// The JVM's description of an exhaustion, or the reference path to held instances; empty for
    /// other events.
    #[must_use]
    pub fn text(&self) -> Rc<str> {
        let id = match self.details().ids() {
            [None, Some(Id::Text)] => self.words[4] as u32,
            _ => 0,
        };
        self.names.text(id)
    }
}
