//! The subscription of a plugin to a kind of event.

use crate::subscription::{DEEPEST, SHORTEST_INTERVAL, Subscription};
use globs::Glob;
use jvm_event_table::EventKind;
use std::time::Duration;

/// Maximum number of patterns per subscription, and maximum length of a pattern.
const MAX_PATTERNS: usize = 256;
const MAX_PATTERN: usize = 1 << 10;
/// Default time between two samples of the threads.
const EVERY: Duration = Duration::from_millis(10);
/// Maximum time between two samples.
const SELDOM: Duration = Duration::from_secs(3600);
/// Default number of bytes that a thread allocates between two samples.
const BYTES: u32 = 512 << 10;

/// Selects events of a kind; the record `filter` of `sdk/wit/plugin.wit`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Patterns of class names.
    pub classes: Vec<String>,
    /// Patterns of thread names.
    pub threads: Vec<String>,
    /// Shorter events are dropped, in nanoseconds.
    pub at_least: u64,
    /// The interval between samples, in nanoseconds or bytes.
    pub every: Option<u64>,
    /// Number of innermost frames to keep of each stack.
    pub frames: u32,
}

/// A subscription to the events of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSubscription {
    /// The kind of event.
    pub kind: EventKind,
    /// Events shorter than this many nanoseconds are dropped.
    pub at_least: u64,
    /// Number of innermost frames to keep.
    pub frames: usize,
    /// The interval between samples of threads.
    pub interval: Duration,
    /// Average number of allocated bytes between two samples.
    pub bytes: u32,
    classes: Vec<Glob>,
    threads: Vec<Glob>,
}

impl EventSubscription {
    /// Subscribes to all events of a kind, without stacks.
    #[must_use]
    pub fn all(kind: EventKind) -> Self {
        Self {
            kind,
            at_least: 0,
            frames: 0,
            interval: EVERY,
            bytes: BYTES,
            classes: Vec::new(),
            threads: Vec::new(),
        }
    }

    /// Returns the subscriptions of a recording: all events of each of its kinds.
    #[must_use]
    pub fn of_recording(recording: &Subscription) -> Vec<Self> {
        let kinds = [
            (recording.cpu.is_some(), EventKind::Samples),
            (recording.allocations.is_some(), EventKind::Allocations),
            (recording.monitors, EventKind::Monitors),
            (recording.exceptions, EventKind::Exceptions),
            (recording.collections, EventKind::Collections),
            (recording.references, EventKind::References),
            (recording.wall.is_some(), EventKind::WallClock),
        ];
        let kinds = kinds.into_iter().filter(|(is_on, _)| *is_on);
        let subscription = |(_, kind)| {
            let mut subscription = Self::all(kind);
            subscription.frames = recording.depth;
            let interval = match kind {
                EventKind::WallClock => recording.wall,
                _ => recording.cpu,
            };
            subscription.interval = interval.unwrap_or(subscription.interval);
            subscription.bytes = recording.allocations.unwrap_or(subscription.bytes);
            subscription
        };
        kinds.map(subscription).collect()
    }

    /// Creates the subscription that a plugin requests with `filter`.
    ///
    /// # Errors
    /// A message with the expected and the found value.
    pub fn new(kind: EventKind, filter: &Filter) -> Result<Self, String> {
        let name = kind.name();
        if filter.at_least > 0 && !kind.has_durations() {
            return Err(format!(
                "expected `at-least` only with {}, found {} with {name}",
                EventKind::list(EventKind::has_durations),
                filter.at_least
            ));
        }
        if filter.every.is_some() && !kind.has_interval() {
            let kinds = EventKind::list(EventKind::has_interval);
            return Err(format!(
                "expected `every` only with {kinds}, found it with {name}"
            ));
        }
        if filter.frames as usize > DEEPEST {
            let found = filter.frames;
            return Err(format!("expected at most {DEEPEST} frames, found {found}"));
        }
        let mut subscription = Self {
            at_least: filter.at_least,
            frames: filter.frames as usize,
            classes: patterns(&filter.classes, Glob::of_class)?,
            threads: patterns(&filter.threads, Glob::of_path)?,
            ..Self::all(kind)
        };
        match filter.every {
            Some(every) if kind == EventKind::Samples => subscription.interval = looks(every)?,
            Some(every) => subscription.bytes = sampled(every)?,
            None => {}
        }
        Ok(subscription)
    }

    /// Checks whether the patterns accept a thread of this name.
    #[must_use]
    pub fn takes_thread(&self, name: &str) -> bool {
        self.threads.is_empty() || self.threads.iter().any(|glob| glob.matches(name))
    }

    /// Returns whether all classes are accepted.
    #[must_use]
    pub fn takes_all_classes(&self) -> bool {
        self.classes.is_empty()
    }

    /// Checks whether the patterns accept a class name, with dots or slashes.
    #[must_use]
    pub fn takes_class(&self, name: &str) -> bool {
        if self.classes.is_empty() {
            return true;
        }
        let name = name.replace('.', "/");
        self.classes.iter().any(|glob| glob.matches(&name))
    }
}

fn looks(nanos: u64) -> Result<Duration, String> {
    let interval = Duration::from_nanos(nanos);
    match (SHORTEST_INTERVAL..=SELDOM).contains(&interval) {
        true => Ok(interval),
        false => Err(format!(
            "expected from 1,000,000 nanoseconds to an hour between two samples of the threads, found {nanos}"
        )),
    }
}

fn sampled(bytes: u64) -> Result<u32, String> {
    let found = u32::try_from(bytes).ok();
    let found = found.filter(|bytes| *bytes <= i32::MAX as u32);
    found.ok_or_else(|| format!("expected less than 2 GiB between two samples, found {bytes}"))
}

fn patterns(texts: &[String], glob: fn(&str) -> Glob) -> Result<Vec<Glob>, String> {
    if texts.len() > MAX_PATTERNS {
        let found = texts.len();
        return Err(format!(
            "expected at most {MAX_PATTERNS} patterns, found {found}"
        ));
    }
    let pattern = |text: &String| {
        if text.is_empty() || text.len() > MAX_PATTERN || text.contains("***") {
            let start = text.chars().take(80).collect::<String>();
            return Err(format!("expected a pattern of a name, found `{start}`"));
        }
        Ok(glob(text))
    };
    texts.iter().map(pattern).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_classes_and_threads() {
        let filter = Filter {
            classes: vec!["com.acme.**".to_owned(), "byte[]".to_owned()],
            threads: vec!["http-*".to_owned()],
            ..Filter::default()
        };
        let subscription = EventSubscription::new(EventKind::Allocations, &filter).unwrap();
        let classes = ["com.acme.a.B", "com/acme/B", "byte[]", "com.other.B"];
        let taken = classes.map(|name| subscription.takes_class(name));
        assert_eq!(taken, [true, true, true, false]);
        assert!(subscription.takes_thread("http-1") && !subscription.takes_thread("main"));
        let all = EventSubscription::new(EventKind::Samples, &Filter::default()).unwrap();
        assert!(all.takes_class("x") && all.takes_thread("") && all.takes_all_classes());
        assert_eq!((all.interval, all.bytes), (EVERY, BYTES));
    }

    #[test]
    fn invalid_numbers_are_rejected() {
        let refused = |kind, filter: Filter| EventSubscription::new(kind, &filter).unwrap_err();
        let every = |every| Filter {
            every: Some(every),
            ..Filter::default()
        };
        assert!(refused(EventKind::Samples, every(999_999)).contains("999999"));
        assert!(refused(EventKind::Allocations, every(1 << 31)).contains("2 GiB"));
        assert!(refused(EventKind::Classes, every(1)).contains("with classes"));
        let at_least = Filter {
            at_least: 1,
            ..Filter::default()
        };
        assert!(refused(EventKind::Exceptions, at_least).contains("monitors and collections"));
        let frames = Filter {
            frames: 2049,
            ..Filter::default()
        };
        assert!(refused(EventKind::Samples, frames).contains("2048 frames"));
        let classes = Filter {
            classes: vec!["a***".to_owned()],
            ..Filter::default()
        };
        assert!(refused(EventKind::Classes, classes).contains("`a***`"));
        assert!(EventSubscription::new(EventKind::Allocations, &every(0)).is_ok());
    }
}
