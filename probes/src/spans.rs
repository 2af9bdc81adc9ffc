//! Records calls of methods as spans: entry, exit, duration and thread.
//!
//! [`SpanTable`] numbers the instrumented methods and holds the mode of each, which the running code reads at every
//! call. So a switch takes effect at once, without touching a class. A call keeps the mode of its entry.
//!
//! The running code calls the functions of [`calls`]; [`Runtime`] collects the recorded calls for the event file.
//! Each session ([`SESSIONS`]) has a table, a runtime and an event file of its own.

mod alarm;
mod backoff;
pub mod calls;
mod capture;
mod completion;
mod coroutines;
mod counters;
mod current;
mod entry;
mod fast_path;
mod free_list;
mod limits;
mod lost_ends;
mod method_name;
mod opened;
mod rates;
mod recording;
mod runtime;
mod segments;
mod sessions;
mod shared;
mod stack;
mod sums;
pub mod suspending;
mod table;
mod threads;
mod virtual_stacks;
mod waits;
mod watches;

pub use capture::{CaptureSpec, JvmValue, MAX_TEXT, frame_word};
pub use coroutines::{Continuations, Kept};
pub use counters::{Counter, Counters};
pub use current::{Jvm, NewThread, ThreadCell, unrecorded};
pub use limits::{MAX_PLUGIN_BYTES, MAX_PROGRAMS, MAX_SPANS};
pub use method_name::MethodName;
pub use opened::{MAX_OPENED, OpenedWriter, Opening, Shape, UNKNOWN_LEFT};
pub use runtime::{Drained, Runtime};
pub use segments::heap_words;
pub use sessions::{SESSIONS, SpanInCode};
pub use table::{SpanTable, TooManySpans};
pub use waits::CompletedWait;
