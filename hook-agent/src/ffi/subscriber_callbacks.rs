//! The JVM TI events of subscribers' environments: each is converted and passed to the [`Handlers`].
//!
//! [`Handlers`]: super::handlers::Handlers

use super::guard::guard;
use super::handlers;
use super::jvm::Jvm;
use super::jvm_events::{ThreadEvent, VmEvent};
use super::jvmti::{Jvmti, MethodId, StackFrame};
use super::phases::Live;
use super::refs::Local;
use super::table::{JvmtiEnv, SubscriberCallbacks};
use crate::names::decode;
use jni_sys::{JNIEnv, jclass, jint, jmethodID, jobject};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;

/// The callbacks of every event of subscribers.
pub(crate) fn subscriber_callbacks() -> SubscriberCallbacks {
    SubscriberCallbacks {
        ThreadStart: Some(thread_start),
        ThreadEnd: Some(thread_end),
        VirtualThreadStart: Some(virtual_thread_start),
        VirtualThreadEnd: Some(virtual_thread_end),
        ClassPrepare: Some(class_prepare),
        NativeMethodBind: Some(native_method_bind),
        CompiledMethodLoad: Some(compiled_method_load),
        CompiledMethodUnload: Some(compiled_method_unload),
        DynamicCodeGenerated: Some(dynamic_code_generated),
        ResourceExhausted: Some(resource_exhausted),
        Exception: Some(exception),
        ExceptionCatch: Some(exception_catch),
        DataDumpRequest: Some(data_dump_request),
        ObjectFree: Some(object_free),
        MonitorWait: Some(monitor_wait),
        MonitorWaited: Some(monitor_waited),
        MonitorContendedEnter: Some(monitor_contended_enter),
        MonitorContendedEntered: Some(monitor_contended_entered),
        GarbageCollectionStart: Some(garbage_collection_start),
        GarbageCollectionFinish: Some(garbage_collection_finish),
        SampledObjectAlloc: Some(sampled_object_alloc),
        ..SubscriberCallbacks::default()
    }
}

/// Passes the result of `event` to the handlers, unless an argument is missing.
fn send_thread_event<'a>(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    event: impl FnOnce(Local<'a>) -> Option<ThreadEvent<'a>>,
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
            local.keeping_exception(|| handlers.thread_event(jvm, &thread, event));
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
    send_thread_event(jvmti, jni, thread, |local| {
        let exception = local.borrow(exception)?;
        Some(ThreadEvent::Exception { exception, caught })
    });
}

unsafe extern "system" fn exception_catch(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    method: jmethodID,
    location: i64,
    exception: jobject,
) {
    let at = MethodId::new(method).map(|method| StackFrame { method, location });
    send_thread_event(jvmti, jni, thread, |local| {
        let exception = local.borrow(exception)?;
        Some(ThreadEvent::ExceptionCatch { exception, at })
    });
}

unsafe extern "system" fn data_dump_request(jvmti: *mut JvmtiEnv) {
    send_vm_event(jvmti, Some(VmEvent::DataDumpRequest));
}

/// The program may be paused: no function of the JVM may be called.
unsafe extern "system" fn object_free(jvmti: *mut JvmtiEnv, tag: i64) {
    if let (Some(handlers), Some(jvmti)) = (handlers::get(), Jvmti::from_callback(jvmti)) {
        guard((), || handlers.object_freed(jvmti, tag));
    }
}

/// HotSpot's extension event for unloaded classes, with their internal names.
pub(crate) unsafe extern "C" fn class_unload(
    jvmti: *mut JvmtiEnv,
    _: *mut JNIEnv,
    name: *mut c_void,
) {
    let name = name.cast::<c_char>().cast_const();
    if name.is_null() {
        return;
    }
    // SAFETY: the JVM passes a NUL-terminated name, valid during the callback. The event's parameter types were checked
    // before this callback was installed.
    let class = decode(unsafe { CStr::from_ptr(name) }.to_bytes()).replace('/', ".");
    send_vm_event(jvmti, Some(VmEvent::ClassUnload { class }));
}

/// HotSpot's extension event for a virtual thread that enters a carrier.
pub(crate) unsafe extern "C" fn virtual_thread_mount(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: *mut c_void,
) {
    send_thread_event(jvmti, jni, thread.cast(), |_| {
        Some(ThreadEvent::VirtualThreadMount)
    });
}

/// HotSpot's extension event for a virtual thread that leaves its carrier.
pub(crate) unsafe extern "C" fn virtual_thread_unmount(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: *mut c_void,
) {
    send_thread_event(jvmti, jni, thread.cast(), |_| {
        Some(ThreadEvent::VirtualThreadUnmount)
    });
}

unsafe extern "system" fn monitor_wait(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    _: i64,
) {
    send_thread_event(jvmti, jni, thread, |local| {
        let object = local.borrow(object)?;
        Some(ThreadEvent::MonitorWait { object })
    });
}

unsafe extern "system" fn monitor_waited(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    _: u8,
) {
    send_thread_event(jvmti, jni, thread, |local| {
        let object = local.borrow(object)?;
        Some(ThreadEvent::MonitorWaited { object })
    });
}

unsafe extern "system" fn monitor_contended_enter(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
) {
    send_thread_event(jvmti, jni, thread, |local| {
        let object = local.borrow(object)?;
        Some(ThreadEvent::MonitorContendedEnter { object })
    });
}

unsafe extern "system" fn monitor_contended_entered(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
) {
    send_thread_event(jvmti, jni, thread, |local| {
        let object = local.borrow(object)?;
        Some(ThreadEvent::MonitorContendedEntered { object })
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
    send_thread_event(jvmti, jni, thread, |local| {
        Some(ThreadEvent::SampledObjectAlloc {
            object: local.borrow(object)?,
            class: local.borrow(class)?,
            size: size.cast_unsigned(),
        })
    });
}

unsafe extern "system" fn thread_start(jvmti: *mut JvmtiEnv, jni: *mut JNIEnv, thread: jobject) {
    let is_virtual = false;
    send_thread_event(jvmti, jni, thread, |_| {
        Some(ThreadEvent::ThreadStart { is_virtual })
    });
}

unsafe extern "system" fn thread_end(jvmti: *mut JvmtiEnv, jni: *mut JNIEnv, thread: jobject) {
    let is_virtual = false;
    send_thread_event(jvmti, jni, thread, |_| {
        Some(ThreadEvent::ThreadEnd { is_virtual })
    });
}

unsafe extern "system" fn virtual_thread_start(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
) {
    let is_virtual = true;
    send_thread_event(jvmti, jni, thread, |_| {
        Some(ThreadEvent::ThreadStart { is_virtual })
    });
}

unsafe extern "system" fn virtual_thread_end(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
) {
    let is_virtual = true;
    send_thread_event(jvmti, jni, thread, |_| {
        Some(ThreadEvent::ThreadEnd { is_virtual })
    });
}

unsafe extern "system" fn class_prepare(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    class: jclass,
) {
    send_thread_event(jvmti, jni, thread, |local| {
        let class = local.borrow(class)?;
        Some(ThreadEvent::ClassPrepare { class })
    });
}

unsafe extern "system" fn native_method_bind(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    method: jmethodID,
    _: *mut c_void,
    _: *mut *mut c_void,
) {
    send_thread_event(jvmti, jni, thread, |_| {
        let method = MethodId::new(method)?;
        Some(ThreadEvent::NativeMethodBind { method })
    });
}

unsafe extern "system" fn compiled_method_load(
    jvmti: *mut JvmtiEnv,
    method: jmethodID,
    code_size: jint,
    _: *const c_void,
    _: jint,
    _: *const c_void,
    _: *const c_void,
) {
    let bytes = u64::try_from(code_size).unwrap_or(0);
    let made = |method| VmEvent::CompiledMethodLoad { method, bytes };
    send_vm_event(jvmti, MethodId::new(method).map(made));
}

unsafe extern "system" fn compiled_method_unload(
    jvmti: *mut JvmtiEnv,
    method: jmethodID,
    _: *const c_void,
) {
    let gone = |method| VmEvent::CompiledMethodUnload { method };
    send_vm_event(jvmti, MethodId::new(method).map(gone));
}

unsafe extern "system" fn dynamic_code_generated(
    jvmti: *mut JvmtiEnv,
    name: *const c_char,
    _: *const c_void,
    length: jint,
) {
    let bytes = u64::try_from(length).unwrap_or(0);
    let name = text_of(name);
    send_vm_event(jvmti, Some(VmEvent::DynamicCodeGenerated { name, bytes }));
}

/// A text of an event; empty if the JVM passes none.
fn text_of(text: *const c_char) -> String {
    match text.is_null() {
        true => String::new(),
        // SAFETY: the JVM passes a NUL-terminated string, valid during the callback.
        false => decode(unsafe { CStr::from_ptr(text) }.to_bytes()),
    }
}

unsafe extern "system" fn resource_exhausted(
    jvmti: *mut JvmtiEnv,
    _: *mut JNIEnv,
    flags: jint,
    _: *const c_void,
    description: *const c_char,
) {
    let text = text_of(description);
    let flags = u64::from(flags.cast_unsigned());
    send_vm_event(jvmti, Some(VmEvent::ResourceExhausted { flags, text }));
}

/// Passes an event without a Java thread to the handlers.
fn send_vm_event(jvmti: *mut JvmtiEnv, event: Option<VmEvent>) {
    let (Some(handlers), Some(jvmti), Some(event)) =
        (handlers::get(), Jvmti::from_callback(jvmti), event)
    else {
        return;
    };
    guard((), || handlers.vm_event(jvmti, event));
}

unsafe extern "system" fn garbage_collection_start(_: *mut JvmtiEnv) {
    collection(true);
}

unsafe extern "system" fn garbage_collection_finish(_: *mut JvmtiEnv) {
    collection(false);
}

/// The program is paused: no function of the JVM may be called.
fn collection(begins: bool) {
    if let Some(handlers) = handlers::get() {
        guard((), || handlers.collection(begins));
    }
}
