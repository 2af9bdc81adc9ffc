//! Iterates over stack map frames, expanded to types by slot.

use crate::class::{Attribute, ClassFile};
use crate::index::{MethodIndex, PoolIndex};
use crate::self_check::machine::{Machine, put};
use crate::stack_map::{
    FollowedType, FrameContext, FrameState, StackMapReader, item, parameter_name,
};
use crate::typing::{Class, Origin, Type};

/// The frames of one method. The cursor starts with the types at method entry, then advances to each frame.
pub(super) struct FrameCursor<'f, 't> {
    class: &'f ClassFile<'t>,
    descriptor: &'t [u8],
    reader: Option<StackMapReader<'t>>,
    limits: (u16, u16),
    origin: fn(u32) -> Origin,
    state: FrameState,
    at: Option<u32>,
}

impl<'f, 't> FrameCursor<'f, 't> {
    /// Starts with the types at method entry. This and the other functions return `None` for malformed frames.
    pub(super) fn of(
        class: &'f ClassFile<'t>,
        method: MethodIndex,
        table: Option<&Attribute<'t>>,
        limits: (u16, u16),
        origin: fn(u32) -> Origin,
    ) -> Option<(Self, Machine<'t>)> {
        let method = class.method(method)?;
        let reader = table.map(|table| StackMapReader::new(table.bytes, table.offset));
        let mut followed = FrameCursor {
            class,
            descriptor: method.descriptor().as_bytes(),
            reader: reader.transpose().ok()?,
            limits,
            origin,
            state: FrameState::default(),
            at: None,
        };
        let context = FrameContext {
            class,
            method,
            limits,
        };
        followed.state.initial(&context).ok()?;
        let mut entry = Machine::default();
        followed.write(&mut entry)?;
        followed.advance()?;
        Some((followed, entry))
    }

    /// Returns the bci of the current frame; `None` after the last one.
    pub(super) fn at(&self) -> Option<u32> {
        self.at
    }

    /// Advances to the next frame.
    pub(super) fn advance(&mut self) -> Option<()> {
        let Some(reader) = &mut self.reader else {
            return Some(());
        };
        self.at = self.state.step(reader, self.limits).ok()?;
        match self.at {
            None => reader.finish().ok(),
            Some(_) => Some(()),
        }
    }

    /// Writes the types of the current frame.
    pub(super) fn write(&self, machine: &mut Machine<'t>) -> Option<()> {
        let parts = [
            (&self.state.locals, &mut machine.locals),
            (&self.state.stack, &mut machine.stack),
        ];
        for (types, slots) in parts {
            slots.clear();
            for found in types {
                put(slots, self.read(*found)?);
            }
        }
        Some(())
    }

    fn read(&self, found: FollowedType) -> Option<Type<'t>> {
        let found = match found {
            FollowedType::Written(found) => found,
            FollowedType::Parameter(start, length) => {
                return parameter_name(self.descriptor, (start, length)).map(Type::object);
            }
        };
        Some(match found.tag {
            item::TOP => Type::Top,
            item::INTEGER => Type::Int,
            item::FLOAT => Type::Float,
            item::DOUBLE => Type::Double,
            item::LONG => Type::Long,
            item::NULL => Type::Null,
            item::UNINITIALIZED_THIS => Type::UninitializedThis,
            item::UNINITIALIZED => Type::Uninitialized((self.origin)(u32::from(found.value))),
            _ => {
                let name = self.class.pool().class_name(PoolIndex(found.value))?;
                Type::Object(Class::named(name.as_bytes()))
            }
        })
    }
}

/// A frame that the original does not have.
pub(super) struct AddedFrame<'t> {
    pub(super) position: u32,
    pub(super) types: Machine<'t>,
    /// True when the check has found a reason for the frame.
    pub(super) wanted: bool,
}

/// The frames of the output.
#[derive(Default)]
pub(super) struct NewFrames<'t> {
    /// Frames added by the splice, by position.
    pub(super) added: Vec<AddedFrame<'t>>,
    /// The new positions of the original frames.
    pub(super) moved: Vec<u32>,
}

impl<'t> NewFrames<'t> {
    pub(super) fn added(&mut self, position: u32) -> Option<&mut AddedFrame<'t>> {
        let index = self
            .added
            .binary_search_by_key(&position, |found| found.position);
        self.added.get_mut(index.ok()?)
    }
}
