//! Methods of classes, and stack frames.

use super::{Jvmti, JvmtiError, Live, Local, LocalRef, table};
use crate::ffi::table::{FrameInfo, LineNumberEntry};
use jni_sys::{jint, jmethodID, jobject};
use std::ffi::c_char;
use std::ptr::{NonNull, null_mut};

/// A version of a method.
///
/// The JVM returns `INVALID_METHODID` once its class has been unloaded. It does not reuse the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodId(NonNull<jni_sys::_jmethodID>);

/// A frame of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackFrame {
    /// The version of the method that it executes.
    pub method: MethodId,
    /// A bci; -1 in a native method.
    pub location: i64,
}

// SAFETY: a method ID is valid in every thread, and the JVM returns an error for that of an unloaded class (JVM TI,
// Method).
unsafe impl Send for MethodId {}

impl StackFrame {
    /// Converts a frame of the JVM. Returns `None` without a method.
    pub(super) fn new(info: FrameInfo) -> Option<Self> {
        Some(Self {
            method: MethodId::new(info.method)?,
            location: info.location,
        })
    }
}

impl MethodId {
    /// Wraps a method ID from a callback; `None` for NULL.
    pub(in crate::ffi) fn new(raw: jmethodID) -> Option<Self> {
        NonNull::new(raw).map(Self)
    }

    /// A number that is unique in the JVM.
    pub fn number(self) -> u64 {
        self.0.as_ptr().addr() as u64
    }

    fn as_raw(self) -> jmethodID {
        self.0.as_ptr()
    }
}

impl Jvmti {
    /// The methods of a linked class, without inherited ones.
    pub fn class_methods(self, class: &LocalRef<'_>) -> Result<Vec<MethodId>, JvmtiError> {
        let mut count = 0;
        let mut methods: *mut jmethodID = null_mut();
        call!(self.GetClassMethods(class.as_raw(), &raw mut count, &raw mut methods))?;
        let found = self.take_array(methods, count).into_iter();
        Ok(found.filter_map(NonNull::new).map(MethodId).collect())
    }

    /// Name and descriptor, in modified UTF-8.
    pub fn method_name(self, method: MethodId) -> Result<(Vec<u8>, Vec<u8>), JvmtiError> {
        let (mut name, mut descriptor): (*mut c_char, *mut c_char) = (null_mut(), null_mut());
        call!(self.GetMethodName(
            method.as_raw(),
            &raw mut name,
            &raw mut descriptor,
            null_mut()
        ))?;
        let (name, descriptor) = (self.take_string(name), self.take_string(descriptor));
        name.zip(descriptor).ok_or(JvmtiError::NOT_AVAILABLE)
    }

    /// The access flags (JVMS 4.6).
    pub fn method_flags(self, method: MethodId) -> Result<u16, JvmtiError> {
        let mut flags = 0;
        call!(self.GetMethodModifiers(method.as_raw(), &raw mut flags))?;
        Ok(u16::try_from(flags & 0xFFFF).unwrap_or_default())
    }

    /// The class that declares the method.
    pub fn declaring_class<'a>(
        self,
        local: Local<'a>,
        method: MethodId,
    ) -> Result<LocalRef<'a>, JvmtiError> {
        let mut class: jobject = null_mut();
        call!(self.GetMethodDeclaringClass(method.as_raw(), &raw mut class))?;
        local.adopt(class).ok_or(JvmtiError::NOT_AVAILABLE)
    }

    /// Checks whether this version of the method has been replaced.
    pub fn is_obsolete(self, method: MethodId) -> bool {
        let mut obsolete = 0_u8;
        call!(self.IsMethodObsolete(method.as_raw(), &raw mut obsolete)).is_ok()
            && table::is_true(obsolete)
    }

    /// All live platform threads.
    pub fn all_threads<'a>(
        self,
        _: Live,
        local: Local<'a>,
    ) -> Result<Vec<LocalRef<'a>>, JvmtiError> {
        let mut count = 0;
        let mut threads: *mut jobject = null_mut();
        call!(self.GetAllThreads(&raw mut count, &raw mut threads))?;
        let found = self.take_array(threads, count).into_iter();
        Ok(found.filter_map(|thread| local.adopt(thread)).collect())
    }

    /// The current thread: the virtual thread, if it carries one.
    pub fn current_thread<'a>(self, _: Live, local: Local<'a>) -> Result<LocalRef<'a>, JvmtiError> {
        let mut thread: jobject = null_mut();
        call!(self.GetCurrentThread(&raw mut thread))?;
        local.adopt(thread).ok_or(JvmtiError::NOT_AVAILABLE)
    }

    /// Counts the frames of the current thread: of the virtual thread, if it carries one.
    pub fn frame_count(self, _: Live) -> Result<usize, JvmtiError> {
        let mut count = 0;
        call!(self.GetFrameCount(null_mut(), &raw mut count))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// At most `most` frames of a thread, the innermost first. Without `thread`, those of the current thread: of the
    /// virtual thread, if it carries one.
    pub fn stack(
        self,
        _: Live,
        thread: Option<&LocalRef<'_>>,
        most: usize,
    ) -> Result<Vec<StackFrame>, JvmtiError> {
        let none = FrameInfo {
            method: null_mut(),
            location: -1,
        };
        let mut frames = vec![none; most];
        let mut count = 0;
        let thread = thread.map_or(null_mut(), LocalRef::as_raw);
        let most = jint::try_from(most).map_err(|_| JvmtiError::OUT_OF_MEMORY)?;
        // The JVM writes at most `most` frames (JVM TI, GetStackTrace).
        call!(self.GetStackTrace(thread, 0, most, frames.as_mut_ptr(), &raw mut count))?;
        let count = usize::try_from(count).unwrap_or(0);
        let frames = frames.into_iter().take(count);
        Ok(frames.filter_map(StackFrame::new).collect())
    }

    /// The code of a method (JVMS 4.7.3).
    pub fn bytecodes(self, method: MethodId) -> Result<Vec<u8>, JvmtiError> {
        let mut count = 0;
        let mut code: *mut u8 = null_mut();
        call!(self.GetBytecodes(method.as_raw(), &raw mut count, &raw mut code))?;
        Ok(self.take_array(code, count))
    }

    /// The line number table of a method.
    pub fn lines(self, method: MethodId) -> Result<Vec<LineNumberEntry>, JvmtiError> {
        let mut count = 0;
        let mut lines: *mut LineNumberEntry = null_mut();
        call!(self.GetLineNumberTable(method.as_raw(), &raw mut count, &raw mut lines))?;
        Ok(self.take_array(lines, count))
    }
}
