//! What can be said of an object without calling its methods.
//!
//! Everything here is legal in a native method that instrumented code calls: none of the JNI and JVM TI functions
//! used runs Java code.

use super::fields::{Field, Fields};
use super::jvm::Jvm;
use super::jvmti::Jvmti;
use super::refs::{FieldId, GlobalRef, Local, LocalRef, jni};
use crate::names::{decode, internal_name};
use conditions::Step;
use jni_sys::{_jobject, jint, jobject};
use probes::spans::{Runtime, Seen};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Entries of the table of known classes; a class without one is described anew each time.
const CLASSES: usize = 8_192;
/// Entries that are tried for a class.
const PROBES: usize = 32;

/// The boxes: class, and the descriptor of the field `value`.
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

/// Most links that are followed in a list, and lists within lists.
const MOST_LINKS: u32 = 10_000;
const MOST_WRAPPERS: u32 = 8;

/// The fields that hold the elements of a list.
#[derive(Clone, Copy, Debug)]
enum Elements {
    /// An array, and the field with the number of elements if the array may be longer.
    Array(&'static str, Option<&'static str>),
    /// One field for each element; after the first, a plain `Object` stands for no element.
    Fields(&'static [&'static str]),
    /// Nodes: the field with the first one, and each node's fields with its element and the next node.
    Nodes(&'static str, &'static str, &'static str),
    /// A field with another list, which has the elements.
    Of(&'static str),
}

/// The lists of the JDK, by the names of their classes, which are those of every release.
const LISTS: [(&[u8], Elements); 16] = [
    (
        b"java/util/ArrayList",
        Elements::Array("elementData", Some("size")),
    ),
    (b"java/util/Arrays$ArrayList", Elements::Array("a", None)),
    (
        b"java/util/ImmutableCollections$ListN",
        Elements::Array("elements", None),
    ),
    (
        b"java/util/ImmutableCollections$List12",
        Elements::Fields(&["e0", "e1"]),
    ),
    (
        b"java/util/LinkedList",
        Elements::Nodes("first", "item", "next"),
    ),
    (
        b"java/util/Vector",
        Elements::Array("elementData", Some("elementCount")),
    ),
    (
        b"java/util/Stack",
        Elements::Array("elementData", Some("elementCount")),
    ),
    (
        b"java/util/concurrent/CopyOnWriteArrayList",
        Elements::Array("array", None),
    ),
    (
        b"java/util/Collections$SingletonList",
        Elements::Fields(&["element"]),
    ),
    (
        b"java/util/Collections$UnmodifiableList",
        Elements::Of("list"),
    ),
    (
        b"java/util/Collections$UnmodifiableRandomAccessList",
        Elements::Of("list"),
    ),
    (
        b"java/util/Collections$SynchronizedList",
        Elements::Of("list"),
    ),
    (
        b"java/util/Collections$SynchronizedRandomAccessList",
        Elements::Of("list"),
    ),
    (b"java/util/Collections$CheckedList", Elements::Of("list")),
    (
        b"java/util/Collections$CheckedRandomAccessList",
        Elements::Of("list"),
    ),
    (b"java/util/Collections$EmptyList", Elements::Fields(&[])),
];

/// How a value of a class is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Object,
    Array,
    Text,
    /// A constant of an enum.
    Enum,
    /// Index in [`BOXES`].
    Box(u8),
    /// Index in [`LISTS`].
    List(u8),
}

/// A class that was seen before. Never taken back, so that readers need no lock.
#[derive(Debug, Default)]
struct Known {
    /// Identity hash of the class with the top bit set; 0 while there is none.
    hash: AtomicU32,
    /// A weak global reference: the class may be unloaded.
    class: AtomicPtr<_jobject>,
    /// Its number in the runtime.
    number: AtomicU32,
    kind: AtomicU32,
}

/// What reading values takes.
#[derive(Debug)]
pub(crate) struct Values {
    boxes: [Option<FieldId>; 8],
    /// `java.lang.String`.
    text: Option<GlobalRef>,
    /// `java.lang.Class`.
    class_of_classes: Option<GlobalRef>,
    /// `java.lang.Enum`, and its field `name`.
    enums: Option<(GlobalRef, FieldId)>,
    classes: Box<[Known]>,
    fields: Fields,
    /// Held by who adds a class.
    adding: Mutex<()>,
    threads: Option<Threads>,
}

/// Finds the current platform thread, and its id.
#[derive(Debug)]
struct Threads {
    /// The field `carrierThread` of this class, where the JVM has virtual threads.
    virtual_ones: Option<(GlobalRef, FieldId)>,
    id: Option<FieldId>,
    /// Whether it can be asked for its id by a final method.
    has_ids: bool,
}

impl Values {
    /// Looks up the fields of the JVM's own classes.
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
            enums: local.find_class(c"java/lang/Enum").and_then(|class| {
                let name = local.field_id(&class, c"name", c"Ljava/lang/String;")?;
                Some((local.globalize(&class)?, name))
            }),
            classes: (0..CLASSES).map(|_| Known::default()).collect(),
            fields: Fields::default(),
            adding: Mutex::default(),
            threads: Threads::resolve(local),
        }
    }

    /// Whether there is `Thread.threadId` (Java 19), by which threads are identified.
    pub fn has_thread_ids(&self) -> bool {
        self.threads.as_ref().is_some_and(|threads| threads.has_ids)
    }

    /// What can be said of an object; texts are read into `text` as far as they fit.
    pub fn read<'t>(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'_>,
        object: &LocalRef<'_>,
        text: &'t mut [u16],
    ) -> Option<Seen<'t>> {
        let (number, kind) = self.class_of(jvmti, runtime, local, object)?;
        match kind {
            Kind::Object | Kind::List(_) => {
                Some(Seen::Object(number, jvmti.identity_hash(object)?))
            }
            Kind::Enum => {
                let (_, name) = self.enums.as_ref()?;
                read_text(local, &local.object_field(object, *name)?, text)
            }
            Kind::Array => {
                let length = local.array_length(object);
                Some(Seen::Array(number, length.cast_unsigned()))
            }
            Kind::Text => read_text(local, object, text),
            Kind::Box(index) => {
                let field = (*self.boxes.get(usize::from(index))?)?;
                Some(unbox(local, object, index, field))
            }
        }
    }

    /// The value to which these steps lead from an object; none if they lead nowhere.
    pub fn read_at<'t>(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'_>,
        object: &LocalRef<'_>,
        steps: &[Step],
        text: &'t mut [u16],
    ) -> Option<Seen<'t>> {
        let mut reached = None;
        let mut steps = steps.iter();
        while let Some(step) = steps.next() {
            let from = reached.as_ref().unwrap_or(object);
            let is_last = steps.len() == 0;
            match self.step(jvmti, runtime, local, from, step)? {
                Reached::Object(Some(next)) => reached = Some(next),
                Reached::Object(None) => return is_last.then_some(Seen::Null),
                Reached::Value(value) => return is_last.then_some(value),
            }
        }
        let object = reached.as_ref().unwrap_or(object);
        let of_text = self.text.as_ref();
        if of_text.is_some_and(|class| local.is_instance(object, class)) {
            return read_text(local, object, text);
        }
        self.read(jvmti, runtime, local, object, text)
    }

    fn step<'a>(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'a>,
        object: &LocalRef<'_>,
        step: &Step,
    ) -> Option<Reached<'a>> {
        let (number, kind) = self.class_of(jvmti, runtime, local, object)?;
        let name = match (step, kind) {
            (Step::Class, _) => return Some(Reached::Value(Seen::Class(number))),
            (Step::Written(field), _) => {
                let class = local.object_class(object)?;
                let number = |name: &str| runtime.class(name);
                let found = self.fields.named(jvmti, local, &class, field, number)?;
                return Some(field_of(local, object, found.field));
            }
            (Step::Declarer(field), _) => {
                let of_class = self.class_of_classes.as_ref();
                let is_class = of_class.is_some_and(|class| local.is_instance(object, class));
                let own = local.object_class(object)?;
                let class = if is_class { object } else { &own };
                let number = |name: &str| runtime.class(name);
                let found = self.fields.named(jvmti, local, class, field, number)?;
                return Some(Reached::Value(Seen::Class(found.declarer)));
            }
            (Step::Length, Kind::Text) => {
                let length = jni!(local, v1_1.GetStringLength, object.as_raw());
                return Some(Reached::int(length));
            }
            (Step::Length, Kind::Array) => return Some(Reached::int(local.array_length(object))),
            (Step::Element(index), Kind::Array) => {
                return element(jvmti, local, object, *index);
            }
            (Step::Element(index), Kind::List(list)) => {
                return self.list_element(jvmti, runtime, local, object, (list, *index));
            }
            (Step::Element(_), _) => return None,
            (Step::Length, _) => "length",
            (Step::Field(name), _) => name,
        };
        let class = local.object_class(object)?;
        let field = self.fields.find(jvmti, local, &class, name)?;
        Some(field_of(local, object, field))
    }

    /// Returns an element of a list of the JDK; none beyond its end. No lock is taken: a list that changes meanwhile gives
    /// an old or a new element.
    fn list_element<'a>(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'a>,
        list: &LocalRef<'_>,
        (mut kind, index): (u8, u32),
    ) -> Option<Reached<'a>> {
        let mut inner: Option<LocalRef<'a>> = None;
        for _ in 0..MOST_WRAPPERS {
            let list = inner.as_ref().unwrap_or(list);
            let (_, elements) = LISTS.get(usize::from(kind))?;
            let field = |of: &LocalRef<'_>, name| self.object_in(jvmti, local, of, name);
            match *elements {
                Elements::Array(array, size) => {
                    let size = size.map(|size| self.int_in(jvmti, local, list, size));
                    let is_beyond = |size| i64::from(index) >= i64::from(size);
                    if size.is_some_and(|size| size.is_none_or(is_beyond)) {
                        return None;
                    }
                    return element(jvmti, local, &field(list, array)?, index);
                }
                Elements::Fields(names) => {
                    let found = field(list, names.get(index as usize)?)?;
                    let is_none = index > 0 && self.is_plain_object(jvmti, local, &found);
                    return (!is_none).then_some(Reached::Object(Some(found)));
                }
                Elements::Nodes(first, item, next) => {
                    let mut node = field(list, first)?;
                    for _ in 0..(index < MOST_LINKS).then_some(index)? {
                        node = field(&node, next)?;
                    }
                    return Some(Reached::Object(field(&node, item)));
                }
                Elements::Of(name) => {
                    let found = field(list, name)?;
                    match self.class_of(jvmti, runtime, local, &found)? {
                        (_, Kind::List(found)) => kind = found,
                        _ => return None,
                    }
                    inner = Some(found);
                }
            }
        }
        None
    }

    /// The object in a field.
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

    /// Checks whether an object of an enum is the constant of this name.
    pub(super) fn is_constant(&self, local: Local<'_>, object: &LocalRef<'_>, name: &str) -> bool {
        let found = self.enums.as_ref();
        let found = found.and_then(|(_, field)| local.object_field(object, *field));
        found
            .and_then(|found| local.string(&found))
            .is_some_and(|found| found == name)
    }

    /// Checks whether an object's class is `Object` itself.
    fn is_plain_object(&self, jvmti: Jvmti, local: Local<'_>, object: &LocalRef<'_>) -> bool {
        let class = local.object_class(object);
        let signature = class.and_then(|class| jvmti.class_signature(&class).ok());
        signature.is_some_and(|signature| signature == b"Ljava/lang/Object;")
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

    fn class_of(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'_>,
        object: &LocalRef<'_>,
    ) -> Option<(u32, Kind)> {
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

    /// A class that is seen for the first time, or for which no entry is free.
    #[cold]
    fn add(
        &self,
        jvmti: Jvmti,
        runtime: &Runtime,
        local: Local<'_>,
        class: &LocalRef<'_>,
        hash: u32,
        free: Option<&Known>,
    ) -> Option<(u32, Kind)> {
        let signature = jvmti.class_signature(class).ok()?;
        let name = internal_name(&signature).unwrap_or(&signature);
        let kind = if signature.starts_with(b"[") {
            Kind::Array
        } else if name == b"java/lang/String" {
            Kind::Text
        } else if let Some(index) = LISTS.iter().position(|(class, _)| *class == name) {
            Kind::List(index as u8)
        } else if self.is_enum(local, class) {
            Kind::Enum
        } else {
            let found = BOXES.iter().position(|(class, _)| class.to_bytes() == name);
            found.map_or(Kind::Object, |index| Kind::Box(index as u8))
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

    /// Java's id of a thread, and whether it is virtual.
    pub fn identify(&self, local: Local<'_>, thread: &LocalRef<'_>) -> Option<(u64, bool)> {
        let threads = self.threads.as_ref()?;
        let field = threads.id?;
        let id = jni!(local, v1_1.GetLongField, thread.as_raw(), field.0.as_ptr());
        let virtual_ones = threads.virtual_ones.as_ref();
        let is_virtual = virtual_ones.is_some_and(|(class, _)| local.is_instance(thread, class));
        Some((id.cast_unsigned(), is_virtual))
    }

    /// Java's id and name of the platform thread that runs here, also beneath a virtual thread.
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
        let virtual_ones = local.find_class(c"java/lang/VirtualThread");
        let virtual_ones = virtual_ones.and_then(|class| {
            let carrier = local.field_id(&class, c"carrierThread", c"Ljava/lang/Thread;")?;
            Some((local.globalize(&class)?, carrier))
        });
        Some(Self {
            virtual_ones,
            has_ids: local.has_method(&class, c"threadId", c"()J"),
            id: local.field_id(&class, c"tid", c"J"),
        })
    }

    /// The platform thread that runs here.
    fn current<'a>(&self, jvm: Jvm<'a>) -> Option<LocalRef<'a>> {
        let thread = jvm.jvmti.current_thread(jvm.live, jvm.local).ok()?;
        match &self.virtual_ones {
            Some((class, carrier)) if jvm.local.is_instance(&thread, class) => {
                jvm.local.object_field(&thread, *carrier)
            }
            _ => Some(thread),
        }
    }
}

/// The kinds of boxes and lists as numbers.
const FIRST_BOX: u32 = 4;
const FIRST_LIST: u32 = FIRST_BOX + BOXES.len() as u32;

impl Known {
    fn is(&self, local: Local<'_>, class: &LocalRef<'_>) -> bool {
        let mine = self.class.load(Ordering::Relaxed);
        jni!(local, v1_1.IsSameObject, class.as_raw(), mine)
    }

    fn get(&self) -> (u32, Kind) {
        let kind = match self.kind.load(Ordering::Relaxed) {
            0 => Kind::Object,
            1 => Kind::Array,
            2 => Kind::Text,
            3 => Kind::Enum,
            number if number < FIRST_LIST => Kind::Box((number - FIRST_BOX) as u8),
            number => Kind::List((number - FIRST_LIST) as u8),
        };
        (self.number.load(Ordering::Relaxed), kind)
    }

    /// Remembers a class, unless another thread was faster. Called with the lock held.
    fn set(&self, local: Local<'_>, class: &LocalRef<'_>, hash: u32, number: u32, kind: Kind) {
        if self.hash.load(Ordering::Relaxed) != 0 {
            return;
        }
        let weak: jobject = jni!(local, v1_2.NewWeakGlobalRef, class.as_raw());
        if weak.is_null() {
            return local.clear_exception();
        }
        let kind = match kind {
            Kind::Object => 0,
            Kind::Array => 1,
            Kind::Text => 2,
            Kind::Enum => 3,
            Kind::Box(index) => FIRST_BOX + u32::from(index),
            Kind::List(index) => FIRST_LIST + u32::from(index),
        };
        self.class.store(weak, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
        self.kind.store(kind, Ordering::Relaxed);
        self.hash.store(hash, Ordering::Release);
    }
}

/// Where a step led to.
enum Reached<'a> {
    /// An object, or `null`.
    Object(Option<LocalRef<'a>>),
    /// A primitive value or a class.
    Value(Seen<'static>),
}

impl Reached<'_> {
    fn int(value: jint) -> Self {
        Self::Value(Seen::Number(b'I', i64::from(value).cast_unsigned()))
    }
}

/// The value of an instance field.
fn field_of<'a>(local: Local<'a>, object: &LocalRef<'_>, field: Field) -> Reached<'a> {
    match field.kind {
        b'L' | b'[' => Reached::Object(local.object_field(object, field.id)),
        kind => Reached::Value(number_field(local, object, kind, field.id)),
    }
}

/// An element of an array; none beyond its end.
fn element<'a>(
    jvmti: Jvmti,
    local: Local<'a>,
    array: &LocalRef<'_>,
    index: u32,
) -> Option<Reached<'a>> {
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
            return Some(Reached::Object(local.adopt(found)));
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
    Some(Reached::Value(Seen::Number(kind, bits)))
}

/// As much of a text as fits; `object` must be a `String`.
#[inline(always)]
pub(super) fn read_text<'t>(
    local: Local<'_>,
    object: &LocalRef<'_>,
    text: &'t mut [u16],
) -> Option<Seen<'t>> {
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
    Some(Seen::Text(text.get(..kept)?, length.cast_unsigned()))
}

/// What is in a box, whose field `value` is read.
fn unbox<'t>(local: Local<'_>, object: &LocalRef<'_>, index: u8, field: FieldId) -> Seen<'t> {
    let kind = BOXES
        .get(usize::from(index))
        .and_then(|(_, descriptor)| descriptor.to_bytes().first().copied());
    kind.map_or(Seen::Unreadable, |kind| {
        number_field(local, object, kind, field)
    })
}

/// A field of a primitive type.
fn number_field<'t>(local: Local<'_>, object: &LocalRef<'_>, kind: u8, field: FieldId) -> Seen<'t> {
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
        _ => return Seen::Unreadable,
    };
    Seen::Number(kind, bits)
}
