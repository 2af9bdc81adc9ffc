//! Frames and verification types as bytes.

use crate::cursor::{Cursor, u16s};
use crate::error::ReadError;
use crate::index::PoolIndex;

/// Tags of `verification_type_info`.
#[allow(missing_docs, reason = "the names are those of JVMS 4.7.4")]
pub mod item {
    pub const TOP: u8 = 0;
    pub const INTEGER: u8 = 1;
    pub const FLOAT: u8 = 2;
    pub const DOUBLE: u8 = 3;
    pub const LONG: u8 = 4;
    pub const NULL: u8 = 5;
    pub const UNINITIALIZED_THIS: u8 = 6;
    pub const OBJECT: u8 = 7;
    pub const UNINITIALIZED: u8 = 8;
}

/// One `verification_type_info`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerificationType {
    /// One of [`item`].
    pub tag: u8,
    /// The pool index of [`item::OBJECT`], the bci of [`item::UNINITIALIZED`];
    /// 0 for others.
    pub value: u16,
}

impl VerificationType {
    /// Creates a type that consists only of its tag.
    pub(crate) fn plain(tag: u8) -> Self {
        VerificationType { tag, value: 0 }
    }

    /// Appends its bytes.
    #[inline]
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        if matches!(self.tag, item::OBJECT | item::UNINITIALIZED) {
            let [high, low] = self.value.to_be_bytes();
            out.extend_from_slice(&[self.tag, high, low]);
        } else {
            out.push(self.tag);
        }
    }
}

/// The form of a frame, relative to the frame before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// `same_frame`, `same_frame_extended`: the same locals, an empty stack.
    Same,
    /// `same_locals_1_stack_item_frame`, also extended; the type follows.
    SameLocals1StackItem,
    /// `chop_frame`: this many locals fewer, one to three.
    Chop(u8),
    /// `append_frame`: this many locals more, one to three; their types follow.
    Append(u8),
    /// `full_frame`: the number of locals and their types follow, then those of
    /// the stack.
    Full,
}

/// The tag of `early_larval_frame`, preview in JDK 28: a list of strict fields without a value, then another frame.
const EARLY_LARVAL: u8 = 246;
const EXTENDED: u8 = 251;
const EXTENDED_1_STACK_ITEM: u8 = 247;
const FULL: u8 = 255;
/// The first `offset_delta` that does not fit into a tag.
const LONG_DELTA: u16 = 64;

impl FrameKind {
    /// Appends tag and `offset_delta` in the shorter form.
    #[inline]
    pub(crate) fn write(self, delta: u16, out: &mut Vec<u8>) {
        let short = match self {
            FrameKind::Same => Some(0),
            FrameKind::SameLocals1StackItem => Some(LONG_DELTA as u8),
            _ => None,
        };
        if let (Some(first), 0..LONG_DELTA) = (short, delta) {
            return out.push(first | delta as u8);
        }
        let tag = match self {
            FrameKind::Same => EXTENDED,
            FrameKind::SameLocals1StackItem => EXTENDED_1_STACK_ITEM,
            FrameKind::Chop(count) => EXTENDED.saturating_sub(count),
            FrameKind::Append(count) => EXTENDED.saturating_add(count),
            FrameKind::Full => FULL,
        };
        let [high, low] = delta.to_be_bytes();
        out.extend_from_slice(&[tag, high, low]);
    }
}

/// The strict fields (`ACC_STRICT_INIT`) that have no value yet at a frame of a constructor, by `early_larval_frame`.
/// Without a list, a frame has those of the frame before it; the first frame has all strict fields of the class.
///
/// Classes of JDK 28 have it with preview features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsetFieldList<'a>(Option<&'a [u8]>);

impl<'a> UnsetFieldList<'a> {
    /// A frame without a list.
    pub(crate) const NONE: Self = UnsetFieldList(None);

    /// A list of these pool indices, two bytes each.
    pub(crate) fn of(indices: &'a [u8]) -> Self {
        UnsetFieldList(Some(indices))
    }

    #[cold]
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, ReadError> {
        let structure = "early_larval_frame";
        let count = cursor.u2(structure)?;
        let indices = cursor.take(2 * usize::from(count), structure)?;
        Ok(UnsetFieldList(Some(indices)))
    }

    /// Returns the pool indices of the fields' names and types; `None` for a frame without a list.
    #[must_use]
    pub fn indices(self) -> Option<impl Iterator<Item = PoolIndex> + 'a> {
        self.0.map(|indices| u16s(indices).map(PoolIndex))
    }

    /// Appends tag and list, behind which the frame follows; nothing for a frame without a list.
    #[inline]
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        if let Some(indices) = self.0 {
            let [high, low] = ((indices.len() / 2) as u16).to_be_bytes();
            out.extend_from_slice(&[EARLY_LARVAL, high, low]);
            out.extend_from_slice(indices);
        }
    }
}

/// Reads a table frame by frame. The caller reads the types of a frame before the next frame.
#[derive(Debug, Clone, Copy)]
pub struct StackMapReader<'a> {
    cursor: Cursor<'a>,
    /// Number of unread frames.
    left: u16,
    /// First possible bci of the next frame, after the last one.
    next: u32,
    /// The list of the last frame.
    unset_fields: UnsetFieldList<'a>,
}

impl<'a> StackMapReader<'a> {
    /// Starts with the contents of the attribute at `offset` of the class file.
    ///
    /// # Errors
    /// The number of frames is missing.
    #[inline]
    pub fn new(bytes: &'a [u8], offset: u32) -> Result<Self, ReadError> {
        let mut cursor = Cursor::new(bytes, offset);
        let left = cursor.u2("StackMapTable")?;
        Ok(StackMapReader {
            cursor,
            left,
            next: 0,
            unset_fields: UnsetFieldList::NONE,
        })
    }

    /// Returns the number of unread frames.
    #[must_use]
    pub fn left(&self) -> u16 {
        self.left
    }

    /// Returns the position in the class file.
    pub(crate) fn offset(&self) -> u32 {
        self.cursor.offset()
    }

    /// Returns the bci of the last frame read.
    pub(crate) fn last(&self) -> Option<u32> {
        self.next.checked_sub(1)
    }

    /// Reads tag and `offset_delta` of the next frame; returns its form and its bci.
    ///
    /// # Errors
    /// The frame is cut off, or its tag is unassigned.
    #[inline(always)]
    pub fn frame(&mut self) -> Result<Option<(FrameKind, u32)>, ReadError> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        let structure = "stack_map_frame";
        let mut tag = self.cursor.u1(structure)?;
        self.unset_fields = UnsetFieldList::NONE;
        if tag == EARLY_LARVAL {
            self.unset_fields = UnsetFieldList::read(&mut self.cursor)?;
            tag = self.cursor.u1(structure)?;
        }
        let (kind, delta) = match tag {
            0..=63 => (FrameKind::Same, u16::from(tag)),
            64..=127 => (FrameKind::SameLocals1StackItem, u16::from(tag & 63)),
            EXTENDED_1_STACK_ITEM => (FrameKind::SameLocals1StackItem, self.cursor.u2(structure)?),
            248..=250 => (
                FrameKind::Chop(EXTENDED.saturating_sub(tag)),
                self.cursor.u2(structure)?,
            ),
            EXTENDED => (FrameKind::Same, self.cursor.u2(structure)?),
            252..=254 => (
                FrameKind::Append(tag.saturating_sub(EXTENDED)),
                self.cursor.u2(structure)?,
            ),
            FULL => (FrameKind::Full, self.cursor.u2(structure)?),
            128..=246 => return Err(unknown(tag, self.cursor.offset())),
        };
        let bci = self.next.checked_add(u32::from(delta));
        let bci = bci
            .filter(|bci| *bci < u32::MAX)
            .ok_or_else(|| too_far(self.cursor.offset()))?;
        self.left = left;
        self.next = bci + 1;
        Ok(Some((kind, bci)))
    }

    /// Returns the list of an `early_larval_frame`, if the last frame is one.
    #[must_use]
    pub fn unset_fields(&self) -> UnsetFieldList<'a> {
        self.unset_fields
    }

    /// Reads `number_of_locals` or `number_of_stack_items` of a full frame.
    ///
    /// # Errors
    /// The number is missing.
    #[inline]
    pub fn count(&mut self) -> Result<u16, ReadError> {
        self.cursor.u2("full_frame")
    }

    /// Reads one type.
    ///
    /// # Errors
    /// The type is cut off, or its tag is unassigned.
    #[inline(always)]
    pub fn verification_type(&mut self) -> Result<VerificationType, ReadError> {
        let structure = "verification_type_info";
        let tag = self.cursor.u1(structure)?;
        let value = match tag {
            item::TOP..=item::UNINITIALIZED_THIS => 0,
            item::OBJECT | item::UNINITIALIZED => self.cursor.u2(structure)?,
            _ => return Err(unknown(tag, self.cursor.offset())),
        };
        Ok(VerificationType { tag, value })
    }

    /// Checks that no bytes follow the last frame.
    pub(crate) fn finish(&self) -> Result<(), ReadError> {
        self.cursor.finish("StackMapTable")
    }
}

/// Creates the error for an unassigned tag before `behind`.
#[cold]
fn unknown(tag: u8, behind: u32) -> ReadError {
    let offset = behind.saturating_sub(1);
    ReadError::UnknownFrame { offset, tag }
}

/// Creates the error for a frame after the highest possible bci.
#[cold]
fn too_far(offset: u32) -> ReadError {
    let bci = u32::MAX;
    ReadError::BadInstruction { bci, offset }
}

/// Computes the `offset_delta` of consecutive frames.
#[derive(Debug, Default)]
pub(crate) struct Deltas {
    /// First possible position of the next frame.
    next: u32,
}

impl Deltas {
    /// Returns the `offset_delta` of a frame at `position`. `None` if it does not follow the last one, or is too far
    /// from it.
    #[inline]
    pub(crate) fn next(&mut self, position: u32) -> Option<u16> {
        let delta = position.checked_sub(self.next)?;
        self.next = position.checked_add(1)?;
        u16::try_from(delta).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_kind_round_trips() {
        let kinds = [
            FrameKind::Same,
            FrameKind::SameLocals1StackItem,
            FrameKind::Chop(1),
            FrameKind::Chop(3),
            FrameKind::Append(1),
            FrameKind::Append(3),
            FrameKind::Full,
        ];
        for delta in [0, 1, 63, 64, 255, 256, u16::MAX] {
            for kind in kinds {
                let mut bytes = vec![0, 1];
                kind.write(delta, &mut bytes);
                let short = matches!(kind, FrameKind::Same | FrameKind::SameLocals1StackItem);
                assert_eq!(bytes.len(), if short && delta < 64 { 3 } else { 5 });
                let mut reader = StackMapReader::new(&bytes, 0).unwrap();
                assert_eq!(reader.frame(), Ok(Some((kind, u32::from(delta)))));
                assert_eq!(reader.frame(), Ok(None));
                assert_eq!(reader.finish(), Ok(()));
            }
        }
    }

    #[test]
    fn lists_of_unset_fields_round_trip() {
        for indices in [&[][..], &[0, 7], &[0, 7, 1, 2]] {
            let mut bytes = vec![0, 2];
            UnsetFieldList(Some(indices)).write(&mut bytes);
            FrameKind::Same.write(4, &mut bytes);
            UnsetFieldList::NONE.write(&mut bytes);
            FrameKind::Same.write(5, &mut bytes);
            let mut reader = StackMapReader::new(&bytes, 0).unwrap();
            assert_eq!(reader.frame(), Ok(Some((FrameKind::Same, 4))));
            assert_eq!(reader.unset_fields(), UnsetFieldList(Some(indices)));
            assert_eq!(reader.frame(), Ok(Some((FrameKind::Same, 10))));
            assert_eq!(reader.unset_fields(), UnsetFieldList::NONE);
            assert_eq!(reader.finish(), Ok(()));
            for cut in 3..bytes.len() - 1 {
                let mut reader = StackMapReader::new(&bytes[..cut], 0).unwrap();
                assert!(reader.frame().is_err(), "{cut}");
            }
        }
    }

    #[test]
    fn list_of_unset_fields_has_a_frame_behind_it() {
        let bytes = [0, 1, EARLY_LARVAL, 0, 0, EARLY_LARVAL, 0, 0, 4];
        let mut reader = StackMapReader::new(&bytes, 10).unwrap();
        let tag = EARLY_LARVAL;
        let unknown = ReadError::UnknownFrame { offset: 15, tag };
        assert_eq!(reader.frame(), Err(unknown));
    }

    #[test]
    fn unassigned_tags_are_refused() {
        for tag in 128..=245 {
            let bytes = [0, 1, tag, 0, 0];
            let mut reader = StackMapReader::new(&bytes, 10).unwrap();
            let unknown = ReadError::UnknownFrame { offset: 12, tag };
            assert_eq!(reader.frame(), Err(unknown));
        }
        let mut reader = StackMapReader::new(&[0, 0, 9], 0).unwrap();
        let unknown = ReadError::UnknownFrame { offset: 2, tag: 9 };
        assert_eq!(reader.verification_type(), Err(unknown));
    }

    #[test]
    fn frames_beyond_the_last_bci_are_refused() {
        let mut bytes = vec![0xFF, 0xFF];
        for _ in 0..u16::MAX {
            FrameKind::Same.write(u16::MAX, &mut bytes);
        }
        let mut reader = StackMapReader::new(&bytes, 0).unwrap();
        while let Ok(Some(_)) = reader.frame() {}
        assert_eq!(reader.left(), 0);
        assert_eq!(reader.last(), Some(u32::from(u16::MAX) * 0x1_0000 - 1));
    }
}
