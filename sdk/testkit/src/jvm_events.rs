//! Runs an observer on events, without a JVM.

use std::cell::RefCell;
use std::collections::HashMap;

use classhook_sdk::source::{EventNames, RequestSink, SubscriptionSink};
use classhook_sdk::wit::MethodInfo;
use classhook_sdk::{Batch, Error, EventDetails, Filter, Observer, Report, Subscriptions};
use edits::Refusal;

use crate::report::{Making, Recording, Reported};

/// Events in the order of addition.
///
/// ```
/// use classhook_sdk::EventDetails;
/// use classhook_testkit::JvmEvents;
///
/// let events = JvmEvents::default()
///     .event("main", "com.acme.Gate", EventDetails::Entered { nanos: 5 }, &[("com/acme/Store", "find", 7)]);
/// ```
#[derive(Debug, Default)]
pub struct JvmEvents {
    words: Vec<u64>,
    names: Names,
}

/// The names to which the numbers of events refer.
#[derive(Debug, Default)]
struct Names {
    texts: Vec<String>,
    methods: Vec<MethodInfo>,
    stacks: Vec<Vec<u64>>,
}

fn added<T>(values: &mut Vec<T>, value: T) -> u32 {
    values.push(value);
    u32::try_from(values.len()).expect("fewer")
}

fn found<T: Clone>(values: &[T], id: u32) -> Option<T> {
    values.get(id.checked_sub(1)? as usize).cloned()
}

impl EventNames for Names {
    fn name(&self, id: u32) -> Option<String> {
        found(&self.texts, id)
    }
    fn frames(&self, stack: u32) -> Vec<u64> {
        found(&self.stacks, stack).unwrap_or_default()
    }
    fn method(&self, id: u32) -> Option<MethodInfo> {
        found(&self.methods, id)
    }
}

impl JvmEvents {
    /// Adds an event of this thread and class, a microsecond after the previous one, with the
    /// innermost frames of its stack: class, method and line. For an event about a method, the
    /// first frame is that method, and the event has no stack.
    #[must_use]
    pub fn event(
        mut self,
        thread: &str,
        class: &str,
        what: EventDetails,
        frames: &[(&str, &str, u32)],
    ) -> Self {
        let nanos = 200 * self.words.len() as u64;
        let names = &mut self.names;
        let mut text = |text: &str| match text {
            "" => 0,
            text => u64::from(added(&mut names.texts, text.to_owned())),
        };
        let (thread, class) = (text(thread), text(class));
        let mut frame = |(class, name, line): &(&str, &str, u32)| {
            let method = MethodInfo {
                class: (*class).to_owned(),
                name: (*name).to_owned(),
                descriptor: "()V".to_owned(),
                source_file: String::new(),
            };
            u64::from(added(&mut names.methods, method)) | u64::from(*line) << 32
        };
        let frames: Vec<u64> = frames.iter().map(&mut frame).collect();
        let (kind, values) = (u64::from(what.number()), what.values());
        let of_method = what.has_method();
        let method = frames.first().map_or(0, |frame| frame & 0xFFFF_FFFF);
        let stack = match frames.is_empty() || of_method {
            true => 0,
            false => u64::from(added(&mut names.stacks, frames)),
        };
        let first = if of_method { method } else { values[0] };
        let words = [
            kind | thread << 32,
            nanos,
            class | stack << 32,
            first,
            values[1],
        ];
        self.words.extend(words);
        self
    }
}

/// The requests so far: functions of `jvm-requests` with their arguments.
#[derive(Debug, Default)]
struct Asked(RefCell<Vec<(String, Vec<u64>)>>);

impl RequestSink for Asked {
    fn ask(&self, name: &str, arguments: &[u64]) -> Result<(), Refusal> {
        let asked = (name.to_owned(), arguments.to_vec());
        self.0.borrow_mut().push(asked);
        Ok(())
    }
}

/// Passes these events to an observer one by one, and returns its requests to the JVM: functions of
/// `jvm-requests` with their arguments, booleans as 0 and 1.
///
/// # Errors
/// The error of the plugin.
///
/// # Panics
/// Those of [`observe`].
pub fn requests<T: Observer>(
    config: &str,
    events: &JvmEvents,
) -> Result<Vec<(String, Vec<u64>)>, Error> {
    let (mut observer, asked) = (observer::<T>(config), Asked::default());
    for words in events.words.chunks(5) {
        let batch = Batch::new(0, words, 0, &events.names);
        observer.observe(&batch.asking(&asked))?;
    }
    Ok(asked.0.into_inner())
}

#[derive(Default)]
struct Sink(RefCell<HashMap<String, Filter>>);

impl SubscriptionSink for Sink {
    fn subscribe(&self, name: &str, filter: &Filter) -> Result<(), Refusal> {
        self.0.borrow_mut().insert(name.to_owned(), filter.clone());
        Ok(())
    }
}

/// Returns the subscriptions of an observer: functions of `jvm-events` with their filters.
///
/// # Errors
/// The error of the plugin.
///
/// # Panics
/// Those of [`observe`].
pub fn subscriptions<T: Observer>(config: &str) -> Result<HashMap<String, Filter>, Error> {
    let sink = Sink::default();
    observer::<T>(config).subscribe(&mut Subscriptions::native(&sink))?;
    Ok(sink.0.into_inner())
}

/// Runs an observer with a configuration in TOML on these events, and returns its report. The
/// events are passed one by one, which detects an observer that forgets earlier ones.
///
/// # Panics
/// If the configuration is no valid TOML, or the plugin rejects it.
#[must_use]
pub fn observe<T: Observer>(config: &str, events: &JvmEvents) -> Reported {
    let mut observer = observer::<T>(config);
    let recording = Recording::default();
    let making = Making::new(&recording);
    let mut batches = events.words.chunks(5);
    let asked = Asked::default();
    let result = batches
        .try_for_each(|words| {
            let batch = Batch::new(0, words, 0, &events.names);
            observer.observe(&batch.asking(&asked))
        })
        .and_then(|()| observer.report(&mut Report::new(&making)));
    making.reported(result)
}

fn observer<T: Observer>(config: &str) -> T {
    let made = classhook_sdk::guest::parse_observer(&crate::json(config));
    made.unwrap_or_else(|error| panic!("the plugin rejects its configuration: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use classhook_sdk::prelude::NoSettings;

    /// Requests a histogram until it gets one.
    struct Asks;

    impl Observer for Asks {
        type Config = NoSettings;

        fn new(_: NoSettings) -> classhook_sdk::Result<Self> {
            Ok(Self)
        }

        fn subscribe(&self, _: &mut Subscriptions<'_>) -> classhook_sdk::Result {
            Ok(())
        }

        fn observe(&mut self, batch: &Batch<'_>) -> classhook_sdk::Result {
            let is_answer = |what| {
                matches!(
                    what,
                    EventDetails::Objects {
                        count: 3,
                        bytes: 48
                    }
                )
            };
            match batch.events().any(|event| is_answer(event.details())) {
                true => Ok(()),
                false => batch.requests().histogram(true, 7),
            }
        }

        fn report(&mut self, _: &mut Report<'_>) -> classhook_sdk::Result {
            Ok(())
        }
    }

    #[test]
    fn requests_of_an_observer_are_recorded() {
        let objects = EventDetails::Objects {
            count: 3,
            bytes: 48,
        };
        let events = JvmEvents::default()
            .event("main", "", EventDetails::ClassPrepared, &[])
            .event("", "acme.Order", objects, &[]);
        let asked = requests::<Asks>("", &events).expect("accepted");
        assert_eq!(asked, [("histogram".to_owned(), vec![1, 7])]);
    }
}
