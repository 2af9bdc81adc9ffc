//! Which thread is which.

use crate::agent::observation::Running;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::LocalRef;
use crate::names::internal_name;

/// The signature of the class of classes.
const CLASS: &[u8] = b"Ljava/lang/Class;";

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

/// The signature of the class of an object whose monitor threads wait for; of one of a class, as `static synchronized`
/// methods take it, with the class that it is: `Ljava/lang/Class<com/acme/Cache>;`.
pub(super) fn monitor_signature(jvm: Jvm<'_>, object: &LocalRef<'_>) -> Option<Vec<u8>> {
    let class = jvm.local.object_class(object)?;
    let signature = jvm.jvmti.class_signature(&class).ok()?;
    if signature != CLASS {
        return Some(signature);
    }
    let itself = jvm.jvmti.class_signature(object).ok()?;
    let name = internal_name(&itself).unwrap_or(&itself);
    Some([b"Ljava/lang/Class<", name, b">;"].concat())
}

/// The class to which filters of a wish apply besides the one of this name: that of which it is the class.
pub(super) fn class_within(name: &str) -> Option<&str> {
    name.strip_prefix("java.lang.Class<")?.strip_suffix('>')
}

/// Whether a thread is one of the agent.
pub(super) fn is_ours(name: &str) -> bool {
    let rest = name.strip_prefix("Classhook");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
