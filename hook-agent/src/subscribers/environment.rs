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
use crate::ffi::table::{self, Capabilities, Capability, Event, ExtensionEvent};
use crate::ffi::vm::Vm;
use jvm_events::{EventKind, EventSubscription};

/// Capabilities for the owners of monitors, which a JVM grants only at its start.
const OWNERS: [Capability; 4] = [
    table::CAN_TAG_OBJECTS,
    table::CAN_GET_OWNED_MONITOR_INFO,
    table::CAN_GET_CURRENT_CONTENDED_MONITOR,
    table::CAN_GET_MONITOR_INFO,
];
/// Capabilities without which events lack details: files and lines, virtual threads, handlers of exceptions.
const OPTIONAL: [Capability; 5] = [
    table::CAN_GET_LINE_NUMBERS,
    table::CAN_GET_SOURCE_FILE_NAME,
    table::CAN_SUPPORT_VIRTUAL_THREADS,
    table::CAN_GET_BYTECODES,
    table::CAN_GET_MONITOR_INFO,
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
    with(vm, phase, &[table::CAN_TAG_OBJECTS])
}

/// Creates an environment that answers plugins' requests.
///
/// # Errors
///
/// As [`equipped`].
pub(super) fn answering(vm: Option<Vm>, phase: impl OnLoadOrLive) -> Result<Jvmti, String> {
    with(
        vm,
        phase,
        &[table::CAN_TAG_OBJECTS, table::CAN_GET_THREAD_CPU_TIME],
    )
}

fn with(
    vm: Option<Vm>,
    phase: impl OnLoadOrLive,
    capabilities: &[Capability],
) -> Result<Jvmti, String> {
    let jvmti = equipped(vm, phase, &[])?;
    add(jvmti, phase, capabilities).inspect_err(|_| jvmti.dispose())?;
    Ok(jvmti)
}

fn add(jvmti: Jvmti, phase: impl OnLoadOrLive, capabilities: &[Capability]) -> Result<(), String> {
    for capability in capabilities {
        jvmti
            .add_capabilities(phase, Capabilities::only(*capability))
            .map_err(|error| format!("the JVM refuses {}: {error}", capability.name))?;
    }
    Ok(())
}

fn equip(
    jvmti: Jvmti,
    phase: impl OnLoadOrLive,
    subscriptions: &[EventSubscription],
) -> Result<(), String> {
    for subscription in subscriptions {
        add(jvmti, phase, subscription.kind.capabilities())?;
    }
    for capability in OPTIONAL {
        let _ = jvmti.add_capabilities(phase, Capabilities::only(capability));
    }
    jvmti
        .set_subscriber_callbacks(phase, &subscriber_callbacks())
        .map_err(|error| format!("the JVM refuses the callbacks: {error}"))
}

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
    for kind in kinds(subscriber) {
        for event in kind.events() {
            jvmti.set_event(live, *event, true).map_err(refused)?;
        }
        for event in kind.optional_events() {
            let _ = jvmti.set_event(live, *event, true);
        }
    }
    if subscriber.subscription(EventKind::Unloads).is_some() {
        let set = jvmti.set_hotspot_event(live, HotSpotEvent::CLASS_UNLOAD, Some(class_unload));
        set.map_err(|_| "the JVM has no event with the names of unloaded classes".to_owned())?;
    }
    if subscriber.lock_fields().is_some() {
        for (event, callback) in MOUNTS {
            let _ = jvmti.set_hotspot_event(live, event, Some(callback)); // refused by a JVM without virtual threads
        }
    }
    if subscriber.subscription(EventKind::References).is_some() {
        references::begin(subscriber, live)?;
    }
    Ok(())
}

/// Makes the JVM send events for the code that exists.
pub(super) fn replay(live: Live, subscriber: &Subscriber) {
    let events = kinds(subscriber).flat_map(EventKind::events);
    for event in events.filter(|event| Event::REPEATABLE.contains(event)) {
        let _ = subscriber.jvmti.generate_events(live, *event);
    }
}

/// The kinds of events that a subscriber gets.
fn kinds(subscriber: &Subscriber) -> impl Iterator<Item = EventKind> {
    let subscriptions = subscriber.subscriptions.iter();
    subscriptions.map(|subscription| subscription.kind)
}

/// Disables the events.
pub(super) fn disable(live: Live, subscriber: &Subscriber) {
    if subscriber.subscription(EventKind::References).is_some() {
        references::end(subscriber, live);
    }
    let events = kinds(subscriber).flat_map(|kind| [kind.events(), kind.optional_events()]);
    for event in events.flatten() {
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
