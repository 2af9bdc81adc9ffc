//! Where the threads of the application record their spans, and how values are read for them.

use crate::ffi::clock::Start;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::process;
use crate::ffi::refs::{Local, LocalRef};
use crate::ffi::stack;
use crate::ffi::thread_cell;
use crate::ffi::values::Values;
use crate::probe_table::table;
use conditions::Step;
use probes::events::ThreadInfo;
use probes::spans::{NewThread, Runtime, Seen, frame_word};
use std::sync::{LazyLock, OnceLock};

/// When the clocks were first compared.
static START: LazyLock<Start> = LazyLock::new(Start::now);
/// How captured values and threads are read, once the JVM is live.
static VALUES: OnceLock<Values> = OnceLock::new();
/// Where threads record; made when the first one calls in.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new(table().spans(), START.nanos_per_tick(), process::pages));

/// Begins to compare the clocks: the earlier, the better.
pub(crate) fn start_clock() {
    LazyLock::force(&START);
}

/// Where threads record, if one has called in.
pub(crate) fn get() -> Option<&'static Runtime> {
    LazyLock::get(&RUNTIME)
}

/// Looks up what threads and captured values are read with.
pub(crate) fn resolve(local: Local<'_>) {
    VALUES.get_or_init(|| Values::resolve(local));
}

/// Whether the JVM has `Thread.threadId`, by which calls then name their thread.
pub(crate) fn has_thread_ids() -> bool {
    VALUES.get().is_some_and(Values::has_thread_ids)
}

/// Who the current thread is, when it makes its first call.
pub(crate) fn join(jvm: Jvm<'_>) -> Option<NewThread> {
    let values = VALUES.get()?;
    let (id, name) = values.current_thread(jvm)?;
    Some(NewThread {
        runtime: &RUNTIME,
        owner: if values.has_thread_ids() { id? } else { 0 },
        clear: thread_cell::clear,
        thread: ThreadInfo {
            id: id.unwrap_or(0),
            name,
            is_virtual: false,
        },
    })
}

/// The number of the class of an object.
pub(crate) fn class_number(jvmti: Jvmti, local: Local<'_>, object: &LocalRef<'_>) -> Option<u32> {
    VALUES.get()?.class_number(jvmti, &RUNTIME, local, object)
}

/// What can be said of an object; texts are read into `text` as far as they fit.
pub(crate) fn captured<'t>(
    jvmti: Jvmti,
    local: Local<'_>,
    object: &LocalRef<'_>,
    text: &'t mut [u16],
) -> Option<Seen<'t>> {
    VALUES.get()?.read(jvmti, &RUNTIME, local, object, text)
}

/// The value to which these steps lead from an object; none if they lead nowhere.
pub(crate) fn captured_at<'t>(
    jvmti: Jvmti,
    local: Local<'_>,
    object: &LocalRef<'_>,
    steps: &[Step],
    text: &'t mut [u16],
) -> Option<Seen<'t>> {
    let values = VALUES.get()?;
    values.read_at(jvmti, &RUNTIME, local, object, steps, text)
}

/// Writes the innermost frames of the current call stack and says how many they are.
pub(crate) fn frames(jvm: Jvm<'_>, frames: &mut [u64]) -> usize {
    let found = stack::current(jvm, frames.len());
    for (word, (class, method, line)) in frames.iter_mut().zip(&found) {
        *word = frame_word(RUNTIME.class(class), RUNTIME.class(method), *line);
    }
    found.len()
}
