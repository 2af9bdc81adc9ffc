//! The context of a snippet in its method.

use crate::class::{Attribute, ClassFile, Code, Method};
use crate::cursor::u16_at;
use crate::error::ReadError;
use crate::index::MethodIndex;
use crate::limits::{FRAMES_REQUIRED_SINCE, FRAMES_SINCE};
use crate::plan::{Location, SkipReason};
use crate::typing::frames::{FrameReader, by_slot, entry_types};
use crate::typing::hierarchy::Hierarchy;
use crate::typing::types::{Class, Origin, Type};
use jvms::descriptor::{FieldType, MethodDescriptor, Parameters};
use jvms::opcode;

/// One method, as its snippets see it.
#[derive(Debug)]
pub(crate) struct MethodContext<'t> {
    /// Its index in the class; 0 for a method that consists of one snippet.
    index: MethodIndex,
    pub(crate) known: Hierarchy<'t>,
    pub(crate) major: u16,
    pub(crate) is_static: bool,
    pub(crate) constructor: bool,
    pub(crate) arguments: Vec<Argument<'t>>,
    pub(crate) returns: Option<FieldType<'t>>,
    /// True if slot 0 does not hold `this` all the time.
    this_lost: bool,
    /// `max_locals` and `max_stack` of the method.
    pub(crate) limits: (u16, u16),
    pub(crate) code: &'t [u8],
    pub(crate) frames: Option<Attribute<'t>>,
    /// True if the verifier reads frames of this method.
    pub(crate) framed: bool,
    /// One type for each local variable at bci 0.
    pub(crate) initial: Vec<Type<'t>>,
}

impl<'t> MethodContext<'t> {
    pub(crate) fn of(
        class: &ClassFile<'t>,
        method: &Method<'_, 't>,
        code: &Code<'_, 't>,
    ) -> Result<Self, SkipReason> {
        let known = Hierarchy::of(class);
        let is_static = method.is_static();
        let descriptor = method.descriptor().as_bytes();
        let method_descriptor = MethodDescriptor::parse(descriptor).ok();
        // An index out of the pool could refer to an entry appended later.
        if method_descriptor.is_none() {
            let at = method.start() + 4;
            return Err(SkipReason::Unreadable(ReadError::BadPoolIndex {
                structure: "method_info.descriptor_index",
                offset: at as u32,
                expected: "method descriptor",
                index: u16_at(class.bytes(), at).unwrap_or_default(),
            }));
        }
        let frames = code.attributes().named("StackMapTable");
        let major = class.major_version();
        Ok(MethodContext {
            index: method.index(),
            known,
            major,
            is_static,
            constructor: method.is_constructor(),
            arguments: arguments(descriptor, is_static),
            returns: method_descriptor.and_then(|found| found.return_type()),
            this_lost: false,
            limits: (code.max_locals(), code.max_stack()),
            code: code.bytes(),
            framed: major >= FRAMES_REQUIRED_SINCE || major >= FRAMES_SINCE && frames.is_some(),
            frames,
            initial: entry_types(method).unwrap_or_default(),
        })
    }

    /// Finds the parameters whose slots are overwritten or dropped.
    pub(crate) fn find_lost(
        &mut self,
        class: &ClassFile<'t>,
        code: &Code<'_, '_>,
    ) -> Result<(), SkipReason> {
        self.find_stores(code);
        self.find_frames(class)
    }

    /// Returns the first slot of the snippets' own variables.
    pub(crate) fn locals(&self) -> u32 {
        u32::from(self.limits.0)
    }

    /// Returns the frames of the method.
    pub(crate) fn reader<'p>(
        &self,
        class: &'p ClassFile<'t>,
    ) -> Result<FrameReader<'p, 't>, SkipReason> {
        let method = class.method(self.index).ok_or(SkipReason::NoCode)?;
        let frames = self.frames.as_ref();
        Ok(FrameReader::new(
            &method,
            frames,
            self.limits,
            Origin::Method,
        )?)
    }

    /// Creates the context of a method that consists of one snippet: its parameters keep their slots.
    pub(crate) fn alone(
        major: u16,
        is_static: bool,
        (name, descriptor): (&[u8], &'t [u8]),
        known: Hierarchy<'t>,
    ) -> Self {
        let arguments = arguments(descriptor, is_static);
        let returns = MethodDescriptor::parse(descriptor).ok();
        let slots = Parameters::of(descriptor).slots() + u32::from(!is_static);
        MethodContext {
            index: MethodIndex::default(),
            known,
            major,
            is_static,
            constructor: name == b"<init>",
            arguments,
            returns: returns.and_then(|found| found.return_type()),
            this_lost: false,
            limits: (slots as u16, 0),
            code: &[],
            frames: None,
            framed: major >= FRAMES_SINCE,
            initial: Vec::new(),
        }
    }

    /// Marks the parameters whose slots the method writes.
    fn find_stores(&mut self, code: &Code<'_, '_>) {
        for instruction in code.instructions().map_while(Result::ok) {
            let family = match instruction.opcode {
                opcode::IINC => 0,
                code @ opcode::ISTORE..=opcode::ASTORE => code - opcode::ISTORE,
                code @ opcode::ISTORE_0..=opcode::ASTORE_3 => (code - opcode::ISTORE_0) >> 2,
                _ => continue,
            };
            let Some(first) = instruction.local().map(u32::from) else {
                continue;
            };
            let last = first + u32::from(family & 1);
            self.this_lost |= first == 0;
            for argument in &mut self.arguments {
                let end = argument.slot + u32::from(argument.kind.slots());
                argument.lost |= first < end && last >= argument.slot;
            }
        }
    }

    /// Marks the parameters that a frame of the method no longer has.
    fn find_frames(&mut self, class: &ClassFile<'t>) -> Result<(), SkipReason> {
        let mut reader = self.reader(class)?;
        let mut slots = Vec::new();
        while reader.next()?.is_some() {
            by_slot(&reader.frame.locals, &mut slots);
            let own = Type::Object(Class::plain(self.known.this));
            let this = slots.first().copied().unwrap_or(Type::Top);
            self.this_lost |= this != own && this != Type::UninitializedThis;
            for argument in &mut self.arguments {
                let there = slots.get(argument.slot as usize).copied();
                argument.lost |= there != Some(Type::of(argument.kind));
            }
        }
        Ok(())
    }

    /// Returns the types that every frame has once `this` is initialized, by slot.
    pub(crate) fn lasting(&self) -> Vec<Type<'t>> {
        let mut slots = Vec::new();
        if !self.is_static {
            let own = Type::Object(Class::plain(self.known.this));
            slots.push(if self.this_lost { Type::Top } else { own });
        }
        for argument in &self.arguments {
            slots.push(if argument.lost {
                Type::Top
            } else {
                Type::of(argument.kind)
            });
            slots.resize(
                (argument.slot + u32::from(argument.kind.slots())) as usize,
                Type::Top,
            );
        }
        slots
    }

    /// Returns the context at a location; `ready` means that `this` is initialized there.
    pub(crate) fn at(&self, location: Location, ready: bool) -> PointContext<'t> {
        let throwable = Type::Object(Class::THROWABLE);
        let stack = match location {
            Location::Before(bci) => match self.code.get(usize::from(bci)) {
                Some(&opcode::ATHROW) => Some(throwable),
                Some(code) if opcode::is_return(*code) => self.returns.map(Type::of),
                _ => None,
            },
            Location::Unwind => Some(throwable),
            Location::Entry
            | Location::At(_)
            | Location::FallThrough(_)
            | Location::Jump { .. } => None,
        };
        let at_entry = location == Location::Entry;
        let this = if self.is_static {
            Err("the method is static and has no this")
        } else if !ready {
            Err("this may be uninitialized here: use it after super() or this() of the constructor")
        } else if self.this_lost && !at_entry {
            Err("the method overwrites slot 0, so this is lost; load it at the entry")
        } else {
            Ok(Type::Object(Class::plain(self.known.this)))
        };
        PointContext {
            at_entry,
            stack,
            this,
            ready,
            variables: Err("local variables can be loaded only before an instruction"),
        }
    }
}

fn arguments(descriptor: &[u8], is_static: bool) -> Vec<Argument<'_>> {
    let mut slot = u32::from(!is_static);
    let arguments = Parameters::of(descriptor).map(|kind| {
        let at = slot;
        slot += u32::from(kind.slots());
        Argument {
            kind,
            slot: at,
            lost: false,
        }
    });
    arguments.collect()
}

/// The part of the context that depends on the location.
#[derive(Debug)]
pub(crate) struct PointContext<'t> {
    at_entry: bool,
    stack: Option<Type<'t>>,
    this: Result<Type<'t>, &'static str>,
    ready: bool,
    /// The types of the method's local variables by slot, or the reason why they are unknown.
    variables: Result<Vec<Type<'t>>, &'static str>,
}

impl<'t> PointContext<'t> {
    pub(crate) fn view<'s>(&'s self, context: &'s MethodContext<'t>) -> TypingContext<'t, 's> {
        TypingContext {
            known: &context.known,
            major: context.major,
            this: self.this,
            arguments: &context.arguments,
            variables: self.variables.as_deref().map_err(|reason| *reason),
            at_entry: self.at_entry,
            returns: context.returns,
            may_return: self.ready,
            stack: self.stack.as_slice(),
            whole_body: false,
            around: None,
        }
    }

    /// Returns the context with these types of the method's local variables.
    pub(crate) fn with_variables(self, known: Result<Vec<Type<'t>>, &'static str>) -> Self {
        let variables = known;
        PointContext { variables, ..self }
    }

    /// Returns the value on the stack at the start and end.
    pub(crate) fn stack(&self) -> Option<Type<'t>> {
        self.stack
    }
}

/// A parameter in a snippet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Argument<'t> {
    pub(crate) kind: FieldType<'t>,
    pub(crate) slot: u32,
    /// True if the method stores to its slot, or its frames drop it.
    pub(crate) lost: bool,
}

/// The context in which a snippet is typed.
#[derive(Debug, Clone)]
pub(crate) struct TypingContext<'t, 's> {
    pub(crate) known: &'s Hierarchy<'t>,
    pub(crate) major: u16,
    /// The type that `load_this` pushes, or the reason why it is refused.
    pub(crate) this: Result<Type<'t>, &'static str>,
    pub(crate) arguments: &'s [Argument<'t>],
    /// The types of the method's local variables by slot, or the reason why they are unknown.
    pub(crate) variables: Result<&'s [Type<'t>], &'static str>,
    /// True before the method's code: no instruction has stored yet.
    pub(crate) at_entry: bool,
    pub(crate) returns: Option<FieldType<'t>>,
    /// False in a constructor before `super()`, which cannot return.
    pub(crate) may_return: bool,
    /// The values on the stack at the start, and at the end unless the snippet surrounds an instruction.
    pub(crate) stack: &'s [Type<'t>],
    /// True if the snippet must return or throw.
    pub(crate) whole_body: bool,
    /// The stack effect of the instruction that the snippet surrounds.
    pub(crate) around: Option<&'s StackEffect<'t>>,
}

/// The operands of an instruction, bottom first, and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StackEffect<'t> {
    pub(crate) operands: Vec<Type<'t>>,
    pub(crate) result: Option<Type<'t>>,
    /// True if the first operand is the object whose method or field the instruction names.
    pub(crate) has_receiver: bool,
}

impl<'t, 's> TypingContext<'t, 's> {
    /// Returns the context with these values on the stack.
    pub(crate) fn finding(self, stack: &'s [Type<'t>]) -> Self {
        TypingContext { stack, ..self }
    }

    /// Returns the context around an instruction.
    pub(crate) fn around(self, effect: &'s StackEffect<'t>) -> Self {
        TypingContext {
            around: Some(effect),
            ..self
        }
    }

    /// Returns the values on the stack at the end.
    pub(crate) fn left(&self) -> &[Type<'t>] {
        match self.around {
            Some(around) => around.result.as_slice(),
            None => self.stack,
        }
    }
}
