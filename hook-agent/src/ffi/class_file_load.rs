//! The arguments of a `ClassFileLoadHook` event, and its answer.

use super::error::JvmtiError;
use super::jvmti::Jvmti;
use super::refs::{Local, LocalRef};
use jni_sys::jint;
use std::ffi::c_uchar;

/// The arguments of a `ClassFileLoadHook` event.
#[derive(Debug)]
pub(crate) struct ClassFileLoad<'a> {
    /// JNI on the loading thread; only for functions that run no Java code.
    pub local: Local<'a>,
    /// The environment that the event is for.
    pub jvmti: Jvmti,
    /// The class being retransformed or redefined; `None` for a load.
    pub class_being_redefined: Option<LocalRef<'a>>,
    /// The defining loader; `None` is the bootstrap loader.
    pub loader: Option<LocalRef<'a>>,
    /// Internal name in modified UTF-8. A class that is defined without one has the name of its class file; `None` if
    /// that cannot be read.
    pub name: Option<&'a [u8]>,
    /// The class's protection domain; may be absent.
    pub protection_domain: Option<LocalRef<'a>>,
    /// The class file.
    pub class_data: &'a [u8],
    pub(super) new_class_data_len: *mut jint,
    pub(super) new_class_data: *mut *mut c_uchar,
}

impl ClassFileLoad<'_> {
    /// Passes another class file to the JVM, in memory that the JVM frees.
    ///
    /// # Errors
    ///
    /// The error of `Allocate`; the class then loads unchanged.
    pub fn set_new_class_data(&self, bytes: &[u8]) -> Result<(), JvmtiError> {
        let length = jint::try_from(bytes.len()).map_err(|_| JvmtiError::OUT_OF_MEMORY)?;
        let memory = self.jvmti.allocate_copy(bytes)?;
        // SAFETY: both are the JVM's out parameters, valid until the callback returns, which this value does not
        // outlive (`'a`).
        unsafe {
            *self.new_class_data_len = length;
            *self.new_class_data = memory.as_ptr();
        }
        Ok(())
    }
}
