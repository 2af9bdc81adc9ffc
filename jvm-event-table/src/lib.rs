//! The table of events that plugins and recordings get of a running JVM.
//!
//! | module | content |
//! |---|---|
//! | `table` | the table: one row for each kind of event, with its types of events |
//! | [`kinds`] | a kind as a value, which a subscription, a grant and the agent use |
//! | [`details`] | an event with its fields, and the numbers in which it reaches a plugin |
//! | [`requests`] | the requests of plugins to the JVM, with their grants |
//! | [`jvmti`] | the events and capabilities of JVM TI |
//!
//! The agent, the host, the SDK and the documents take an event from here, so a new one is a row.
//!
//! ```
//! use jvm_event_table::{EventDetails, EventKind};
//!
//! let kind = EventKind::of_function("monitors").unwrap();
//! assert_eq!((kind, kind.grant()), (EventKind::Monitors, "jvm-events.monitors"));
//!
//! let waited = EventDetails::Entered { nanos: 7 };
//! assert_eq!(EventDetails::new(waited.number(), waited.values()), waited);
//! ```

pub mod details;
pub mod jvmti;
pub mod kinds;
pub mod requests;
mod table;

pub use details::{EventDetails, Id};
pub use kinds::EventKind;
