//! Entries appended to the constant pool (JVMS 4.4), each once per class.

use std::collections::HashMap;

use crate::limits::MAX_POOL_COUNT;
use crate::pool::tag;

/// The appended part of a constant pool.
#[derive(Debug, Default)]
pub(crate) struct PoolWriter {
    bytes: Vec<u8>,
    /// Index of the next entry.
    next: usize,
    /// Class entries by a hash of their name: index and where the name stands.
    classes: HashMap<u64, (u16, u32, u32)>,
}

/// A state to go back to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    length: usize,
    next: usize,
}

impl PoolWriter {
    /// Starts behind a pool of `count` entries.
    pub(crate) fn begin(&mut self, count: u16) {
        self.bytes.clear();
        self.classes.clear();
        self.next = usize::from(count);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The new `constant_pool_count`.
    pub(crate) fn count(&self) -> u16 {
        self.next as u16
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            length: self.bytes.len(),
            next: self.next,
        }
    }

    /// Forgets what was added since `mark`.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        if self.bytes.len() > mark.length {
            self.bytes.truncate(mark.length);
            self.next = mark.next;
            self.classes
                .retain(|_, (index, _, _)| usize::from(*index) < mark.next);
        }
    }

    /// Adds an entry whose index is returned; none when the pool is full.
    fn add(&mut self, tag: u8, items: &[&[u8]]) -> Option<u16> {
        let index = u16::try_from(self.next)
            .ok()
            .filter(|_| self.next < MAX_POOL_COUNT)?;
        self.bytes.push(tag);
        items
            .iter()
            .for_each(|item| self.bytes.extend_from_slice(item));
        self.next = self.next.wrapping_add(1);
        Some(index)
    }

    pub(crate) fn utf8(&mut self, text: &[u8]) -> Option<u16> {
        let length = u16::try_from(text.len()).ok()?;
        self.add(tag::UTF8, &[&length.to_be_bytes(), text])
    }

    /// A `CONSTANT_Class` of this name.
    pub(crate) fn class(&mut self, name: &[u8]) -> Option<u16> {
        let key = hash(name);
        if let Some((index, start, length)) = self.classes.get(&key) {
            let start = *start as usize;
            if self.bytes.get(start..start.wrapping_add(*length as usize)) == Some(name) {
                return Some(*index);
            }
        }
        let start = self.bytes.len().wrapping_add(3);
        let text = self.utf8(name)?;
        let index = self.add(tag::CLASS, &[&text.to_be_bytes()])?;
        self.classes
            .insert(key, (index, start as u32, name.len() as u32));
        Some(index)
    }

    /// A `CONSTANT_Fieldref`.
    pub(crate) fn field(&mut self, owner: &str, name: &str, descriptor: &str) -> Option<u16> {
        self.member(tag::FIELD, owner, name, descriptor)
    }

    /// A `CONSTANT_Methodref`.
    pub(crate) fn method(&mut self, owner: &str, name: &str, descriptor: &str) -> Option<u16> {
        self.member(tag::METHOD, owner, name, descriptor)
    }

    fn member(&mut self, tag: u8, owner: &str, name: &str, descriptor: &str) -> Option<u16> {
        let owner = self.class(owner.as_bytes())?;
        let name = self.utf8(name.as_bytes())?;
        let descriptor = self.utf8(descriptor.as_bytes())?;
        self.member_of(tag, owner, name, descriptor)
    }

    /// The same of a class, name and descriptor that are in the pool.
    fn member_of(&mut self, tag: u8, owner: u16, name: u16, descriptor: u16) -> Option<u16> {
        let both = self.pair(tag::NAME_AND_TYPE, name, descriptor)?;
        self.pair(tag, owner, both)
    }

    /// A `CONSTANT_Fieldref` of parts that are in the pool.
    pub(crate) fn field_of(&mut self, owner: u16, name: u16, descriptor: u16) -> Option<u16> {
        self.member_of(tag::FIELD, owner, name, descriptor)
    }

    /// A `CONSTANT_Methodref` of parts that are in the pool.
    pub(crate) fn method_of(&mut self, owner: u16, name: u16, descriptor: u16) -> Option<u16> {
        self.member_of(tag::METHOD, owner, name, descriptor)
    }

    /// A `CONSTANT_InterfaceMethodref` of parts that are in the pool.
    pub(crate) fn interface_method_of(
        &mut self,
        owner: u16,
        name: u16,
        descriptor: u16,
    ) -> Option<u16> {
        self.member_of(tag::INTERFACE_METHOD, owner, name, descriptor)
    }

    /// A `CONSTANT_String`.
    pub(crate) fn string(&mut self, text: &[u8]) -> Option<u16> {
        let text = self.utf8(text)?;
        self.add(tag::STRING, &[&text.to_be_bytes()])
    }

    /// A `CONSTANT_MethodHandle`.
    pub(crate) fn method_handle(&mut self, kind: u8, method: u16) -> Option<u16> {
        self.add(tag::METHOD_HANDLE, &[&[kind], &method.to_be_bytes()])
    }

    /// A `CONSTANT_Dynamic` of parts that are in the pool.
    pub(crate) fn dynamic(&mut self, bootstrap: u16, name: u16, descriptor: u16) -> Option<u16> {
        let both = self.pair(tag::NAME_AND_TYPE, name, descriptor)?;
        self.pair(tag::DYNAMIC, bootstrap, both)
    }

    fn pair(&mut self, tag: u8, first: u16, second: u16) -> Option<u16> {
        self.add(tag, &[&first.to_be_bytes(), &second.to_be_bytes()])
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
