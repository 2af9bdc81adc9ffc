//! What a snippet has to know of the method it stands in.

use crate::class::{ClassFile, Code, Method};
use crate::opcode;
use crate::plan::Place;
use crate::snippet::{Argument, Kind, Parameters, Setting, parameter_slots, return_type};
use crate::verify::{Class, Hierarchy, Type};

/// One method, as its snippets see it.
#[derive(Debug)]
pub(crate) struct Facts<'t, 'f> {
    pub(crate) known: &'f Hierarchy<'t>,
    pub(crate) major: u16,
    pub(crate) is_static: bool,
    pub(crate) constructor: bool,
    pub(crate) arguments: Vec<Argument<'t>>,
    pub(crate) returns: Kind<'t>,
    /// The method stores to slot 0 of `this`.
    this_stored: bool,
    /// `max_locals` of the method.
    pub(crate) locals: u32,
    pub(crate) code: &'t [u8],
}

impl<'t, 'f> Facts<'t, 'f> {
    pub(crate) fn of(
        class: &ClassFile<'t>,
        method: &Method<'_, 't>,
        code: &Code<'_, 't>,
        known: &'f Hierarchy<'t>,
    ) -> Self {
        let is_static = method.is_static();
        let descriptor = method.descriptor().as_bytes();
        let mut facts = Facts {
            known,
            major: class.major_version(),
            is_static,
            constructor: method.name() == "<init>" && class.this_class() != "java/lang/Object",
            arguments: arguments(descriptor, is_static),
            returns: return_type(descriptor).unwrap_or(Kind::Void),
            this_stored: false,
            locals: u32::from(code.max_locals()),
            code: code.bytes(),
        };
        facts.find_stores(code);
        facts
    }

    /// A method that is made of one snippet: its parameters are where they come.
    pub(crate) fn alone(
        major: u16,
        is_static: bool,
        (name, descriptor): (&[u8], &'t [u8]),
        known: &'f Hierarchy<'t>,
    ) -> Self {
        let arguments = arguments(descriptor, is_static);
        let slots = parameter_slots(descriptor).wrapping_add(u32::from(!is_static));
        Facts {
            known,
            major,
            is_static,
            constructor: name == b"<init>",
            arguments,
            returns: return_type(descriptor).unwrap_or(Kind::Void),
            this_stored: false,
            locals: slots,
            code: &[],
        }
    }

    /// Marks the parameters whose slots the method writes to.
    fn find_stores(&mut self, code: &Code<'_, '_>) {
        for instruction in code.instructions().map_while(Result::ok) {
            let family = match instruction.opcode {
                opcode::IINC => 0,
                code @ opcode::ISTORE..=opcode::ASTORE => code.wrapping_sub(opcode::ISTORE),
                code @ opcode::ISTORE_0..=opcode::ASTORE_3 => {
                    code.wrapping_sub(opcode::ISTORE_0).wrapping_shr(2)
                }
                _ => continue,
            };
            let first = u32::from(instruction.local().unwrap_or(0));
            let last = first.wrapping_add(u32::from(family & 1));
            self.this_stored |= first == 0;
            for argument in &mut self.arguments {
                let end = argument.slot.wrapping_add(argument.kind.slots());
                argument.stored |= first < end && last >= argument.slot;
            }
        }
    }
}

fn arguments(descriptor: &[u8], is_static: bool) -> Vec<Argument<'_>> {
    let mut slot = u32::from(!is_static);
    let arguments = Parameters::of(descriptor).map(|kind| {
        let at = slot;
        slot = slot.wrapping_add(kind.slots());
        Argument {
            kind,
            slot: at,
            stored: false,
        }
    });
    arguments.collect()
}

/// What differs from place to place.
pub(crate) struct PlaceSetting<'t> {
    at_entry: bool,
    stack: Option<Type<'t>>,
    this: Result<Type<'t>, &'static str>,
    may_return: bool,
}

impl<'t> PlaceSetting<'t> {
    pub(crate) fn view<'s>(&'s self, facts: &'s Facts<'t, '_>) -> Setting<'t, 's> {
        Setting {
            known: facts.known,
            major: facts.major,
            this: self.this,
            arguments: &facts.arguments,
            at_entry: self.at_entry,
            returns: facts.returns,
            may_return: self.may_return,
            stack: self.stack.as_slice(),
            whole_body: false,
        }
    }
}

/// What a snippet at `place` finds.
pub(crate) fn setting<'t>(facts: &Facts<'t, '_>, place: Place) -> PlaceSetting<'t> {
    let throwable = Type::Object(Class::THROWABLE);
    let stack = match place {
        Place::Before(bci) => match facts.code.get(usize::from(bci)) {
            Some(&opcode::ATHROW) => Some(throwable),
            Some(code) if opcode::is_return(*code) => Type::of(facts.returns),
            _ => None,
        },
        Place::Unwind => Some(throwable),
        Place::Entry | Place::At(_) | Place::FallThrough(_) | Place::Jump { .. } => None,
    };
    let at_entry = place == Place::Entry;
    let ready = !facts.constructor;
    let this = if facts.is_static {
        Err("the method is static and has no this")
    } else if !ready {
        Err("nothing can use this before super() or this() of a constructor")
    } else if facts.this_stored && !at_entry {
        Err("the method stores to slot 0, so this is no longer there; take it at the entry")
    } else {
        Ok(Type::Object(Class::plain(facts.known.this)))
    };
    PlaceSetting {
        at_entry,
        stack,
        this,
        may_return: ready,
    }
}
