//! Reads the fields and elements of objects for a native method, by their names and indices.

use super::fields::ListedField;
use super::jvmti::Jvmti;
use super::layouts::Layout;
use super::refs::{Local, LocalRef, jni};
use super::values::{FieldValue, ValueKind, Values};
use jni_sys::jint;
use probes::spans::{JvmValue, Runtime};
use std::sync::Arc;

/// Reads objects for a native method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    pub local: Local<'a>,
    pub jvmti: Jvmti,
    pub values: &'a Values,
    pub runtime: &'a Runtime,
}

/// An array of objects.
pub(super) struct Objects<'a> {
    array: LocalRef<'a>,
    pub length: u64,
}

impl<'a> Reader<'a> {
    /// The number and kind of an object's class.
    pub(super) fn class_of(self, object: &LocalRef<'_>) -> Option<(u32, ValueKind)> {
        self.values
            .class_of(self.jvmti, self.runtime, self.local, object)
    }

    /// The layout of an object's class, if it is a collection of the JDK.
    pub(super) fn layout(self, object: &LocalRef<'_>) -> Option<Layout> {
        match self.class_of(object)? {
            (_, ValueKind::Collection(index)) => Layout::at(index),
            _ => None,
        }
    }

    /// The identity hash of an object.
    pub fn identity(self, object: &LocalRef<'_>) -> Option<u32> {
        self.jvmti.identity_hash(object)
    }

    /// The fields of an object.
    pub(super) fn fields(self, object: &LocalRef<'_>) -> Option<Arc<[ListedField]>> {
        self.values
            .all_fields(self.jvmti, self.runtime, self.local, object)
    }

    pub fn has_field(self, object: &LocalRef<'_>, name: &str) -> bool {
        self.values.has_field(self.jvmti, self.local, object, name)
    }

    /// Returns the object in a field, or `None` for `null` and for an absent field.
    pub fn object_in(self, object: &LocalRef<'_>, name: &str) -> Option<LocalRef<'a>> {
        self.values.object_in(self.jvmti, self.local, object, name)
    }

    /// Returns the value in a field, which may be `null`, or `None` for an absent field.
    pub(super) fn reached_in(self, object: &LocalRef<'_>, name: &str) -> Option<FieldValue<'a>> {
        self.values.reached_in(self.jvmti, self.local, object, name)
    }

    /// A count or an index in a field of type `int`.
    pub fn index_in(self, object: &LocalRef<'_>, name: &str) -> Option<u64> {
        u64::try_from(self.int_in(object, name)?).ok()
    }

    /// The number in a field of type `int`.
    pub fn int_in(self, object: &LocalRef<'_>, name: &str) -> Option<i32> {
        self.values.int_in(self.jvmti, self.local, object, name)
    }

    /// The bits in a field of type `long`.
    pub fn long_in(self, object: &LocalRef<'_>, name: &str) -> Option<u64> {
        match self.reached_in(object, name)? {
            FieldValue::Value(JvmValue::Number(b'J', bits)) => Some(bits),
            _ => None,
        }
    }

    /// The array of objects in a field.
    pub(super) fn objects_in(self, object: &LocalRef<'_>, name: &str) -> Option<Objects<'a>> {
        let array = self.object_in(object, name)?;
        let class = self.local.object_class(&array)?;
        let signature = self.jvmti.class_signature(&class).ok()?;
        let is_of_objects = signature.starts_with(b"[L") || signature.starts_with(b"[[");
        let length = u64::try_from(self.local.array_length(&array)).ok()?;
        is_of_objects.then_some(Objects { array, length })
    }

    /// Checks whether this is the class of an object.
    pub fn is_of(self, object: &LocalRef<'_>, signature: &[u8]) -> bool {
        let class = self.local.object_class(object);
        let found = class.and_then(|class| self.jvmti.class_signature(&class).ok());
        found.is_some_and(|found| found == signature)
    }

    /// Replaces an object of this class by `null`: the collection stores it in place of `null`.
    pub(super) fn unmasked(self, found: Option<LocalRef<'a>>, mask: &[u8]) -> FieldValue<'a> {
        FieldValue::Object(found.filter(|object| !self.is_of(object, mask)))
    }
}

impl<'a> Objects<'a> {
    /// Returns an element, or `None` beyond the end.
    pub fn at(&self, reader: Reader<'a>, index: u64) -> Option<Option<LocalRef<'a>>> {
        if index >= self.length {
            return None;
        }
        let index = jint::try_from(index).ok()?;
        let (local, raw) = (reader.local, self.array.as_raw());
        Some(local.adopt(jni!(local, v1_1.GetObjectArrayElement, raw, index)))
    }
}
