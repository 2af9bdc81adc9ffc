//! A class file up to its name.

use crate::cursor::{Cursor, u32_at};
use crate::error::ReadError;
use crate::index::PoolIndex;
use crate::pool::ConstantPool;
use jvms::modified_utf8::Utf8;

/// A class file up to `this_class` (JVMS 4.1). It also reads classes whose members are malformed.
#[derive(Debug, Clone)]
pub struct ClassHeader<'a> {
    pub(super) pool: ConstantPool<'a>,
    pub(super) access_flags: u16,
    pub(super) this_class: Utf8<'a>,
    pub(super) this_index: PoolIndex,
}

impl<'a> ClassHeader<'a> {
    /// Reads the constant pool and the two items after it.
    ///
    /// # Errors
    /// The bytes up to there are not a class file.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_with(bytes, Vec::new())
    }

    /// Does the same as [`ClassHeader::read`] and reuses `offsets`.
    pub(super) fn read_with(bytes: &'a [u8], offsets: Vec<u32>) -> Result<Self, ReadError> {
        check_magic(bytes)?;
        fetch(bytes);
        Self::read_after_pool(bytes, ConstantPool::read(bytes, offsets)?)
    }

    /// Does the same for a class whose pool begins with that of another one.
    pub(super) fn read_beside(
        bytes: &'a [u8],
        offsets: Vec<u32>,
        known: &ConstantPool<'_>,
    ) -> Result<Self, ReadError> {
        check_magic(bytes)?;
        Self::read_after_pool(bytes, ConstantPool::read_beside(bytes, offsets, known)?)
    }

    /// Reads the items after `pool`.
    fn read_after_pool(bytes: &'a [u8], pool: ConstantPool<'a>) -> Result<Self, ReadError> {
        let mut cursor = Cursor::at(bytes, pool.end(), 0);
        let access_flags = cursor.u2("access_flags")?;
        let this_index = PoolIndex(cursor.u2("this_class")?);
        let this_class = pool.class_name(this_index).ok_or(ReadError::BadPoolIndex {
            structure: "this_class",
            offset: cursor.offset() - 2,
            expected: "class",
            index: this_index.0,
        })?;
        Ok(Self {
            pool,
            access_flags,
            this_class,
            this_index,
        })
    }

    /// Returns the internal name of the class (JVMS 4.2.1).
    #[must_use]
    pub fn this_class(&self) -> Utf8<'a> {
        self.this_class
    }

    /// Returns the offset of `access_flags` in the class file.
    #[must_use]
    pub fn access_flags_offset(&self) -> usize {
        self.pool.end()
    }
}

/// Bytes of a cache line, and bytes that a first-level cache has room for.
const LINE: usize = 64;
const CACHED: usize = 32 * 1024;

/// Prefetches the class file's memory. The walk through a pool learns the offset of an entry from the one before, so it
/// would otherwise wait for one cache line after the other.
fn fetch(bytes: &[u8]) {
    let cached = bytes.get(..CACHED).unwrap_or(bytes);
    let lines = cached.chunks(LINE).filter_map(<[u8]>::first);
    std::hint::black_box(lines.fold(0, |sum, byte| sum | byte));
}

fn check_magic(bytes: &[u8]) -> Result<(), ReadError> {
    if bytes.len() > u32::MAX as usize {
        return Err(ReadError::TooLong {
            length: bytes.len() as u64,
        });
    }
    match u32_at(bytes, 0) {
        Some(0xCAFE_BABE) => Ok(()),
        found => Err(ReadError::NotAClassFile {
            found: found.unwrap_or(0),
        }),
    }
}
