//! The functions that a JVM looks up by name (JVM TI, Agent Start-Up and Agent Shutdown).
//!
//! Each exists twice: plain, for a library that the JVM loads, and with the suffix `_classhook`, by which the JVM
//! recognises an agent that is linked into the launcher (Statically Linked Agents). A JVM that finds the second in the
//! process does not load a library of the same name at all.

use super::guard::guard;
use super::handlers::{self, Handlers};
use super::phases::{Live, OnLoad};
use super::vm::Vm;
use jni_sys::{JNI_ERR, JNI_OK, JavaVM, jint};
use std::ffi::{CStr, c_char};

/// Exports the entry points of the library, which call these [`Handlers`].
macro_rules! export_entry_points {
    ($handlers:expr) => {
        $crate::ffi::entry::export_entry_points! {
            $handlers => Agent_OnLoad, Agent_OnAttach, Agent_OnUnload
        }
        $crate::ffi::entry::export_entry_points! {
            $handlers => Agent_OnLoad_classhook, Agent_OnAttach_classhook, Agent_OnUnload_classhook
        }
    };
    ($handlers:expr => $on_load:ident, $on_attach:ident, $on_unload:ident) => {
        /// Starts the agent with the JVM.
        ///
        /// # Safety
        ///
        /// Only a JVM may call it, in its OnLoad phase (JVM TI, Agent Start-Up).
        #[expect(
            unsafe_code,
            reason = "the macro is defined in ffi::entry, which may contain unsafe code"
        )]
        #[unsafe(no_mangle)]
        pub unsafe extern "system" fn $on_load(
            vm: *mut ::jni_sys::JavaVM,
            options: *const ::std::ffi::c_char,
            _: *mut ::std::ffi::c_void,
        ) -> ::jni_sys::jint {
            // SAFETY: the caller's contract.
            unsafe { $crate::ffi::entry::on_load($handlers, vm, options) }
        }

        /// Starts the agent in a running JVM.
        ///
        /// # Safety
        ///
        /// Only a JVM may call it, in its live phase (JVM TI, Agent Start-Up).
        #[expect(
            unsafe_code,
            reason = "the macro is defined in ffi::entry, which may contain unsafe code"
        )]
        #[unsafe(no_mangle)]
        pub unsafe extern "system" fn $on_attach(
            vm: *mut ::jni_sys::JavaVM,
            options: *const ::std::ffi::c_char,
            _: *mut ::std::ffi::c_void,
        ) -> ::jni_sys::jint {
            // SAFETY: the caller's contract.
            unsafe { $crate::ffi::entry::on_attach($handlers, vm, options) }
        }

        /// Unloads the agent.
        ///
        /// # Safety
        ///
        /// Only a JVM may call it (JVM TI, Agent Shutdown).
        #[expect(
            unsafe_code,
            reason = "the macro is defined in ffi::entry, which may contain unsafe code"
        )]
        #[unsafe(no_mangle)]
        pub unsafe extern "system" fn $on_unload(_: *mut ::jni_sys::JavaVM) {
            $crate::ffi::entry::on_unload($handlers);
        }
    };
}

pub(crate) use export_entry_points;

/// A copy of the option string; NULL and "" are the same.
///
/// # Safety
///
/// `options` is NULL or NUL-terminated.
unsafe fn copy(options: *const c_char) -> Vec<u8> {
    if options.is_null() {
        return Vec::new();
    }
    // SAFETY: not NULL, and the caller vouches for the terminator.
    unsafe { CStr::from_ptr(options) }.to_bytes().to_vec()
}

/// The body of `Agent_OnLoad`.
///
/// # Safety
///
/// The arguments are those that a JVM passed to `Agent_OnLoad`, which has not returned yet.
pub(crate) unsafe fn on_load(
    handlers: &'static dyn Handlers,
    vm: *mut JavaVM,
    options: *const c_char,
) -> jint {
    handlers::install(handlers);
    // SAFETY: the JVM passes NULL or a NUL-terminated string (JVM TI, Agent_OnLoad).
    let options = unsafe { copy(options) };
    // SAFETY: `vm` comes from the JVM.
    let Some(vm) = (unsafe { Vm::new(vm) }) else {
        return JNI_ERR;
    };
    guard(JNI_OK, || handlers.on_load(vm, OnLoad::entered(), &options))
}

/// The body of `Agent_OnAttach`.
///
/// # Safety
///
/// The arguments are those that a JVM passed to `Agent_OnAttach`, which has not returned yet.
pub(crate) unsafe fn on_attach(
    handlers: &'static dyn Handlers,
    vm: *mut JavaVM,
    options: *const c_char,
) -> jint {
    handlers::install(handlers);
    // SAFETY: the JVM passes NULL or a NUL-terminated string (JVM TI, Agent_OnAttach).
    let options = unsafe { copy(options) };
    // SAFETY: `vm` comes from the JVM.
    let Some(vm) = (unsafe { Vm::new(vm) }) else {
        return JNI_ERR;
    };
    // SAFETY: the JVM calls this in the live phase, on a thread that stays attached during the call.
    let Some(local) = (unsafe { vm.local() }) else {
        return JNI_ERR;
    };
    guard(JNI_ERR, || {
        handlers.on_attach(vm, Live::entered(), local, &options)
    })
}

/// The body of `Agent_OnUnload`.
pub(crate) fn on_unload(handlers: &'static dyn Handlers) {
    guard((), || handlers.on_unload());
}
