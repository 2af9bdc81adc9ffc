//! Instance fields: by name, and all fields of a class.
//!
//! JVM TI lists them without running Java code; JNI's `GetFieldID` may initialise the class.

use super::jvmti::Jvmti;
use super::refs::{FieldId, Local, LocalRef, WeakRef};
use crate::names::{decode, internal_name};
use conditions::NamedField;
use jvms::access_flags::{ACC_STATIC, ACC_SYNTHETIC};
use std::sync::{Arc, OnceLock};

/// Number of entries in the table of known fields. A field without an entry is searched each time.
const ENTRIES: usize = 4_096;
/// The same for fields of write instructions.
const ENTRIES_OF_WRITES: usize = 256;
/// The same for classes whose fields are listed.
const ENTRIES_OF_CLASSES: usize = 1_024;
/// Largest number of listed fields of a class.
const MOST_LISTED: usize = 256;
/// Number of entries that are probed for a field.
const TRIED: usize = 16;

/// An instance field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub id: FieldId,
    /// The first byte of its descriptor (JVMS 4.3.2).
    pub kind: u8,
}

/// A field, with the number of its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedField {
    pub name: u32,
    pub field: Field,
}

/// The field that an instruction names.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResolvedField {
    pub field: Field,
    /// The number of its declaring class.
    pub declarer: u32,
}

/// The known fields. Entries are never removed, so that readers need no lock.
#[derive(Debug)]
pub(super) struct Fields {
    by_name: FieldCache<Field>,
    /// By class, name and descriptor, as an instruction names them.
    named: FieldCache<ResolvedField>,
    /// By class.
    all: FieldCache<Arc<[ListedField]>>,
}

/// Facts about classes, by class and text.
#[derive(Debug)]
struct FieldCache<T>(Box<[OnceLock<Lookup<T>>]>);

/// The result for a class and a text.
#[derive(Debug)]
struct Lookup<T> {
    hash: u32,
    /// A weak reference: the class may be unloaded.
    class: WeakRef,
    text: Box<str>,
    /// `None` if the class has no such field.
    found: Option<T>,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            by_name: FieldCache::new(ENTRIES),
            named: FieldCache::new(ENTRIES_OF_WRITES),
            all: FieldCache::new(ENTRIES_OF_CLASSES),
        }
    }
}

impl Fields {
    /// The field of this name in objects of a class. The class itself is searched before its superclasses.
    pub fn find(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        class: &LocalRef<'_>,
        name: &str,
    ) -> Option<Field> {
        let search = || search(jvmti, local, class, name);
        self.by_name.find(jvmti, local, class, name, search)
    }

    /// The fields of objects of a class: its own before those of its superclasses, each in the order of the class file,
    /// without synthetic ones. `number` returns the number of a name.
    pub fn all(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        class: &LocalRef<'_>,
        number: impl Fn(&str) -> u32,
    ) -> Option<Arc<[ListedField]>> {
        let search = || Some(list(jvmti, local, class, number).into());
        self.all.find(jvmti, local, class, "", search)
    }

    /// The field that an instruction names (JVMS 5.4.3.2): an instance field of objects of the class, or a static field
    /// of the class. `number` returns the number of the declaring class.
    pub fn named(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        class: &LocalRef<'_>,
        field: &NamedField,
        number: impl FnOnce(&str) -> u32,
    ) -> Option<ResolvedField> {
        let search = || resolve(jvmti, local, class, field, number);
        self.named.find(jvmti, local, class, field.text(), search)
    }
}

impl<T: Clone> FieldCache<T> {
    fn new(entries: usize) -> Self {
        Self((0..entries).map(|_| OnceLock::new()).collect())
    }

    fn find(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        class: &LocalRef<'_>,
        text: &str,
        search: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        let hash = jvmti.identity_hash(class)?;
        let start = text.bytes().fold(hash, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        });
        let tried = (0..TRIED).filter_map(|step| {
            let index = (start as usize).wrapping_add(step) % self.0.len();
            self.0.get(index)
        });
        for entry in tried {
            let Some(known) = entry.get() else {
                let found = search();
                if let Some(class) = local.weaken(class) {
                    let text = text.into();
                    let known = Lookup {
                        hash,
                        class,
                        text,
                        found: found.clone(),
                    };
                    if let Err(known) = entry.set(known) {
                        local.release_weak(known.class); // another thread was faster
                    }
                }
                return found;
            };
            if known.hash == hash && *known.text == *text && local.is_same_weak(class, &known.class)
            {
                return known.found.clone();
            }
        }
        search()
    }
}

/// Searches the field that an instruction names.
#[cold]
fn resolve(
    jvmti: Jvmti,
    local: Local<'_>,
    class: &LocalRef<'_>,
    field: &NamedField,
    number: impl FnOnce(&str) -> u32,
) -> Option<ResolvedField> {
    let declared = |class: &LocalRef<'_>| {
        let fields = jvmti.class_fields(class).ok()?;
        fields.into_iter().find_map(|id| {
            let (name, descriptor) = jvmti.field_name(class, id).ok()?;
            let is_meant =
                decode(&name) == field.name() && decode(&descriptor) == field.descriptor();
            let kind = *descriptor.first()?;
            is_meant.then_some(Field { id, kind })
        })
    };
    let name = |class: &LocalRef<'_>| {
        let signature = jvmti.class_signature(class).ok()?;
        Some(decode(internal_name(&signature)?))
    };
    let mut is_below = name(class)? != field.owner();
    let mut found = match is_below {
        true => None,
        false => declared(class).zip(name(class)),
    };
    let mut above = local.superclass(class);
    while found.is_none() {
        let class = above?;
        is_below = is_below && name(&class)? != field.owner();
        if !is_below {
            found = declared(&class).zip(name(&class));
        }
        above = local.superclass(&class);
    }
    let (field, declarer) = found?;
    let declarer = number(&declarer);
    Some(ResolvedField { field, declarer })
}

/// Searches a field in a class and its superclasses.
#[cold]
fn search(jvmti: Jvmti, local: Local<'_>, class: &LocalRef<'_>, name: &str) -> Option<Field> {
    let static_flag = i32::from(ACC_STATIC);
    let declared = |class: &LocalRef<'_>| {
        let fields = jvmti.class_fields(class).ok()?;
        fields.into_iter().find_map(|id| {
            let (found, descriptor) = jvmti.field_name(class, id).ok()?;
            let is_static = jvmti.field_access_flags(class, id).ok()? & static_flag != 0;
            let kind = *descriptor.first()?;
            (decode(&found) == name && !is_static).then_some(Field { id, kind })
        })
    };
    if let Some(field) = declared(class) {
        return Some(field);
    }
    let mut above = local.superclass(class);
    while let Some(class) = above {
        if let Some(field) = declared(&class) {
            return Some(field);
        }
        above = local.superclass(&class);
    }
    None
}

/// Lists the fields of a class and its superclasses.
#[cold]
fn list(
    jvmti: Jvmti,
    local: Local<'_>,
    class: &LocalRef<'_>,
    number: impl Fn(&str) -> u32,
) -> Vec<ListedField> {
    let left_out = i32::from(ACC_STATIC) | i32::from(ACC_SYNTHETIC);
    let mut listed = Vec::new();
    let mut add = |class: &LocalRef<'_>| {
        for id in jvmti.class_fields(class).unwrap_or_default() {
            let Ok((name, descriptor)) = jvmti.field_name(class, id) else {
                continue;
            };
            let flags = jvmti.field_access_flags(class, id).unwrap_or(left_out);
            if let (0, Some(&kind)) = (flags & left_out, descriptor.first())
                && listed.len() < MOST_LISTED
            {
                listed.push(ListedField {
                    name: number(&decode(&name)),
                    field: Field { id, kind },
                });
            }
        }
    };
    add(class);
    let mut above = local.superclass(class);
    while let Some(class) = above {
        add(&class);
        above = local.superclass(&class);
    }
    listed
}
