//! The interface through which the JVM's calls reach the rest of the agent.
//!
//! The entry points, the callbacks of events and the native methods convert their arguments and call the [`Handlers`];
//! no other module of `ffi` depends on their implementation. The library names its handlers where it exports its entry
//! points ([`super::entry::export_entry_points`]), one of which the JVM calls first.

use super::class_file_load::ClassFileLoad;
use super::jvm::Jvm;
use super::jvm_events::{GlobalRefHandle, ThreadEvent, VmEvent};
use super::jvmti::Jvmti;
use super::phases::{Live, OnLoad};
use super::reader::Reader;
use super::refs::{Local, LocalRef};
use super::vm::Vm;
use conditions::Step;
use jni_sys::jint;
use probes::spans::{JvmValue, MethodName, NewThread};
use std::collections::HashMap;
use std::sync::OnceLock;

/// One function for each kind of call from the JVM. They run inside the guard, so no panic leaves them.
pub(crate) trait Handlers: Sync {
    /// `Agent_OnLoad`: 0 lets the JVM go on, any other value ends it.
    fn on_load(&self, vm: Vm, phase: OnLoad, options: &[u8]) -> jint;

    /// `Agent_OnAttach`: the JVM goes on in any case, and returns the value to the attaching process.
    fn on_attach(&self, vm: Vm, live: Live, local: Local<'_>, options: &[u8]) -> jint;

    /// `Agent_OnUnload`.
    fn on_unload(&self);

    /// The `VMInit` event.
    fn vm_init(&self, jvm: Jvm<'_>);

    /// The `VMDeath` event.
    fn vm_death(&self, jvm: Jvm<'_>);

    /// The `ClassFileLoadHook` event of any environment of the agent.
    fn class_file_load_hook(&self, load: &ClassFileLoad<'_>);

    /// The `ClassPrepare` event, on the thread that links the class.
    fn class_prepare(&self, jvmti: Jvmti, class: &LocalRef<'_>);

    /// An event of a subscriber's environment, on the thread that causes it.
    fn thread_event(&self, jvm: Jvm<'_>, thread: &LocalRef<'_>, event: ThreadEvent<'_>);

    /// An event of a subscriber's environment without a Java thread: functions that run Java code must not be called.
    fn vm_event(&self, jvmti: Jvmti, event: VmEvent);

    /// An object with this tag was freed. The program may be paused: the JVM must not be called.
    fn object_freed(&self, jvmti: Jvmti, tag: i64);

    /// The start or end of a garbage collection. The program is paused: the JVM must not be called.
    fn collection(&self, begins: bool);

    /// The program has created a global reference of JNI, on this thread.
    fn reference_created(
        &self,
        live: Live,
        local: Local<'_>,
        object: &LocalRef<'_>,
        handle: GlobalRefHandle,
    );

    /// The program deletes a global reference of JNI.
    fn reference_deleted(&self, handle: GlobalRefHandle);

    /// The `DataDumpRequest` event (SIGQUIT).
    fn data_dump_request(&self);

    /// The first call of the current thread for a span of this session.
    fn first_span(&self, live: Live, local: Local<'_>, session: usize) -> Option<NewThread>;

    /// The number of the class of an object.
    fn class_number(&self, local: Local<'_>, object: &LocalRef<'_>) -> Option<u32>;

    /// The description of an object. As much of a string as fits is read into `text`.
    fn captured<'t>(
        &self,
        local: Local<'_>,
        object: &LocalRef<'_>,
        text: &'t mut [u16],
    ) -> Option<JvmValue<'t>>;

    /// The value at the end of the path `steps` from an object. Returns `None` if a step is null or missing.
    fn captured_at<'t>(
        &self,
        local: Local<'_>,
        object: &LocalRef<'_>,
        steps: &[Step],
        text: &'t mut [u16],
    ) -> Option<JvmValue<'t>>;

    /// The object at the end of the path `steps` with its contents. `limits` are the depth, and the largest number of
    /// bytes of a string.
    fn opened<'t>(
        &self,
        local: Local<'_>,
        object: &LocalRef<'_>,
        steps: &[Step],
        limits: (u8, usize),
        bytes: &'t mut [u8],
    ) -> Option<JvmValue<'t>>;

    /// Checks whether calls of a session wait for continuations.
    fn awaits_continuations(&self, session: usize) -> bool;

    /// Returns the reader of Kotlin's continuations.
    fn continuations<'a>(&self, local: Local<'a>) -> Option<Reader<'a>>;

    /// The start of a test: its id, the id of its container, and its name, as strings.
    fn test_begins(&self, live: Live, local: Local<'_>, texts: [Option<&LocalRef<'_>>; 3]);

    /// The end of the test with this id.
    fn test_ends(&self, live: Live, local: Local<'_>, id: &LocalRef<'_>);

    /// The number of exceptions that have left calls of spans.
    fn unwound(&self, local: Local<'_>) -> u64;

    /// Counts the active calls of each method on the current thread.
    fn running(&self, live: Live, local: Local<'_>) -> Option<HashMap<MethodName, u64>>;

    /// Writes the innermost frames of the current call stack and returns their number.
    fn frames(&self, live: Live, local: Local<'_>, frames: &mut [u64]) -> usize;
}

static HANDLERS: OnceLock<&'static dyn Handlers> = OnceLock::new();

/// Installs the handlers; the first ones stay.
pub(super) fn install(handlers: &'static dyn Handlers) {
    HANDLERS.get_or_init(|| handlers);
}

/// The handlers; `None` if the JVM has not called an entry point.
pub(super) fn get() -> Option<&'static dyn Handlers> {
    HANDLERS.get().copied()
}
