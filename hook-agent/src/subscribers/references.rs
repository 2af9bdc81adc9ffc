//! Global references of JNI with the stacks that created them, until they are deleted.

use super::identity::is_agent_thread;
use super::recording_builder::RecordingBuilder;
use crate::agent::Agent;
use crate::agent::references::References;
use crate::agent::subscribers::Subscriber;
use crate::ffi::jni_table::{self, NotReplaced};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvm_events::GlobalRefHandle;
use crate::ffi::phases::Live;
use crate::ffi::refs::{Local, LocalRef};
use jvm_events::EventKind;
use jvm_events::recorded::OtherReferences;

/// Adds a global reference that the program has created on this thread.
pub(crate) fn created(
    agent: &Agent,
    live: Live,
    local: Local<'_>,
    object: &LocalRef<'_>,
    handle: GlobalRefHandle,
) {
    let Some(subscriber) = agent.subscribers.recording() else {
        return;
    };
    let Some(_reporting) = subscriber.references.enter() else {
        return;
    };
    let jvm = Jvm::new(subscriber.jvmti, live, local);
    let Some(subscription) = subscriber.subscription(EventKind::References) else {
        return;
    };
    let jvmti = jvm.jvmti;
    let name = jvmti.current_thread(live, local).ok();
    let name = name.and_then(|thread| jvmti.thread_name(live, local, &thread));
    let name = name.unwrap_or_default();
    if is_agent_thread(&name) {
        return;
    }
    let class = local.object_class(object);
    let class = class.and_then(|class| jvmti.class_signature(&class).ok());
    let frames = jvmti
        .stack(live, None, subscription.frames)
        .unwrap_or_default();
    subscriber
        .references
        .create(handle, name, class.unwrap_or_default(), frames);
}

/// Removes a global reference that the program deletes.
pub(crate) fn deleted(agent: &Agent, handle: GlobalRefHandle) {
    if let Some(subscriber) = agent.subscribers.recording()
        && let Some(_reporting) = subscriber.references.enter()
    {
        subscriber.references.delete(handle);
    }
}

/// Begins to report references.
///
/// # Errors
///
/// The reason why the JNI functions cannot be replaced.
pub(super) fn begin(subscriber: &Subscriber, live: Live) -> Result<(), String> {
    subscriber.note_references(count(subscriber, live));
    jni_table::record(subscriber.jvmti, live).map_err(|cause| match cause {
        NotReplaced::Refused(error) => {
            format!("the JVM refuses to replace JNI functions: {error}")
        }
        NotReplaced::NoRoom => {
            "another agent repeatedly puts its JNI functions in front of the agent's".to_owned()
        }
    })
}

/// Counts the strong references, if the JVM reports them.
fn count(subscriber: &Subscriber, live: Live) -> Option<u64> {
    subscriber.jvmti.count_global_references(live).ok()
}

/// Restores the JNI functions. No thread reports a reference any more.
pub(super) fn end(subscriber: &Subscriber, live: Live) {
    jni_table::leave(subscriber.jvmti, live);
    if !subscriber.references.close() {
        subscriber.keep_environment();
    }
}

/// Adds the references that were created since the last call.
pub(super) fn read(jvm: Jvm<'_>, subscriber: &Subscriber, recording: &mut RecordingBuilder) {
    if subscriber.subscription(EventKind::References).is_none() {
        return;
    }
    let references: &References = &subscriber.references;
    for created in references.take() {
        let row = jvm.with_frame(16, |jvm| recording.reference(jvm, &created));
        references.settle(&created, row.flatten());
    }
}

/// Counts the open references of each row. Threads of the program that create or delete one wait meanwhile, so this is
/// called only when the file is written.
pub(super) fn sum(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    recording: &mut RecordingBuilder,
    is_end: bool,
) {
    if subscriber.subscription(EventKind::References).is_none() {
        return;
    }
    let sums = subscriber.references.sums();
    let other = OtherReferences {
        before: subscriber.references_before(),
        at_end: is_end.then(|| count(subscriber, jvm.live)).flatten(),
        deleted: sums.deleted,
        deleted_weak: sums.deleted_weak,
    };
    recording.open_references(&sums.open, other, sums.lost);
}
