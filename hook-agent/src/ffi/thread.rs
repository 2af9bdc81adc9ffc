//! Agent threads: daemons that the application does not see (JVM TI, Run Agent Thread).

use super::error::JvmtiError;
use super::guard::guard;
use super::jvm::Jvm;
use super::phases::Live;
use super::refs::{GlobalRef, Local};
use super::table::JvmtiEnv;
use jni_sys::JNIEnv;
use std::ffi::c_void;
use std::ptr::NonNull;

/// The body of an agent thread.
type Body = Box<dyn FnOnce(Live, Local<'_>) + Send>;

/// Starts an agent thread that runs `body` on a new `java.lang.Thread` object.
///
/// # Errors
///
/// The error of `RunAgentThread`; `body` is not run then.
pub(crate) fn start(
    jvm: Jvm<'_>,
    thread: &GlobalRef,
    body: impl FnOnce(Jvm<'_>) + Send + 'static,
) -> Result<(), JvmtiError> {
    let jvmti = jvm.jvmti;
    let body: Body = Box::new(move |live, local| body(Jvm::new(jvmti, live, local)));
    let argument = Box::into_raw(Box::new(body));
    jvmti
        .run_agent_thread(jvm.live, thread, agent_thread, argument.cast())
        .inspect_err(|_| {
            // SAFETY: `argument` came from a box, and no thread was started that would take it.
            drop(unsafe { Box::from_raw(argument) });
        })
}

unsafe extern "system" fn agent_thread(_: *mut JvmtiEnv, jni: *mut JNIEnv, body: *mut c_void) {
    // SAFETY: `start` passed the box as the argument, and the JVM calls this once for each thread.
    let body = unsafe { Box::from_raw(body.cast::<Body>()) };
    let Some(jni) = NonNull::new(jni) else { return };
    // SAFETY: the environment of this agent thread, which the JVM attached before calling.
    let local = unsafe { Local::new(jni) };
    guard((), || body(Live::entered(), local));
}
