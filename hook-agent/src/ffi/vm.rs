//! The JVM that called an entry point.

use super::jvmti::Jvmti;
use super::refs::{Local, jni};
use super::table::JVMTI_VERSIONS;
use jni_sys::{JNI_OK, JNI_VERSION_1_6, JNIEnv, JavaVM, jint};
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

/// A JVM, for as long as it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vm(NonNull<JavaVM>);

impl Vm {
    /// Wraps the pointer; `None` for NULL.
    ///
    /// # Safety
    ///
    /// `vm` is the pointer that the JVM passed to the current entry point, or returned.
    pub(super) unsafe fn new(vm: *mut JavaVM) -> Option<Self> {
        NonNull::new(vm).map(Self)
    }

    /// The JVM of a thread.
    pub fn of(local: Local<'_>) -> Option<Self> {
        let mut vm = null_mut();
        let answer: jint = jni!(local, v1_1.GetJavaVM, &raw mut vm);
        // SAFETY: the JVM itself returned the pointer.
        unsafe { Self::new(vm) }.filter(|_| answer == JNI_OK)
    }

    /// Creates a JVM TI environment of the first of [`JVMTI_VERSIONS`] that the JVM supports. Returns `None` for a JVM
    /// without.
    pub fn jvmti(self) -> Option<Jvmti> {
        let found = JVMTI_VERSIONS
            .iter()
            .find_map(|version| self.environment(*version).ok());
        found.map(|env| Jvmti::new(env.cast()))
    }

    /// The JNI environment of this thread, if it is attached.
    ///
    /// # Safety
    ///
    /// JNI is legal in the current phase, and the thread stays attached for `'a`.
    pub(super) unsafe fn local<'a>(self) -> Option<Local<'a>> {
        let env: NonNull<JNIEnv> = self.environment(JNI_VERSION_1_6).ok()?.cast();
        // SAFETY: GetEnv returned this thread's environment; the caller vouches for the rest.
        Some(unsafe { Local::new(env) })
    }

    fn environment(self, version: jint) -> Result<NonNull<c_void>, jint> {
        let vm = self.0.as_ptr();
        let mut env = null_mut();
        // SAFETY: `Vm::new` promises that the pointer is the JVM's; GetEnv is legal in every phase.
        let answer = unsafe { ((**vm).v1_2.GetEnv)(vm, &raw mut env, version) };
        NonNull::new(env).filter(|_| answer == JNI_OK).ok_or(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::phases::OnLoad;
    use crate::startup;
    use jni_sys::{JNI_ERR, JNI_EVERSION};

    type GetEnv = unsafe extern "system" fn(*mut JavaVM, *mut *mut c_void, jint) -> jint;

    /// The invocation interface of a JVM that supports no version of any environment.
    #[repr(C)]
    struct OldJvm {
        reserved: [usize; 3],
        unused: [GetEnv; 3],
        get_env: GetEnv,
        daemon: GetEnv,
    }

    unsafe extern "system" fn no_environment(_: *mut JavaVM, _: *mut *mut c_void, _: jint) -> jint {
        JNI_EVERSION
    }

    #[test]
    fn jvm_without_jvmti_goes_on_without_the_agent_or_stops_if_strict() {
        let table = OldJvm {
            reserved: [0; 3],
            unused: [no_environment; 3],
            get_env: no_environment,
            daemon: no_environment,
        };
        let mut vm: JavaVM = (&raw const table).cast();
        // SAFETY: the table above has the layout of the invocation interface and outlives `vm`.
        let vm = unsafe { Vm::new(&raw mut vm) }.expect("not NULL");
        assert_eq!(startup::on_load(vm, OnLoad::entered(), b""), JNI_OK);
        assert_eq!(
            startup::on_load(vm, OnLoad::entered(), b"on-error=strict"),
            JNI_ERR
        );
    }
}
