//! The native methods of `io.github.classhook.tests.TestRun`, which test frameworks call through listeners; found by the JVM
//! by their exported names.

use super::guard::guard;
use super::handlers;
use super::phases::Live;
use super::refs::Local;
use jni_sys::{JNIEnv, jclass, jobject};
use std::ptr::NonNull;

/// Runs `body`; a panic in it is a fault of ours that the test does not see.
fn entered(env: *mut JNIEnv, body: impl FnOnce(Live, Local<'_>)) {
    // SAFETY: the JVM passes the environment of the calling thread, valid until the method returns.
    let local = NonNull::new(env).map(|env| unsafe { Local::new(env) });
    if let Some(local) = local {
        guard((), || body(Live::entered(), local));
    }
}

/// A test begins: its id, that of what it is a part of or null, and its name.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_github_classhook_tests_TestRun_begin0(
    env: *mut JNIEnv,
    _: jclass,
    id: jobject,
    parent: jobject,
    name: jobject,
) {
    entered(env, |live, local| {
        let texts = [id, parent, name].map(|text| local.borrow(text));
        if let Some(handlers) = handlers::get() {
            handlers.test_begins(live, local, texts.each_ref().map(Option::as_ref));
        }
    });
}

/// The test with this id ends.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_github_classhook_tests_TestRun_end0(
    env: *mut JNIEnv,
    _: jclass,
    id: jobject,
) {
    entered(env, |live, local| {
        if let (Some(handlers), Some(id)) = (handlers::get(), local.borrow(id)) {
            handlers.test_ends(live, local, &id);
        }
    });
}
