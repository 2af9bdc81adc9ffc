//! Functions for recordings: threads, tags and the heap.

use super::{Jvmti, JvmtiError, Live, Local, LocalRef};
use crate::ffi::guard::guard;
use crate::ffi::phases::OnLoadOrLive;
use crate::ffi::table::{
    CAN_GET_CONSTANT_POOL, Capabilities, Event, ExtensionFunction, ExtensionFunctionInfo,
    HEAP_FILTER_UNTAGGED, HeapCallbacks, JniFunction, SubscriberCallbacks,
};
use jni_sys::{jint, jobject};
use std::ffi::{c_char, c_void};
use std::ptr::{NonNull, null_mut};

/// HotSpot's extension function that returns the virtual thread of a carrier, since JDK 21.
const GET_VIRTUAL_THREAD: &[u8] = b"com.sun.hotspot.functions.GetVirtualThread";

/// The extension function that returns the virtual thread of a carrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VirtualThreadOf(ExtensionFunction);

impl Jvmti {
    /// Looks up the extension function that returns the virtual thread of a carrier. Returns `None` if the JVM has no
    /// such function.
    pub fn virtual_thread_of(self, _: Live) -> Option<VirtualThreadOf> {
        let mut count = 0;
        let mut functions: *mut ExtensionFunctionInfo = null_mut();
        call!(self.GetExtensionFunctions(&raw mut count, &raw mut functions)).ok()?;
        let functions = self.take_array(functions, count).into_iter();
        let functions: Vec<_> = functions.map(|info| self.take_function(info)).collect();
        let mut functions = functions.into_iter();
        let found = functions.find(|(id, _)| id.as_deref() == Some(GET_VIRTUAL_THREAD));
        found
            .and_then(|(_, function)| function)
            .map(VirtualThreadOf)
    }

    /// The id and address of a function. The rest of its description is freed.
    fn take_function(
        self,
        info: ExtensionFunctionInfo,
    ) -> (Option<Vec<u8>>, Option<ExtensionFunction>) {
        let parameters = self.take_array(info.params, info.param_count);
        for parameter in parameters {
            self.deallocate(parameter.name.cast());
        }
        self.deallocate(info.errors.cast());
        self.deallocate(info.short_description.cast());
        (self.take_string(info.id), info.func)
    }

    /// The virtual thread that a carrier runs, if any.
    pub fn virtual_thread<'a>(
        self,
        _: Live,
        local: Local<'a>,
        function: VirtualThreadOf,
        carrier: &LocalRef<'_>,
    ) -> Option<LocalRef<'a>> {
        let mut found: jobject = null_mut();
        // SAFETY: HotSpot returned the function for this id. It takes a thread and an output for the virtual thread.
        // The environment is the one that returned the function.
        let code = unsafe { function.0(self.0.as_ptr(), carrier.as_raw(), &raw mut found) };
        local.adopt(found).filter(|_| code == 0)
    }

    /// Installs the callbacks of a subscriber's environment; the JVM copies the table.
    pub fn set_subscriber_callbacks(
        self,
        _: impl OnLoadOrLive,
        callbacks: &SubscriberCallbacks,
    ) -> Result<(), JvmtiError> {
        let size = jint::try_from(size_of::<SubscriberCallbacks>()).unwrap_or(0);
        call!(self.SetEventCallbacks(std::ptr::from_ref(callbacks).cast(), size))
    }

    /// Makes the JVM send an event for each existing item, on this thread.
    pub fn generate_events(self, _: Live, event: Event) -> Result<(), JvmtiError> {
        call!(self.GenerateEvents(event.0))
    }

    /// The CPU time of a thread, in nanoseconds.
    pub fn thread_cpu_time(self, _: Live, thread: &LocalRef<'_>) -> Result<u64, JvmtiError> {
        let mut nanos = 0;
        call!(self.GetThreadCpuTime(thread.as_raw(), &raw mut nanos))?;
        Ok(nanos.cast_unsigned())
    }

    /// The tag of an object in this environment; 0 for no tag.
    pub fn tag(self, _: Live, object: &LocalRef<'_>) -> Result<i64, JvmtiError> {
        let mut tag = 0;
        call!(self.GetTag(object.as_raw(), &raw mut tag))?;
        Ok(tag)
    }

    /// Sets the tag of an object in this environment.
    pub fn set_tag(self, _: Live, object: &LocalRef<'_>, tag: i64) -> Result<(), JvmtiError> {
        call!(self.SetTag(object.as_raw(), tag))
    }

    /// Makes the JVM collect garbage, and waits for the end.
    pub fn collect_garbage(self, _: Live) -> Result<(), JvmtiError> {
        call!(self.ForceGarbageCollection())
    }

    /// Sets the average number of bytes that a thread allocates between two samples, for the whole JVM.
    pub fn set_heap_sampling_interval(self, _: Live, bytes: u32) -> Result<(), JvmtiError> {
        let bytes = jint::try_from(bytes).unwrap_or(jint::MAX);
        call!(self.SetHeapSamplingInterval(bytes))
    }

    /// Tags and sizes, in bytes, of the objects in the heap that this environment has tagged. The program is paused
    /// meanwhile.
    pub fn tagged_objects(self, _: Live) -> Result<Vec<(i64, u64)>, JvmtiError> {
        let mut found: Vec<(i64, u64)> = Vec::new();
        let callbacks = HeapCallbacks {
            heap_iteration_callback: Some(tagged),
            ..HeapCallbacks::default()
        };
        call!(self.IterateThroughHeap(
            HEAP_FILTER_UNTAGGED,
            null_mut(),
            &raw const callbacks,
            (&raw mut found).cast_const().cast(),
        ))?;
        Ok(found)
    }

    /// As [`Jvmti::tagged_objects`], but only reachable objects, without a garbage collection; it takes longer.
    pub fn reachable_tagged_objects(self, _: Live) -> Result<Vec<(i64, u64)>, JvmtiError> {
        let mut found: Vec<(i64, u64)> = Vec::new();
        let callbacks = HeapCallbacks {
            heap_reference_callback: Some(referred),
            ..HeapCallbacks::default()
        };
        call!(self.FollowReferences(
            HEAP_FILTER_UNTAGGED,
            null_mut(),
            null_mut(),
            &raw const callbacks,
            (&raw mut found).cast_const().cast(),
        ))?;
        // An object is visited once for each reference to it.
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// A copy of JNI's function table, to be freed with [`Jvmti::free`].
    pub(in crate::ffi) fn jni_function_table(
        self,
        _: Live,
    ) -> Result<NonNull<JniFunction>, JvmtiError> {
        let mut table: *mut JniFunction = null_mut();
        call!(self.GetJNIFunctionTable(&raw mut table))?;
        NonNull::new(table).ok_or(JvmtiError::NOT_AVAILABLE)
    }

    /// Replaces JNI's function table. `table` has all entries; the JVM copies it.
    pub(in crate::ffi) fn set_jni_function_table(
        self,
        _: Live,
        table: NonNull<JniFunction>,
    ) -> Result<(), JvmtiError> {
        call!(self.SetJNIFunctionTable(table.as_ptr().cast_const()))
    }

    /// Frees memory of the JVM.
    pub(in crate::ffi) fn free<T>(self, memory: NonNull<T>) {
        self.deallocate(memory.as_ptr().cast());
    }

    /// The source file of a class, as modified UTF-8 (JVMS 4.7.10).
    pub fn source_file(self, class: &LocalRef<'_>) -> Result<Vec<u8>, JvmtiError> {
        let mut name: *mut c_char = null_mut();
        call!(self.GetSourceFileName(class.as_raw(), &raw mut name))?;
        self.take_string(name).ok_or(JvmtiError::NOT_AVAILABLE)
    }
}

/// The constant pool of a class, as its class file has it (JVMS 4.4).
#[derive(Debug)]
pub(crate) struct PoolBytes {
    /// One more than the highest index.
    pub count: u16,
    /// The entries.
    pub entries: Vec<u8>,
}

impl Jvmti {
    /// The constant pool of a class. Returns `None` if the JVM refuses.
    pub fn constant_pool(self, live: Live, class: &LocalRef<'_>) -> Option<PoolBytes> {
        match self.pool_bytes(class) {
            Err(JvmtiError::MUST_POSSESS_CAPABILITY) => {
                let wanted = Capabilities::only(CAN_GET_CONSTANT_POOL);
                let added = self.add_capabilities(live, wanted);
                added.and_then(|()| self.pool_bytes(class)).ok()
            }
            pool => pool.ok(),
        }
    }

    fn pool_bytes(self, class: &LocalRef<'_>) -> Result<PoolBytes, JvmtiError> {
        let (mut count, mut length, mut bytes) = (0, 0, null_mut());
        call!(self.GetConstantPool(
            class.as_raw(),
            &raw mut count,
            &raw mut length,
            &raw mut bytes
        ))?;
        Ok(PoolBytes {
            count: u16::try_from(count).map_err(|_| JvmtiError::NOT_AVAILABLE)?,
            entries: self.take_array(bytes, length),
        })
    }
}

/// `JVMTI_VISIT_OBJECTS`.
const VISIT_OBJECTS: jint = 0x100;
/// `JVMTI_VISIT_ABORT`.
const VISIT_ABORT: jint = 0x8000;

unsafe extern "system" fn tagged(
    _: i64,
    size: i64,
    tag: *mut i64,
    _: jint,
    found: *mut c_void,
) -> jint {
    guard(VISIT_ABORT, || {
        // SAFETY: `tagged_objects` passes its list, which has no other user until the JVM has visited all objects. The
        // JVM passes a pointer to the tag.
        let (found, tag) = unsafe { (&mut *found.cast::<Vec<(i64, u64)>>(), *tag) };
        found.push((tag, size.cast_unsigned()));
        VISIT_OBJECTS
    })
}

unsafe extern "system" fn referred(
    _: jint,
    _: *const c_void,
    class_tag: i64,
    _: i64,
    size: i64,
    tag: *mut i64,
    _: *mut i64,
    length: jint,
    found: *mut c_void,
) -> jint {
    // SAFETY: the arguments are those that the JVM passes for an object as well.
    unsafe { tagged(class_tag, size, tag, length, found) }
}
