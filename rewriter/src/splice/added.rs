//! The members and attributes that a class gets for its own probe array.

use crate::bytes::copy;
use crate::class::ClassFile;
use crate::cursor::u16_at;
use crate::splice::class_array::{
    Access, FIELD_FLAGS, Member, bootstrap, getter, member_head, method_of,
};
use crate::splice::hit_methods::HitMethods;

/// The additions to one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Added {
    /// The access to its array.
    pub(crate) array: Option<Access>,
    /// The methods that write to the array.
    pub(crate) hits: Option<HitMethods>,
}

impl Added {
    fn field(&self) -> Option<Member> {
        match self.array {
            Some(Access::Members { field, .. }) => field.map(|field| field.member),
            _ => None,
        }
    }

    /// Returns the number of added methods.
    fn methods(&self) -> u16 {
        let getter = matches!(self.array, Some(Access::Members { .. }));
        let hits = self.hits.map_or(0, |hits| hits.count());
        hits + u16::from(getter)
    }
}

/// Writes the bytes between the constant pool and the first method.
pub(crate) fn head(class: &ClassFile<'_>, added: Added, out: &mut Vec<u8>) {
    let bytes = class.bytes();
    let (pool_end, fields) = (class.pool().end(), class.fields_start());
    let count = class.methods_start() - 2;
    let increased = |at: usize, by: u16| (u16_at(bytes, at).unwrap_or_default() + by).to_be_bytes();
    copy(bytes, pool_end, fields, out);
    match added.field() {
        None => copy(bytes, fields, count, out),
        Some(member) => {
            out.extend_from_slice(&increased(fields, 1));
            copy(bytes, fields + 2, count, out);
            member_head(FIELD_FLAGS, member, out);
            out.extend_from_slice(&[0, 0]); // attributes
        }
    }
    out.extend_from_slice(&increased(count, added.methods()));
}

/// Writes the bytes after the last method.
pub(crate) fn tail(class: &ClassFile<'_>, added: Added, out: &mut Vec<u8>) {
    if let Some(Access::Members {
        code,
        method,
        field,
        key,
        call,
    }) = added.array
    {
        method_of(method, code, out, |out| getter(key, call, field, out));
    }
    if let Some(hits) = added.hits {
        hits.write(out);
    }
    match added.array {
        Some(Access::Bootstrap {
            attribute,
            handle,
            key,
        }) => bootstrap(class, attribute, handle, key, out),
        _ => {
            let bytes = class.bytes();
            copy(bytes, class.attributes_start(), bytes.len(), out);
        }
    }
}
