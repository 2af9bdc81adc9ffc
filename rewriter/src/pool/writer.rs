//! Appends entries to the constant pool (JVMS 4.4), each once per class.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::limits::MAX_POOL_COUNT;
use jvms::constant_tag;

/// The appended part of a constant pool.
#[derive(Debug, Default)]
pub(crate) struct PoolWriter {
    bytes: Vec<u8>,
    /// Index of the next entry.
    next: usize,
    /// Entries by a hash of their content: index and byte range.
    interned: HashMap<u64, (u16, u32, u32), BuildHasherDefault<Hashed>>,
}

/// Uses the keys as they are, because they are hashes.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes, self.0);
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A state for [`PoolWriter::roll_back`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    length: usize,
    next: usize,
}

impl PoolWriter {
    /// Starts after a pool of `count` entries.
    pub(crate) fn begin(&mut self, count: u16) {
        self.bytes.clear();
        self.interned.clear();
        self.next = usize::from(count);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the new `constant_pool_count`.
    pub(crate) fn count(&self) -> u16 {
        self.next as u16
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            length: self.bytes.len(),
            next: self.next,
        }
    }

    /// Removes the entries added since `mark`.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        if self.bytes.len() > mark.length {
            self.bytes.truncate(mark.length);
            self.next = mark.next;
            self.interned
                .retain(|_, (index, _, _)| usize::from(*index) < mark.next);
        }
    }

    /// Adds an entry and returns its index; `None` if the pool is full.
    fn add(&mut self, tag: u8, items: &[&[u8]]) -> Option<u16> {
        // A `long` or `double` takes two indices (JVMS 4.4.5).
        let width = 1 + usize::from(matches!(tag, constant_tag::LONG | constant_tag::DOUBLE));
        let next = self.next + width;
        let index = u16::try_from(self.next)
            .ok()
            .filter(|_| next <= MAX_POOL_COUNT)?;
        self.bytes.push(tag);
        items
            .iter()
            .for_each(|item| self.bytes.extend_from_slice(item));
        self.next = next;
        Some(index)
    }

    pub(crate) fn utf8(&mut self, text: &[u8]) -> Option<u16> {
        let length = u16::try_from(text.len()).ok()?;
        self.add(constant_tag::UTF8, &[&length.to_be_bytes(), text])
    }

    /// Returns an entry with this tag and content, added on first use.
    fn intern(&mut self, tag: u8, items: &[&[u8]]) -> Option<u16> {
        let key = items
            .iter()
            .fold(hash(&[tag], SEED), |key, item| hash(item, key));
        if let Some((index, start, length)) = self.interned.get(&key) {
            let start = *start as usize;
            let known = self.bytes.get(start..start + *length as usize);
            if known.is_some_and(|known| is_made_of(known, tag, items)) {
                return Some(*index);
            }
        }
        let start = self.bytes.len();
        let index = self.add(tag, items)?;
        let length = self.bytes.len() - start;
        self.interned
            .insert(key, (index, start as u32, length as u32));
        Some(index)
    }

    /// Returns a `CONSTANT_Utf8`, added on first use.
    pub(crate) fn text(&mut self, text: &[u8]) -> Option<u16> {
        let length = u16::try_from(text.len()).ok()?;
        self.intern(constant_tag::UTF8, &[&length.to_be_bytes(), text])
    }

    /// Returns a `CONSTANT_Class` of this name.
    pub(crate) fn class(&mut self, name: &[u8]) -> Option<u16> {
        let name = self.text(name)?;
        self.intern(constant_tag::CLASS, &[&name.to_be_bytes()])
    }

    /// Returns a `CONSTANT_String`.
    pub(crate) fn string(&mut self, text: &[u8]) -> Option<u16> {
        let text = self.text(text)?;
        self.intern(constant_tag::STRING, &[&text.to_be_bytes()])
    }

    /// Returns a `CONSTANT_Integer`.
    pub(crate) fn integer(&mut self, value: u32) -> Option<u16> {
        self.intern(constant_tag::INTEGER, &[&value.to_be_bytes()])
    }

    /// Returns a `CONSTANT_Float` with these bits.
    pub(crate) fn float(&mut self, bits: u32) -> Option<u16> {
        self.intern(constant_tag::FLOAT, &[&bits.to_be_bytes()])
    }

    /// Returns a `CONSTANT_Long`.
    pub(crate) fn long(&mut self, value: u64) -> Option<u16> {
        self.intern(constant_tag::LONG, &[&value.to_be_bytes()])
    }

    /// Returns a `CONSTANT_Double` with these bits.
    pub(crate) fn double(&mut self, bits: u64) -> Option<u16> {
        self.intern(constant_tag::DOUBLE, &[&bits.to_be_bytes()])
    }

    /// Returns a `CONSTANT_Methodref` or `CONSTANT_InterfaceMethodref`.
    pub(crate) fn method_named(
        &mut self,
        (owner, name, descriptor): (&[u8], &[u8], &[u8]),
        interface: bool,
    ) -> Option<u16> {
        let tag = if interface {
            constant_tag::INTERFACE_METHOD_REF
        } else {
            constant_tag::METHOD_REF
        };
        self.member_named(tag, (owner, name, descriptor))
    }

    /// Returns a `CONSTANT_Fieldref`.
    pub(crate) fn field_named(&mut self, member: (&[u8], &[u8], &[u8])) -> Option<u16> {
        self.member_named(constant_tag::FIELD_REF, member)
    }

    fn member_named(
        &mut self,
        tag: u8,
        (owner, name, descriptor): (&[u8], &[u8], &[u8]),
    ) -> Option<u16> {
        let owner = self.class(owner)?;
        let name = self.text(name)?;
        let descriptor = self.text(descriptor)?;
        let both = [name.to_be_bytes(), descriptor.to_be_bytes()];
        let both = self.intern(constant_tag::NAME_AND_TYPE, &[both.as_flattened()])?;
        self.intern(tag, &[&owner.to_be_bytes(), &both.to_be_bytes()])
    }

    /// Adds a `CONSTANT_Fieldref` that is requested once per class.
    pub(crate) fn field(&mut self, owner: &str, name: &str, descriptor: &str) -> Option<u16> {
        self.member(constant_tag::FIELD_REF, owner, name, descriptor)
    }

    /// Adds a `CONSTANT_Methodref`.
    pub(crate) fn method(&mut self, owner: &str, name: &str, descriptor: &str) -> Option<u16> {
        self.member(constant_tag::METHOD_REF, owner, name, descriptor)
    }

    fn member(&mut self, tag: u8, owner: &str, name: &str, descriptor: &str) -> Option<u16> {
        let owner = self.class(owner.as_bytes())?;
        let name = self.utf8(name.as_bytes())?;
        let descriptor = self.utf8(descriptor.as_bytes())?;
        self.member_of(tag, owner, name, descriptor)
    }

    /// Does the same for a class, name and descriptor in the pool.
    fn member_of(&mut self, tag: u8, owner: u16, name: u16, descriptor: u16) -> Option<u16> {
        let both = self.pair(constant_tag::NAME_AND_TYPE, name, descriptor)?;
        self.pair(tag, owner, both)
    }

    /// Returns a `CONSTANT_Fieldref` of entries in the pool.
    pub(crate) fn field_of(&mut self, owner: u16, name: u16, descriptor: u16) -> Option<u16> {
        self.member_of(constant_tag::FIELD_REF, owner, name, descriptor)
    }

    /// Returns a `CONSTANT_Methodref` of entries in the pool.
    pub(crate) fn method_of(&mut self, owner: u16, name: u16, descriptor: u16) -> Option<u16> {
        self.member_of(constant_tag::METHOD_REF, owner, name, descriptor)
    }

    /// Returns a `CONSTANT_InterfaceMethodref` of entries in the pool.
    pub(crate) fn interface_method_of(
        &mut self,
        owner: u16,
        name: u16,
        descriptor: u16,
    ) -> Option<u16> {
        self.member_of(constant_tag::INTERFACE_METHOD_REF, owner, name, descriptor)
    }

    /// Returns a `CONSTANT_NameAndType` of entries in the pool.
    pub(crate) fn name_and_type(&mut self, name: u16, descriptor: u16) -> Option<u16> {
        self.pair(constant_tag::NAME_AND_TYPE, name, descriptor)
    }

    /// Returns a `CONSTANT_MethodHandle`.
    pub(crate) fn method_handle(&mut self, kind: u8, method: u16) -> Option<u16> {
        self.add(
            constant_tag::METHOD_HANDLE,
            &[&[kind], &method.to_be_bytes()],
        )
    }

    /// Returns a `CONSTANT_Dynamic` of entries in the pool.
    pub(crate) fn dynamic(&mut self, bootstrap: u16, name: u16, descriptor: u16) -> Option<u16> {
        let both = self.pair(constant_tag::NAME_AND_TYPE, name, descriptor)?;
        self.pair(constant_tag::DYNAMIC, bootstrap, both)
    }

    fn pair(&mut self, tag: u8, first: u16, second: u16) -> Option<u16> {
        self.add(tag, &[&first.to_be_bytes(), &second.to_be_bytes()])
    }
}

/// Checks whether an entry has this tag and these items.
fn is_made_of(mut entry: &[u8], tag: u8, items: &[&[u8]]) -> bool {
    let parts = std::iter::once(std::slice::from_ref(&tag)).chain(items.iter().copied());
    for part in parts {
        match entry.strip_prefix(part) {
            Some(rest) => entry = rest,
            None => return false,
        }
    }
    entry.is_empty()
}

/// The start value of FNV-1a.
const SEED: u64 = 0xCBF2_9CE4_8422_2325;

/// Continues FNV-1a from `seed`.
fn hash(bytes: &[u8], seed: u64) -> u64 {
    bytes.iter().fold(seed, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
