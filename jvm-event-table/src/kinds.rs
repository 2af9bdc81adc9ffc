//! Kinds of events. A plugin subscribes to each with one function, which needs a grant.

use crate::jvmti::{self, Capability, Event};

/// A row of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    function: &'static str,
    grant: Option<(&'static str, &'static str)>,
    text: &'static str,
    details: &'static str,
    events: &'static [Event],
    optional_events: &'static [Event],
    capabilities: &'static [Capability],
    filter: &'static [FilterNumber],
}

/// A number of a filter that only some kinds use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FilterNumber {
    AtLeast,
    Every,
}

macro_rules! kinds {
    (
        kinds { $(
            #[doc = $doc:literal]
            $kind:ident $function:ident {
                text: $text:literal,
                details: $details:literal,
                events: [$($event:ident),*], optional: [$($optional:ident),*],
                capabilities: [$($capability:ident),*],
                filter: [$($filter:ident),*],
                types: $types:tt
            }
        )+ }
        recordings { $(
            #[doc = $recorded_doc:literal]
            $recorded:ident $name:ident {
                events: [$($recorded_event:ident),*],
                capabilities: [$($recorded_capability:ident),*]
            }
        )+ }
        answers $answers:tt
    ) => {
        /// A kind of event that is switched on as a unit.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum EventKind {
            $( #[doc = $doc] $kind, )+
            $( #[doc = concat!($recorded_doc, " Only recordings have it.")] $recorded, )+
        }

        impl EventKind {
            /// The kinds to which plugins can subscribe.
            pub const ALL: [Self; [$(stringify!($kind)),+].len()] = [$(Self::$kind),+];
            /// Their grants.
            pub const GRANTS: [&str; Self::ALL.len()] = [$(concat!("jvm-events.", stringify!($function))),+];

            const fn row(self) -> Row {
                match self {
                    $( Self::$kind => Row {
                        function: stringify!($function),
                        grant: Some((
                            concat!("jvm-events.", stringify!($function)),
                            concat!("observes ", $text),
                        )),
                        text: $text,
                        details: $details,
                        events: &[$(Event::$event),*],
                        optional_events: &[$(Event::$optional),*],
                        capabilities: &[$(jvmti::$capability),*],
                        filter: &[$(FilterNumber::$filter),*],
                    }, )+
                    $( Self::$recorded => Row {
                        function: stringify!($name),
                        grant: None,
                        text: "",
                        details: "",
                        events: &[$(Event::$recorded_event),*],
                        optional_events: &[],
                        capabilities: &[$(jvmti::$recorded_capability),*],
                        filter: &[],
                    }, )+
                }
            }
        }
    };
}

crate::jvm_event_table!(kinds);

impl EventKind {
    /// The function of the WIT interface `jvm-events` that subscribes, or the name of a kind that only recordings have.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().function
    }

    /// Returns the kind of a function of the WIT interface.
    #[must_use]
    pub fn of_function(function: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == function)
    }

    /// The grant that a plugin needs; empty for kinds that only recordings have.
    #[must_use]
    pub fn grant(self) -> &'static str {
        self.row().grant.unwrap_or_default().0
    }

    /// The effect of the grant: *observes threads that start and end*.
    #[must_use]
    pub fn effect(self) -> &'static str {
        self.row().grant.unwrap_or_default().1
    }

    /// The events in words: *threads that start and end*.
    #[must_use]
    pub fn text(self) -> &'static str {
        self.row().text
    }

    /// Further sentences for documents; may be empty.
    #[must_use]
    pub fn details(self) -> &'static str {
        self.row().details
    }

    /// The JVM TI events of the kind.
    #[must_use]
    pub fn events(self) -> &'static [Event] {
        self.row().events
    }

    /// The JVM TI events of the kind that not every JVM has.
    #[must_use]
    pub fn optional_events(self) -> &'static [Event] {
        self.row().optional_events
    }

    /// The JVM TI capabilities that the events need.
    #[must_use]
    pub fn capabilities(self) -> &'static [Capability] {
        self.row().capabilities
    }

    /// Checks whether a filter can drop short events of the kind.
    #[must_use]
    pub fn has_durations(self) -> bool {
        self.row().filter.contains(&FilterNumber::AtLeast)
    }

    /// Checks whether a filter can set the interval between samples.
    #[must_use]
    pub fn has_interval(self) -> bool {
        self.row().filter.contains(&FilterNumber::Every)
    }

    /// Lists the kinds for which `is_one` holds: `monitors and collections`.
    #[must_use]
    pub fn list(is_one: impl Fn(Self) -> bool) -> String {
        let kinds = Self::ALL.into_iter().filter(|kind| is_one(*kind));
        let mut names: Vec<&str> = kinds.map(Self::name).collect();
        let last = names.pop().unwrap_or_default();
        match names.is_empty() {
            true => last.to_owned(),
            false => format!("{} and {last}", names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_grant_of_its_function() {
        for (kind, grant) in EventKind::ALL.into_iter().zip(EventKind::GRANTS) {
            assert_eq!(grant, format!("jvm-events.{}", kind.name()));
            assert_eq!(kind.grant(), grant);
            assert_eq!(EventKind::of_function(kind.name()), Some(kind));
            assert!(!kind.text().is_empty() && !kind.text().ends_with('.'));
            let details = kind.details();
            assert!(details.is_empty() || details.ends_with('.'), "{details}");
        }
        assert_eq!(EventKind::WallClock.grant(), "");
        assert_eq!(EventKind::of_function("wall"), None);
    }

    #[test]
    fn kinds_with_durations_and_intervals_are_listed() {
        let with_durations = EventKind::list(EventKind::has_durations);
        assert_eq!(with_durations, "monitors and collections");
        let with_intervals = EventKind::list(EventKind::has_interval);
        assert_eq!(with_intervals, "samples, allocations and frees");
    }
}
