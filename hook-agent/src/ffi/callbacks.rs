//! The JVM TI events that the agent takes.

use super::current;
use super::error::JvmtiError;
use super::guard::guard;
use super::jvmti::Jvmti;
use super::phases::Live;
use super::refs::{Local, LocalRef};
use super::table::{EventCallbacks, JvmtiEnv, StartFunction};
use crate::{channel, class_hook, foundation, recording, waiting};
use jni_sys::{JNIEnv, jclass, jint, jobject};
use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::ptr::NonNull;

/// The callbacks to install.
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

/// The callbacks of the environment that lays foundations.
pub(crate) fn foundation_callbacks() -> EventCallbacks {
    EventCallbacks {
        ClassFileLoadHook: Some(class_file_load_hook),
        ..EventCallbacks::default()
    }
}

/// The body of the agent thread.
pub(crate) const AGENT_THREAD: StartFunction = agent_thread;

/// The body of the control thread.
pub(crate) const CONTROL_THREAD: StartFunction = control_thread;

/// Everything that one `ClassFileLoadHook` event brings.
#[derive(Debug)]
pub(crate) struct ClassFileLoad<'a> {
    /// JNI on the loading thread; only what runs no Java code.
    pub local: Local<'a>,
    /// The environment that the event is for.
    pub jvmti: Jvmti,
    /// The class being retransformed or redefined; `None` for a load.
    pub class_being_redefined: Option<LocalRef<'a>>,
    /// The defining loader; `None` is the bootstrap loader.
    pub loader: Option<LocalRef<'a>>,
    /// Internal name in modified UTF-8; `None` if the class is defined without one.
    pub name: Option<&'a [u8]>,
    /// The class's protection domain; may be absent.
    pub protection_domain: Option<LocalRef<'a>>,
    /// The class file.
    pub class_data: &'a [u8],
    new_class_data_len: *mut jint,
    new_class_data: *mut *mut c_uchar,
}

impl ClassFileLoad<'_> {
    /// Gives the JVM another class file, in memory that it frees itself.
    ///
    /// # Errors
    ///
    /// What `Allocate` said; the class then loads unchanged.
    pub fn set_new_class_data(&self, bytes: &[u8]) -> Result<(), JvmtiError> {
        let length = jint::try_from(bytes.len()).map_err(|_| JvmtiError::OUT_OF_MEMORY)?;
        let memory = self.jvmti.allocate_copy(bytes)?;
        // SAFETY: both are the JVM's out parameters, valid until the callback returns, which this
        // value does not outlive (`'a`).
        unsafe {
            *self.new_class_data_len = length;
            *self.new_class_data = memory.as_ptr();
        }
        Ok(())
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
    // The agent enables this event in the live phase; `jni` is legal from here on.
    let Some(agent) = current::get().filter(|agent| agent.is_running()) else {
        return;
    };
    let (Some(jvmti), Some(jni)) = (Jvmti::from_callback(jvmti), NonNull::new(jni)) else {
        return;
    };
    let length = usize::try_from(class_data_len).unwrap_or(0);
    if class_data.is_null() || new_class_data.is_null() || new_class_data_len.is_null() {
        return;
    }
    // SAFETY: the environment of the loading thread, valid during the callback.
    let local = unsafe { Local::new(jni) };
    let load = ClassFileLoad {
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
    guard("ClassFileLoadHook", (), || {
        if jvmti == agent.jvmti() {
            class_hook::class_file_load_hook(agent, &load);
        } else {
            foundation::class_file_load_hook(agent, &load);
        }
    });
}

unsafe extern "system" fn class_prepare(
    _: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    _: jobject,
    class: jclass,
) {
    let (Some(agent), Some(jni)) = (current::get(), NonNull::new(jni)) else {
        return;
    };
    // SAFETY: the environment of the linking thread, valid during the callback.
    let local = unsafe { Local::new(jni) };
    guard("ClassPrepare", (), || {
        if let Some(class) = local.borrow(class) {
            waiting::class_prepared(agent, &class);
        }
    });
}

unsafe extern "system" fn vm_init(_: *mut JvmtiEnv, jni: *mut JNIEnv, _: jobject) {
    let (Some(agent), Some(jni)) = (current::get(), NonNull::new(jni)) else {
        return;
    };
    // SAFETY: the environment of this thread, valid during the callback; VMInit begins the live phase.
    let local = unsafe { Local::new(jni) };
    guard("VMInit", (), || agent.vm_init(Live::entered(), local));
}

unsafe extern "system" fn vm_death(_: *mut JvmtiEnv, jni: *mut JNIEnv) {
    let (Some(agent), Some(jni)) = (current::get(), NonNull::new(jni)) else {
        return;
    };
    // SAFETY: the environment of this thread, valid during the callback; the live phase ends after it.
    let local = unsafe { Local::new(jni) };
    guard("VMDeath", (), || agent.vm_death(Live::entered(), local));
}

unsafe extern "system" fn data_dump_request(_: *mut JvmtiEnv) {
    let Some(agent) = current::get() else { return };
    guard("DataDumpRequest", (), || recording::request_flush(agent));
}

unsafe extern "system" fn agent_thread(_: *mut JvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    let (Some(agent), Some(jni)) = (current::get(), NonNull::new(jni)) else {
        return;
    };
    // SAFETY: the environment of this agent thread, which the JVM attached before calling.
    let local = unsafe { Local::new(jni) };
    guard("agent thread", (), || {
        recording::run(agent, Live::entered(), local)
    });
}

unsafe extern "system" fn control_thread(_: *mut JvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    let (Some(agent), Some(jni)) = (current::get(), NonNull::new(jni)) else {
        return;
    };
    // SAFETY: the environment of this agent thread, which the JVM attached before calling.
    let local = unsafe { Local::new(jni) };
    guard("control thread", (), || {
        channel::run(agent, Live::entered(), local)
    });
}
