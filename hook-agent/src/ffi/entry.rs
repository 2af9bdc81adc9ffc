//! The functions that a JVM looks up by name (JVM TI, Agent Start-Up and Agent Shutdown).
//!
//! Each exists twice: plain, for a library that the JVM loads, and with `_classhook`, by which the
//! JVM recognises an agent linked into the launcher (Statically Linked Agents). A JVM that finds
//! the second in the process does not load a library of the same name at all.

use super::guard::guard;
use super::phases::{Live, OnLoad};
use super::vm::Vm;
use crate::startup;
use jni_sys::{JNI_ERR, JNI_OK, JavaVM, jint};
use std::ffi::{CStr, c_char, c_void};

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

/// Starts the agent with the JVM.
///
/// # Safety
///
/// To be called by a JVM only, in its OnLoad phase (JVM TI, Agent Start-Up).
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    // SAFETY: the JVM passes NULL or a NUL-terminated string (JVM TI, Agent_OnLoad).
    let options = unsafe { copy(options) };
    // SAFETY: `vm` comes from the JVM.
    let Some(vm) = (unsafe { Vm::new(vm) }) else {
        return JNI_ERR;
    };
    guard("Agent_OnLoad", JNI_OK, || {
        startup::on_load(vm, OnLoad::entered(), &options)
    })
}

/// [`Agent_OnLoad`] of an agent linked into the launcher.
///
/// # Safety
///
/// As for [`Agent_OnLoad`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad_classhook(
    vm: *mut JavaVM,
    options: *const c_char,
    reserved: *mut c_void,
) -> jint {
    // SAFETY: the same contract.
    unsafe { Agent_OnLoad(vm, options, reserved) }
}

/// Starts the agent in a JVM that is running.
///
/// # Safety
///
/// To be called by a JVM only, in its live phase (JVM TI, Agent Start-Up).
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    // SAFETY: the JVM passes NULL or a NUL-terminated string (JVM TI, Agent_OnAttach).
    let options = unsafe { copy(options) };
    // SAFETY: `vm` comes from the JVM.
    let Some(vm) = (unsafe { Vm::new(vm) }) else {
        return JNI_ERR;
    };
    // SAFETY: the JVM calls this in the live phase on a thread that stays attached meanwhile.
    let Some(local) = (unsafe { vm.local() }) else {
        return JNI_ERR;
    };
    guard("Agent_OnAttach", JNI_ERR, || {
        startup::on_attach(vm, Live::entered(), local, &options)
    })
}

/// [`Agent_OnAttach`] of an agent linked into the launcher.
///
/// # Safety
///
/// As for [`Agent_OnAttach`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach_classhook(
    vm: *mut JavaVM,
    options: *const c_char,
    reserved: *mut c_void,
) -> jint {
    // SAFETY: the same contract.
    unsafe { Agent_OnAttach(vm, options, reserved) }
}

/// The JVM lets go of the agent.
///
/// # Safety
///
/// To be called by a JVM only (JVM TI, Agent Shutdown).
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnUnload(_: *mut JavaVM) {
    guard("Agent_OnUnload", (), startup::on_unload);
}

/// [`Agent_OnUnload`] of an agent linked into the launcher.
///
/// # Safety
///
/// As for [`Agent_OnUnload`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnUnload_classhook(vm: *mut JavaVM) {
    // SAFETY: the same contract.
    unsafe { Agent_OnUnload(vm) };
}
