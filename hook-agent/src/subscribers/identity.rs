//! Identification of threads, monitors and the agent's own threads.

use crate::agent::subscribers::Subscriber;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::LocalRef;
use crate::names::internal_name;

/// The signature of `java.lang.Class`.
const CLASS: &[u8] = b"Ljava/lang/Class;";

/// The tag of a thread, assigned the first time.
pub(super) fn thread_tag(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    thread: &LocalRef<'_>,
) -> Option<i64> {
    let known = jvm.jvmti.tag(jvm.live, thread).ok()?;
    if known != 0 {
        return Some(known);
    }
    let new = subscriber.thread_tag();
    jvm.jvmti.set_tag(jvm.live, thread, new).ok()?;
    Some(new)
}

/// The signature of the class of an object with a monitor. For an object of `java.lang.Class`, which `static
/// synchronized` methods lock, it includes that class: `Ljava/lang/Class<com/acme/Cache>;`.
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

/// The class inside `java.lang.Class<…>`, to which filters apply as well.
pub(super) fn class_within(name: &str) -> Option<&str> {
    name.strip_prefix("java.lang.Class<")?.strip_suffix('>')
}

/// Checks whether a thread belongs to the agent, by its name.
pub(super) fn is_agent_thread(name: &str) -> bool {
    let rest = name.strip_prefix("Classhook");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
