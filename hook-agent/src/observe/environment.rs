//! The JVM TI environment of a recording.

use crate::agent::observation::Running;
use crate::ffi::error::JvmtiError;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::observer::observer_callbacks;
use crate::ffi::phases::{Live, OnLoadOrLive};
use crate::ffi::table::{self, Capabilities, Event};
use crate::ffi::vm::Vm;
use observations::Subscription;

/// A capability with its name.
type Named = (u32, &'static str);

const LINES: [Named; 2] = [
    (table::CAN_GET_LINE_NUMBERS, "can_get_line_numbers"),
    (table::CAN_GET_SOURCE_FILE_NAME, "can_get_source_file_name"),
];
const TAGS: Named = (table::CAN_TAG_OBJECTS, "can_tag_objects");
const CPU: Named = (table::CAN_GET_THREAD_CPU_TIME, "can_get_thread_cpu_time");
const ALLOCATIONS: Named = (
    table::CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS,
    "can_generate_sampled_object_alloc_events",
);
const MONITORS: Named = (
    table::CAN_GENERATE_MONITOR_EVENTS,
    "can_generate_monitor_events",
);
const EXCEPTIONS: Named = (
    table::CAN_GENERATE_EXCEPTION_EVENTS,
    "can_generate_exception_events",
);
const COLLECTIONS: Named = (
    table::CAN_GENERATE_GARBAGE_COLLECTION_EVENTS,
    "can_generate_garbage_collection_events",
);

/// An environment with what a subscription takes.
///
/// # Errors
///
/// What the JVM does not offer now.
pub(crate) fn equipped(
    vm: Option<Vm>,
    phase: impl OnLoadOrLive,
    subscription: &Subscription,
) -> Result<Jvmti, String> {
    let jvmti = vm.and_then(Vm::jvmti);
    let jvmti = jvmti.ok_or("the JVM gives no environment of JVM TI")?;
    equip(jvmti, phase, subscription).inspect_err(|_| jvmti.dispose())?;
    Ok(jvmti)
}

fn equip(
    jvmti: Jvmti,
    phase: impl OnLoadOrLive,
    subscription: &Subscription,
) -> Result<(), String> {
    for (bit, name) in needed(subscription) {
        jvmti
            .add_capabilities(phase, Capabilities::only(bit))
            .map_err(|error| format!("the JVM refuses {name}: {error}"))?;
    }
    // What is not offered is told without it: files and lines, what virtual threads do.
    let optional = LINES.map(|(bit, _)| bit);
    for bit in optional
        .into_iter()
        .chain([table::CAN_SUPPORT_VIRTUAL_THREADS])
    {
        let _ = jvmti.add_capabilities(phase, Capabilities::only(bit));
    }
    jvmti
        .set_observer_callbacks(phase, &observer_callbacks())
        .map_err(|error| format!("the JVM refuses the callbacks: {error}"))
}

/// The capabilities without which a subscription cannot be met.
fn needed(subscription: &Subscription) -> Vec<Named> {
    let needed: [(bool, &[Named]); 5] = [
        (subscription.cpu.is_some(), &[TAGS, CPU]),
        (subscription.allocations.is_some(), &[TAGS, ALLOCATIONS]),
        (subscription.monitors, &[TAGS, MONITORS]),
        (subscription.exceptions, &[EXCEPTIONS]),
        (subscription.collections, &[COLLECTIONS]),
    ];
    let needed = needed.iter().filter(|(is_on, _)| *is_on);
    needed.flat_map(|(_, named)| *named).copied().collect()
}

/// The events of a subscription.
fn events(subscription: &Subscription) -> Vec<Event> {
    let events: [(bool, &[Event]); 4] = [
        (
            subscription.allocations.is_some(),
            &[Event::SAMPLED_OBJECT_ALLOC],
        ),
        (
            subscription.monitors,
            &[
                Event::MONITOR_CONTENDED_ENTER,
                Event::MONITOR_CONTENDED_ENTERED,
                Event::MONITOR_WAIT,
                Event::MONITOR_WAITED,
            ],
        ),
        (subscription.exceptions, &[Event::EXCEPTION]),
        (
            subscription.collections,
            &[
                Event::GARBAGE_COLLECTION_START,
                Event::GARBAGE_COLLECTION_FINISH,
            ],
        ),
    ];
    let events = events.iter().filter(|(is_on, _)| *is_on);
    events.flat_map(|(_, events)| *events).copied().collect()
}

/// Lets the events come.
pub(super) fn enable(live: Live, running: &Running) -> Result<(), String> {
    let refused = |error: JvmtiError| format!("the JVM refuses an event: {error}");
    if let Some(bytes) = running.subscription.allocations {
        let set = running.jvmti.set_heap_sampling_interval(live, bytes);
        set.map_err(refused)?;
    }
    let mut events = events(&running.subscription).into_iter();
    events
        .try_for_each(|event| running.jvmti.set_event(live, event, true))
        .map_err(refused)
}

/// Lets no more events come.
pub(super) fn disable(live: Live, running: &Running) {
    for event in events(&running.subscription) {
        let _ = running.jvmti.set_event(live, event, false);
    }
}
