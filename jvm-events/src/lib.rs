//! Data about a running JVM: samples of its threads and allocations, contended monitors,
//! exceptions, garbage collections.
//!
//! | module | content |
//! |---|---|
//! | [`subscription`] | the kinds of events of a recording, and their rates |
//! | [`recorded`] | the content of a `.jvm-events` file |
//! | [`stacks`] | call stacks as a tree, in which callees are below their callers |
//! | [`recorder`] | sums of the events that the JVM reports |
//! | [`handlers`] | exception handlers that ignore their exception |
//! | [`deadlocks`] | threads that wait for each other |
//! | [`event_subscription`] | the subscription of a plugin to a kind of event |
//! | [`batch`] | events in the form that plugins receive |
//! | [`merged`] | the sum of the recordings of several JVMs |
//! | [`paths`] | reference paths that keep objects in the heap |
//! | [`path_kinds`] | kinds of those paths |
//! | [`request`] | requests of plugins to the JVM |
//! | [`system_threads`] | threads that run no Java code, by name |
//! | [`thread_state`] | states of threads in samples by the wall clock |
//! | [`tables`] | the content of a `.tables` file, which a plugin produced |
//! | [`sealed_document`] | JSON documents with a checksum |
//! | [`selection`] | a subset of a recording by threads and classes |
//!
//! The command subscribes, the agent records, and `trace` makes reports. This crate has no access
//! to a JVM.
#![forbid(unsafe_code)]

pub mod batch;
pub mod deadlocks;
pub mod event_subscription;
pub mod handlers;
pub mod merged;
pub mod path_kinds;
pub mod paths;
pub mod recorded;
pub mod recorder;
pub mod request;
pub mod sealed_document;
pub mod selection;
pub mod stacks;
pub mod subscription;
pub mod system_threads;
pub mod tables;
pub mod thread_state;

pub use event_subscription::EventSubscription;
pub use jvm_event_table::{EventDetails, EventKind, jvmti};
pub use recorded::Recorded;
pub use recorder::Recorder;
pub use subscription::Subscription;
