//! JNI references and the few JNI functions that are legal inside the class-file load hook.
//!
//! They run no Java code: `IsSameObject`, `GetObjectField`, `GetObjectClass`, reference management, and the exception
//! functions that keep a pending exception.

use jni_sys::{JNIEnv, jfieldID, jint, jobject};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The JNI environment of this thread during a callback (`'a`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local<'a> {
    env: NonNull<JNIEnv>,
    /// Neither `Send` nor `Sync`: a JNI environment belongs to its thread.
    scope: PhantomData<(&'a (), *mut ())>,
}

/// A local reference, deleted when dropped.
#[derive(Debug)]
pub(crate) struct LocalRef<'a> {
    local: Local<'a>,
    raw: NonNull<jni_sys::_jobject>,
    owned: bool,
}

/// A global reference; kept until [`Local::release`] or the end of the process.
#[derive(Debug)]
pub(crate) struct GlobalRef(NonNull<jni_sys::_jobject>);

// SAFETY: a global reference is valid in every attached thread (JNI, Global and Local References).
unsafe impl Send for GlobalRef {}
// SAFETY: as above; it is never changed.
unsafe impl Sync for GlobalRef {}

/// A weak global reference: it does not keep its object alive.
#[derive(Debug)]
pub(crate) struct WeakRef(NonNull<jni_sys::_jobject>);

// SAFETY: a weak global reference is valid in every attached thread (JNI, Weak Global References).
unsafe impl Send for WeakRef {}
// SAFETY: as above; it is never changed.
unsafe impl Sync for WeakRef {}

impl WeakRef {
    /// Returns the address, for code without a JVM.
    pub(super) fn into_address(self) -> usize {
        self.0.as_ptr().expose_provenance()
    }

    /// Returns the reference of this address, which must come from [`into_address`](Self::into_address).
    pub(super) fn of_address(address: usize) -> Option<Self> {
        NonNull::new(std::ptr::with_exposed_provenance_mut(address)).map(Self)
    }
}

/// A field of a class that is never unloaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldId(pub(super) NonNull<jni_sys::_jfieldID>);

// SAFETY: a field ID is valid in every thread while its class is loaded; classes of java.base stay.
unsafe impl Send for FieldId {}
// SAFETY: as above.
unsafe impl Sync for FieldId {}

/// A static field of type `int`.
#[derive(Debug)]
pub(crate) struct StaticInt {
    class: GlobalRef,
    field: FieldId,
}

impl StaticInt {
    /// Finds a field of a class of the bootstrap loader, which this initialises. A failure leaves no exception pending.
    pub fn find(local: Local<'_>, class: &CStr, name: &CStr) -> Option<Self> {
        let class = local.find_class(class)?;
        let raw: jfieldID = jni!(
            local,
            v1_1.GetStaticFieldID,
            class.as_raw(),
            name.as_ptr(),
            c"I".as_ptr()
        );
        local.clear_exception();
        Some(Self {
            field: FieldId(NonNull::new(raw)?),
            class: local.globalize(&class)?,
        })
    }

    /// Its value.
    pub fn get(&self, local: Local<'_>) -> jint {
        let (class, field) = (self.class.as_raw(), self.field.0.as_ptr());
        jni!(local, v1_1.GetStaticIntField, class, field)
    }
}

/// Calls one JNI function of the environment.
macro_rules! jni {
    ($local:expr, $version:ident . $function:ident $(, $argument:expr)*) => {{
        let env = $local.as_raw();
        // SAFETY: `Local` is made from the environment of a running callback only, whose function
        // table has all functions of JNI 1.6; references passed in live in this scope.
        unsafe { ((**env).$version.$function)(env $(, $argument)*) }
    }};
}

pub(super) use jni;

impl<'a> Local<'a> {
    /// Wraps a JNI environment.
    ///
    /// # Safety
    ///
    /// `env` is the JNI environment of this thread and stays valid for `'a`, and JNI is legal in the current phase.
    pub(super) unsafe fn new(env: NonNull<JNIEnv>) -> Self {
        Self {
            env,
            scope: PhantomData,
        }
    }

    /// The raw environment, for the `jni` crate.
    pub(super) fn as_raw(self) -> *mut JNIEnv {
        self.env.as_ptr()
    }

    /// Takes over a local reference; `None` for NULL.
    pub(super) fn adopt(self, raw: jobject) -> Option<LocalRef<'a>> {
        NonNull::new(raw).map(|raw| LocalRef {
            local: self,
            raw,
            owned: true,
        })
    }

    /// Wraps a local reference that the JVM owns (an argument of a callback); `None` for NULL.
    pub(super) fn borrow(self, raw: jobject) -> Option<LocalRef<'a>> {
        NonNull::new(raw).map(|raw| LocalRef {
            local: self,
            raw,
            owned: false,
        })
    }

    /// The object of a global reference, which outlives the result.
    pub fn of_global<'b>(self, global: &'b GlobalRef) -> LocalRef<'b>
    where
        'a: 'b,
    {
        LocalRef {
            local: self,
            raw: global.0,
            owned: false,
        }
    }

    /// Checks whether both refer to the same object.
    pub fn is_same(self, local: &LocalRef<'_>, global: &GlobalRef) -> bool {
        jni!(self, v1_1.IsSameObject, local.as_raw(), global.as_raw())
    }

    /// Checks whether an object is an instance of this class or of a subclass.
    pub fn is_instance(self, object: &LocalRef<'_>, class: &GlobalRef) -> bool {
        jni!(self, v1_1.IsInstanceOf, object.as_raw(), class.as_raw())
    }

    /// Checks whether a class is `above` or a subclass of it.
    pub fn is_subclass(self, class: &LocalRef<'_>, above: &GlobalRef) -> bool {
        jni!(self, v1_1.IsAssignableFrom, class.as_raw(), above.as_raw())
    }

    /// Checks whether two local references refer to the same object.
    pub fn is_same_object(self, one: &LocalRef<'_>, other: &LocalRef<'_>) -> bool {
        jni!(self, v1_1.IsSameObject, one.as_raw(), other.as_raw())
    }

    /// The value of an object's field, which must be a field of its class or a super class.
    pub fn object_field(self, object: &LocalRef<'_>, field: FieldId) -> Option<LocalRef<'a>> {
        self.adopt(jni!(
            self,
            v1_1.GetObjectField,
            object.as_raw(),
            field.0.as_ptr()
        ))
    }

    /// The value of an object's field of type `int`, which must be a field of its class or a super class.
    pub fn int_field(self, object: &LocalRef<'_>, field: FieldId) -> jint {
        jni!(self, v1_1.GetIntField, object.as_raw(), field.0.as_ptr())
    }

    /// The length of an array.
    pub fn array_length(self, array: &LocalRef<'_>) -> jint {
        jni!(self, v1_1.GetArrayLength, array.as_raw())
    }

    /// The text of a `String`; `None` if the JVM is out of memory.
    pub fn string(self, string: &LocalRef<'_>) -> Option<String> {
        let units = jni!(self, v1_1.GetStringLength, string.as_raw());
        let mut text = vec![0_u16; usize::try_from(units).ok()?];
        jni!(
            self,
            v1_2.GetStringRegion,
            string.as_raw(),
            0,
            units,
            text.as_mut_ptr()
        );
        self.clear_exception();
        Some(String::from_utf16_lossy(&text))
    }

    /// The object's class.
    pub fn object_class(self, object: &LocalRef<'_>) -> Option<LocalRef<'a>> {
        self.adopt(jni!(self, v1_1.GetObjectClass, object.as_raw()))
    }

    /// The superclass; `None` for `Object` and interfaces.
    pub fn superclass(self, class: &LocalRef<'_>) -> Option<LocalRef<'a>> {
        self.adopt(jni!(self, v1_1.GetSuperclass, class.as_raw()))
    }

    /// Checks whether objects of a class are instances of the other one, too.
    pub fn is_assignable(self, class: &LocalRef<'_>, to: &LocalRef<'_>) -> bool {
        jni!(self, v1_1.IsAssignableFrom, class.as_raw(), to.as_raw())
    }

    /// A class of java.base by its internal name. A failure leaves no exception pending.
    pub fn find_class(self, name: &CStr) -> Option<LocalRef<'a>> {
        let class = self.adopt(jni!(self, v1_1.FindClass, name.as_ptr()));
        self.clear_exception();
        class
    }

    /// Checks whether a class of java.base has a method. A failure leaves no exception pending.
    pub fn has_method(self, class: &LocalRef<'_>, name: &CStr, descriptor: &CStr) -> bool {
        let raw: jni_sys::jmethodID = jni!(
            self,
            v1_1.GetMethodID,
            class.as_raw(),
            name.as_ptr(),
            descriptor.as_ptr()
        );
        self.clear_exception();
        !raw.is_null()
    }

    /// A field of a class of java.base. A failure leaves no exception pending.
    pub fn field_id(self, class: &LocalRef<'_>, name: &CStr, descriptor: &CStr) -> Option<FieldId> {
        let raw: jfieldID = jni!(
            self,
            v1_1.GetFieldID,
            class.as_raw(),
            name.as_ptr(),
            descriptor.as_ptr()
        );
        self.clear_exception();
        NonNull::new(raw).map(FieldId)
    }

    /// A global reference to the same object; `None` if the JVM is out of memory.
    pub fn globalize(self, object: &LocalRef<'_>) -> Option<GlobalRef> {
        NonNull::new(jni!(self, v1_1.NewGlobalRef, object.as_raw())).map(GlobalRef)
    }

    /// A weak global reference to the same object; `None` if the JVM is out of memory.
    pub fn weaken(self, object: &LocalRef<'_>) -> Option<WeakRef> {
        let weak = NonNull::new(jni!(self, v1_2.NewWeakGlobalRef, object.as_raw()));
        self.clear_exception();
        weak.map(WeakRef)
    }

    /// Checks whether both refer to the same object, which then is alive.
    pub fn is_same_weak(self, local: &LocalRef<'_>, weak: &WeakRef) -> bool {
        jni!(self, v1_1.IsSameObject, local.as_raw(), weak.0.as_ptr())
    }

    /// Checks whether the object has been collected.
    pub fn is_cleared(self, weak: &WeakRef) -> bool {
        jni!(
            self,
            v1_1.IsSameObject,
            weak.0.as_ptr(),
            std::ptr::null_mut()
        )
    }

    /// Creates a local reference to the object of any other reference; `None` for a cleared weak reference.
    pub(super) fn localize(self, reference: jobject) -> Option<LocalRef<'a>> {
        self.adopt(jni!(self, v1_2.NewLocalRef, reference))
    }

    /// Deletes a weak global reference.
    pub fn release_weak(self, weak: WeakRef) {
        jni!(self, v1_2.DeleteWeakGlobalRef, weak.0.as_ptr());
    }

    /// Runs `body` with room for `capacity` local references, which are deleted afterwards.
    pub fn with_frame<R>(self, capacity: jint, body: impl FnOnce(Local<'_>) -> R) -> Option<R> {
        if jni!(self, v1_2.PushLocalFrame, capacity) != 0 {
            self.clear_exception();
            return None;
        }
        let result = body(self);
        jni!(self, v1_2.PopLocalFrame, std::ptr::null_mut());
        Some(result)
    }

    /// Deletes a global reference.
    pub fn release(self, global: GlobalRef) {
        jni!(self, v1_1.DeleteGlobalRef, global.as_raw());
    }

    /// Clears the exception of a failed call of the agent.
    pub fn clear_exception(self) {
        if jni!(self, v1_2.ExceptionCheck) {
            jni!(self, v1_1.ExceptionClear);
        }
    }

    /// The class of the pending exception, which is cleared.
    pub fn take_exception_class(self) -> Option<LocalRef<'a>> {
        if !jni!(self, v1_2.ExceptionCheck) {
            return None;
        }
        let thrown = self.adopt(jni!(self, v1_1.ExceptionOccurred));
        jni!(self, v1_1.ExceptionClear);
        self.object_class(&thrown?)
    }

    /// Runs `body` without the exception that may be pending on this thread, then restores it.
    pub fn keeping_exception<R>(self, body: impl FnOnce() -> R) -> R {
        if !jni!(self, v1_2.ExceptionCheck) {
            return body();
        }
        let pending = self.adopt(jni!(self, v1_1.ExceptionOccurred));
        jni!(self, v1_1.ExceptionClear);
        let result = body();
        if let Some(pending) = pending {
            jni!(self, v1_1.Throw, pending.as_raw());
        }
        result
    }
}

impl LocalRef<'_> {
    pub(super) fn as_raw(&self) -> jobject {
        self.raw.as_ptr()
    }
}

impl Drop for LocalRef<'_> {
    fn drop(&mut self) {
        if self.owned {
            jni!(self.local, v1_1.DeleteLocalRef, self.as_raw());
        }
    }
}

impl GlobalRef {
    pub(super) fn as_raw(&self) -> jobject {
        self.0.as_ptr()
    }
}
