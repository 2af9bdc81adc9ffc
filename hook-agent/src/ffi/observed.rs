//! The events that are observed on the threads that cause them.

use super::jvmti::StackFrame;
use super::refs::LocalRef;

/// What a thread does.
#[derive(Debug)]
pub(crate) enum Observed<'a> {
    /// It has allocated an object, which is sampled.
    Allocated {
        object: LocalRef<'a>,
        class: LocalRef<'a>,
        size: u64,
    },
    /// It throws.
    Throws {
        exception: LocalRef<'a>,
        /// Where it will be caught, as far as the JVM sees.
        caught: Option<StackFrame>,
    },
    /// It begins to wait to enter a monitor, or in `Object.wait`.
    Waits,
    /// It has entered the monitor of an object for which it waited.
    Entered { object: LocalRef<'a> },
    /// It has waited in `Object.wait` of an object.
    Waited { object: LocalRef<'a> },
}
