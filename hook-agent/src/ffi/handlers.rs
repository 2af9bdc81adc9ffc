//! What the rest of the agent does when the JVM calls.
//!
//! The entry points, the callbacks of events and the native methods convert their arguments and hand
//! over to the [`Handlers`]; nothing under `ffi` knows what those do. The library names its handlers
//! where it exports its entry points ([`super::entry::export_entry_points`]), through one of which the
//! JVM comes in first.

use super::class_file_load::ClassFileLoad;
use super::jvm::Jvm;
use super::jvmti::Jvmti;
use super::observed::{Handle, Observed, ObservedOfJvm};
use super::phases::{Live, OnLoad};
use super::reader::Reader;
use super::refs::{Local, LocalRef};
use super::vm::Vm;
use conditions::Step;
use jni_sys::jint;
use probes::spans::{MethodName, NewThread, Seen};
use std::collections::HashMap;
use std::sync::OnceLock;

/// One function for each way in which the JVM calls the agent. None of them lets a panic out: they run
/// inside the guard.
pub(crate) trait Handlers: Sync {
    /// `Agent_OnLoad`: 0 lets the JVM go on, anything else ends it.
    fn on_load(&self, vm: Vm, phase: OnLoad, options: &[u8]) -> jint;

    /// `Agent_OnAttach`: the JVM goes on in any case, and reports the code to the process that attached.
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

    /// An event of an environment that observes, on the thread that does it.
    fn observed(&self, jvm: Jvm<'_>, thread: &LocalRef<'_>, event: Observed<'_>);

    /// An event of an environment that observes, which is of no thread of Java: what runs Java code must not be called.
    fn observed_of_jvm(&self, jvmti: Jvmti, event: ObservedOfJvm);

    /// An object with this tag is gone, perhaps while the program stands still: the JVM must not be called.
    fn freed(&self, jvmti: Jvmti, tag: i64);

    /// A garbage collection begins or ends, and the program stands still: the JVM must not be called.
    fn collection(&self, begins: bool);

    /// The program has created a global reference of JNI, on this thread; `handle` is its address.
    fn reference_created(
        &self,
        live: Live,
        local: Local<'_>,
        object: &LocalRef<'_>,
        handle: Handle,
    );

    /// The program deletes a global reference of JNI.
    fn reference_deleted(&self, handle: Handle);

    /// The `DataDumpRequest` event (SIGQUIT).
    fn data_dump_request(&self);

    /// The current thread calls a native method of the agent for the first time for a span of this session.
    fn first_span(&self, live: Live, local: Local<'_>, session: usize) -> Option<NewThread>;

    /// The number of the class of an object.
    fn class_number(&self, local: Local<'_>, object: &LocalRef<'_>) -> Option<u32>;

    /// What can be said of an object; texts are read into `text` as far as they fit.
    fn captured<'t>(
        &self,
        local: Local<'_>,
        object: &LocalRef<'_>,
        text: &'t mut [u16],
    ) -> Option<Seen<'t>>;

    /// The value to which these steps lead from an object; none if they lead nowhere.
    fn captured_at<'t>(
        &self,
        local: Local<'_>,
        object: &LocalRef<'_>,
        steps: &[Step],
        text: &'t mut [u16],
    ) -> Option<Seen<'t>>;

    /// The object to which these steps lead with what it holds, in so many levels, and with so many bytes of a text at most.
    fn opened<'t>(
        &self,
        local: Local<'_>,
        object: &LocalRef<'_>,
        steps: &[Step],
        limits: (u8, usize),
        bytes: &'t mut [u8],
    ) -> Option<Seen<'t>>;

    /// Checks whether calls of a session wait for continuations.
    fn awaits_continuations(&self, session: usize) -> bool;

    /// Returns the reader of Kotlin's continuations.
    fn continuations<'a>(&self, local: Local<'a>) -> Option<Reader<'a>>;

    /// A test begins: its id, that of what it is a part of, and its name, as texts.
    fn test_begins(&self, live: Live, local: Local<'_>, texts: [Option<&LocalRef<'_>>; 3]);

    /// The test with this id ends.
    fn test_ends(&self, live: Live, local: Local<'_>, id: &LocalRef<'_>);

    /// Says how often exceptions have left calls of spans so far.
    fn unwound(&self, local: Local<'_>) -> u64;

    /// Counts the calls of each method that the current thread is in.
    fn running(&self, live: Live, local: Local<'_>) -> Option<HashMap<MethodName, u64>>;

    /// Writes the innermost frames of the current call stack and says how many they are.
    fn frames(&self, live: Live, local: Local<'_>, frames: &mut [u64]) -> usize;
}

static HANDLERS: OnceLock<&'static dyn Handlers> = OnceLock::new();

/// Makes the handlers known; those that came first stay.
pub(super) fn install(handlers: &'static dyn Handlers) {
    HANDLERS.get_or_init(|| handlers);
}

/// The handlers; `None` if the JVM did not come in through an entry point.
pub(super) fn get() -> Option<&'static dyn Handlers> {
    HANDLERS.get().copied()
}
