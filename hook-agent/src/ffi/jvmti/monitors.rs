//! Owners of monitors, threads that wait for them, and events of HotSpot's own.

use super::{Jvmti, JvmtiError, Live, Local, LocalRef};
use crate::ffi::table::{
    Event, ExtensionEvent, ExtensionEventInfo, MonitorUsage, TYPE_CCHAR, TYPE_JTHREAD,
};
use jni_sys::{jint, jobject};
use std::ptr::null_mut;

/// An event of HotSpot's own, by its name and the type of what it passes behind the environment of JNI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HotSpotEvent {
    id: &'static [u8],
    passes: jint,
}

impl HotSpotEvent {
    /// A class is unloaded; the event passes its name from JDK 17 on.
    pub const CLASS_UNLOAD: Self = Self {
        id: b"com.sun.hotspot.events.ClassUnload",
        passes: TYPE_CCHAR,
    };
    /// A virtual thread goes on a carrier, from JDK 21 on.
    pub const VIRTUAL_THREAD_MOUNT: Self = Self {
        id: b"com.sun.hotspot.events.VirtualThreadMount",
        passes: TYPE_JTHREAD,
    };
    /// A virtual thread leaves its carrier, from JDK 21 on.
    pub const VIRTUAL_THREAD_UNMOUNT: Self = Self {
        id: b"com.sun.hotspot.events.VirtualThreadUnmount",
        passes: TYPE_JTHREAD,
    };
}

/// Who uses a monitor.
#[derive(Debug)]
pub(crate) struct MonitorUsers<'a> {
    /// The thread that owns it, and how often it has entered it.
    pub owner: Option<(LocalRef<'a>, u32)>,
    /// The threads that wait to own it; before JDK 23 HotSpot counts those of `notify_waiters` as well.
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

    /// Lets an event of HotSpot's own come, or no more.
    ///
    /// JVM TI's `SetExtensionEventCallback` enables the event as well. HotSpot does so up to JDK 17; from JDK 21 on, no
    /// event comes before it is enabled as those of the specification are.
    ///
    /// # Errors
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
        // A JVM that refuses to enable it so has enabled it with the callback.
        let _ = self.set_event(live, Event(index), callback.is_some());
        Ok(())
    }

    /// The number of an event if it is the one that is wanted; what was said of it is freed.
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
