//! The memory in which the application's threads record spans, and the reading of captured values.

use crate::ffi::clock::Start;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::native_stack;
use crate::ffi::process;
use crate::ffi::reader::Reader;
use crate::ffi::refs::{Local, LocalRef, StaticInt};
use crate::ffi::stack;
use crate::ffi::thread_cell;
use crate::ffi::values::Values;
use crate::probe_table::table;
use conditions::Step;
use probes::events::ThreadInfo;
use probes::spans::{JvmValue, NewThread, Runtime, SESSIONS, frame_word};
use std::sync::{LazyLock, OnceLock};

/// The time at which the clocks were first compared.
static START: LazyLock<Start> = LazyLock::new(Start::now);
/// The fields and classes for reading captured values and threads, once the JVM is live.
static VALUES: OnceLock<Values> = OnceLock::new();
/// The runtime of the agent's own session, created when the first thread calls in. All sessions share its class
/// numbers.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new(table().spans(), START.nanos_per_tick(), process::pages));
/// The runtimes of the other sessions.
static OTHERS: [OnceLock<Runtime>; SESSIONS - 1] = [const { OnceLock::new() }; SESSIONS - 1];

/// The field in which instrumented code counts exceptions that leave calls.
static UNWOUND: OnceLock<Option<StaticInt>> = OnceLock::new();

/// Begins to compare the clocks. The result is better if it begins early.
pub(crate) fn start_clock() {
    LazyLock::force(&START);
}

/// The runtime of a session, if a thread has called in.
pub(crate) fn get(session: u8) -> Option<&'static Runtime> {
    match usize::from(session).checked_sub(1) {
        None => LazyLock::get(&RUNTIME),
        Some(other) => OTHERS.get(other)?.get(),
    }
}

/// The runtimes of all sessions for which a thread has called in.
pub(crate) fn all() -> impl Iterator<Item = &'static Runtime> {
    let own = LazyLock::get(&RUNTIME).into_iter();
    own.chain(OTHERS.iter().filter_map(OnceLock::get))
}

fn made(session: u8) -> Option<&'static Runtime> {
    let Some(other) = usize::from(session).checked_sub(1) else {
        return Some(&*RUNTIME);
    };
    let made = || RUNTIME.beside(table().spans_of(session));
    Some(OTHERS.get(other)?.get_or_init(made))
}

/// Looks up the fields and classes for reading threads and captured values.
pub(crate) fn resolve(local: Local<'_>) {
    VALUES.get_or_init(|| Values::resolve(local));
}

/// Checks whether the JVM has `Thread.threadId`, by which calls then identify their thread.
pub(crate) fn has_thread_ids() -> bool {
    VALUES.get().is_some_and(Values::has_thread_ids)
}

/// Describes the current thread at its first call of a session.
pub(crate) fn join(jvm: Jvm<'_>, session: u8) -> Option<NewThread> {
    let values = VALUES.get()?;
    let (id, name) = values.current_thread(jvm)?;
    Some(NewThread {
        runtime: made(session)?,
        owner: if values.has_thread_ids() { id? } else { 0 },
        scarce_below: native_stack::scarce_below(),
        clear: thread_cell::clear,
        thread: ThreadInfo {
            id: id.unwrap_or(0),
            name,
            is_virtual: false,
        },
    })
}

/// Java's id of a thread as calls use it, and true if the thread is virtual.
pub(crate) fn identify(local: Local<'_>, thread: &LocalRef<'_>) -> Option<(u64, bool)> {
    VALUES.get()?.identify(local, thread)
}

/// Looks up the field in which instrumented code counts exceptions that leave calls, once the class is defined.
pub(crate) fn resolve_unwound(local: Local<'_>) {
    UNWOUND.get_or_init(|| StaticInt::find(local, c"java/lang/$Classhook", c"unwound"));
}

/// Reads the number of exceptions that have left calls of spans.
pub(crate) fn unwound(local: Local<'_>) -> u64 {
    let field = UNWOUND.get().and_then(Option::as_ref);
    field.map_or(0, |field| field.get(local).cast_unsigned().into())
}

/// The number of the class of an object.
pub(crate) fn class_number(jvmti: Jvmti, local: Local<'_>, object: &LocalRef<'_>) -> Option<u32> {
    VALUES.get()?.class_number(jvmti, &RUNTIME, local, object)
}

/// The description of an object. As much of a string as fits is read into `text`.
pub(crate) fn captured<'t>(
    jvmti: Jvmti,
    local: Local<'_>,
    object: &LocalRef<'_>,
    text: &'t mut [u16],
) -> Option<JvmValue<'t>> {
    reader(jvmti, local)?.describe(object, text)
}

/// A reader of objects, with the class numbers that all sessions share.
pub(crate) fn reader(jvmti: Jvmti, local: Local<'_>) -> Option<Reader<'_>> {
    Some(Reader {
        local,
        jvmti,
        values: VALUES.get()?,
        runtime: &RUNTIME,
    })
}

/// Follows steps from an object to a value. Returns `None` if a step is null or missing.
pub(crate) fn captured_at<'t>(
    jvmti: Jvmti,
    local: Local<'_>,
    object: &LocalRef<'_>,
    steps: &[Step],
    text: &'t mut [u16],
) -> Option<JvmValue<'t>> {
    reader(jvmti, local)?.read_at(object, steps, text)
}

/// The object at the end of the path `steps` with its contents, with at most `limit` bytes of a string.
pub(crate) fn opened<'t>(
    jvmti: Jvmti,
    local: Local<'_>,
    object: &LocalRef<'_>,
    steps: &[Step],
    (levels, limit): (u8, usize),
    bytes: &'t mut [u8],
) -> Option<JvmValue<'t>> {
    let opened = reader(jvmti, local)?.open(object, steps, levels, limit, bytes);
    opened.map(JvmValue::Opened)
}

/// Writes the innermost frames of the current call stack and returns their number.
pub(crate) fn frames(jvm: Jvm<'_>, frames: &mut [u64]) -> usize {
    let found = stack::current(jvm, frames.len());
    for (word, (class, method, line)) in frames.iter_mut().zip(&found) {
        *word = frame_word(RUNTIME.class(class), RUNTIME.class(method), *line);
    }
    found.len()
}
