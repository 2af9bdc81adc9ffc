//! What a JVM says of itself while it runs: samples of its threads and allocations, contended monitors, exceptions,
//! garbage collections.
//!
//! | module | holds |
//! |---|---|
//! | [`subscription`] | what is observed, and how often |
//! | [`recorded`] | what was observed: the content of a `.observed` file |
//! | [`stacks`] | call stacks as a tree, each frame below the one that called it |
//! | [`recorder`] | what comes in from the JVM, added up |
//! | [`handlers`] | whether what catches an exception looks at it |
//! | [`deadlocks`] | threads that wait for one another |
//! | [`group`], [`wish`] | what a plugin may be told, and wants to be |
//! | [`batch`] | events as plugins get them |
//! | [`merged`] | what several JVMs did, as if it were one |
//! | [`paths`] | why objects stay in the heap |
//! | [`path_kinds`] | kinds of those paths |
//! | [`request`] | what a plugin may ask |
//! | [`system_threads`] | threads that run no Java code, by their names |
//! | [`thread_state`] | states of threads, as samples by the wall clock show them |
//! | [`tables`] | what a plugin made of them: the content of a `.tables` file |
//! | [`selection`] | a part of what was recorded: of some threads, of some classes |
//!
//! The command subscribes, the agent records, `trace` makes reports of it; this crate knows no JVM.
#![forbid(unsafe_code)]

pub mod batch;
pub mod deadlocks;
pub mod group;
pub mod handlers;
pub mod merged;
pub mod path_kinds;
pub mod paths;
pub mod recorded;
pub mod recorder;
pub mod request;
pub mod selection;
pub mod stacks;
pub mod subscription;
pub mod system_threads;
pub mod tables;
pub mod thread_state;
pub mod wish;

pub use group::Group;
pub use recorded::Recorded;
pub use recorder::Recorder;
pub use subscription::Subscription;
pub use wish::Wish;
