//! Walks the heap along its references.

use super::methods::MethodId;
use super::{Jvmti, JvmtiError, Live, Local, LocalRef};
use crate::ffi::guard::guard;
use crate::ffi::table::{
    HEAP_FILTER_CLASS_UNTAGGED, HEAP_FILTER_UNTAGGED, HeapCallbacks, LocalReferenceInfo,
};
use jni_sys::{jint, jobject};
use std::ffi::c_void;
use std::ptr::null_mut;

/// `JVMTI_VISIT_OBJECTS`.
const VISIT_OBJECTS: jint = 0x100;
/// `JVMTI_HEAP_REFERENCE_JNI_GLOBAL`.
const JNI_GLOBAL: jint = 21;

/// The kind of a reference from one object to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ReferenceKind {
    /// To its class.
    Class,
    /// In a field, by the field's index in the class.
    Field(i32),
    /// In an array element, by its index.
    Element(i32),
    /// From a class, in a static field, by the field's index in the class.
    StaticField(i32),
    /// From a class, in its constant pool.
    ConstantPool,
    /// From a class to its loader, superclass, interfaces, signers or protection domain.
    OfClass,
    /// Another kind of reference.
    Other,
}

/// A root: a reference from outside of the heap. Threads are identified by their tags.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Root {
    JniGlobal,
    SystemClass,
    Monitor,
    /// A local variable or an operand of a frame.
    Frame {
        thread: i64,
        method: Option<MethodId>,
        location: i64,
        slot: i32,
    },
    /// A local reference of JNI.
    JniLocal {
        thread: i64,
        method: Option<MethodId>,
    },
    Thread,
    Other,
}

/// The referrer of a reference.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Referrer {
    Root(Root),
    Object(ReferenceKind),
}

/// A reference from an object or a root to an object. The visitor may change the tags; 0 means no tag.
#[derive(Debug)]
pub(crate) struct HeapReference {
    pub referrer: Referrer,
    /// The tag of the object's class.
    pub class_tag: i64,
    /// The tag of the referrer's class.
    pub referrer_class_tag: i64,
    /// The tag of the object.
    pub tag: i64,
    /// The tag of the referrer; 0 for a root.
    pub referrer_tag: i64,
}

/// The references that a walk visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceFilter {
    /// Those to tagged objects.
    Tagged,
    /// Those to objects of tagged classes.
    OfTaggedClasses,
}

/// Called for each reference, while the program is paused.
type Visitor<'v> = &'v mut dyn FnMut(&mut HeapReference);

impl Jvmti {
    /// Follows all references from the roots. The program is paused meanwhile, and `visit` must not call the JVM.
    /// References from an object to itself are left out.
    pub fn follow_references(
        self,
        _: Live,
        wanted: ReferenceFilter,
        mut visit: Visitor<'_>,
    ) -> Result<(), JvmtiError> {
        let callbacks = HeapCallbacks {
            heap_reference_callback: Some(reference),
            ..HeapCallbacks::default()
        };
        let filter = match wanted {
            ReferenceFilter::Tagged => HEAP_FILTER_UNTAGGED,
            ReferenceFilter::OfTaggedClasses => HEAP_FILTER_CLASS_UNTAGGED,
        };
        call!(self.FollowReferences(
            filter,
            null_mut(),
            null_mut(),
            &raw const callbacks,
            (&raw mut visit).cast_const().cast(),
        ))
    }

    /// Counts the strong global references of JNI. The JVM pauses the program and walks its roots, but visits no
    /// object.
    pub fn count_global_references(self, _: Live) -> Result<u64, JvmtiError> {
        let mut count = 0_u64;
        let callbacks = HeapCallbacks {
            heap_reference_callback: Some(global_reference),
            ..HeapCallbacks::default()
        };
        call!(self.FollowReferences(
            0,
            null_mut(),
            null_mut(),
            &raw const callbacks,
            (&raw mut count).cast_const().cast(),
        ))?;
        Ok(count)
    }

    /// The objects with one of these tags, each with its tag.
    pub fn objects_with_tags<'a>(
        self,
        _: Live,
        local: Local<'a>,
        tags: &[i64],
    ) -> Result<Vec<(i64, LocalRef<'a>)>, JvmtiError> {
        let (mut count, mut objects, mut found) = (0, null_mut::<jobject>(), null_mut::<i64>());
        let asked = jint::try_from(tags.len()).map_err(|_| JvmtiError::OUT_OF_MEMORY)?;
        call!(self.GetObjectsWithTags(
            asked,
            tags.as_ptr(),
            &raw mut count,
            &raw mut objects,
            &raw mut found
        ))?;
        let objects = self.take_array(objects, count).into_iter();
        let tags = self.take_array(found, count).into_iter();
        let adopted = tags.zip(objects.map(|object| local.adopt(object)));
        Ok(adopted
            .filter_map(|(tag, object)| Some((tag, object?)))
            .collect())
    }

    /// The direct superinterfaces of a class.
    pub fn interfaces<'a>(
        self,
        local: Local<'a>,
        class: &LocalRef<'_>,
    ) -> Result<Vec<LocalRef<'a>>, JvmtiError> {
        let (mut count, mut found) = (0, null_mut::<jobject>());
        call!(self.GetImplementedInterfaces(class.as_raw(), &raw mut count, &raw mut found))?;
        let found = self.take_array(found, count).into_iter();
        Ok(found.filter_map(|class| local.adopt(class)).collect())
    }
}

unsafe extern "system" fn reference(
    kind: jint,
    info: *const c_void,
    class_tag: i64,
    referrer_class_tag: i64,
    _: i64,
    tag: *mut i64,
    referrer_tag: *mut i64,
    _: jint,
    visitor: *mut c_void,
) -> jint {
    if tag == referrer_tag {
        return VISIT_OBJECTS; // a reference to itself
    }
    guard(VISIT_OBJECTS, || {
        // SAFETY: `follow_references` passes its visitor, which has no other user until the walk ends. `tag` points to
        // the object's tag. `referrer_tag` is NULL or points to the tag of the referrer, which is a different one.
        // `info` belongs to `kind`.
        unsafe {
            let visit = &mut *visitor.cast::<Visitor<'_>>();
            let mut reference = HeapReference {
                referrer: referrer(kind, info),
                class_tag,
                referrer_class_tag,
                tag: *tag,
                referrer_tag: if referrer_tag.is_null() {
                    0
                } else {
                    *referrer_tag
                },
            };
            visit(&mut reference);
            *tag = reference.tag;
            if !referrer_tag.is_null() {
                *referrer_tag = reference.referrer_tag;
            }
        }
        VISIT_OBJECTS
    })
}

unsafe extern "system" fn global_reference(
    kind: jint,
    _: *const c_void,
    _: i64,
    _: i64,
    _: i64,
    _: *mut i64,
    _: *mut i64,
    _: jint,
    count: *mut c_void,
) -> jint {
    if kind == JNI_GLOBAL {
        // SAFETY: `count_global_references` passes its count, which has no other user until the walk ends.
        unsafe { *count.cast::<u64>() += 1 };
    }
    0 // the object is not visited
}

/// The referrer of a reference, from `jvmtiHeapReferenceKind`.
///
/// # Safety
///
/// `info` is the JVM's information about a reference of this kind.
unsafe fn referrer(kind: jint, info: *const c_void) -> Referrer {
    // SAFETY: for these kinds `info` points to an index or to the data of a frame (jvmtiHeapReferenceInfo). For a JNI
    // local reference it points to the first fields of the latter.
    let index = || unsafe { *info.cast::<jint>() };
    let frame = || info.cast::<LocalReferenceInfo>();
    let object = match kind {
        1 => ReferenceKind::Class,
        2 => ReferenceKind::Field(index()),
        3 => ReferenceKind::Element(index()),
        4..=7 | 10 => ReferenceKind::OfClass,
        8 => ReferenceKind::StaticField(index()),
        9 => ReferenceKind::ConstantPool,
        JNI_GLOBAL => return Referrer::Root(Root::JniGlobal),
        22 => return Referrer::Root(Root::SystemClass),
        23 => return Referrer::Root(Root::Monitor),
        24 => {
            // SAFETY: as above.
            let frame = unsafe { &*frame() };
            return Referrer::Root(Root::Frame {
                thread: frame.thread_tag,
                method: MethodId::new(frame.method),
                location: frame.location,
                slot: frame.slot,
            });
        }
        25 => {
            // SAFETY: as above; only the common fields are read.
            let (thread, method) = unsafe { ((*frame()).thread_tag, (*frame()).method) };
            return Referrer::Root(Root::JniLocal {
                thread,
                method: MethodId::new(method),
            });
        }
        26 => return Referrer::Root(Root::Thread),
        27.. => return Referrer::Root(Root::Other),
        _ => ReferenceKind::Other,
    };
    Referrer::Object(object)
}
