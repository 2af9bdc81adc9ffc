//! `StackMapTable` (JVMS 4.7.4) as types: a reader of expanded frames, and a writer.

use crate::class::{Attribute, Method};
use crate::error::ReadError;
use crate::index::PoolIndex;
use crate::plan::SkipReason;
use crate::pool::{ConstantPool, PoolWriter};
use crate::stack_map::{
    Deltas, Frame, FrameKind, StackMapReader, VerificationType, bad_frame, item,
};
use crate::typing::types::{Class, Origin, Type};
use crate::typing::unset_fields::UnsetFields;
use jvms::descriptor::Parameters;

/// Maximum number of types in all frames of one method together.
const MOST_TYPES: usize = 1 << 23;

/// Returns the types of the local variables at method entry, one for each. `None` without a method descriptor.
pub(crate) fn entry_types<'t>(method: &Method<'_, 't>) -> Option<Vec<Type<'t>>> {
    let class = method.class();
    let descriptor = method.descriptor().as_bytes();
    descriptor.starts_with(b"(").then_some(())?;
    let this = match method.is_constructor() {
        true => Type::UninitializedThis,
        false => {
            let name = class.this_class().as_bytes();
            Type::Object(Class::indexed(name, class.this_class_index().0))
        }
    };
    let receiver = (!method.is_static()).then_some(this);
    let parameters = Parameters::of(descriptor).map(Type::of);
    Some(receiver.into_iter().chain(parameters).collect())
}

/// Follows the frames of one method.
#[derive(Debug)]
pub(crate) struct FrameReader<'p, 't> {
    pool: &'p ConstantPool<'t>,
    table: StackMapReader<'t>,
    /// The head of the next frame; `table` has its list of unset fields.
    head: Option<(FrameKind, u32)>,
    /// `max_locals` and `max_stack`.
    limits: (u16, u16),
    /// Names the origin of an object created by the `new` at a bci.
    origin: fn(u32) -> Origin,
    /// Number of types in all frames so far.
    seen: usize,
    pub(crate) frame: Frame<Type<'t>>,
    /// The strict fields without a value at the current frame.
    pub(crate) unset_fields: UnsetFields<'t>,
}

impl<'p, 't> FrameReader<'p, 't> {
    /// Starts with the frame at bci 0; without an attribute it is the only one.
    pub(crate) fn new(
        method: &Method<'p, 't>,
        attribute: Option<&Attribute<'t>>,
        limits: (u16, u16),
        origin: fn(u32) -> Origin,
    ) -> Result<Self, ReadError> {
        let locals = entry_types(method).ok_or_else(|| bad_frame(0, 0))?;
        let (bytes, offset) =
            attribute.map_or((&[0, 0][..], 0), |found| (found.bytes, found.offset));
        let mut table = StackMapReader::new(bytes, offset)?;
        let reader = FrameReader {
            pool: method.class().pool(),
            head: table.frame()?,
            table,
            unset_fields: UnsetFields::at_entry(method),
            limits,
            origin,
            seen: 0,
            frame: Frame {
                locals,
                ..Frame::default()
            },
        };
        reader.check(0)?;
        Ok(reader)
    }

    /// Returns the bci of the next frame without applying it.
    pub(crate) fn peek(&self) -> Option<u32> {
        self.head.map(|(_, bci)| bci)
    }

    /// Applies the next frame and returns its bci; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<u32>, SkipReason> {
        let Some((kind, bci)) = self.head else {
            self.table.finish()?;
            return Ok(None);
        };
        let (pool, origin) = (self.pool, self.origin);
        let read = |table: &mut StackMapReader<'t>| read_type(table, pool, origin);
        self.frame
            .apply((kind, bci), &mut self.table, self.limits, read)?;
        self.check(bci)?;
        let list = self.table.unset_fields();
        self.unset_fields.take_listed(list, pool, bci)?;
        self.head = self.table.frame()?;
        self.seen += self.frame.locals.len();
        if self.seen > MOST_TYPES {
            return Err(SkipReason::FramesTooLarge);
        }
        Ok(Some(bci))
    }

    /// Writes the current frame as types by slot.
    pub(crate) fn write(&self, locals: &mut Vec<Type<'t>>, stack: &mut Vec<Type<'t>>) {
        by_slot(&self.frame.locals, locals);
        by_slot(&self.frame.stack, stack);
    }

    fn check(&self, bci: u32) -> Result<(), ReadError> {
        let slots = self.frame.locals.iter().map(Type::slots).sum::<u32>();
        match slots > u32::from(self.limits.0) {
            true => Err(bad_frame(bci, self.table.offset())),
            false => Ok(()),
        }
    }
}

fn read_type<'t>(
    table: &mut StackMapReader<'t>,
    pool: &ConstantPool<'t>,
    origin: fn(u32) -> Origin,
) -> Result<Type<'t>, ReadError> {
    let offset = table.offset();
    let VerificationType { tag, value } = table.verification_type()?;
    Ok(match tag {
        item::TOP => Type::Top,
        item::INTEGER => Type::Int,
        item::FLOAT => Type::Float,
        item::DOUBLE => Type::Double,
        item::LONG => Type::Long,
        item::NULL => Type::Null,
        item::UNINITIALIZED_THIS => Type::UninitializedThis,
        item::OBJECT => {
            let name = pool.class_name(PoolIndex(value));
            let name = name.ok_or(ReadError::BadPoolIndex {
                structure: "verification_type_info",
                offset,
                expected: "class",
                index: value,
            })?;
            Type::Object(Class::indexed(name.as_bytes(), value))
        }
        _ => Type::Uninitialized(origin(u32::from(value))),
    })
}

/// Encodes a type for `StackMapTable`; `None` if the pool is full. Uninitialized objects must have positions.
pub(crate) fn encoded(found: Type<'_>, pool: &mut PoolWriter) -> Option<VerificationType> {
    let tag = match found {
        Type::Top => item::TOP,
        Type::Int => item::INTEGER,
        Type::Float => item::FLOAT,
        Type::Double => item::DOUBLE,
        Type::Long => item::LONG,
        Type::Null => item::NULL,
        Type::UninitializedThis => item::UNINITIALIZED_THIS,
        Type::Uninitialized(_) => item::UNINITIALIZED,
        Type::Object(_) => item::OBJECT,
    };
    let value = match found {
        Type::Object(class) if class.index != 0 => class.index,
        Type::Object(class) => {
            let mut name = Vec::new();
            class.write(&mut name);
            pool.class(&name)?
        }
        Type::Uninitialized(Origin::Position(at) | Origin::Method(at) | Origin::Snippet(at)) => {
            u16::try_from(at).ok()?
        }
        _ => 0,
    };
    Some(VerificationType { tag, value })
}

/// Converts local variables from one type each to types by slot.
pub(crate) fn by_slot<'t>(entries: &[Type<'t>], slots: &mut Vec<Type<'t>>) {
    slots.clear();
    for entry in entries {
        slots.push(*entry);
        if entry.slots() == 2 {
            slots.push(Type::Top);
        }
    }
}

/// Converts local variables from types by slot to one type each, without unusable ones at the end.
pub(crate) fn by_entry<'t>(slots: &[Type<'t>]) -> Vec<Type<'t>> {
    let end = slots.iter().rposition(|slot| *slot != Type::Top);
    let mut slots = slots.iter().take(end.map_or(0, |end| end + 1));
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
    deltas: Deltas,
    locals: Vec<Type<'t>>,
}

impl<'t> FrameWriter<'t> {
    pub(crate) fn new(initial: &[Type<'t>]) -> Self {
        FrameWriter {
            deltas: Deltas::default(),
            locals: initial.to_vec(),
        }
    }

    /// Appends the frame at `position`; `None` if it does not follow the last one. Uninitialized objects must have
    /// positions.
    pub(crate) fn write(
        &mut self,
        position: u32,
        (locals, stack): (&[Type<'t>], &[Type<'t>]),
        write_type: &mut impl FnMut(Type<'t>, &mut Vec<u8>) -> Option<()>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let delta = self.deltas.next(position)?;
        let common = self
            .locals
            .iter()
            .zip(locals)
            .take_while(|(a, b)| a == b)
            .count();
        let (fewer, more) = (self.locals.len() - common, locals.len() - common);
        let count = |count: usize| u8::try_from(count).ok();
        let kind = match (fewer, more, stack) {
            (0, 0, []) => FrameKind::Same,
            (0, 0, [_]) => FrameKind::SameLocals1StackItem,
            (1..=3, 0, []) => FrameKind::Chop(count(fewer)?),
            (0, 1..=3, []) => FrameKind::Append(count(more)?),
            _ => FrameKind::Full,
        };
        kind.write(delta, out);
        match kind {
            FrameKind::Full => {
                for types in [locals, stack] {
                    out.extend_from_slice(&u16::try_from(types.len()).ok()?.to_be_bytes());
                    types.iter().try_for_each(|value| write_type(*value, out))?;
                }
            }
            _ => {
                let mut added = locals.iter().skip(common).chain(stack);
                added.try_for_each(|value| write_type(*value, out))?;
            }
        }
        self.locals.clear();
        self.locals.extend_from_slice(locals);
        Some(())
    }
}
