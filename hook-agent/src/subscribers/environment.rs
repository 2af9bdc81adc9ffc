//! The JVM TI environments of recordings and plugins.

use super::references;
use crate::agent::subscribers::{Subscriber, sampled};
use crate::ffi::error::JvmtiError;
use crate::ffi::jvmti::HotSpotEvent;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::phases::{Live, OnLoadOrLive};
use crate::ffi::subscriber_callbacks::{
    class_unload, subscriber_callbacks, virtual_thread_mount, virtual_thread_unmount,
};
use crate::ffi::table::{self, Capabilities, Event, ExtensionEvent};
use crate::ffi::vm::Vm;
use jvm_events::{EventKind, EventSubscription};

/// The bit of a capability, and its name.
type NamedCapability = (u32, &'static str);

const LINES: [NamedCapability; 2] = [
    (table::CAN_GET_LINE_NUMBERS, "can_get_line_numbers"),
    (table::CAN_GET_SOURCE_FILE_NAME, "can_get_source_file_name"),
];
const TAGS: NamedCapability = (table::CAN_TAG_OBJECTS, "can_tag_objects");
const CPU: NamedCapability = (table::CAN_GET_THREAD_CPU_TIME, "can_get_thread_cpu_time");
const ALLOCATIONS: NamedCapability = (
    table::CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS,
    "can_generate_sampled_object_alloc_events",
);
const MONITORS: NamedCapability = (
    table::CAN_GENERATE_MONITOR_EVENTS,
    "can_generate_monitor_events",
);
const EXCEPTIONS: NamedCapability = (
    table::CAN_GENERATE_EXCEPTION_EVENTS,
    "can_generate_exception_events",
);
const COLLECTIONS: NamedCapability = (
    table::CAN_GENERATE_GARBAGE_COLLECTION_EVENTS,
    "can_generate_garbage_collection_events",
);

const COMPILATIONS: NamedCapability = (
    table::CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS,
    "can_generate_compiled_method_load_events",
);
const NATIVES: NamedCapability = (
    table::CAN_GENERATE_NATIVE_METHOD_BIND_EVENTS,
    "can_generate_native_method_bind_events",
);
const EXHAUSTION: [NamedCapability; 2] = [
    (
        table::CAN_GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS,
        "can_generate_resource_exhaustion_heap_events",
    ),
    (
        table::CAN_GENERATE_RESOURCE_EXHAUSTION_THREADS_EVENTS,
        "can_generate_resource_exhaustion_threads_events",
    ),
];

const FREES: NamedCapability = (
    table::CAN_GENERATE_OBJECT_FREE_EVENTS,
    "can_generate_object_free_events",
);
/// Capabilities for the owners of monitors, which a JVM grants only at its start.
const OWNERS: [NamedCapability; 4] = [
    TAGS,
    (
        table::CAN_GET_OWNED_MONITOR_INFO,
        "can_get_owned_monitor_info",
    ),
    (
        table::CAN_GET_CURRENT_CONTENDED_MONITOR,
        "can_get_current_contended_monitor",
    ),
    (table::CAN_GET_MONITOR_INFO, "can_get_monitor_info"),
];

/// Adds the capabilities for owners of monitors and threads that wait for them.
///
/// # Errors
///
/// The capability that the JVM does not grant now.
pub(crate) fn equip_for_owners(jvmti: Jvmti, phase: impl OnLoadOrLive) -> Result<(), String> {
    add(jvmti, phase, &OWNERS)
}

/// Creates an environment with the capabilities for these subscriptions.
///
/// # Errors
///
/// The capability that the JVM does not grant now.
pub(crate) fn equipped(
    vm: Option<Vm>,
    phase: impl OnLoadOrLive,
    subscriptions: &[EventSubscription],
) -> Result<Jvmti, String> {
    let jvmti = vm.and_then(Vm::jvmti);
    let jvmti = jvmti.ok_or("the JVM creates no JVM TI environment")?;
    equip(jvmti, phase, subscriptions).inspect_err(|_| jvmti.dispose())?;
    Ok(jvmti)
}

/// Creates an environment that can tag objects.
///
/// # Errors
///
/// As [`equipped`].
pub(super) fn tagging(vm: Option<Vm>, phase: impl OnLoadOrLive) -> Result<Jvmti, String> {
    with(vm, phase, &[TAGS])
}

/// Creates an environment that answers plugins' requests.
///
/// # Errors
///
/// As [`equipped`].
pub(super) fn answering(vm: Option<Vm>, phase: impl OnLoadOrLive) -> Result<Jvmti, String> {
    with(vm, phase, &[TAGS, CPU])
}

fn with(
    vm: Option<Vm>,
    phase: impl OnLoadOrLive,
    capabilities: &[NamedCapability],
) -> Result<Jvmti, String> {
    let jvmti = equipped(vm, phase, &[])?;
    add(jvmti, phase, capabilities).inspect_err(|_| jvmti.dispose())?;
    Ok(jvmti)
}

fn add(
    jvmti: Jvmti,
    phase: impl OnLoadOrLive,
    capabilities: &[NamedCapability],
) -> Result<(), String> {
    for (bit, name) in capabilities {
        jvmti
            .add_capabilities(phase, Capabilities::only(*bit))
            .map_err(|error| format!("the JVM refuses {name}: {error}"))?;
    }
    Ok(())
}

fn equip(
    jvmti: Jvmti,
    phase: impl OnLoadOrLive,
    subscriptions: &[EventSubscription],
) -> Result<(), String> {
    for subscription in subscriptions {
        add(jvmti, phase, needed(subscription.kind))?;
    }
    // Optional capabilities; without them events lack details: files and lines, virtual threads.
    let optional = LINES.map(|(bit, _)| bit).into_iter();
    for bit in optional.chain([
        table::CAN_SUPPORT_VIRTUAL_THREADS,
        table::CAN_GET_BYTECODES,
        table::CAN_GET_MONITOR_INFO,
    ]) {
        let _ = jvmti.add_capabilities(phase, Capabilities::only(bit));
    }
    jvmti
        .set_subscriber_callbacks(phase, &subscriber_callbacks())
        .map_err(|error| format!("the JVM refuses the callbacks: {error}"))
}

/// The capabilities that events of a kind require.
fn needed(kind: EventKind) -> &'static [NamedCapability] {
    match kind {
        EventKind::Samples => &[TAGS, CPU],
        EventKind::Allocations => &[TAGS, ALLOCATIONS],
        EventKind::Monitors => &[TAGS, MONITORS],
        EventKind::Exceptions | EventKind::Catches => &[EXCEPTIONS],
        EventKind::Collections => &[COLLECTIONS],
        EventKind::Frees => &[TAGS, ALLOCATIONS, FREES],
        EventKind::Threads | EventKind::Classes | EventKind::Unloads | EventKind::Dumps => &[],
        EventKind::Compilations => &[COMPILATIONS],
        EventKind::Natives => &[NATIVES],
        EventKind::Exhaustion => &EXHAUSTION,
        EventKind::References | EventKind::WallClock => &[TAGS],
    }
}

/// The JVM TI events of a kind.
fn events(kind: EventKind) -> &'static [Event] {
    match kind {
        EventKind::Unloads | EventKind::References => &[],
        EventKind::Allocations => &[Event::SAMPLED_OBJECT_ALLOC],
        EventKind::Frees => &[Event::SAMPLED_OBJECT_ALLOC, Event::OBJECT_FREE],
        EventKind::Catches => &[Event::EXCEPTION_CATCH],
        EventKind::Dumps => &[Event::DATA_DUMP_REQUEST],
        EventKind::Monitors => &[
            Event::MONITOR_CONTENDED_ENTER,
            Event::MONITOR_CONTENDED_ENTERED,
            Event::MONITOR_WAIT,
            Event::MONITOR_WAITED,
        ],
        EventKind::Exceptions => &[Event::EXCEPTION],
        EventKind::Collections => &[
            Event::GARBAGE_COLLECTION_START,
            Event::GARBAGE_COLLECTION_FINISH,
        ],
        EventKind::Samples | EventKind::Threads | EventKind::WallClock => {
            &[Event::THREAD_START, Event::THREAD_END]
        }
        EventKind::Classes => &[Event::CLASS_PREPARE],
        EventKind::Compilations => &[Event::COMPILED_METHOD_LOAD, Event::COMPILED_METHOD_UNLOAD],
        EventKind::Natives => &[Event::NATIVE_METHOD_BIND],
        EventKind::Exhaustion => &[Event::RESOURCE_EXHAUSTED],
    }
}

/// Events that only JVMs with virtual threads have.
const VIRTUAL: [Event; 2] = [Event::VIRTUAL_THREAD_START, Event::VIRTUAL_THREAD_END];

/// HotSpot's events of virtual threads that leave and enter their carriers.
const MOUNTS: [(HotSpotEvent, ExtensionEvent); 2] = [
    (HotSpotEvent::VIRTUAL_THREAD_UNMOUNT, virtual_thread_unmount),
    (HotSpotEvent::VIRTUAL_THREAD_MOUNT, virtual_thread_mount),
];

/// Enables the events.
pub(super) fn enable(live: Live, subscriber: &Subscriber) -> Result<(), String> {
    let refused = |error: JvmtiError| format!("the JVM refuses an event: {error}");
    let jvmti = subscriber.jvmti;
    if let Some(subscription) = sampled(&subscriber.subscriptions) {
        let set = jvmti.set_heap_sampling_interval(live, subscription.bytes);
        set.map_err(refused)?;
    }
    let mut all = subscriber
        .subscriptions
        .iter()
        .flat_map(|subscription| events(subscription.kind));
    all.try_for_each(|event| jvmti.set_event(live, *event, true))
        .map_err(refused)?;
    if subscriber.subscription(EventKind::Unloads).is_some() {
        let set = jvmti.set_hotspot_event(live, HotSpotEvent::CLASS_UNLOAD, Some(class_unload));
        set.map_err(|_| "the JVM has no event with the names of unloaded classes".to_owned())?;
    }
    if subscriber.lock_fields().is_some() {
        for (event, callback) in MOUNTS {
            let _ = jvmti.set_hotspot_event(live, event, Some(callback)); // refused by a JVM without virtual threads
        }
    }
    if subscriber.subscription(EventKind::Threads).is_some() {
        for event in VIRTUAL {
            let _ = jvmti.set_event(live, event, true); // refused by a JVM without virtual threads
        }
    }
    if subscriber.subscription(EventKind::References).is_some() {
        references::begin(subscriber, live)?;
    }
    Ok(())
}

/// Makes the JVM send events for the code that was compiled before.
pub(super) fn replay(live: Live, subscriber: &Subscriber) {
    if subscriber.subscription(EventKind::Compilations).is_some() {
        let _ = subscriber
            .jvmti
            .generate_events(live, Event::COMPILED_METHOD_LOAD);
    }
}

/// Disables the events.
pub(super) fn disable(live: Live, subscriber: &Subscriber) {
    if subscriber.subscription(EventKind::References).is_some() {
        references::end(subscriber, live);
    }
    let all = subscriber
        .subscriptions
        .iter()
        .flat_map(|subscription| events(subscription.kind));
    for event in all.chain(&VIRTUAL) {
        let _ = subscriber.jvmti.set_event(live, *event, false);
    }
    if subscriber.subscription(EventKind::Unloads).is_some() {
        let jvmti = subscriber.jvmti;
        let _ = jvmti.set_hotspot_event(live, HotSpotEvent::CLASS_UNLOAD, None);
    }
    if subscriber.lock_fields().is_some() {
        for (event, _) in MOUNTS {
            let _ = subscriber.jvmti.set_hotspot_event(live, event, None);
        }
    }
}
