//! Descriptions of objects without calls of their methods.
//!
//! Everything here is legal in a native method that instrumented code calls: the JNI and JVM TI functions used here run
//! no Java code.

use super::fields::{Field, Fields, ListedField, ResolvedField};
use super::jvm::Jvm;
use super::jvmti::Jvmti;
use super::layouts::Layout;
use super::printed_classes::PrintedClass;
use super::refs::{FieldId, GlobalRef, Local, LocalRef, jni};
use crate::names::{decode, internal_name};
use conditions::NamedField;
use jni_sys::{_jobject, jint, jobject};
use probes::spans::{JvmValue, Runtime};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of entries in the table of known classes. A class without an entry is described again each time.
const CLASSES: usize = 8_192;
/// Number of entries that are probed for a class.
const PROBES: usize = 32;

/// Methods that return elements of collections and maps.
const GIVES: [&[u8]; 10] = [
    b"get",
    b"iterator",
    b"listIterator",
    b"toArray",
    b"size",
    b"peek",
    b"entrySet",
    b"keySet",
    b"values",
    b"containsKey",
];

/// The box classes, each with the descriptor of its field `value`.
const BOXES: [(&CStr, &CStr); 8] = [
    (c"java/lang/Boolean", c"Z"),
    (c"java/lang/Byte", c"B"),
    (c"java/lang/Character", c"C"),
    (c"java/lang/Short", c"S"),
    (c"java/lang/Integer", c"I"),
    (c"java/lang/Long", c"J"),
    (c"java/lang/Float", c"F"),
    (c"java/lang/Double", c"D"),
];

/// The type of a class's values, which decides how they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Object,
    Array,
    Text,
    /// An enum constant.
    Enum,
    /// A `java.lang.Class`.
    Class,
    /// A box; the index in [`BOXES`].
    Box(u8),
    /// A collection or map of the JDK: the index of its layout.
    Collection(u8),
    /// A value that is shown as its `toString` gives it: the index of its class.
    Printed(u8),
}

/// A known class. Entries are never removed, so that readers need no lock.
#[derive(Debug, Default)]
struct KnownClass {
    /// Identity hash of the class with the top bit set; 0 for a free entry.
    hash: AtomicU32,
    /// A weak global reference: the class may be unloaded.
    class: AtomicPtr<_jobject>,
    /// The class's number in the runtime.
    number: AtomicU32,
    kind: AtomicU32,
}

/// Fields, classes and caches for reading values.
#[derive(Debug)]
pub(crate) struct Values {
    boxes: [Option<FieldId>; 8],
    /// `java.lang.String`.
    text: Option<GlobalRef>,
    /// `java.lang.Class`.
    class_of_classes: Option<GlobalRef>,
    /// `java.lang.Throwable`.
    throwables: Option<GlobalRef>,
    /// `java.lang.Enum`, and its field `name`.
    enums: Option<(GlobalRef, FieldId)>,
    classes: Box<[KnownClass]>,
    fields: Fields,
    /// Held while a class is added.
    adding: Mutex<()>,
    threads: Option<Threads>,
}

/// Fields for the current platform thread and its id.
#[derive(Debug)]
struct Threads {
    id: Option<FieldId>,
    /// True if `Thread.threadId` exists, a final method. Such a JVM has virtual threads (Java 19).
    has_ids: bool,
}

impl Values {
    /// Looks up the fields of the JDK's classes.
    pub fn resolve(local: Local<'_>) -> Self {
        let boxes = BOXES.map(|(class, descriptor)| {
            let class = local.find_class(class)?;
            local.field_id(&class, c"value", descriptor)
        });
        Self {
            boxes,
            text: local
                .find_class(c"java/lang/String")
                .and_then(|class| local.globalize(&class)),
            class_of_classes: local
                .find_class(c"java/lang/Class")
                .and_then(|class| local.globalize(&class)),
            throwables: local
                .find_class(c"java/lang/Throwable")
                .and_then(|class| local.globalize(&class)),
            enums: local.find_class(c"java/lang/Enum").and_then(|class| {
                let name = local.field_id(&class, c"name", c"Ljava/lang/String;")?;
                Some((local.globalize(&class)?, name))
            }),
            classes: (0..CLASSES).map(|_| KnownClass::default()).collect(),
            fields: Fields::default(),
            adding: Mutex::default(),
            threads: Threads::resolve(local),
        }
    }

    /// Checks whether `Thread.threadId` exists (Java 19), by which threads are identified.
    pub fn has_thread_ids(&self) -> bool {
        self.threads.as_ref().is_some_and(|threads| threads.has_ids)
    }

    /// The description of an object whose class has this number and kind. As much of a string as fits is read into
    /// `text`.
    pub(super) fn read<'t>(
        &self,
        (jvmti, local): (Jvmti, Local<'_>),
        runtime: &Runtime,
        object: &LocalRef<'_>,
        (number, kind): (u32, ValueKind),
        text: &'t mut [u16],
    ) -> Option<JvmValue<'t>> {
        match kind {
            ValueKind::Object | ValueKind::Collection(_) | ValueKind::Printed(_) => {
                Some(JvmValue::Object(number, jvmti.identity_hash(object)?))
            }
            ValueKind::Enum => {
                let (_, name) = self.enums.as_ref()?;
                let name = local.object_field(object, *name)?;
                match read_text(local, &name, text)? {
                    JvmValue::Text(name, length) => Some(JvmValue::Constant(name, length)),
                    other => Some(other),
                }
            }
            ValueKind::Class => {
                let signature = jvmti.class_signature(object).ok()?;
                let name = internal_name(&signature).unwrap_or(&signature);
                Some(JvmValue::Class(runtime.class(&decode(name))))
            }
            ValueKind::Array => {
                let length = local.array_length(object);
                Some(JvmValue::Array(number, length.cast_unsigned()))
            }
            ValueKind::Text => read_text(local, object, text),
            ValueKind::Box(index) => {
                let field = (*self.boxes.get(usize::from(index))?)?;
                Some(unbox(local, object, index, field))
            }
        }
    }

    /// The object in a field; `None` for null, and without such a field.
    pub(super) fn object_in<'a>(
        &self,
        jvmti: Jvmti,
        local: Local<'a>,
        object: &LocalRef<'_>,
        name: &str,
    ) -> Option<LocalRef<'a>> {
        let class = local.object_class(object)?;
        let field = self.fields.find(jvmti, local, &class, name)?;
        let is_object = matches!(field.kind, b'L' | b'[');
        is_object.then(|| local.object_field(object, field.id))?
    }

    /// The number in a field of type `int`.
    pub(super) fn int_in(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        object: &LocalRef<'_>,
        name: &str,
    ) -> Option<jint> {
        let class = local.object_class(object)?;
        let field = self.fields.find(jvmti, local, &class, name)?;
        (field.kind == b'I').then(|| local.int_field(object, field.id))
    }

    /// Checks whether objects of this class have a field of this name.
    pub(super) fn has_field(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        object: &LocalRef<'_>,
        name: &str,
    ) -> bool {
        let class = local.object_class(object);
        class.is_some_and(|class| self.fields.find(jvmti, local, &class, name).is_some())
    }

    /// The value in a field. Returns `None` without such a field.
    pub(super) fn reached_in<'a>(
        &self,
        jvmti: Jvmti,
        local: Local<'a>,
        object: &LocalRef<'_>,
        name: &str,
    ) -> Option<FieldValue<'a>> {
        let class = local.object_class(object)?;
        let field = self.fields.find(jvmti, local, &class, name)?;
        Some(field_of(local, object, field))
    }

    /// The instance fields of objects of a class, with the numbers of their names.
    pub(super) fn all_fields(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'_>,
        object: &LocalRef<'_>,
    ) -> Option<Arc<[ListedField]>> {
        let class = local.object_class(object)?;
        let number = |name: &str| runtime.class(name);
        self.fields.all(jvmti, local, &class, number)
    }

    /// Checks whether an object is a `String`.
    pub(super) fn is_text(&self, local: Local<'_>, object: &LocalRef<'_>) -> bool {
        let of_text = self.text.as_ref();
        of_text.is_some_and(|class| local.is_instance(object, class))
    }

    /// Checks whether an object is an exception.
    pub(super) fn is_throwable(&self, local: Local<'_>, object: &LocalRef<'_>) -> bool {
        let throwables = self.throwables.as_ref();
        throwables.is_some_and(|class| local.is_instance(object, class))
    }

    /// Checks whether an object is a `java.lang.Class`.
    pub(super) fn is_class(&self, local: Local<'_>, object: &LocalRef<'_>) -> bool {
        let of_class = self.class_of_classes.as_ref();
        of_class.is_some_and(|class| local.is_instance(object, class))
    }

    /// The field that an instruction names: an instance field of objects of the class, or a static one of the class.
    pub(super) fn named_field(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'_>,
        class: &LocalRef<'_>,
        field: &NamedField,
    ) -> Option<ResolvedField> {
        let number = |name: &str| runtime.class(name);
        self.fields.named(jvmti, local, class, field, number)
    }

    /// Checks whether an object of an enum is the constant of this name.
    pub(super) fn is_constant(&self, local: Local<'_>, object: &LocalRef<'_>, name: &str) -> bool {
        let found = self.enums.as_ref();
        let found = found.and_then(|(_, field)| local.object_field(object, *field));
        found
            .and_then(|found| local.string(&found))
            .is_some_and(|found| found == name)
    }

    /// The number of an object's class.
    pub fn class_number(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'_>,
        object: &LocalRef<'_>,
    ) -> Option<u32> {
        let (number, _) = self.class_of(jvmti, runtime, local, object)?;
        Some(number)
    }

    pub(super) fn class_of(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'_>,
        object: &LocalRef<'_>,
    ) -> Option<(u32, ValueKind)> {
        let class = local.object_class(object)?;
        let hash = jvmti.identity_hash(&class)? | 1 << 31;
        let mut entries = (0..PROBES).filter_map(|step| {
            let index = (hash as usize).wrapping_add(step) % CLASSES;
            self.classes.get(index)
        });
        let known = entries.find(|known| match known.hash.load(Ordering::Acquire) {
            0 => true,
            other => other == hash && known.is(local, &class),
        });
        match known {
            Some(known) if known.hash.load(Ordering::Acquire) == hash => Some(known.get()),
            free => self.add(jvmti, runtime, local, &class, hash, free),
        }
    }

    /// Describes a class that is new, or for which no entry is free.
    #[cold]
    fn add(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'_>,
        class: &LocalRef<'_>,
        hash: u32,
        free: Option<&KnownClass>,
    ) -> Option<(u32, ValueKind)> {
        let signature = jvmti.class_signature(class).ok()?;
        let name = internal_name(&signature).unwrap_or(&signature);
        let kind = if signature.starts_with(b"[") {
            ValueKind::Array
        } else if name == b"java/lang/String" {
            ValueKind::Text
        } else if name == b"java/lang/Class" {
            ValueKind::Class
        } else if self.is_enum(local, class) {
            ValueKind::Enum
        } else if let Some(index) = BOXES.iter().position(|(it, _)| it.to_bytes() == name) {
            ValueKind::Box(index as u8)
        } else if let Some(index) = PrintedClass::index_of(name) {
            ValueKind::Printed(index)
        } else {
            let layout = layout_of(jvmti, local, class, name);
            layout.map_or(ValueKind::Object, ValueKind::Collection)
        };
        let number = runtime.class(&decode(name));
        if let Some(free) = free {
            let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
            free.set(local, class, hash, number, kind);
        }
        Some((number, kind))
    }

    /// Checks whether a class is an enum, or the class of one of its constants.
    fn is_enum(&self, local: Local<'_>, class: &LocalRef<'_>) -> bool {
        let enums = self.enums.as_ref();
        enums.is_some_and(|(enums, _)| local.is_subclass(class, enums))
    }

    /// Java's id of a thread, and true if the thread is virtual.
    pub fn identify(&self, local: Local<'_>, thread: &LocalRef<'_>) -> Option<(u64, bool)> {
        let threads = self.threads.as_ref()?;
        let field = threads.id?;
        let id = jni!(local, v1_1.GetLongField, thread.as_raw(), field.0.as_ptr());
        Some((id.cast_unsigned(), threads.is_virtual(local, thread)))
    }

    /// Java's id and name of the current platform thread, which may carry a virtual thread.
    pub fn current_thread(&self, jvm: Jvm<'_>) -> Option<(Option<u64>, String)> {
        let Jvm { jvmti, live, local } = jvm;
        let threads = self.threads.as_ref()?;
        let thread = threads.current(jvm)?;
        let id = threads.id.map(|field| {
            let id = jni!(local, v1_1.GetLongField, thread.as_raw(), field.0.as_ptr());
            id.cast_unsigned()
        });
        let name = jvmti.thread_name(live, local, &thread).unwrap_or_default();
        Some((id, name))
    }
}

impl Threads {
    fn resolve(local: Local<'_>) -> Option<Self> {
        let class = local.find_class(c"java/lang/Thread")?;
        Some(Self {
            has_ids: local.has_method(&class, c"threadId", c"()J"),
            id: local.field_id(&class, c"tid", c"J"),
        })
    }

    /// Checks whether a thread is virtual. It calls the JVM, because finding the class `VirtualThread` would initialise
    /// it, which creates a scheduler and takes 30 ms.
    fn is_virtual(&self, local: Local<'_>, thread: &LocalRef<'_>) -> bool {
        // The function table of a JVM with `has_ids` contains this function.
        self.has_ids && jni!(local, v19.IsVirtualThread, thread.as_raw())
    }

    /// The current platform thread.
    fn current<'a>(&self, jvm: Jvm<'a>) -> Option<LocalRef<'a>> {
        let thread = jvm.jvmti.current_thread(jvm.live, jvm.local).ok()?;
        if !self.is_virtual(jvm.local, &thread) {
            return Some(thread);
        }
        let class = jvm.local.object_class(&thread)?;
        let carrier = (c"carrierThread", c"Ljava/lang/Thread;");
        match jvm.local.field_id(&class, carrier.0, carrier.1) {
            Some(carrier) => jvm.local.object_field(&thread, carrier),
            None => Some(thread), // a virtual thread that is bound to a platform thread
        }
    }
}

/// The layout of a class: that of its nearest superclass that is a collection of the JDK. Returns `None` if a class
/// between the two returns its elements by its own code.
fn layout_of(jvmti: Jvmti, local: Local<'_>, class: &LocalRef<'_>, name: &[u8]) -> Option<u8> {
    if let Some(found) = Layout::index_of(name) {
        return Some(found);
    }
    let mut gives_elements = gives_elements(jvmti, class, name);
    let mut above = local.superclass(class);
    while let Some(class) = above {
        let signature = jvmti.class_signature(&class).ok()?;
        let name = internal_name(&signature)?;
        if let Some(found) = Layout::index_of(name) {
            return (!gives_elements).then_some(found);
        }
        gives_elements |= self::gives_elements(jvmti, &class, name);
        above = local.superclass(&class);
    }
    None
}

/// Checks whether a class of the program has its own methods that return elements. Those of the JDK return the elements
/// that they store.
fn gives_elements(jvmti: Jvmti, class: &LocalRef<'_>, name: &[u8]) -> bool {
    let methods = match name.starts_with(b"java/") {
        true => Vec::new(),
        false => jvmti.class_methods(class).unwrap_or_default(),
    };
    methods.into_iter().any(|method| {
        let found = jvmti.method_name(method);
        found.is_ok_and(|(found, _)| GIVES.contains(&found.as_slice()))
    })
}

/// The kinds of boxes, collections and printed values as numbers.
const FIRST_BOX: u32 = 5;
const FIRST_COLLECTION: u32 = FIRST_BOX + BOXES.len() as u32;
const FIRST_PRINTED: u32 = FIRST_COLLECTION + 256;

impl KnownClass {
    fn is(&self, local: Local<'_>, class: &LocalRef<'_>) -> bool {
        let mine = self.class.load(Ordering::Relaxed);
        jni!(local, v1_1.IsSameObject, class.as_raw(), mine)
    }

    fn get(&self) -> (u32, ValueKind) {
        let kind = match self.kind.load(Ordering::Relaxed) {
            0 => ValueKind::Object,
            1 => ValueKind::Array,
            2 => ValueKind::Text,
            3 => ValueKind::Enum,
            4 => ValueKind::Class,
            number if number < FIRST_COLLECTION => ValueKind::Box((number - FIRST_BOX) as u8),
            number if number < FIRST_PRINTED => {
                ValueKind::Collection((number - FIRST_COLLECTION) as u8)
            }
            number => ValueKind::Printed((number - FIRST_PRINTED) as u8),
        };
        (self.number.load(Ordering::Relaxed), kind)
    }

    /// Stores a class, unless another thread was faster. The caller holds the lock.
    fn set(&self, local: Local<'_>, class: &LocalRef<'_>, hash: u32, number: u32, kind: ValueKind) {
        if self.hash.load(Ordering::Relaxed) != 0 {
            return;
        }
        let weak: jobject = jni!(local, v1_2.NewWeakGlobalRef, class.as_raw());
        if weak.is_null() {
            return local.clear_exception();
        }
        let kind = match kind {
            ValueKind::Object => 0,
            ValueKind::Array => 1,
            ValueKind::Text => 2,
            ValueKind::Enum => 3,
            ValueKind::Class => 4,
            ValueKind::Box(index) => FIRST_BOX + u32::from(index),
            ValueKind::Collection(index) => FIRST_COLLECTION + u32::from(index),
            ValueKind::Printed(index) => FIRST_PRINTED + u32::from(index),
        };
        self.class.store(weak, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
        self.kind.store(kind, Ordering::Relaxed);
        self.hash.store(hash, Ordering::Release);
    }
}

/// The value of a field or an element.
pub(super) enum FieldValue<'a> {
    /// An object, or `null`.
    Object(Option<LocalRef<'a>>),
    /// A primitive value or a class.
    Value(JvmValue<'static>),
}

impl FieldValue<'_> {
    pub fn int(value: jint) -> Self {
        Self::Value(JvmValue::Number(b'I', i64::from(value).cast_unsigned()))
    }

    /// Checks whether it is the primitive value `true`.
    pub fn is_true(&self) -> bool {
        matches!(self, Self::Value(JvmValue::Number(b'Z', 1)))
    }
}

/// The value of an instance field.
pub(super) fn field_of<'a>(
    local: Local<'a>,
    object: &LocalRef<'_>,
    field: Field,
) -> FieldValue<'a> {
    match field.kind {
        b'L' | b'[' => FieldValue::Object(local.object_field(object, field.id)),
        kind => FieldValue::Value(number_field(local, object, kind, field.id)),
    }
}

/// An element of an array. Returns `None` beyond its end.
pub(super) fn element<'a>(
    jvmti: Jvmti,
    local: Local<'a>,
    array: &LocalRef<'_>,
    index: u32,
) -> Option<FieldValue<'a>> {
    /// Copies one element into a variable of its type.
    macro_rules! region {
        ($function:ident, $kind:ident, $of:expr, $index:expr) => {{
            let mut value: $kind = Default::default();
            jni!(
                local,
                v1_1.$function,
                $of,
                $index,
                1,
                (&raw mut value).cast()
            );
            value
        }};
    }
    let index = jint::try_from(index).ok()?;
    if index >= local.array_length(array) {
        return None;
    }
    let class = local.object_class(array)?;
    let signature = jvmti.class_signature(&class).ok()?;
    let kind = *signature.get(1)?;
    let raw = array.as_raw();
    let bits = match kind {
        b'L' | b'[' => {
            let found = jni!(local, v1_1.GetObjectArrayElement, raw, index);
            return Some(FieldValue::Object(local.adopt(found)));
        }
        b'Z' => u64::from(region!(GetBooleanArrayRegion, u8, raw, index)),
        b'B' => i64::from(region!(GetByteArrayRegion, i8, raw, index)).cast_unsigned(),
        b'C' => u64::from(region!(GetCharArrayRegion, u16, raw, index)),
        b'S' => i64::from(region!(GetShortArrayRegion, i16, raw, index)).cast_unsigned(),
        b'I' => i64::from(region!(GetIntArrayRegion, i32, raw, index)).cast_unsigned(),
        b'J' => region!(GetLongArrayRegion, i64, raw, index).cast_unsigned(),
        b'F' => u64::from(region!(GetFloatArrayRegion, f32, raw, index).to_bits()),
        b'D' => region!(GetDoubleArrayRegion, f64, raw, index).to_bits(),
        _ => return None,
    };
    Some(FieldValue::Value(JvmValue::Number(kind, bits)))
}

/// Reads as much of a string as fits; `object` must be a `String`.
#[inline(always)]
pub(super) fn read_text<'t>(
    local: Local<'_>,
    object: &LocalRef<'_>,
    text: &'t mut [u16],
) -> Option<JvmValue<'t>> {
    let length = jni!(local, v1_1.GetStringLength, object.as_raw());
    let kept = text.len().min(usize::try_from(length).unwrap_or(0));
    let kept_units = jint::try_from(kept).unwrap_or(0);
    let buffer = text.as_mut_ptr();
    jni!(
        local,
        v1_2.GetStringRegion,
        object.as_raw(),
        0,
        kept_units,
        buffer
    );
    Some(JvmValue::Text(text.get(..kept)?, length.cast_unsigned()))
}

/// The value in a box, read from its field `value`.
fn unbox<'t>(local: Local<'_>, object: &LocalRef<'_>, index: u8, field: FieldId) -> JvmValue<'t> {
    let kind = BOXES
        .get(usize::from(index))
        .and_then(|(_, descriptor)| descriptor.to_bytes().first().copied());
    kind.map_or(JvmValue::Unreadable, |kind| {
        number_field(local, object, kind, field)
    })
}

/// A field of a primitive type.
fn number_field<'t>(
    local: Local<'_>,
    object: &LocalRef<'_>,
    kind: u8,
    field: FieldId,
) -> JvmValue<'t> {
    let (object, field) = (object.as_raw(), field.0.as_ptr());
    let signed = |value: i64| value.cast_unsigned();
    let (kind, bits) = match kind {
        b'Z' => (
            b'Z',
            u64::from(jni!(local, v1_1.GetBooleanField, object, field)),
        ),
        b'B' => (
            b'B',
            signed(jni!(local, v1_1.GetByteField, object, field).into()),
        ),
        b'C' => (
            b'C',
            u64::from(jni!(local, v1_1.GetCharField, object, field)),
        ),
        b'S' => (
            b'S',
            signed(jni!(local, v1_1.GetShortField, object, field).into()),
        ),
        b'I' => (
            b'I',
            signed(jni!(local, v1_1.GetIntField, object, field).into()),
        ),
        b'J' => (b'J', signed(jni!(local, v1_1.GetLongField, object, field))),
        b'F' => (
            b'F',
            u64::from(jni!(local, v1_1.GetFloatField, object, field).to_bits()),
        ),
        b'D' => (
            b'D',
            jni!(local, v1_1.GetDoubleField, object, field).to_bits(),
        ),
        _ => return JvmValue::Unreadable,
    };
    JvmValue::Number(kind, bits)
}
