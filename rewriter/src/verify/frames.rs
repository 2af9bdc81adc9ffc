//! `StackMapTable` (JVMS 4.7.4) as types: read frame by frame, and written.

use crate::class::Attribute;
use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::index::PoolIndex;
use crate::pool::ConstantPool;
use crate::splice::{SkipReason, item, next_bci};
use crate::verify::types::{Class, Origin, Type};

/// Most types in all frames of one method together.
const MOST_TYPES: usize = 1 << 23;

/// Follows the frames of one method.
#[derive(Debug)]
pub(crate) struct FrameReader<'p, 't> {
    pool: &'p ConstantPool<'t>,
    cursor: Cursor<'t>,
    left: u16,
    last: Option<u32>,
    /// `max_locals` and `max_stack`.
    limits: (u16, u16),
    /// Types of all frames so far.
    seen: usize,
    /// By entry: a `long` or `double` is one.
    pub(crate) locals: Vec<Type<'t>>,
    pub(crate) stack: Vec<Type<'t>>,
}

impl<'p, 't> FrameReader<'p, 't> {
    /// Starts with the frame at bci 0, `initial`; without an attribute no other follows.
    pub(crate) fn new(
        pool: &'p ConstantPool<'t>,
        attribute: Option<&Attribute<'t>>,
        initial: &[Type<'t>],
        limits: (u16, u16),
    ) -> Result<Self, ReadError> {
        let (bytes, offset) =
            attribute.map_or((&[0, 0][..], 0), |found| (found.bytes, found.offset));
        let mut cursor = Cursor::new(bytes, offset);
        let left = cursor.u2("StackMapTable")?;
        let reader = FrameReader {
            pool,
            cursor,
            left,
            last: None,
            limits,
            seen: 0,
            locals: initial.to_vec(),
            stack: Vec::new(),
        };
        reader.check(0)?;
        Ok(reader)
    }

    /// Where the next frame is, without applying it.
    pub(crate) fn peek(&self) -> Result<Option<u32>, ReadError> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut cursor = self.cursor;
        let tag = cursor.u1("stack_map_frame")?;
        next_bci(&mut cursor, tag, self.last).map(Some)
    }

    /// Applies the next frame; its bci.
    pub(crate) fn next(&mut self) -> Result<Option<u32>, SkipReason> {
        let Some(left) = self.left.checked_sub(1) else {
            self.cursor.finish("StackMapTable")?;
            return Ok(None);
        };
        self.left = left;
        let tag = self.cursor.u1("stack_map_frame")?;
        let bci = next_bci(&mut self.cursor, tag, self.last)?;
        self.last = Some(bci);
        self.stack.clear();
        let unlike = ReadError::BadInstruction {
            bci,
            offset: self.cursor.offset(),
        };
        match tag {
            0..=63 | 251 => {}
            64..=127 | 247 => self.read(1, true)?,
            248..=250 => {
                let fewer = usize::from(251_u8.wrapping_sub(tag));
                let left = self.locals.len().checked_sub(fewer);
                self.locals.truncate(left.ok_or(unlike)?);
            }
            252..=254 => self.read(u16::from(tag).wrapping_sub(251), false)?,
            _ => {
                self.locals.clear();
                for (limit, stack) in [(self.limits.0, false), (self.limits.1, true)] {
                    let count = self.cursor.u2("full_frame")?;
                    if count > limit {
                        return Err(unlike.into());
                    }
                    self.read(count, stack)?;
                }
            }
        }
        self.check(bci)?;
        self.seen = self.seen.wrapping_add(self.locals.len());
        if self.seen > MOST_TYPES {
            return Err(SkipReason::FramesTooLarge);
        }
        Ok(Some(bci))
    }

    fn check(&self, bci: u32) -> Result<(), ReadError> {
        let slots = self
            .locals
            .iter()
            .map(Type::slots)
            .fold(0, u32::wrapping_add);
        if slots > u32::from(self.limits.0) {
            let offset = self.cursor.offset();
            return Err(ReadError::BadInstruction { bci, offset });
        }
        Ok(())
    }

    fn read(&mut self, count: u16, stack: bool) -> Result<(), ReadError> {
        for _ in 0..count {
            let value = self.read_type()?;
            if stack {
                &mut self.stack
            } else {
                &mut self.locals
            }
            .push(value);
        }
        Ok(())
    }

    fn read_type(&mut self) -> Result<Type<'t>, ReadError> {
        let structure = "verification_type_info";
        let offset = self.cursor.offset();
        Ok(match self.cursor.u1(structure)? {
            0 => Type::Top,
            item::INTEGER => Type::Int,
            item::FLOAT => Type::Float,
            item::DOUBLE => Type::Double,
            item::LONG => Type::Long,
            5 => Type::Null,
            item::UNINITIALIZED_THIS => Type::UninitializedThis,
            item::OBJECT => {
                let index = PoolIndex(self.cursor.u2(structure)?);
                let name = self.pool.class_name(index).ok_or(ReadError::BadPoolIndex {
                    structure,
                    offset,
                    expected: "class",
                    index: index.0,
                })?;
                Type::Object(Class::indexed(name.as_bytes(), index.0))
            }
            item::UNINITIALIZED => {
                Type::Uninitialized(Origin::Method(u32::from(self.cursor.u2(structure)?)))
            }
            tag => return Err(ReadError::UnknownFrame { offset, tag }),
        })
    }
}

/// Local variables by slot, from those by entry.
pub(crate) fn by_slot<'t>(entries: &[Type<'t>], slots: &mut Vec<Type<'t>>) {
    slots.clear();
    for entry in entries {
        slots.push(*entry);
        if entry.slots() == 2 {
            slots.push(Type::Top);
        }
    }
}

/// Local variables by entry, from those by slot, without what is not usable at
/// the end.
pub(crate) fn by_entry<'t>(slots: &[Type<'t>]) -> Vec<Type<'t>> {
    let end = slots.iter().rposition(|slot| *slot != Type::Top);
    let mut slots = slots.iter().take(end.map_or(0, |end| end.wrapping_add(1)));
    let mut entries = Vec::new();
    while let Some(slot) = slots.next() {
        entries.push(*slot);
        if slot.slots() == 2 {
            slots.next();
        }
    }
    entries
}

/// Writes frames one after another, each in its shortest form.
#[derive(Debug)]
pub(crate) struct FrameWriter<'t> {
    last: Option<u32>,
    locals: Vec<Type<'t>>,
}

impl<'t> FrameWriter<'t> {
    pub(crate) fn new(initial: &[Type<'t>]) -> Self {
        FrameWriter {
            last: None,
            locals: initial.to_vec(),
        }
    }

    /// Appends the frame at `position`, whose objects that are not initialized
    /// have been given positions; none when it does not follow the last one.
    pub(crate) fn write(
        &mut self,
        position: u32,
        (locals, stack): (&[Type<'t>], &[Type<'t>]),
        write_type: &mut impl FnMut(Type<'t>, &mut Vec<u8>) -> Option<()>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let delta = match self.last {
            None => position,
            Some(last) => position.checked_sub(last)?.checked_sub(1)?,
        };
        let delta = u16::try_from(delta).ok()?;
        let short = u8::try_from(delta).ok().filter(|delta| *delta < 64);
        let common = self
            .locals
            .iter()
            .zip(locals)
            .take_while(|(a, b)| a == b)
            .count();
        let (fewer, more) = (
            self.locals.len().wrapping_sub(common),
            locals.len().wrapping_sub(common),
        );
        let long = |tag: u8, out: &mut Vec<u8>| {
            out.push(tag);
            out.extend_from_slice(&delta.to_be_bytes());
        };
        match (fewer, more, stack) {
            (0, 0, []) => match short {
                Some(delta) => out.push(delta),
                None => long(251, out),
            },
            (0, 0, [value]) => {
                match short {
                    Some(delta) => out.push(delta.wrapping_add(64)),
                    None => long(247, out),
                }
                write_type(*value, out)?;
            }
            (1..=3, 0, []) => long(251_u8.wrapping_sub(fewer as u8), out),
            (0, 1..=3, []) => {
                long(251_u8.wrapping_add(more as u8), out);
                let mut added = locals.iter().skip(common);
                added.try_for_each(|value| write_type(*value, out))?;
            }
            _ => {
                long(255, out);
                for types in [locals, stack] {
                    out.extend_from_slice(&u16::try_from(types.len()).ok()?.to_be_bytes());
                    types.iter().try_for_each(|value| write_type(*value, out))?;
                }
            }
        }
        self.last = Some(position);
        self.locals.clear();
        self.locals.extend_from_slice(locals);
        Some(())
    }
}
