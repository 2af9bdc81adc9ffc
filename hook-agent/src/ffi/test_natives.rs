//! The native methods of `io.github.classhook.tests.TestRun`, which test frameworks call through listeners. The JVM
//! finds them by their exported names.

use super::guard::guard;
use super::handlers;
use super::phases::Live;
use super::refs::Local;
use jni_sys::{JNIEnv, jclass, jobject};
use std::ptr::NonNull;

/// Runs `body`. A panic is an error of the agent, which the test does not see.
fn entered(env: *mut JNIEnv, body: impl FnOnce(Live, Local<'_>)) {
    // SAFETY: the JVM passes the environment of the calling thread, valid until the method returns.
    let local = NonNull::new(env).map(|env| unsafe { Local::new(env) });
    if let Some(local) = local {
        guard((), || body(Live::entered(), local));
    }
}

/// Begins a test: its id, the id of its container or null, and its name.
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

/// Ends the test with this id.
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
