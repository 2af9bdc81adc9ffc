//! Plugins that are told what the JVM itself knows.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::filter::Filter;
use crate::observing::classhook::plugin::{jvm_events, jvm_requests};
use crate::reporter::Report;
use crate::source::{EventNames, RequestSink, SubscriptionSink};
use crate::wit::MethodInfo;

/// A plugin that observes the JVM: on a thread of the agent, in one instance, which may keep what it wants.
///
/// A call may take 250 ms of CPU time; after one the plugin rests for four times as long as it took, and events for
/// which there is no room meanwhile are counted ([`Batch::lost`]). Three calls in a row that fail are the last.
///
/// ```
/// use classhook_sdk::prelude::*;
/// use classhook_sdk::{Batch, Filter, Observer, Subscriptions, What};
///
/// const THROWN: Table = Table { name: "thrown", columns: &[("exceptions", Kind::Integer)] };
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
///         let thrown = batch.events().filter(|event| matches!(event.what(), What::Exception { .. }));
///         self.0 += thrown.count() as u64;
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
    /// Its settings: what stands below `[plugin.config]`.
    type Config: DeserializeOwned;

    /// A new instance.
    ///
    /// # Errors
    /// If the settings make no sense; the text is shown to the user.
    fn new(config: Self::Config) -> Result<Self>;

    /// Says what it wants to be told, the same each time.
    ///
    /// # Errors
    /// If a subscription is refused; the text is shown to the user.
    fn subscribe(&self, to: &mut Subscriptions<'_>) -> Result;

    /// Takes some events. If it fails, they are lost.
    ///
    /// # Errors
    /// In the plugin's words.
    fn observe(&mut self, batch: &Batch<'_>) -> Result;

    /// Makes its tables: every few seconds, and at the end.
    ///
    /// # Errors
    /// In the plugin's words.
    fn report(&mut self, report: &mut Report<'_>) -> Result;
}

/// What can be subscribed to. What a plugin calls of it are the capabilities that it has to be granted:
/// `observe-samples` for [`Subscriptions::samples`], and so on.
pub struct Subscriptions<'a>(Option<&'a dyn SubscriptionSink>);

macro_rules! subscriptions {
    ($($(#[doc = $doc:literal])+ $name:ident;)+) => {
        impl Subscriptions<'_> {
            $(
                $(#[doc = $doc])+
                ///
                /// # Errors
                /// If the filter makes no sense, or it is the second subscription.
                pub fn $name(&mut self, filter: &Filter) -> Result {
                    Ok(match self.0 {
                        None => jvm_events::$name(&wit(filter)),
                        Some(native) => native.subscribe(stringify!($name), filter),
                    }?)
                }
            )+
        }
    };
}

subscriptions! {
    /// Threads that used CPU time since they were last looked at.
    samples;
    /// Sampled allocations.
    allocations;
    /// Threads that have waited to enter a monitor, or in `Object.wait`.
    monitors;
    /// What is thrown; only in JVMs that were started with the agent.
    exceptions;
    /// Garbage collections that stopped the program.
    collections;
    /// Threads that start and end.
    threads;
    /// Classes that are prepared.
    classes;
    /// Methods whose machine code is made or thrown away.
    compilations;
    /// Native methods that are bound to their code.
    natives;
    /// That the JVM has no memory or thread to give.
    exhaustion;
    /// What is caught; only in JVMs that were started with the agent.
    catches;
    /// Classes that are unloaded, where HotSpot says so by their names: JDK 17 and newer.
    unloads;
    /// How many sampled objects of each class are gone.
    frees;
    /// Requests to write what there is.
    dumps;
}

/// As the interface has it.
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
    /// Those of the host.
    #[must_use]
    pub fn host() -> Self {
        Self(None)
    }

    /// Those of a test.
    #[must_use]
    pub fn native(sink: &'a dyn SubscriptionSink) -> Self {
        Self(Some(sink))
    }
}

/// What can be asked; the answer is among the events of the next batch, and ends with [`What::Answered`]. What a plugin
/// calls of it are the capabilities that it has to be granted: `ask-threads` for [`Requests::threads`], and so on.
///
/// Each is refused until the same was answered. The plugin rests for 49 times as long as the JVM takes to answer, and is
/// called each second where there are no events.
pub struct Requests<'a>(Option<&'a dyn RequestSink>);

impl Requests<'_> {
    /// All threads at one instant: events [`What::Thread`], with so many innermost frames.
    ///
    /// # Errors
    /// If it was asked and not answered yet, or these are too many frames.
    pub fn threads(&self, frames: u32) -> Result {
        Ok(match self.0 {
            None => jvm_requests::threads(frames),
            Some(native) => native.ask("threads", &[u64::from(frames)]),
        }?)
    }

    /// The CPU time of all threads: events [`What::CpuTime`].
    ///
    /// # Errors
    /// If it was asked and not answered yet.
    pub fn cpu_times(&self) -> Result {
        Ok(match self.0 {
            None => jvm_requests::cpu_times(),
            Some(native) => native.ask("cpu-times", &[]),
        }?)
    }

    /// Objects and bytes of the classes of most bytes: events [`What::Objects`]. With `live` the garbage is collected
    /// first. The program stands still meanwhile.
    ///
    /// # Errors
    /// If it was asked and not answered yet, or these are too many classes.
    pub fn histogram(&self, live: bool, most: u32) -> Result {
        Ok(match self.0 {
            None => jvm_requests::histogram(live, most),
            Some(native) => native.ask("histogram", &[u64::from(live), u64::from(most)]),
        }?)
    }

    /// The properties of the system: events [`What::Property`].
    ///
    /// # Errors
    /// If it was asked and not answered yet.
    pub fn properties(&self) -> Result {
        Ok(match self.0 {
            None => jvm_requests::properties(),
            Some(native) => native.ask("properties", &[]),
        }?)
    }

    /// The threads of this name: events [`What::Thread`], with so many innermost frames.
    ///
    /// # Errors
    /// If it was asked and not answered yet, or these are too many frames.
    pub fn stack(&self, thread: &str, frames: u32) -> Result {
        Ok(match self.0 {
            None => jvm_requests::stack(thread, frames),
            Some(native) => native.ask("stack", &[u64::from(frames)]),
        }?)
    }

    /// Who owns monitors and waits for them: events [`What::Owns`], [`What::WaitsToEnter`] and [`What::WaitsFor`]; only in
    /// JVMs that were started with the agent.
    ///
    /// # Errors
    /// If it was asked and not answered yet.
    pub fn monitors(&self) -> Result {
        Ok(match self.0 {
            None => jvm_requests::monitors(),
            Some(native) => native.ask("monitors", &[]),
        }?)
    }

    /// Which thread owns the monitor of each instance of a class, named as in Java, and which wait for it: events
    /// [`What::Owns`], [`What::WaitsToEnter`] and [`What::WaitsFor`]; of 1,000 instances at most. The program stands still
    /// for each.
    ///
    /// # Errors
    /// If it was asked and not answered yet.
    pub fn monitor_usage(&self, class: &str) -> Result {
        Ok(match self.0 {
            None => jvm_requests::monitor_usage(class),
            Some(native) => native.ask("monitor-usage", &[]),
        }?)
    }

    /// What holds the instances of a class, named as in Java: events [`What::Held`]. The program stands still meanwhile.
    ///
    /// # Errors
    /// If it was asked and not answered yet.
    pub fn paths(&self, class: &str) -> Result {
        Ok(match self.0 {
            None => jvm_requests::paths(class),
            Some(native) => native.ask("paths", &[]),
        }?)
    }
}

/// Numbers of an event.
const WORDS: usize = 5;

/// Some events.
pub struct Batch<'a> {
    generation: u32,
    words: &'a [u64],
    lost: u64,
    names: Names<'a>,
    requests: Requests<'a>,
}

/// The texts that were asked for, by their numbers.
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
    /// Events as the host gives them.
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

    /// Has requests go there.
    #[must_use]
    pub fn asking(mut self, sink: &'a dyn RequestSink) -> Self {
        self.requests = Requests(Some(sink));
        self
    }

    /// What can be asked.
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

    /// Events since the batch before for which there was no room, or whose batch failed.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Numbers of stacks lead to the same stacks while this is the same.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }
}

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// Its thread used CPU time.
    Sample {
        /// Nanoseconds.
        cpu: u64,
    },
    /// An object of [`JvmEvent::class`] was allocated.
    Allocation {
        /// Its bytes.
        bytes: u64,
        /// How many bytes it stands for, being a sample.
        stands_for: u64,
    },
    /// A monitor of an object of the class was entered after a wait.
    Entered {
        /// How long it took, in nanoseconds.
        nanos: u64,
    },
    /// `Object.wait` of an object of the class has ended.
    Waited {
        /// How long it took, in nanoseconds.
        nanos: u64,
    },
    /// An exception of the class was thrown; [`JvmEvent::method`] catches it.
    Exception {
        /// The line that catches it; 0 if it is not known.
        line: u32,
    },
    /// A garbage collection.
    Collection {
        /// How long it took, in nanoseconds.
        nanos: u64,
        /// Bytes in use afterwards; 0 if they are not known.
        used: u64,
    },
    /// Its thread has started.
    ThreadStarted {
        /// Whether it is a virtual one.
        is_virtual: bool,
    },
    /// Its thread ends.
    ThreadEnded {
        /// Whether it is a virtual one.
        is_virtual: bool,
    },
    /// The class is prepared.
    ClassPrepared,
    /// There is machine code of [`JvmEvent::method`].
    CodeMade {
        /// Its bytes.
        bytes: u64,
    },
    /// It is gone.
    CodeGone,
    /// The native method [`JvmEvent::method`] is bound.
    NativeBound,
    /// The JVM has no memory or thread to give: [`JvmEvent::text`].
    Exhausted {
        /// Bits of JVM TI's event ResourceExhausted.
        flags: u64,
    },
    /// Sampled objects of the class are gone.
    Freed {
        /// How many.
        count: u64,
    },
    /// An exception of the class was caught; [`JvmEvent::method`] caught it.
    Caught {
        /// The line that caught it; 0 if it is not known.
        line: u32,
    },
    /// Somebody asks to write what there is.
    DumpAsked,
    /// The class is unloaded.
    ClassUnloaded,
    /// A thread, as it was at an instant, with its stack ([`Requests::threads`]).
    Thread {
        /// Bits of JVM TI's GetThreadState.
        state: u32,
    },
    /// The CPU time of a thread ([`Requests::cpu_times`]).
    CpuTime {
        /// Nanoseconds, since it began.
        nanos: u64,
    },
    /// The objects of the class ([`Requests::histogram`]).
    Objects {
        /// How many.
        count: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// A property of the system: [`JvmEvent::property`].
    Property,
    /// An answer is complete.
    Answered {
        /// How many events it has.
        events: u64,
    },
    /// The thread owns a monitor of an object of the class ([`Requests::monitors`], [`Requests::monitor_usage`]).
    Owns {
        /// Which one of those of the answer.
        monitor: u64,
        /// How often it has entered it.
        entered: u64,
    },
    /// The thread waits to enter it.
    WaitsToEnter {
        /// Which one.
        monitor: u64,
    },
    /// The thread waits in `Object.wait` for it.
    WaitsFor {
        /// Which one.
        monitor: u64,
    },
    /// Instances of the class are held ([`Requests::paths`]): [`JvmEvent::text`] is the path, a step a line.
    Held {
        /// How many.
        instances: u64,
    },
    /// Of a kind that this SDK does not know.
    Other(u16),
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
    /// The line; none in native methods, and where it is not known.
    pub line: Option<u32>,
}

impl JvmEvent<'_> {
    fn halves(&self, word: usize) -> (u32, u32) {
        let word = self.words[word];
        (word as u32, (word >> 32) as u32)
    }

    /// What it is.
    #[must_use]
    pub fn what(&self) -> What {
        let (first, second) = (self.words[3], self.words[4]);
        let is_virtual = first == 1;
        match self.halves(0).0 as u16 {
            1 => What::Sample { cpu: first },
            2 => What::Allocation {
                bytes: first,
                stands_for: second,
            },
            3 => What::Entered { nanos: first },
            4 => What::Waited { nanos: first },
            5 => What::Exception {
                line: second as u32,
            },
            6 => What::Collection {
                nanos: first,
                used: second,
            },
            7 => What::ThreadStarted { is_virtual },
            8 => What::ThreadEnded { is_virtual },
            9 => What::ClassPrepared,
            10 => What::CodeMade { bytes: second },
            11 => What::CodeGone,
            12 => What::NativeBound,
            13 => What::Exhausted { flags: first },
            14 => What::Freed { count: first },
            15 => What::Caught {
                line: second as u32,
            },
            16 => What::DumpAsked,
            17 => What::ClassUnloaded,
            20 => What::Thread {
                state: first as u32,
            },
            21 => What::CpuTime { nanos: first },
            22 => What::Objects {
                count: first,
                bytes: second,
            },
            23 => What::Property,
            24 => What::Answered { events: second },
            25 => What::Owns {
                monitor: first,
                entered: second,
            },
            26 => What::WaitsToEnter { monitor: first },
            27 => What::WaitsFor { monitor: first },
            28 => What::Held { instances: first },
            other => What::Other(other),
        }
    }

    /// Nanoseconds since the plugin began to observe.
    #[must_use]
    pub fn nanos(&self) -> u64 {
        self.words[1]
    }

    /// The name of its thread; empty if it is of none, or the thread has no name.
    #[must_use]
    pub fn thread(&self) -> Rc<str> {
        self.names.text(self.halves(0).1)
    }

    /// The name of its class, as in Java; empty if it is of none.
    #[must_use]
    pub fn class(&self) -> Rc<str> {
        self.names.text(self.halves(2).0)
    }

    /// The number of its stack, by which stacks are told apart within a [`Batch::generation`]; 0 if it has none.
    #[must_use]
    pub fn stack_id(&self) -> u32 {
        self.halves(2).1
    }

    /// The frames of its stack, the innermost first.
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

    /// The method that it is of: that is compiled or bound, or catches an exception or has caught it.
    #[must_use]
    pub fn method(&self) -> Option<MethodInfo> {
        let has_one = matches!(self.halves(0).0 as u16, 5 | 10..=12 | 15) && self.words[3] != 0;
        has_one
            .then(|| self.names.source.method(self.words[3] as u32))
            .flatten()
    }

    /// Name and value of a property; none of all else.
    #[must_use]
    pub fn property(&self) -> Option<(Rc<str>, Rc<str>)> {
        let text = |word: usize| self.names.text(self.words[word] as u32);
        (self.what() == What::Property).then(|| (text(3), text(4)))
    }

    /// What the JVM says of an exhaustion, or the path on which instances are held; empty for all else.
    #[must_use]
    pub fn text(&self) -> Rc<str> {
        let id = match self.what() {
            What::Exhausted { .. } | What::Held { .. } => self.words[4] as u32,
            _ => 0,
        };
        self.names.text(id)
    }
}
