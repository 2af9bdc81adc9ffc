//! Abstract machine: local variables and operand stack along the code.

use crate::limits::MAX_STACK;
use crate::typing::hierarchy::Hierarchy;
use crate::typing::table::effect;
use crate::typing::types::{Class, Origin, Type};
use jvms::descriptor::{FieldType, Parameters, return_type};
use jvms::opcode;
use jvms::opcode::*;

/// The missing operand of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected<'t> {
    Type(Type<'t>),
    Reference,
    Array,
    ArrayOf(Type<'t>),
    /// A value of one slot, or two slots.
    Slots(u32),
    New,
    Depth,
}

/// A type mismatch; `found` is `None` on an empty stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault<'t> {
    pub(crate) expected: Expected<'t>,
    pub(crate) found: Option<Type<'t>>,
}

impl std::fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expected::Type(wanted) => wanted.fmt(f),
            Expected::Reference => f.write_str("a reference"),
            Expected::Array => f.write_str("an array"),
            Expected::ArrayOf(element) => write!(f, "an array of {element}"),
            Expected::Slots(1) => f.write_str("a value of one slot"),
            Expected::Slots(_) => f.write_str("values of two slots"),
            Expected::New => f.write_str("an object made by new"),
            Expected::Depth => f.write_str("a stack of at most 65535 slots"),
        }
    }
}

/// Applies instructions. In verified code, reference types are trusted; in a snippet they are compared.
#[derive(Debug, Clone)]
pub(crate) struct Machine<'t> {
    /// By slot; the second slot of a `long` or `double` is `Top`.
    pub(crate) locals: Vec<Type<'t>>,
    /// One type for each value.
    pub(crate) stack: Vec<Type<'t>>,
    /// Slots of the operand stack.
    depth: u32,
    pub(crate) deepest: u32,
    trusted: bool,
}

type Step<'t> = Result<(), Fault<'t>>;

impl<'t> Machine<'t> {
    pub(crate) fn new(trusted: bool) -> Self {
        Machine {
            locals: Vec::new(),
            stack: Vec::new(),
            depth: 0,
            deepest: 0,
            trusted,
        }
    }

    /// Replaces the operand stack.
    pub(crate) fn set_stack(&mut self, stack: &[Type<'t>]) {
        self.stack.clear();
        self.stack.extend_from_slice(stack);
        self.depth = stack.iter().map(|value| value.slots()).sum::<u32>();
        self.deepest = self.deepest.max(self.depth);
    }

    /// Checks that local variables and operand stack never exceeded `max_locals` and `max_stack`.
    pub(crate) fn is_within(&self, (locals, stack): (u16, u16)) -> bool {
        self.locals.len() <= usize::from(locals) && self.deepest <= u32::from(stack)
    }

    pub(crate) fn push(&mut self, value: Type<'t>) -> Step<'t> {
        self.stack.push(value);
        self.depth += value.slots();
        self.deepest = self.deepest.max(self.depth);
        if self.depth > MAX_STACK {
            return Err(Fault {
                expected: Expected::Depth,
                found: Some(value),
            });
        }
        Ok(())
    }

    fn pop(&mut self, expected: Expected<'t>) -> Result<Type<'t>, Fault<'t>> {
        let found = self.stack.pop();
        let value = found.ok_or(Fault { expected, found })?;
        self.depth -= value.slots();
        Ok(value)
    }

    /// Pops a value that is assignable to `wanted`.
    pub(crate) fn pop_as(&mut self, wanted: Type<'t>, known: &Hierarchy<'_>) -> Step<'t> {
        let expected = Expected::Type(wanted);
        let found = self.pop(expected)?;
        let trusted = self.trusted && found.is_reference() && wanted.is_reference();
        if trusted || known.fits(found, wanted) {
            return Ok(());
        }
        Err(Fault {
            expected,
            found: Some(found),
        })
    }

    /// Pops an initialized reference.
    fn pop_reference(&mut self) -> Result<Type<'t>, Fault<'t>> {
        let expected = Expected::Reference;
        let found = self.pop(expected)?;
        if found.is_reference() && (self.trusted || !found.is_uninitialized()) {
            return Ok(found);
        }
        Err(Fault {
            expected,
            found: Some(found),
        })
    }

    /// Pops an array or null; returns the class of the array.
    fn pop_array(&mut self) -> Result<Option<Class<'t>>, Fault<'t>> {
        let expected = Expected::Array;
        match self.pop(expected)? {
            Type::Null => Ok(None),
            Type::Object(class) if class.is_array() => Ok(Some(class)),
            found => Err(Fault {
                expected,
                found: Some(found),
            }),
        }
    }

    /// Applies an instruction without operands, a branch, or a switch.
    pub(crate) fn plain(&mut self, opcode: u8, known: &Hierarchy<'_>) -> Step<'t> {
        if let Some((pops, pushes)) = effect(opcode) {
            for letter in pops.iter().rev() {
                match letter {
                    b'A' => drop(self.pop_reference()?),
                    letter => self.pop_as(letter_type(*letter), known)?,
                }
            }
            let mut pushes = pushes.iter();
            return pushes.try_for_each(|letter| self.push(letter_type(*letter)));
        }
        match opcode {
            ACONST_NULL => self.push(Type::Null),
            IALOAD..=SALOAD => self.array_load(opcode, known),
            IASTORE..=SASTORE => self.array_store(opcode, known),
            POP..=SWAP => self.shuffle(opcode),
            ARRAYLENGTH => {
                self.pop_array()?;
                self.push(Type::Int)
            }
            ATHROW => self.pop_as(Type::Object(Class::THROWABLE), known),
            ARETURN => self.pop_reference().map(drop),
            _ => Ok(()),
        }
    }

    fn array_load(&mut self, opcode: u8, known: &Hierarchy<'_>) -> Step<'t> {
        self.pop_as(Type::Int, known)?;
        let array = self.pop_array()?;
        let loaded = self.element(array, opcode - IALOAD)?;
        self.push(loaded)
    }

    fn array_store(&mut self, opcode: u8, known: &Hierarchy<'_>) -> Step<'t> {
        let kind = opcode - IASTORE;
        match array_kind(kind) {
            // An array checks its elements at run time.
            None => drop(self.pop_reference()?),
            Some((value, _)) => self.pop_as(value, known)?,
        }
        self.pop_as(Type::Int, known)?;
        let array = self.pop_array()?;
        self.element(array, kind).map(drop)
    }

    /// Returns the element type for an access of this kind to `array`.
    fn element(&self, array: Option<Class<'t>>, kind: u8) -> Result<Type<'t>, Fault<'t>> {
        let wanted = array_kind(kind);
        let Some(array) = array else {
            return Ok(wanted.map_or(Type::Null, |(value, _)| value));
        };
        let fault = |element| Fault {
            expected: Expected::ArrayOf(element),
            found: Some(Type::Object(array)),
        };
        let element = array.element().unwrap_or(Type::Top);
        match wanted {
            None if element.is_reference() => Ok(element),
            None => Err(fault(Type::Object(Class::OBJECT))),
            Some((value, letters)) => {
                let fits = array.primitive
                    && array.dimensions == 1
                    && array
                        .name
                        .first()
                        .is_some_and(|letter| letters.contains(letter));
                if fits { Ok(value) } else { Err(fault(value)) }
            }
        }
    }

    /// Applies `pop` … `swap` by slots, without splitting a value of two.
    fn shuffle(&mut self, opcode: u8) -> Step<'t> {
        // Slots moved, slots skipped, and whether they are duplicated.
        let (top, below) = match opcode {
            POP => return self.take(1).map(drop),
            POP2 => return self.take(2).map(drop),
            DUP => (1, 0),
            DUP_X1 => (1, 1),
            DUP_X2 => (1, 2),
            DUP2 => (2, 0),
            DUP2_X1 => (2, 1),
            DUP2_X2 => (2, 2),
            _ => {
                let (a, b) = (self.take(1)?, self.take(1)?);
                return self.put(a).and_then(|()| self.put(b));
            }
        };
        let moved = self.take(top)?;
        let between = if below == 0 {
            [None, None]
        } else {
            self.take(below)?
        };
        self.put(moved)?;
        self.put(between)?;
        self.put(moved)
    }

    /// Pops values of this many slots, the upper one last.
    fn take(&mut self, slots: u32) -> Result<[Option<Type<'t>>; 2], Fault<'t>> {
        let expected = Expected::Slots(slots);
        let upper = self.pop(expected)?;
        let fault = |found| Fault {
            expected,
            found: Some(found),
        };
        match (upper.slots(), slots) {
            (1, 1) | (2, 2) => Ok([None, Some(upper)]),
            (1, 2) => {
                let lower = self.pop(expected)?;
                if lower.slots() == 1 {
                    Ok([Some(lower), Some(upper)])
                } else {
                    Err(fault(lower))
                }
            }
            _ => Err(fault(upper)),
        }
    }

    fn put(&mut self, values: [Option<Type<'t>>; 2]) -> Step<'t> {
        values
            .into_iter()
            .flatten()
            .try_for_each(|value| self.push(value))
    }

    /// Pushes the local variable at `slot`, of the type of this instruction (`iload` … `aload`).
    pub(crate) fn load(&mut self, opcode: u8, slot: usize) -> Step<'t> {
        let found = self.locals.get(slot).copied();
        let value = found.unwrap_or(Type::Top);
        let expected = match local_type(opcode - ILOAD) {
            None if value.is_reference() => return self.push(value),
            None => Expected::Reference,
            Some(wanted) if wanted == value => return self.push(value),
            Some(wanted) => Expected::Type(wanted),
        };
        Err(Fault {
            expected,
            found: Some(value),
        })
    }

    /// Pops a value into `slot`, by `istore` … `astore`.
    pub(crate) fn store(&mut self, opcode: u8, slot: usize, known: &Hierarchy<'_>) -> Step<'t> {
        let value = match local_type(opcode - ISTORE) {
            Some(wanted) => {
                self.pop_as(wanted, known)?;
                wanted
            }
            None => {
                let expected = Expected::Reference;
                let found = self.pop(expected)?;
                if !found.is_reference() {
                    return Err(Fault {
                        expected,
                        found: Some(found),
                    });
                }
                found
            }
        };
        self.set_local(slot, value);
        Ok(())
    }

    /// Writes a local variable; invalidates a `long` or `double` that it overlaps.
    pub(crate) fn set_local(&mut self, slot: usize, value: Type<'t>) {
        let end = slot + value.slots() as usize;
        if self.locals.len() < end {
            self.locals.resize(end, Type::Top);
        }
        if let Some(before) = slot.checked_sub(1).and_then(|at| self.locals.get_mut(at))
            && before.slots() == 2
        {
            *before = Type::Top;
        }
        for (at, local) in self.locals.iter_mut().enumerate().take(end).skip(slot) {
            *local = if at == slot { value } else { Type::Top };
        }
    }

    /// Pops the arguments of a call, receiver last.
    pub(crate) fn arguments(&mut self, descriptor: &'t [u8], known: &Hierarchy<'_>) -> Step<'t> {
        let count = Parameters::of(descriptor).count();
        let start = self.stack.len().saturating_sub(count);
        let missing = count.saturating_sub(self.stack.len());
        let parameters = Parameters::of(descriptor).map(Type::of).skip(missing);
        for (at, wanted) in (start..).zip(parameters) {
            let found = self.stack.get(at).copied();
            let trusted = self.trusted && wanted.is_reference();
            let fits =
                |found: Type<'_>| trusted && found.is_reference() || known.fits(found, wanted);
            if missing > 0 || !found.is_some_and(fits) {
                let found = found.filter(|_| missing == 0);
                let expected = Expected::Type(wanted);
                return Err(Fault { expected, found });
            }
            self.depth -= wanted.slots();
        }
        if missing > 0 {
            let expected = Expected::Reference;
            return Err(Fault {
                expected,
                found: None,
            });
        }
        self.stack.truncate(start);
        Ok(())
    }

    /// Pushes the return value of a call.
    pub(crate) fn returned(&mut self, descriptor: &'t [u8]) -> Step<'t> {
        match return_type(descriptor) {
            Some(value) => self.push(Type::of(value)),
            None => Ok(()),
        }
    }

    /// Pops the object of a call of `<init>` of `owner`, and initializes all its copies.
    pub(crate) fn initialize(
        &mut self,
        owner: Class<'t>,
        this: Class<'t>,
        class_of_new: impl FnOnce(Origin) -> Option<Class<'t>>,
    ) -> Step<'t> {
        let expected = Expected::New;
        let object = self.pop(expected)?;
        let fault = Fault {
            expected,
            found: Some(object),
        };
        let made = match object {
            Type::UninitializedThis => this,
            Type::Uninitialized(origin) => class_of_new(origin).ok_or(fault)?,
            _ => return Err(fault),
        };
        if !self.trusted && object != Type::UninitializedThis && made != owner {
            let expected = Expected::Type(Type::Object(made));
            return Err(Fault {
                expected,
                found: Some(Type::Object(owner)),
            });
        }
        let all = self.locals.iter_mut().chain(self.stack.iter_mut());
        all.filter(|found| **found == object)
            .for_each(|found| *found = Type::Object(made));
        Ok(())
    }

    /// Applies a field access, object and value included.
    pub(crate) fn field(
        &mut self,
        opcode: u8,
        owner: Class<'t>,
        kind: FieldType<'t>,
        known: &Hierarchy<'_>,
    ) -> Step<'t> {
        let value = Type::of(kind);
        if matches!(opcode, PUTSTATIC | PUTFIELD) {
            self.pop_as(value, known)?;
        }
        if matches!(opcode, GETFIELD | PUTFIELD) {
            self.pop_as(Type::Object(owner), known)?;
        }
        if matches!(opcode, GETSTATIC | GETFIELD) {
            self.push(value)?;
        }
        Ok(())
    }

    /// Applies `checkcast`, `instanceof`, `anewarray` (not `new`).
    pub(crate) fn with_type(
        &mut self,
        opcode: u8,
        class: Class<'t>,
        known: &Hierarchy<'_>,
    ) -> Step<'t> {
        match opcode {
            opcode::ANEWARRAY => {
                self.pop_as(Type::Int, known)?;
                let fault = Fault {
                    expected: Expected::Array,
                    found: Some(Type::Object(class)),
                };
                self.push(Type::Object(class.array().ok_or(fault)?))
            }
            opcode::INSTANCEOF => {
                self.pop_reference()?;
                self.push(Type::Int)
            }
            _ => {
                self.pop_reference()?;
                self.push(Type::Object(class))
            }
        }
    }

    /// Applies `newarray`.
    pub(crate) fn new_array(&mut self, kind: u8, known: &Hierarchy<'_>) -> Step<'t> {
        self.pop_as(Type::Int, known)?;
        self.push(Type::Object(Class::of_primitives(i32::from(kind))))
    }
}

fn letter_type(letter: u8) -> Type<'static> {
    match letter {
        b'J' => Type::Long,
        b'F' => Type::Float,
        b'D' => Type::Double,
        _ => Type::Int,
    }
}

/// Returns the type of the `n`th of `iload` … `aload`; `None` for references.
fn local_type(family: u8) -> Option<Type<'static>> {
    Some(match family {
        0 => Type::Int,
        1 => Type::Long,
        2 => Type::Float,
        3 => Type::Double,
        _ => return None,
    })
}

/// Returns the type of the `n`th of `iaload` … `saload`, and the letters of its arrays; `None` for references.
fn array_kind(kind: u8) -> Option<(Type<'static>, &'static [u8])> {
    Some(match kind {
        0 => (Type::Int, b"I"),
        1 => (Type::Long, b"J"),
        2 => (Type::Float, b"F"),
        3 => (Type::Double, b"D"),
        4 => return None,
        5 => (Type::Int, b"BZ"),
        6 => (Type::Int, b"C"),
        _ => (Type::Int, b"S"),
    })
}
