//! The events of subscribers' environments.

use super::jvmti::{MethodId, StackFrame};
use super::refs::LocalRef;

/// An event on the thread that causes it.
#[derive(Debug)]
pub(crate) enum Observed<'a> {
    /// An allocation of an object, which is sampled.
    Allocated {
        object: LocalRef<'a>,
        class: LocalRef<'a>,
        size: u64,
    },
    /// A thrown exception.
    Throws {
        exception: LocalRef<'a>,
        /// The frame that will catch it, as far as the JVM knows.
        caught: Option<StackFrame>,
    },
    /// A caught exception.
    Catches {
        exception: LocalRef<'a>,
        at: Option<StackFrame>,
    },
    /// The start of a wait to enter the monitor of an object.
    WaitsToEnter { object: LocalRef<'a> },
    /// The start of `Object.wait` on an object.
    Waits { object: LocalRef<'a> },
    /// The end of a wait to enter the monitor of an object.
    Entered { object: LocalRef<'a> },
    /// A virtual thread enters a carrier.
    Mounts,
    /// A virtual thread leaves its carrier.
    Unmounts,
    /// The start of a thread.
    Starts { is_virtual: bool },
    /// The end of a thread.
    Ends { is_virtual: bool },
    /// A class was prepared.
    Prepared { class: LocalRef<'a> },
    /// A native method was bound to its code.
    Bound { method: MethodId },
    /// The end of `Object.wait` on an object.
    Waited { object: LocalRef<'a> },
}

/// A global reference of JNI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Handle {
    /// Its address, which the JVM reuses after the deletion.
    pub address: usize,
    pub is_weak: bool,
}

/// An event on any thread, perhaps one of the JVM itself.
#[derive(Debug)]
pub(crate) enum ObservedOfJvm {
    /// A method was compiled to this many bytes.
    CodeMade { method: MethodId, bytes: u64 },
    /// The code of a method was discarded, perhaps together with the method's class.
    CodeGone { method: MethodId },
    /// The JVM ran out of memory or threads.
    Exhausted { flags: u64, text: String },
    /// The class of this name was unloaded.
    Unloaded { class: String },
    /// A user requested that all data is written.
    DumpAsked,
}
