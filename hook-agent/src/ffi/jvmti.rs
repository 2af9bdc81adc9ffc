//! Safe calls of JVM TI on top of the table.

use super::error::JvmtiError;
use super::phases::{Live, OnLoadOrLive};
use super::refs::{FieldId, GlobalRef, Local, LocalRef};
use super::table::{self, Capabilities, Event, EventCallbacks, JvmtiEnv, StartFunction};
use crate::names::decode;
use jni_sys::{jfieldID, jint, jobject};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{NonNull, null_mut};

/// A JVM TI environment of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Jvmti(NonNull<JvmtiEnv>);

// SAFETY: a JVM TI environment may be used by every attached thread (JVM TI, Environments); a call
// from a thread that is not attached returns JVMTI_ERROR_UNATTACHED_THREAD.
unsafe impl Send for Jvmti {}
// SAFETY: as above; the functions are thread-safe.
unsafe impl Sync for Jvmti {}

/// Calls one function of the table; an empty slot (older JVM) is `NOT_AVAILABLE`.
macro_rules! call {
    ($self:ident . $function:ident ( $($argument:expr),* $(,)? )) => {{
        // SAFETY: the environment came from GetEnv and is not disposed of while callbacks run
        // (JVM TI, Environments), so it points to its function table.
        let table = unsafe { &**$self.0.as_ptr() };
        match table.$function {
            // SAFETY: the slot holds this function (checked against jvmti.h by a test), the phase
            // is right by the token of the caller, and every pointer argument is valid for the
            // call: outputs point to locals of the caller.
            Some(function) => JvmtiError::check(unsafe {
                function($self.0.as_ptr() $(, $argument)*)
            }),
            None => Err(JvmtiError::NOT_AVAILABLE),
        }
    }};
}

mod heap;
mod methods;
mod monitors;
mod profiling;
mod queries;

pub(crate) use heap::{HeapReference, ReferenceFilter, ReferenceKind, Referrer, Root};
pub(crate) use methods::{MethodId, StackFrame};
pub(crate) use monitors::HotSpotEvent;
pub(crate) use profiling::VirtualThreadOf;

impl Jvmti {
    /// An environment that `GetEnv` returned.
    pub(super) fn new(env: NonNull<JvmtiEnv>) -> Self {
        Self(env)
    }

    /// The environment of a callback.
    pub(super) fn from_callback(env: *mut JvmtiEnv) -> Option<Self> {
        NonNull::new(env).map(Self)
    }

    /// Adds `wanted`, or returns `NOT_AVAILABLE` if the JVM does not offer it now.
    pub fn add_capabilities(
        self,
        _: impl OnLoadOrLive,
        wanted: Capabilities,
    ) -> Result<(), JvmtiError> {
        let mut offered = Capabilities::default();
        call!(self.GetPotentialCapabilities(&raw mut offered))?;
        if !offered.contains(&wanted) {
            return Err(JvmtiError::NOT_AVAILABLE);
        }
        call!(self.AddCapabilities(&raw const wanted))
    }

    /// Installs the callbacks; the JVM copies the table.
    pub fn set_event_callbacks(
        self,
        _: impl OnLoadOrLive,
        callbacks: &EventCallbacks,
    ) -> Result<(), JvmtiError> {
        let size = jint::try_from(size_of::<EventCallbacks>()).unwrap_or(0);
        call!(self.SetEventCallbacks(std::ptr::from_ref(callbacks), size))
    }

    /// Enables or disables an event for all threads.
    pub fn set_event(
        self,
        _: impl OnLoadOrLive,
        event: Event,
        enable: bool,
    ) -> Result<(), JvmtiError> {
        let mode = if enable {
            table::ENABLE
        } else {
            table::DISABLE
        };
        call!(self.SetEventNotificationMode(mode, event.0, null_mut()))
    }

    /// Sets the prefix that the JVM drops from the name of a native method if it does not find the method otherwise.
    pub fn set_native_method_prefix(self, _: Live, prefix: &CStr) -> Result<(), JvmtiError> {
        call!(self.SetNativeMethodPrefix(prefix.as_ptr()))
    }

    /// A system property of the JVM.
    pub fn system_property(self, _: impl OnLoadOrLive, name: &CStr) -> Option<String> {
        let mut value: *mut c_char = null_mut();
        call!(self.GetSystemProperty(name.as_ptr(), &raw mut value)).ok()?;
        self.take_string(value)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The Java release, if the JVM has the property: 8 for `1.8`, 17 for `17`.
    pub fn java_release(self, phase: impl OnLoadOrLive) -> Option<u16> {
        let version = self.system_property(phase, c"java.vm.specification.version")?;
        version.trim_start_matches("1.").parse().ok()
    }

    /// Every class of the JVM, as local references of this thread.
    pub fn loaded_classes<'a>(
        self,
        _: Live,
        local: Local<'a>,
    ) -> Result<Vec<LocalRef<'a>>, JvmtiError> {
        let mut count = 0;
        let mut classes: *mut jobject = null_mut();
        call!(self.GetLoadedClasses(&raw mut count, &raw mut classes))?;
        let count = usize::try_from(count).unwrap_or(0);
        let found = (0..count)
            // SAFETY: the JVM returned an array of `count` references (JVM TI, GetLoadedClasses).
            .map(|index| unsafe { *classes.add(index) })
            .filter_map(|class| local.adopt(class))
            .collect();
        self.deallocate(classes.cast());
        Ok(found)
    }

    /// The class's JNI signature, as modified UTF-8.
    pub fn class_signature(self, class: &LocalRef<'_>) -> Result<Vec<u8>, JvmtiError> {
        let mut signature: *mut c_char = null_mut();
        call!(self.GetClassSignature(class.as_raw(), &raw mut signature, null_mut()))?;
        self.take_string(signature).ok_or(JvmtiError::NOT_AVAILABLE)
    }

    /// Checks whether the class is modifiable (JVM TI, IsModifiableClass): no array, no primitive type, and not
    /// excluded by the JVM.
    pub fn is_modifiable(self, class: &LocalRef<'_>) -> bool {
        let mut modifiable = 0_u8;
        call!(self.IsModifiableClass(class.as_raw(), &raw mut modifiable)).is_ok()
            && table::is_true(modifiable)
    }

    /// Checks whether the class is linked and modifiable.
    pub fn is_prepared_and_modifiable(self, class: &LocalRef<'_>) -> bool {
        let mut status = 0;
        let barred = table::CLASS_STATUS_ARRAY | table::CLASS_STATUS_PRIMITIVE;
        call!(self.GetClassStatus(class.as_raw(), &raw mut status)).is_ok()
            && status & table::CLASS_STATUS_PREPARED != 0
            && status & barred == 0
            && self.is_modifiable(class)
    }

    /// Checks whether the class is loaded, but not linked yet.
    pub fn is_unprepared(self, class: &LocalRef<'_>) -> bool {
        let mut status = 0;
        let barred = table::CLASS_STATUS_ARRAY
            | table::CLASS_STATUS_PRIMITIVE
            | table::CLASS_STATUS_ERROR
            | table::CLASS_STATUS_PREPARED;
        call!(self.GetClassStatus(class.as_raw(), &raw mut status)).is_ok() && status & barred == 0
    }

    /// Checks whether the class's static initialiser has run.
    pub fn is_initialized(self, class: &LocalRef<'_>) -> bool {
        let mut status = 0;
        call!(self.GetClassStatus(class.as_raw(), &raw mut status)).is_ok()
            && status & table::CLASS_STATUS_INITIALIZED != 0
    }

    /// The class's defining loader; `None` is the bootstrap loader.
    pub fn class_loader<'a>(
        self,
        local: Local<'a>,
        class: &LocalRef<'_>,
    ) -> Result<Option<LocalRef<'a>>, JvmtiError> {
        let mut loader: jobject = null_mut();
        call!(self.GetClassLoader(class.as_raw(), &raw mut loader))?;
        Ok(local.adopt(loader))
    }

    /// The name of a thread, as text.
    pub fn thread_name(self, _: Live, local: Local<'_>, thread: &LocalRef<'_>) -> Option<String> {
        let mut info = table::ThreadInfo {
            name: null_mut(),
            priority: 0,
            is_daemon: 0,
            thread_group: null_mut(),
            context_class_loader: null_mut(),
        };
        call!(self.GetThreadInfo(thread.as_raw(), &raw mut info)).ok()?;
        drop(local.adopt(info.thread_group));
        drop(local.adopt(info.context_class_loader));
        self.take_string(info.name).map(|name| decode(&name))
    }

    /// The identity hash code of an object, as `Object.toString` shows it; `hashCode` is not called.
    pub fn identity_hash(self, object: &LocalRef<'_>) -> Option<u32> {
        let mut hash = 0;
        call!(self.GetObjectHashCode(object.as_raw(), &raw mut hash)).ok()?;
        Some(hash.cast_unsigned())
    }

    /// Passes the classes through the class-file load hook again: all change, or none.
    ///
    /// The references are global: `-Xcheck:jni` counts local ones of this frame as those of the hook, and warns.
    pub fn retransform_classes(self, live: Live, classes: &[&GlobalRef]) -> Result<(), JvmtiError> {
        let raw: Vec<jobject> = classes.iter().map(|class| class.as_raw()).collect();
        self.retransform_raw(live, &raw)
    }

    /// As [`Jvmti::retransform_classes`], with raw references, which must be valid.
    pub(super) fn retransform_raw(self, _: Live, classes: &[jobject]) -> Result<(), JvmtiError> {
        let count = jint::try_from(classes.len()).map_err(|_| JvmtiError::OUT_OF_MEMORY)?;
        call!(self.RetransformClasses(count, classes.as_ptr()))
    }

    /// Starts an agent thread on a new `java.lang.Thread` object, which calls `body` with `argument`.
    pub(super) fn run_agent_thread(
        self,
        _: Live,
        thread: &GlobalRef,
        body: StartFunction,
        argument: *const c_void,
    ) -> Result<(), JvmtiError> {
        /// `JVMTI_THREAD_NORM_PRIORITY`.
        const NORMAL: jint = 5;
        call!(self.RunAgentThread(thread.as_raw(), body, argument, NORMAL))
    }

    /// Copies `bytes` to memory of the JVM, as `new_class_data` requires.
    pub fn allocate_copy(self, bytes: &[u8]) -> Result<NonNull<u8>, JvmtiError> {
        let length = i64::try_from(bytes.len()).map_err(|_| JvmtiError::OUT_OF_MEMORY)?;
        let mut memory: *mut u8 = null_mut();
        call!(self.Allocate(length, &raw mut memory))?;
        let memory = NonNull::new(memory).ok_or(JvmtiError::OUT_OF_MEMORY)?;
        // SAFETY: the JVM allocated `bytes.len()` bytes there, which have no other user.
        unsafe {
            memory
                .as_ptr()
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
        };
        Ok(memory)
    }

    /// The access flags of a class (JVMS 4.1).
    pub fn class_access_flags(self, class: &LocalRef<'_>) -> Result<jint, JvmtiError> {
        let mut flags = 0;
        call!(self.GetClassModifiers(class.as_raw(), &raw mut flags))?;
        Ok(flags)
    }

    /// The fields that a class declares.
    pub fn class_fields(self, class: &LocalRef<'_>) -> Result<Vec<FieldId>, JvmtiError> {
        let mut count = 0;
        let mut fields: *mut jfieldID = null_mut();
        call!(self.GetClassFields(class.as_raw(), &raw mut count, &raw mut fields))?;
        let found = self.take_array(fields, count);
        let fields = found.into_iter().filter_map(NonNull::new);
        Ok(fields.map(FieldId).collect())
    }

    /// Name and descriptor of a field of a class, as modified UTF-8.
    pub fn field_name(
        self,
        class: &LocalRef<'_>,
        field: FieldId,
    ) -> Result<(Vec<u8>, Vec<u8>), JvmtiError> {
        let (mut name, mut descriptor): (*mut c_char, *mut c_char) = (null_mut(), null_mut());
        call!(self.GetFieldName(
            class.as_raw(),
            field.0.as_ptr(),
            &raw mut name,
            &raw mut descriptor,
            null_mut()
        ))?;
        let (name, descriptor) = (self.take_string(name), self.take_string(descriptor));
        name.zip(descriptor).ok_or(JvmtiError::NOT_AVAILABLE)
    }

    /// The access flags of a field of a class (JVMS 4.5).
    pub fn field_access_flags(
        self,
        class: &LocalRef<'_>,
        field: FieldId,
    ) -> Result<jint, JvmtiError> {
        let mut flags = 0;
        call!(self.GetFieldModifiers(class.as_raw(), field.0.as_ptr(), &raw mut flags))?;
        Ok(flags)
    }

    /// Copies an array of the JVM and frees it.
    fn take_array<T: Copy>(self, array: *mut T, count: jint) -> Vec<T> {
        if array.is_null() {
            return Vec::new();
        }
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: the JVM returned an array of `count` elements (JVM TI, Function Return Values).
        let copy = unsafe { std::slice::from_raw_parts(array, count) }.to_vec();
        self.deallocate(array.cast());
        copy
    }

    /// Disposes of the environment; its events stop.
    pub fn dispose(self) {
        let _ = call!(self.DisposeEnvironment());
    }

    fn deallocate(self, memory: *mut u8) {
        let _ = call!(self.Deallocate(memory));
    }

    /// Copies a NUL-terminated string of the JVM and frees it.
    fn take_string(self, string: *mut c_char) -> Option<Vec<u8>> {
        if string.is_null() {
            return None;
        }
        // SAFETY: the JVM returned a NUL-terminated string (JVM TI, Function Return Values).
        let bytes = unsafe { CStr::from_ptr(string) }.to_bytes().to_vec();
        self.deallocate(string.cast());
        Some(bytes)
    }
}
