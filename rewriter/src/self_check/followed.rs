//! Frames one after another, all written out as types by slot.

use crate::class::{Attribute, ClassFile};
use crate::index::{MethodIndex, PoolIndex};
use crate::self_check::machine::{Machine, put};
use crate::stack_map::{
    FollowedType, FrameContext, FrameState, StackMapReader, item, parameter_name,
};
use crate::typing::{Class, Origin, Type};

/// The frames of one method. It stands on the first frame; before that, it has
/// what holds when the method is entered.
pub(super) struct Followed<'f, 't> {
    class: &'f ClassFile<'t>,
    descriptor: &'t [u8],
    reader: Option<StackMapReader<'t>>,
    limits: (u16, u16),
    origin: fn(u32) -> Origin,
    state: FrameState,
    at: Option<u32>,
}

impl<'f, 't> Followed<'f, 't> {
    /// Begins with what holds when the method is entered; none for frames that
    /// cannot be read, here and below.
    pub(super) fn of(
        class: &'f ClassFile<'t>,
        method: MethodIndex,
        table: Option<&Attribute<'t>>,
        limits: (u16, u16),
        origin: fn(u32) -> Origin,
    ) -> Option<(Self, Machine<'t>)> {
        let method = class.method(method)?;
        let reader = table.map(|table| StackMapReader::new(table.bytes, table.offset));
        let mut followed = Followed {
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

    /// Where the frame is that it stands on; none behind the last.
    pub(super) fn at(&self) -> Option<u32> {
        self.at
    }

    /// Goes on to the next frame.
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

    /// What holds there.
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
    /// Something says that it has to be there.
    pub(super) wanted: bool,
}

/// The frames of the output.
#[derive(Default)]
pub(super) struct NewFrames<'t> {
    /// By position.
    pub(super) added: Vec<AddedFrame<'t>>,
    /// Where those of the original are now.
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
