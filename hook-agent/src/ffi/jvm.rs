//! The context of a call into the JVM in its live phase.

use super::jvmti::Jvmti;
use super::phases::Live;
use super::refs::Local;
use jni_sys::jint;

/// A thread of the JVM in its live phase, with its JVM TI and JNI environments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jvm<'a> {
    /// The JVM TI environment.
    pub jvmti: Jvmti,
    /// The phase.
    pub live: Live,
    /// JNI on this thread.
    pub local: Local<'a>,
}

impl<'a> Jvm<'a> {
    /// Creates the context for calls to this JVM TI environment, on the thread of `local`.
    pub fn new(jvmti: Jvmti, live: Live, local: Local<'a>) -> Self {
        Self { jvmti, live, local }
    }

    /// Runs `body` with room for `capacity` local references, which are deleted afterwards. Returns `None` if the JVM
    /// has no memory for them.
    pub fn with_frame<R>(self, capacity: jint, body: impl FnOnce(Jvm<'_>) -> R) -> Option<R> {
        let Self { jvmti, live, .. } = self;
        self.local
            .with_frame(capacity, |local| body(Jvm { jvmti, live, local }))
    }
}
