//! Instance fields by name.
//!
//! They are listed by JVM TI, which runs no Java code; JNI's `GetFieldID` may initialise the class.

use super::jvmti::Jvmti;
use super::refs::{FieldId, Local, LocalRef, WeakRef};
use crate::names::decode;
use jvms::access_flags::ACC_STATIC;
use std::sync::OnceLock;

/// Entries of the table of known fields; a field without one is searched for each time.
const ENTRIES: usize = 4_096;
/// Entries that are tried for a field.
const TRIED: usize = 16;

/// An instance field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub id: FieldId,
    /// The first byte of its descriptor.
    pub kind: u8,
}

/// The fields that were asked for. Nothing is ever taken back, so that readers need no lock.
#[derive(Debug)]
pub(super) struct Fields(Box<[OnceLock<Known>]>);

/// What a name stands for in the objects of a class.
#[derive(Debug)]
struct Known {
    hash: u32,
    /// The class may be unloaded.
    class: WeakRef,
    name: Box<str>,
    /// None if there is no such field.
    field: Option<Field>,
}

impl Default for Fields {
    fn default() -> Self {
        Self((0..ENTRIES).map(|_| OnceLock::new()).collect())
    }
}

impl Fields {
    /// The field of this name in objects of a class: that of the class itself before those of its superclasses.
    pub fn find(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        class: &LocalRef<'_>,
        name: &str,
    ) -> Option<Field> {
        let hash = jvmti.identity_hash(class)?;
        let start = name.bytes().fold(hash, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        });
        let tried = (0..TRIED).filter_map(|step| {
            let index = (start as usize).wrapping_add(step) % ENTRIES;
            self.0.get(index)
        });
        for entry in tried {
            let Some(known) = entry.get() else {
                let field = search(jvmti, local, class, name);
                if let Some(class) = local.weaken(class) {
                    let name = name.into();
                    let known = Known {
                        hash,
                        class,
                        name,
                        field,
                    };
                    if let Err(known) = entry.set(known) {
                        local.release_weak(known.class); // another thread was faster
                    }
                }
                return field;
            };
            if known.hash == hash && *known.name == *name && local.is_same_weak(class, &known.class)
            {
                return known.field;
            }
        }
        search(jvmti, local, class, name)
    }
}

/// Looks for a field in a class and its superclasses.
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
