//! Which thread is which.

use crate::agent::observation::Running;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::LocalRef;

/// The tag of a thread, which it gets when it is first seen.
pub(super) fn thread_tag(jvm: Jvm<'_>, running: &Running, thread: &LocalRef<'_>) -> Option<i64> {
    let known = jvm.jvmti.tag(jvm.live, thread).ok()?;
    if known != 0 {
        return Some(known);
    }
    let new = running.thread_tag();
    jvm.jvmti.set_tag(jvm.live, thread, new).ok()?;
    Some(new)
}

/// Whether a thread is one of the agent.
pub(super) fn is_ours(name: &str) -> bool {
    let rest = name.strip_prefix("Classhook");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
