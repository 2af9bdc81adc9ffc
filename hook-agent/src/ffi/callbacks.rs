//! The JVM TI events of the agent's own environments: each is converted and passed to the [`Handlers`].
//!
//! [`Handlers`]: super::handlers::Handlers

use super::class_file_load::ClassFileLoad;
use super::guard::guard;
use super::handlers;
use super::jvm::Jvm;
use super::jvmti::Jvmti;
use super::phases::Live;
use super::refs::Local;
use super::table::{EventCallbacks, JvmtiEnv};
use crate::names::name_in;
use jni_sys::{JNIEnv, jclass, jint, jobject};
use std::ffi::{CStr, c_char, c_uchar};
use std::ptr::NonNull;

/// The callbacks of every event of the agent's environment.
pub(crate) fn event_callbacks() -> EventCallbacks {
    EventCallbacks {
        VMInit: Some(vm_init),
        VMDeath: Some(vm_death),
        ClassFileLoadHook: Some(class_file_load_hook),
        ClassPrepare: Some(class_prepare),
        DataDumpRequest: Some(data_dump_request),
        ..EventCallbacks::default()
    }
}

/// The callback of `ClassFileLoadHook` alone.
pub(crate) fn class_file_load_hook_callback() -> EventCallbacks {
    EventCallbacks {
        ClassFileLoadHook: Some(class_file_load_hook),
        ..EventCallbacks::default()
    }
}

unsafe extern "system" fn class_file_load_hook(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    class_being_redefined: jclass,
    loader: jobject,
    name: *const c_char,
    protection_domain: jobject,
    class_data_len: jint,
    class_data: *const c_uchar,
    new_class_data_len: *mut jint,
    new_class_data: *mut *mut c_uchar,
) {
    let (Some(handlers), Some(jvmti), Some(jni)) = (
        handlers::get(),
        Jvmti::from_callback(jvmti),
        NonNull::new(jni),
    ) else {
        return;
    };
    let length = usize::try_from(class_data_len).unwrap_or(0);
    if class_data.is_null() || new_class_data.is_null() || new_class_data_len.is_null() {
        return;
    }
    // SAFETY: the environment of the loading thread, valid during the callback; the agent enables this
    // event in the live phase only, so JNI is legal.
    let local = unsafe { Local::new(jni) };
    let mut load = ClassFileLoad {
        local,
        jvmti,
        class_being_redefined: local.borrow(class_being_redefined),
        loader: local.borrow(loader),
        // SAFETY: NULL or a NUL-terminated name, valid during the callback.
        name: (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes()),
        protection_domain: local.borrow(protection_domain),
        // SAFETY: the JVM passes `class_data_len` bytes, valid and unchanged during the callback.
        class_data: unsafe { std::slice::from_raw_parts(class_data, length) },
        new_class_data_len,
        new_class_data,
    };
    guard((), || {
        load.name = load.name.or_else(|| name_in(load.class_data));
        handlers.class_file_load_hook(&load);
    });
}

unsafe extern "system" fn class_prepare(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    _: jobject,
    class: jclass,
) {
    let (Some(handlers), Some(jvmti), Some(jni)) = (
        handlers::get(),
        Jvmti::from_callback(jvmti),
        NonNull::new(jni),
    ) else {
        return;
    };
    // SAFETY: the environment of the linking thread, valid during the callback.
    let local = unsafe { Local::new(jni) };
    guard((), || {
        if let Some(class) = local.borrow(class) {
            handlers.class_prepare(jvmti, &class);
        }
    });
}

unsafe extern "system" fn vm_init(jvmti: *mut JvmtiEnv, jni: *mut JNIEnv, _: jobject) {
    let (Some(handlers), Some(jvmti), Some(jni)) = (
        handlers::get(),
        Jvmti::from_callback(jvmti),
        NonNull::new(jni),
    ) else {
        return;
    };
    // SAFETY: the environment of this thread, valid during the callback; VMInit begins the live phase.
    let local = unsafe { Local::new(jni) };
    guard((), || {
        handlers.vm_init(Jvm::new(jvmti, Live::entered(), local))
    });
}

unsafe extern "system" fn vm_death(jvmti: *mut JvmtiEnv, jni: *mut JNIEnv) {
    let (Some(handlers), Some(jvmti), Some(jni)) = (
        handlers::get(),
        Jvmti::from_callback(jvmti),
        NonNull::new(jni),
    ) else {
        return;
    };
    // SAFETY: the environment of this thread, valid during the callback; the live phase ends after it.
    let local = unsafe { Local::new(jni) };
    guard((), || {
        handlers.vm_death(Jvm::new(jvmti, Live::entered(), local))
    });
}

unsafe extern "system" fn data_dump_request(_: *mut JvmtiEnv) {
    let Some(handlers) = handlers::get() else {
        return;
    };
    guard((), || handlers.data_dump_request());
}
