//! The JVM TI events of an environment that observes: each is converted and handed over to the [`Handlers`].
//!
//! [`Handlers`]: super::handlers::Handlers

use super::guard::guard;
use super::handlers;
use super::jvm::Jvm;
use super::jvmti::{Jvmti, MethodId, StackFrame};
use super::observed::Observed;
use super::phases::Live;
use super::refs::Local;
use super::table::{JvmtiEnv, ObserverCallbacks};
use jni_sys::{JNIEnv, jclass, jmethodID, jobject};
use std::ptr::NonNull;

/// The callbacks of every event that can be observed.
pub(crate) fn observer_callbacks() -> ObserverCallbacks {
    ObserverCallbacks {
        Exception: Some(exception),
        MonitorWait: Some(monitor_wait),
        MonitorWaited: Some(monitor_waited),
        MonitorContendedEnter: Some(monitor_contended_enter),
        MonitorContendedEntered: Some(monitor_contended_entered),
        GarbageCollectionStart: Some(garbage_collection_start),
        GarbageCollectionFinish: Some(garbage_collection_finish),
        SampledObjectAlloc: Some(sampled_object_alloc),
        ..ObserverCallbacks::default()
    }
}

/// Hands over what `event` makes of the thread's environment, if all of it is there.
fn hand_over<'a>(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    event: impl FnOnce(Local<'a>) -> Option<Observed<'a>>,
) {
    let (Some(handlers), Some(jvmti), Some(jni)) = (
        handlers::get(),
        Jvmti::from_callback(jvmti),
        NonNull::new(jni),
    ) else {
        return;
    };
    // SAFETY: the environment of this thread, valid during the callback; these events are sent in the live phase only.
    let local = unsafe { Local::new(jni) };
    guard((), || {
        if let Some((thread, event)) = local.borrow(thread).zip(event(local)) {
            let jvm = Jvm::new(jvmti, Live::entered(), local);
            local.keeping_exception(|| handlers.observed(jvm, &thread, event));
        }
    });
}

unsafe extern "system" fn exception(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    _: jmethodID,
    _: i64,
    exception: jobject,
    catch_method: jmethodID,
    location: i64,
) {
    let caught = MethodId::new(catch_method).map(|method| StackFrame { method, location });
    hand_over(jvmti, jni, thread, |local| {
        let exception = local.borrow(exception)?;
        Some(Observed::Throws { exception, caught })
    });
}

unsafe extern "system" fn monitor_wait(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    _: jobject,
    _: i64,
) {
    hand_over(jvmti, jni, thread, |_| Some(Observed::Waits));
}

unsafe extern "system" fn monitor_waited(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    _: u8,
) {
    hand_over(jvmti, jni, thread, |local| {
        let object = local.borrow(object)?;
        Some(Observed::Waited { object })
    });
}

unsafe extern "system" fn monitor_contended_enter(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    _: jobject,
) {
    hand_over(jvmti, jni, thread, |_| Some(Observed::Waits));
}

unsafe extern "system" fn monitor_contended_entered(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
) {
    hand_over(jvmti, jni, thread, |local| {
        let object = local.borrow(object)?;
        Some(Observed::Entered { object })
    });
}

unsafe extern "system" fn sampled_object_alloc(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    class: jclass,
    size: i64,
) {
    hand_over(jvmti, jni, thread, |local| {
        Some(Observed::Allocated {
            object: local.borrow(object)?,
            class: local.borrow(class)?,
            size: size.cast_unsigned(),
        })
    });
}

unsafe extern "system" fn garbage_collection_start(_: *mut JvmtiEnv) {
    collection(true);
}

unsafe extern "system" fn garbage_collection_finish(_: *mut JvmtiEnv) {
    collection(false);
}

/// The JVM stands still: no function of it may be called.
fn collection(begins: bool) {
    if let Some(handlers) = handlers::get() {
        guard((), || handlers.collection(begins));
    }
}
