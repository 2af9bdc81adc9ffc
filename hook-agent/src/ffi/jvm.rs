//! All that a call into the JVM takes in its live phase.

use super::jvmti::Jvmti;
use super::phases::Live;
use super::refs::Local;
use jni_sys::jint;

/// A thread of the JVM in its live phase, with the environments through which it is spoken to.
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
    /// Calls go to this environment of JVM TI, on the thread that `local` belongs to.
    pub fn new(jvmti: Jvmti, live: Live, local: Local<'a>) -> Self {
        Self { jvmti, live, local }
    }

    /// Runs `body` with room for `capacity` local references, all of which end with it; `None` if the
    /// JVM has no memory for them.
    pub fn with_frame<R>(self, capacity: jint, body: impl FnOnce(Jvm<'_>) -> R) -> Option<R> {
        let Self { jvmti, live, .. } = self;
        self.local
            .with_frame(capacity, |local| body(Jvm { jvmti, live, local }))
    }
}
