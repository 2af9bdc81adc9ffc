//! The events of subscribers' environments.

use super::jvmti::{MethodId, StackFrame};
use super::refs::LocalRef;
use jvm_events::EventKind;

/// An event on the thread that causes it.
#[derive(Debug)]
pub(crate) enum ThreadEvent<'a> {
    /// An allocation of an object, which is sampled.
    SampledObjectAlloc {
        object: LocalRef<'a>,
        class: LocalRef<'a>,
        size: u64,
    },
    /// A thrown exception.
    Exception {
        exception: LocalRef<'a>,
        /// The frame that will catch it, as far as the JVM knows.
        caught: Option<StackFrame>,
    },
    /// A caught exception.
    ExceptionCatch {
        exception: LocalRef<'a>,
        at: Option<StackFrame>,
    },
    /// The start of a wait to enter the monitor of an object.
    MonitorContendedEnter { object: LocalRef<'a> },
    /// The start of `Object.wait` on an object.
    MonitorWait { object: LocalRef<'a> },
    /// The end of a wait to enter the monitor of an object.
    MonitorContendedEntered { object: LocalRef<'a> },
    /// A virtual thread enters a carrier.
    VirtualThreadMount,
    /// A virtual thread leaves its carrier.
    VirtualThreadUnmount,
    /// The start of a thread.
    ThreadStart { is_virtual: bool },
    /// The end of a thread.
    ThreadEnd { is_virtual: bool },
    /// A class was prepared.
    ClassPrepare { class: LocalRef<'a> },
    /// A native method was bound to its code.
    NativeMethodBind { method: MethodId },
    /// The end of `Object.wait` on an object.
    MonitorWaited { object: LocalRef<'a> },
}

/// A global reference of JNI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GlobalRefHandle {
    /// Its address, which the JVM reuses after the deletion.
    pub address: usize,
    pub is_weak: bool,
}

/// An event on any thread, perhaps one of the JVM itself.
#[derive(Debug)]
pub(crate) enum VmEvent {
    /// A method was compiled to this many bytes.
    CompiledMethodLoad { method: MethodId, bytes: u64 },
    /// The code of a method was discarded, perhaps together with the method's class.
    CompiledMethodUnload { method: MethodId },
    /// The JVM generated code of this name and size, which belongs to no method.
    DynamicCodeGenerated { name: String, bytes: u64 },
    /// The JVM ran out of memory or threads.
    ResourceExhausted { flags: u64, text: String },
    /// The class of this name was unloaded.
    ClassUnload { class: String },
    /// A user requested that all data is written.
    DataDumpRequest,
}

impl VmEvent {
    /// The kind of event to which plugins subscribe for this event.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::CompiledMethodLoad { .. } | Self::CompiledMethodUnload { .. } => {
                EventKind::Compilations
            }
            Self::DynamicCodeGenerated { .. } => EventKind::Stubs,
            Self::ResourceExhausted { .. } => EventKind::Exhaustion,
            Self::ClassUnload { .. } => EventKind::Unloads,
            Self::DataDumpRequest => EventKind::Dumps,
        }
    }
}
