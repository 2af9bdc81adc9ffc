//! Attributes (JVMS 4.7).

use crate::cursor::{Cursor, u16_at, u16s};
use crate::error::ReadError;
use crate::index::PoolIndex;
use crate::pool::ConstantPool;
use jvms::modified_utf8::Utf8;

/// An attribute: its name and its contents after `attribute_length`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// Its name; empty if the index refers to no text.
    pub name: Utf8<'a>,
    /// Its contents.
    pub bytes: &'a [u8],
    /// Offset of the contents in the class file.
    pub offset: u32,
}

impl<'a> Attribute<'a> {
    /// Returns the pool index at the start of its contents.
    #[must_use]
    pub fn index(&self) -> Option<PoolIndex> {
        u16_at(self.bytes, 0).map(PoolIndex)
    }

    /// Returns the text for an attribute that is one pool index.
    #[must_use]
    pub fn utf8(&self, pool: &ConstantPool<'a>) -> Option<Utf8<'a>> {
        pool.utf8(self.index()?)
    }

    /// Returns the pool index of its name; `class` is the whole class file.
    #[inline]
    #[must_use]
    pub fn name_index(&self, class: &[u8]) -> PoolIndex {
        let start = self.offset as usize - 6;
        PoolIndex(u16_at(class, start).unwrap_or_default())
    }
}

/// The attributes of a class, method or code array.
#[derive(Debug, Clone)]
pub struct Attributes<'c, 'a> {
    pool: &'c ConstantPool<'a>,
    cursor: Cursor<'a>,
    left: u16,
}

impl<'c, 'a> Attributes<'c, 'a> {
    /// Starts at the `attributes_count` at `at`.
    pub(crate) fn new(pool: &'c ConstantPool<'a>, bytes: &'a [u8], at: usize) -> Self {
        let mut cursor = Cursor::at(bytes, at, 0);
        let left = cursor.u2("attributes_count").ok().unwrap_or_default();
        Attributes { pool, cursor, left }
    }

    /// Returns the first one of this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Option<Attribute<'a>> {
        self.find(|found| found.name == name)
    }

    /// Returns the constant pool of its indices.
    pub(crate) fn pool(&self) -> &'c ConstantPool<'a> {
        self.pool
    }

    #[inline]
    fn read(&mut self) -> Option<(PoolIndex, Attribute<'a>)> {
        self.left = self.left.checked_sub(1)?;
        let (name, length) = head(&mut self.cursor, "attribute_info").ok()?;
        let offset = self.cursor.offset();
        let bytes = self.cursor.take(length, "attribute_info").ok()?;
        let nameless = Attribute {
            name: Utf8::default(),
            bytes,
            offset,
        };
        Some((name, nameless))
    }

    /// Does the same as [`Iterator::next`] without the name, which costs as much as the rest.
    #[inline]
    pub(crate) fn next_nameless(&mut self) -> Option<Attribute<'a>> {
        let found = self.read();
        if found.is_none() {
            self.left = 0;
        }
        found.map(|(_, nameless)| nameless)
    }
}

impl<'a> Iterator for Attributes<'_, 'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let found = self.read();
        if found.is_none() {
            self.left = 0;
        }
        let (name, nameless) = found?;
        Some(Attribute {
            name: self.pool.utf8(name).unwrap_or_default(),
            ..nameless
        })
    }
}

/// Reads the head of an attribute: name index and length.
#[inline]
pub(crate) fn head(
    cursor: &mut Cursor<'_>,
    structure: &'static str,
) -> Result<(PoolIndex, usize), ReadError> {
    let [n0, n1, l0, l1, l2, l3] = cursor.array(structure)?;
    let name = PoolIndex(u16::from_be_bytes([n0, n1]));
    Ok((name, u32::from_be_bytes([l0, l1, l2, l3]) as usize))
}

/// Skips an attribute table.
#[inline]
pub(crate) fn skip_attributes(
    cursor: &mut Cursor<'_>,
    structure: &'static str,
) -> Result<(), ReadError> {
    for _ in 0..cursor.u2(structure)? {
        let (_, length) = head(cursor, structure)?;
        cursor.take(length, structure)?;
    }
    Ok(())
}

/// One entry of `BootstrapMethods` (JVMS 4.7.23).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BootstrapMethod<'a> {
    /// Its `CONSTANT_MethodHandle`.
    pub method_handle: PoolIndex,
    arguments: &'a [u8],
}

impl<'a> BootstrapMethod<'a> {
    /// Returns the pool indices of its static arguments.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = PoolIndex> + 'a {
        u16s(self.arguments).map(PoolIndex)
    }
}

/// Returns the entries up to the first malformed one.
pub(crate) fn bootstrap_methods<'a>(
    attribute: Option<Attribute<'a>>,
) -> impl Iterator<Item = BootstrapMethod<'a>> {
    let (bytes, offset) = attribute.map_or((&[][..], 0), |found| (found.bytes, found.offset));
    let mut cursor = Cursor::new(bytes, offset);
    let mut left = cursor.u2("num_bootstrap_methods").unwrap_or(0);
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let method_handle = PoolIndex(cursor.u2("bootstrap_method_ref").ok()?);
        let count = usize::from(cursor.u2("num_bootstrap_arguments").ok()?);
        let arguments = cursor.take(count * 2, "bootstrap_arguments").ok()?;
        Some(BootstrapMethod {
            method_handle,
            arguments,
        })
    })
}
