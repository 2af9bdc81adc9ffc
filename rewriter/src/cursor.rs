//! Big-endian reader with its position.

use crate::error::ReadError;

/// Reads `bytes` forwards; `base` is their offset in the class file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u32,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], base: u32) -> Self {
        Cursor { bytes, at: 0, base }
    }

    #[inline]
    pub(crate) fn at(bytes: &'a [u8], at: usize, base: u32) -> Self {
        Cursor { bytes, at, base }
    }

    /// Returns the position in `bytes`.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Returns the position in the class file.
    #[inline]
    pub(crate) fn offset(&self) -> u32 {
        self.base + self.at as u32
    }

    #[inline]
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    #[cold]
    fn truncated(&self, structure: &'static str, wanted: usize) -> ReadError {
        let needed = wanted.saturating_sub(self.remaining());
        ReadError::Truncated {
            structure,
            offset: self.offset(),
            needed: u32::try_from(needed).unwrap_or(u32::MAX),
        }
    }

    #[inline]
    pub(crate) fn take(
        &mut self,
        count: usize,
        structure: &'static str,
    ) -> Result<&'a [u8], ReadError> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| Some((end, self.bytes.get(self.at..end)?)));
        match taken {
            Some((end, taken)) => {
                self.at = end;
                Ok(taken)
            }
            None => Err(self.truncated(structure, count)),
        }
    }

    #[inline]
    pub(crate) fn array<const N: usize>(
        &mut self,
        structure: &'static str,
    ) -> Result<[u8; N], ReadError> {
        match self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<N>())
        {
            Some(array) => {
                self.at += N;
                Ok(*array)
            }
            None => Err(self.truncated(structure, N)),
        }
    }

    #[inline]
    pub(crate) fn u1(&mut self, structure: &'static str) -> Result<u8, ReadError> {
        self.array::<1>(structure).map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn u2(&mut self, structure: &'static str) -> Result<u16, ReadError> {
        self.array(structure).map(u16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u4(&mut self, structure: &'static str) -> Result<u32, ReadError> {
        self.array(structure).map(u32::from_be_bytes)
    }

    /// Fails if bytes are left.
    #[inline]
    pub(crate) fn finish(&self, structure: &'static str) -> Result<(), ReadError> {
        match self.remaining() {
            0 => Ok(()),
            count => Err(ReadError::TrailingBytes {
                structure,
                offset: self.offset(),
                count: u32::try_from(count).unwrap_or(u32::MAX),
            }),
        }
    }
}

#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|array| u16::from_be_bytes(*array))
}

#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|array| u32::from_be_bytes(*array))
}

#[inline]
pub(crate) fn i16_at(bytes: &[u8], at: usize) -> Option<i16> {
    u16_at(bytes, at).map(|value| value as i16)
}

#[inline]
pub(crate) fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    u32_at(bytes, at).map(|value| value as i32)
}

/// Returns pairs of bytes as numbers; an odd last byte is left out.
pub(crate) fn u16s(bytes: &[u8]) -> impl ExactSizeIterator<Item = u16> + Clone + '_ {
    bytes.chunks_exact(2).map(|pair| match pair {
        [high, low] => u16::from_be_bytes([*high, *low]),
        _ => 0,
    })
}

/// Checks that a table is whole: its first two bytes count its rows, of `size` bytes each, and nothing follows them.
pub(crate) fn has_rows(bytes: &[u8], size: usize) -> bool {
    let count = u16_at(bytes, 0).map(usize::from);
    count.is_some_and(|count| count * size + 2 == bytes.len())
}
