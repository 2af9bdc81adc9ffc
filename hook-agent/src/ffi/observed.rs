//! The events that are observed on the threads that cause them.

use super::jvmti::{MethodId, StackFrame};
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
    /// It catches what was thrown.
    Catches {
        exception: LocalRef<'a>,
        at: Option<StackFrame>,
    },
    /// It begins to wait to enter the monitor of an object.
    WaitsToEnter { object: LocalRef<'a> },
    /// It begins to wait in `Object.wait` of an object.
    Waits { object: LocalRef<'a> },
    /// It has entered the monitor of an object for which it waited.
    Entered { object: LocalRef<'a> },
    /// It is a virtual thread, which goes on a carrier.
    Mounts,
    /// It is a virtual thread, which leaves its carrier.
    Unmounts,
    /// It has started.
    Starts { is_virtual: bool },
    /// It ends.
    Ends { is_virtual: bool },
    /// It has prepared a class.
    Prepared { class: LocalRef<'a> },
    /// It has bound a native method to its code.
    Bound { method: MethodId },
    /// It has waited in `Object.wait` of an object.
    Waited { object: LocalRef<'a> },
}

/// A global reference of JNI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Handle {
    /// Its address, which the JVM uses again once it is deleted.
    pub address: usize,
    pub is_weak: bool,
}

/// What the JVM says on any of its threads, perhaps its own.
#[derive(Debug)]
pub(crate) enum ObservedOfJvm {
    /// There is machine code of a method, of so many bytes.
    CodeMade { method: MethodId, bytes: u64 },
    /// It is gone, and perhaps the method's class.
    CodeGone { method: MethodId },
    /// It has no memory or thread to give.
    Exhausted { flags: u64, text: String },
    /// It has unloaded the class of this name.
    Unloaded { class: String },
    /// Somebody asks to write what there is.
    DumpAsked,
}
