//! Owners of monitors, threads that wait for them, and HotSpot's extension events.

use super::{Jvmti, JvmtiError, Live, Local, LocalRef};
use crate::ffi::table::{
    Event, ExtensionEvent, ExtensionEventInfo, MonitorUsage, TYPE_CCHAR, TYPE_JTHREAD,
};
use jni_sys::{jint, jobject};
use std::ptr::null_mut;

/// An extension event of HotSpot: its id, and the type of the argument after the JNI environment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HotSpotEvent {
    id: &'static [u8],
    passes: jint,
}

impl HotSpotEvent {
    /// A class is unloaded. The event passes its name since JDK 17.
    pub const CLASS_UNLOAD: Self = Self {
        id: b"com.sun.hotspot.events.ClassUnload",
        passes: TYPE_CCHAR,
    };
    /// A virtual thread enters a carrier, since JDK 21.
    pub const VIRTUAL_THREAD_MOUNT: Self = Self {
        id: b"com.sun.hotspot.events.VirtualThreadMount",
        passes: TYPE_JTHREAD,
    };
    /// A virtual thread leaves its carrier, since JDK 21.
    pub const VIRTUAL_THREAD_UNMOUNT: Self = Self {
        id: b"com.sun.hotspot.events.VirtualThreadUnmount",
        passes: TYPE_JTHREAD,
    };
}

/// The users of a monitor.
#[derive(Debug)]
pub(crate) struct MonitorUsers<'a> {
    /// The thread that owns the monitor, and the number of times it has entered it.
    pub owner: Option<(LocalRef<'a>, u32)>,
    /// The threads that wait to own the monitor. Before JDK 23 HotSpot includes those of `notify_waiters`.
    pub waiters: Vec<LocalRef<'a>>,
    /// The threads that wait to be notified.
    pub notify_waiters: Vec<LocalRef<'a>>,
}

impl Jvmti {
    /// The objects whose monitors a thread owns.
    pub fn owned_monitors<'a>(
        self,
        _: Live,
        local: Local<'a>,
        thread: &LocalRef<'_>,
    ) -> Result<Vec<LocalRef<'a>>, JvmtiError> {
        let (mut count, mut objects) = (0, null_mut::<jobject>());
        call!(self.GetOwnedMonitorInfo(thread.as_raw(), &raw mut count, &raw mut objects))?;
        let objects = self.take_array(objects, count).into_iter();
        Ok(objects.filter_map(|object| local.adopt(object)).collect())
    }

    /// The object whose monitor a thread waits to enter, or on which it waits in `Object.wait`.
    pub fn contended_monitor<'a>(
        self,
        _: Live,
        local: Local<'a>,
        thread: &LocalRef<'_>,
    ) -> Result<Option<LocalRef<'a>>, JvmtiError> {
        let mut object: jobject = null_mut();
        call!(self.GetCurrentContendedMonitor(thread.as_raw(), &raw mut object))?;
        Ok(local.adopt(object))
    }

    /// The threads that own an object's monitor or wait for it (JVM TI, GetObjectMonitorUsage).
    pub fn monitor_users<'a>(
        self,
        _: Live,
        local: Local<'a>,
        object: &LocalRef<'_>,
    ) -> Result<MonitorUsers<'a>, JvmtiError> {
        let mut usage = MonitorUsage {
            owner: null_mut(),
            entry_count: 0,
            waiter_count: 0,
            waiters: null_mut(),
            notify_waiter_count: 0,
            notify_waiters: null_mut(),
        };
        call!(self.GetObjectMonitorUsage(object.as_raw(), &raw mut usage))?;
        let [waiters, notify_waiters] = [
            (usage.waiters, usage.waiter_count),
            (usage.notify_waiters, usage.notify_waiter_count),
        ]
        .map(|(threads, count)| {
            let threads = self.take_array(threads, count).into_iter();
            threads.filter_map(|thread| local.adopt(thread)).collect()
        });
        let owner = local.adopt(usage.owner);
        Ok(MonitorUsers {
            owner: owner.map(|owner| (owner, usage.entry_count.cast_unsigned())),
            waiters,
            notify_waiters,
        })
    }

    /// The state of a thread (JVM TI, GetThreadState).
    pub fn thread_state(self, _: Live, thread: &LocalRef<'_>) -> Result<u32, JvmtiError> {
        let mut state = 0;
        call!(self.GetThreadState(thread.as_raw(), &raw mut state))?;
        Ok(state.cast_unsigned())
    }

    /// Enables or disables an extension event of HotSpot.
    ///
    /// JVM TI's `SetExtensionEventCallback` also enables the event. HotSpot does so up to JDK 17. Since JDK 21 no event
    /// is sent before it is enabled like those of the specification.
    ///
    /// # Errors
    ///
    /// If the JVM has no such event.
    pub fn set_hotspot_event(
        self,
        live: Live,
        wanted: HotSpotEvent,
        callback: Option<ExtensionEvent>,
    ) -> Result<(), JvmtiError> {
        let mut count = 0;
        let mut events: *mut ExtensionEventInfo = null_mut();
        call!(self.GetExtensionEvents(&raw mut count, &raw mut events))?;
        let events = self.take_array(events, count).into_iter();
        let found: Vec<Option<jint>> = events.map(|info| self.take_event(info, wanted)).collect();
        let index = found.into_iter().flatten().next();
        let index = index.ok_or(JvmtiError::NOT_AVAILABLE)?;
        call!(self.SetExtensionEventCallback(index, callback))?;
        // A JVM that refuses this has enabled the event with the callback.
        let _ = self.set_event(live, Event(index), callback.is_some());
        Ok(())
    }

    /// The index of an event if it is the wanted one. The memory of its description is freed.
    fn take_event(self, info: ExtensionEventInfo, wanted: HotSpotEvent) -> Option<jint> {
        let parameters = self.take_array(info.params, info.param_count);
        let types: Vec<jint> = parameters.iter().map(|it| it.base_type).collect();
        for parameter in parameters {
            self.deallocate(parameter.name.cast());
        }
        self.deallocate(info.short_description.cast());
        let is_it = self.take_string(info.id).as_deref() == Some(wanted.id);
        let passes_it = matches!(types.as_slice(), [_, passes] if *passes == wanted.passes);
        (is_it && passes_it).then_some(info.extension_event_index)
    }
}
