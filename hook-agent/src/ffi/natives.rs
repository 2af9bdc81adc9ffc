//! The native methods of `java/lang/$Classhook`, which the JVM finds by their exported names.
//!
//! Instrumented methods call them, on threads of the application. No code of the application runs here: values are read
//! from fields, and no method is called.

use super::clock;
use super::guard::guard;
use super::handlers;
use super::native_stack;
use super::phases::Live;
use super::reader::Reader;
use super::refs::{Local, LocalRef};
use super::thread_cell;
use super::values::read_text;
use conditions::Step;
use jni_sys::{JNIEnv, jclass, jint, jlong, jobject};
use probes::spans::calls::{
    capture, capture_opened, capture_read_from, enter, event, exit, fail, number,
};
use probes::spans::suspending::{self, SuspendEntry};
use probes::spans::{
    CaptureSpec, Jvm, JvmValue, MAX_OPENED, MAX_TEXT, MethodName, NewThread, Opening, SESSIONS,
    SpanInCode, ThreadCell,
};
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// The native method that is being called for a span of a session.
#[derive(Clone, Copy)]
struct Caller<'a> {
    local: Option<Local<'a>>,
    session: usize,
}

impl Jvm for Caller<'_> {
    #[inline]
    fn ticks(&self) -> u64 {
        clock::ticks()
    }

    #[inline(always)]
    fn has_counter(&self) -> bool {
        clock::has_counter()
    }

    #[inline(always)]
    fn counter(&self) -> u64 {
        clock::counter()
    }

    #[inline(always)]
    fn fetch(&self, word: &AtomicU64) {
        clock::fetch(word);
    }

    #[inline(always)]
    fn with_cell<R>(&self, body: impl FnOnce(&ThreadCell) -> R) -> R {
        thread_cell::with(self.session, body)
    }

    #[inline]
    fn with_query_flag<R>(&self, body: impl FnOnce(&Cell<bool>) -> R) -> R {
        thread_cell::with_query_flag(body)
    }

    fn join(&self) -> Option<NewThread> {
        let local = self.local?;
        guard(None, || {
            handlers::get()?.first_span(Live::entered(), local, self.session)
        })
    }

    #[inline(always)]
    fn stack_pointer(&self) -> u64 {
        native_stack::pointer()
    }

    fn unwound(&self) -> u64 {
        let local = self.local.zip(handlers::get());
        local.map_or(0, |(local, handlers)| handlers.unwound(local))
    }

    fn running(&self) -> Option<HashMap<MethodName, u64>> {
        let local = self.local?;
        guard(None, || handlers::get()?.running(Live::entered(), local))
    }

    fn frames(&self, frames: &mut [u64]) -> usize {
        let Some(local) = self.local else {
            return 0;
        };
        guard(0, || {
            handlers::get().map_or(0, |it| it.frames(Live::entered(), local, frames))
        })
    }
}

/// Runs `body` with the caller and the number of the span within its session. A panic is an error of the agent, and
/// loses one call of a span only. It is cheaper than [`guard`], which rare calls use as well.
#[inline]
fn quietly(env: *mut JNIEnv, span: jint, body: impl FnOnce(Caller<'_>, u32)) {
    // SAFETY: the JVM passes the environment of the calling thread, valid until the method returns.
    let local = NonNull::new(env).map(|env| unsafe { Local::new(env) });
    let span = SpanInCode(span.cast_unsigned());
    let caller = Caller {
        local,
        session: span.session(),
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(caller, span.span()))) {
        std::mem::forget(payload);
    }
}

/// Runs `body` without recording calls of this thread that begin or end meanwhile.
pub(super) fn unrecorded<R>(local: Local<'_>, body: impl FnOnce() -> R) -> R {
    let caller = Caller {
        local: Some(local),
        session: 0,
    };
    probes::spans::unrecorded(&caller, body)
}

/// Begins a call.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_enter0(
    env: *mut JNIEnv,
    _: jclass,
    span: jint,
    thread: jlong,
) {
    quietly(env, span, |caller, span| {
        enter(&caller, thread.cast_unsigned(), span);
    });
}

/// Ends a call that returns.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_exit0(
    env: *mut JNIEnv,
    _: jclass,
    span: jint,
    thread: jlong,
) {
    quietly(env, span, |caller, span| {
        exit(&caller, thread.cast_unsigned(), span);
    });
}

/// Begins a call of a suspend function, with the continuation that is passed to it.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_begin0(
    env: *mut JNIEnv,
    _: jclass,
    passed: jobject,
    span: jint,
    thread: jlong,
) {
    quietly(env, span, |caller, span| {
        begin_suspending(caller, passed, span, thread, |reader, passed| {
            reader.entry_of_function(passed)
        });
    });
}

/// Begins a call of a suspend lambda, which is its own continuation.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_proceed0(
    env: *mut JNIEnv,
    _: jclass,
    lambda: jobject,
    span: jint,
    thread: jlong,
) {
    quietly(env, span, |caller, span| {
        begin_suspending(caller, lambda, span, thread, |reader, lambda| {
            reader.entry_of_lambda(lambda)
        });
    });
}

/// Returns the reader of continuations.
fn reader(caller: Caller<'_>) -> Option<Reader<'_>> {
    handlers::get()?.continuations(caller.local?)
}

fn begin_suspending<'a>(
    caller: Caller<'a>,
    continuation: jobject,
    span: u32,
    thread: jlong,
    entry: impl FnOnce(Reader<'a>, &LocalRef<'a>) -> Option<SuspendEntry<LocalRef<'a>>>,
) {
    let thread = thread.cast_unsigned();
    guard((), || {
        let Some(reader) = reader(caller) else {
            return enter(&caller, thread, span);
        };
        suspending::begin(&caller, &reader, thread, span, || {
            entry(reader, &reader.local.borrow(continuation)?)
        });
    });
}

/// Ends or suspends a call of a suspend function, by the value that it returns.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_finish0(
    env: *mut JNIEnv,
    _: jclass,
    returned: jobject,
    span: jint,
    thread: jlong,
) {
    let thread = thread.cast_unsigned();
    quietly(env, span, |caller, span| {
        let suspends = probes::spans::unrecorded(&caller, || {
            guard(false, || {
                let returned = caller.local.and_then(|local| local.borrow(returned));
                let both = returned.zip(reader(caller));
                both.is_some_and(|(returned, reader)| reader.is_suspended(&returned))
            })
        });
        if suspends {
            suspending::suspend(&caller, thread, span);
        } else {
            suspending::complete(&caller, thread, span);
        }
    });
}

/// Resumes a continuation with a value or a failure, in every session.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_resumed0(
    env: *mut JNIEnv,
    _: jclass,
    continuation: jobject,
    result: jobject,
    span: jint,
    thread: jlong,
) {
    let thread = thread.cast_unsigned();
    quietly(env, span, |caller, _| {
        let waits = |session: &usize| {
            handlers::get().is_some_and(|handlers| handlers.awaits_continuations(*session))
        };
        for session in (0..SESSIONS).filter(waits) {
            let caller = Caller { session, ..caller };
            guard((), || resume(caller, continuation, result, thread));
        }
    });
}

/// Resumes a continuation for which calls of a session may wait.
fn resume(caller: Caller<'_>, continuation: jobject, result: jobject, thread: u64) {
    let found = caller.local.and_then(|local| local.borrow(continuation));
    let Some((continuation, reader)) = found.zip(reader(caller)) else {
        return;
    };
    let failure =
        probes::spans::unrecorded(&caller, || reader.failure(&reader.local.borrow(result)?));
    let class = || reader.class_number(failure.as_ref()?);
    let failed = failure.is_some();
    suspending::resumed(&caller, &reader, thread, &continuation, failed, class);
}

/// Records an event.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_event0(
    env: *mut JNIEnv,
    _: jclass,
    span: jint,
    thread: jlong,
) {
    quietly(env, span, |caller, span| {
        event(&caller, thread.cast_unsigned(), span);
    });
}

/// Ends a call that an exception leaves.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_fail0(
    env: *mut JNIEnv,
    _: jclass,
    thrown: jobject,
    span: jint,
    thread: jlong,
) {
    quietly(env, span, |caller, span| {
        let class = || {
            guard(None, || {
                let thrown = caller.local?.borrow(thrown)?;
                handlers::get()?.class_number(caller.local?, &thrown)
            })
        };
        fail(&caller, thread.cast_unsigned(), span, class);
    });
}

/// Captures a primitive value, as the bits of a `long`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_number0(
    env: *mut JNIEnv,
    _: jclass,
    bits: jlong,
    spec: jint,
    span: jint,
    thread: jlong,
) {
    let (spec, thread) = (CaptureSpec(spec), thread.cast_unsigned());
    quietly(env, span, |caller, span| {
        if spec.root().is_none() {
            return number(&caller, thread, span, spec, bits.cast_unsigned());
        }
        let number = || JvmValue::Number(spec.kind(), bits.cast_unsigned());
        capture_read_from(&caller, thread, span, spec, |_, path, _, keep| {
            let is_number = path.is_none_or(|path| path.from_root().is_empty());
            keep(if is_number {
                number()
            } else {
                JvmValue::Unreadable
            });
        });
    });
}

/// Captures a reference.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Classhook_object0(
    env: *mut JNIEnv,
    _: jclass,
    value: jobject,
    spec: jint,
    span: jint,
    thread: jlong,
) {
    let (spec, thread) = (CaptureSpec(spec), thread.cast_unsigned());
    if spec.root().is_some() {
        return quietly(env, span, |caller, span| {
            read_from(caller, value, spec, span, thread);
        });
    }
    quietly(env, span, |caller, span| {
        if spec.is_opened() && !spec.is_text() {
            keep_opened(caller, value, spec, span, thread);
        } else if spec.limit() <= SHORT_TEXT {
            keep_object::<SHORT_TEXT>(caller, value, spec, span, thread);
        } else {
            keep_object::<MAX_TEXT>(caller, value, spec, span, thread);
        }
    });
}

/// Code units of a short string, for which a smaller buffer is cleared.
const SHORT_TEXT: usize = 80;

/// Captures a reference; of a string, at most `N` code units.
#[inline(never)]
fn keep_object<const N: usize>(
    caller: Caller<'_>,
    value: jobject,
    spec: CaptureSpec,
    span: u32,
    thread: u64,
) {
    let mut text = None;
    capture(&caller, thread, span, spec, || {
        let value = caller.local.and_then(|local| local.borrow(value));
        let text = text.insert([0; N]);
        seen(caller, value.as_ref(), spec, &mut text[..spec.limit()])
    });
}

/// Captures the values that the condition of a span, or its list of shown values, reads from a reference.
#[inline(never)]
fn read_from(caller: Caller<'_>, value: jobject, spec: CaptureSpec, span: u32, thread: u64) {
    let value = caller.local.and_then(|local| local.borrow(value));
    capture_read_from(&caller, thread, span, spec, |spec, path, opening, keep| {
        let steps = path.map_or(&[][..], |path| path.from_root());
        open(caller, (value.as_ref(), steps), spec, opening, keep);
    });
}

/// Captures a reference with its contents.
#[inline(never)]
fn keep_opened(caller: Caller<'_>, value: jobject, spec: CaptureSpec, span: u32, thread: u64) {
    let value = caller.local.and_then(|local| local.borrow(value));
    capture_opened(&caller, thread, span, spec, |opening, keep| {
        open(caller, (value.as_ref(), &[]), spec, opening, keep);
    });
}

/// Captures the value at the end of the path `steps` from an object. If the spec opens objects, an object is captured
/// with its contents.
fn open(
    caller: Caller<'_>,
    (value, steps): (Option<&LocalRef<'_>>, &[Step]),
    spec: CaptureSpec,
    opening: Opening,
    keep: &mut dyn FnMut(JvmValue<'_>),
) {
    let text = &mut [0; MAX_TEXT][..spec.limit()];
    let seen = seen_at(caller, value, spec, steps, text);
    let is_opened =
        opening.levels > 0 && matches!(seen, JvmValue::Object(..) | JvmValue::Array(..));
    match value {
        Some(value) if is_opened => {
            let mut bytes = [0; MAX_OPENED];
            let room = bytes.get_mut(..opening.bytes).unwrap_or_default();
            let limits = (opening.levels, spec.limit());
            let opened = guard(None, || {
                handlers::get()?.opened(caller.local?, value, steps, limits, room)
            });
            keep(opened.unwrap_or(seen));
        }
        _ => keep(seen),
    }
}

/// The value at the end of the path `steps` from an object.
fn seen_at<'t>(
    caller: Caller<'_>,
    value: Option<&LocalRef<'_>>,
    spec: CaptureSpec,
    steps: &[Step],
    text: &'t mut [u16],
) -> JvmValue<'t> {
    match value {
        _ if steps.is_empty() => seen(caller, value, spec, text),
        None => JvmValue::Unreadable,
        Some(value) => guard(None, || {
            handlers::get()?.captured_at(caller.local?, value, steps, text)
        })
        .unwrap_or(JvmValue::Unreadable),
    }
}

/// The description of an object without a call of its methods. Strings are read here, because this is the fastest path.
#[inline(always)]
fn seen<'t>(
    caller: Caller<'_>,
    value: Option<&LocalRef<'_>>,
    spec: CaptureSpec,
    text: &'t mut [u16],
) -> JvmValue<'t> {
    let Some(value) = value else {
        return JvmValue::Null;
    };
    let read = match caller.local {
        Some(local) if spec.is_text() => read_text(local, value, text),
        _ => guard(None, || {
            handlers::get()?.captured(caller.local?, value, text)
        }),
    };
    read.unwrap_or(JvmValue::Unreadable)
}
