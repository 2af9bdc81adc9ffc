//! Abstract machine for the check of added frames: local variables and operand stack (JVMS 4.10.1.9).
//!
//! It is separate from the machine that types snippets, on purpose. This one keeps both by slot, with `Top` after a
//! `long` or `double`, and derives the effect of an instruction from its opcode.

use crate::class::{Instruction, Instructions};
use crate::plan::SkipReason;
use crate::pool::{ConstantPool, LoadableConstant};
use crate::typing::{Class, FrameReader, Origin, Type, UnsetFields};
use jvms::descriptor::{FieldType, Parameters, return_type};
use jvms::opcode::general_form;
use jvms::opcode::*;

/// The code to follow, and the context of its operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'s, 't> {
    pub(crate) pool: &'s ConstantPool<'t>,
    pub(crate) code: &'t [u8],
    pub(crate) this: Class<'t>,
    /// Names the origin of an object created by the `new` at an offset.
    pub(crate) origin: fn(u32) -> Origin,
}

/// Types by slot; unset local variables are `Top`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Machine<'t> {
    pub(crate) locals: Vec<Type<'t>>,
    pub(crate) stack: Vec<Type<'t>>,
    /// The strict fields without a value, while `this` is uninitialized.
    pub(crate) unset_fields: UnsetFields<'t>,
}

/// Returns `int`, `long`, `float` or `double`, in the order of instruction families.
fn kind(family: u8) -> Type<'static> {
    match family {
        0 => Type::Int,
        1 => Type::Long,
        2 => Type::Float,
        _ => Type::Double,
    }
}

/// Appends a value.
pub(crate) fn put<'t>(slots: &mut Vec<Type<'t>>, value: Type<'t>) {
    slots.push(value);
    if value.slots() == 2 {
        slots.push(Type::Top);
    }
}

impl<'t> Machine<'t> {
    /// Applies the next frame and takes its types; returns its bci, or `None` after the last one.
    pub(crate) fn follow(
        &mut self,
        frames: &mut FrameReader<'_, 't>,
    ) -> Result<Option<u32>, SkipReason> {
        let bci = frames.next()?;
        frames.write(&mut self.locals, &mut self.stack);
        self.unset_fields.clone_from(&frames.unset_fields);
        Ok(bci)
    }

    fn push(&mut self, value: Type<'t>) -> Option<()> {
        put(&mut self.stack, value);
        Some(())
    }

    /// Pops a value of any type.
    pub(crate) fn pop(&mut self) -> Option<Type<'t>> {
        match self.stack.pop()? {
            Type::Top => self.stack.pop(),
            value => Some(value),
        }
    }

    fn pop_as(&mut self, wanted: Type<'_>) -> Option<()> {
        (self.pop()? == wanted).then_some(())
    }

    fn pop_reference(&mut self) -> Option<Type<'t>> {
        self.pop().filter(Type::is_reference)
    }

    pub(crate) fn local(&self, slot: usize) -> Type<'t> {
        self.locals.get(slot).copied().unwrap_or(Type::Top)
    }

    /// Writes a local variable; invalidates a `long` or `double` that it overlaps.
    pub(crate) fn set(&mut self, slot: usize, value: Type<'t>) {
        let end = slot + value.slots() as usize;
        if self.locals.len() < end {
            self.locals.resize(end, Type::Top);
        }
        let cut = slot.checked_sub(1).and_then(|at| self.locals.get_mut(at));
        if let Some(cut) = cut.filter(|cut| cut.slots() == 2) {
            *cut = Type::Top;
        }
        let written = self.locals.get_mut(slot..end).unwrap_or_default();
        written.fill(Type::Top);
        if let Some(first) = written.first_mut() {
            *first = value;
        }
    }

    /// Applies an instruction; `None` if its types do not fit, and for `jsr` and `ret`.
    pub(crate) fn step(&mut self, source: &Source<'_, 't>, found: &Instruction<'t>) -> Option<()> {
        let code = found.opcode;
        match code {
            NOP | IINC | GOTO | GOTO_W | RETURN => Some(()),
            ACONST_NULL => self.push(Type::Null),
            ICONST_M1..=ICONST_5 | BIPUSH | SIPUSH => self.push(Type::Int),
            LCONST_0..=DCONST_1 => self.push(match code {
                LCONST_0 | LCONST_1 => Type::Long,
                DCONST_0 | DCONST_1 => Type::Double,
                _ => Type::Float,
            }),
            LDC | LDC_W | LDC2_W => self.push(constant(source, found)?),
            ILOAD..=ALOAD_3 => {
                let value = self.local(usize::from(found.local()?));
                match general_form(code) - ILOAD {
                    4 => value.is_reference().then_some(())?,
                    family => (value == kind(family)).then_some(())?,
                }
                self.push(value)
            }
            ISTORE..=ASTORE_3 => {
                let value = match general_form(code) - ISTORE {
                    4 => self.pop_reference()?,
                    family => self.pop_as(kind(family)).map(|()| kind(family))?,
                };
                self.set(usize::from(found.local()?), value);
                Some(())
            }
            IALOAD..=SALOAD => {
                self.pop_as(Type::Int)?;
                let array = self.pop_reference()?;
                let value = match (code - IALOAD, array) {
                    (4, Type::Object(class)) => class.element()?,
                    (4, null) => null,
                    (family @ 0..=3, _) => kind(family),
                    _ => Type::Int,
                };
                self.push(value)
            }
            IASTORE..=SASTORE => {
                match code - IASTORE {
                    4 => drop(self.pop_reference()?),
                    family @ 0..=3 => self.pop_as(kind(family))?,
                    _ => self.pop_as(Type::Int)?,
                }
                self.pop_as(Type::Int)?;
                self.pop_reference().map(drop)
            }
            POP..=SWAP => self.shuffle(code),
            IADD..=LXOR | IF_ICMPEQ..=IF_ICMPLE | LCMP..=DCMPG | I2L..=I2S => self.calculate(code),
            IFEQ..=IFLE | TABLESWITCH | LOOKUPSWITCH => self.pop_as(Type::Int),
            IF_ACMPEQ | IF_ACMPNE => {
                self.pop_reference()?;
                self.pop_reference().map(drop)
            }
            IRETURN..=DRETURN => self.pop_as(kind(code - IRETURN)),
            ARETURN | ATHROW | MONITORENTER | MONITOREXIT | IFNULL | IFNONNULL => {
                self.pop_reference().map(drop)
            }
            GETSTATIC..=PUTFIELD => self.field(source, found),
            INVOKEVIRTUAL..=INVOKEDYNAMIC => self.call(source, found),
            _ => self.object(source, found),
        }
    }

    /// Applies `iadd` … `lxor`, conversions and comparisons; the opcode determines the types.
    fn calculate(&mut self, code: u8) -> Option<()> {
        let (left, right, result) = match code {
            INEG..=DNEG => (None, kind(code - INEG), kind(code - INEG)),
            ISHL..=LUSHR => (Some(kind(code & 1)), Type::Int, kind(code & 1)),
            IAND..=LXOR => (Some(kind(code & 1)), kind(code & 1), kind(code & 1)),
            IADD..=DREM => (Some(kind(code & 3)), kind(code & 3), kind(code & 3)),
            I2B..=I2S => (None, Type::Int, Type::Int),
            I2L..=D2F => {
                let (from, to) = ((code - I2L) / 3, (code - I2L) % 3);
                let to = to + u8::from(to >= from);
                (None, kind(from), kind(to))
            }
            LCMP => (Some(Type::Long), Type::Long, Type::Int),
            FCMPL | FCMPG => (Some(Type::Float), Type::Float, Type::Int),
            DCMPL | DCMPG => (Some(Type::Double), Type::Double, Type::Int),
            _ => {
                self.pop_as(Type::Int)?;
                return self.pop_as(Type::Int);
            }
        };
        self.pop_as(right)?;
        if let Some(left) = left {
            self.pop_as(left)?;
        }
        self.push(result)
    }

    /// Applies `pop` … `swap`, slot by slot.
    fn shuffle(&mut self, code: u8) -> Option<()> {
        let (copied, over) = match code {
            POP | POP2 => {
                let left = self.stack.len().checked_sub(usize::from(code - POP) + 1);
                self.stack.truncate(left?);
                return Some(());
            }
            SWAP => {
                let top = self.stack.len().checked_sub(2)?;
                self.stack.get_mut(top..)?.reverse();
                return Some(());
            }
            DUP..=DUP_X2 => (1_usize, code - DUP),
            _ => (2, code - DUP2),
        };
        let from = self.stack.len().checked_sub(copied)?;
        let to = from.checked_sub(usize::from(over))?;
        let copy = self.stack.get(from..)?.to_vec();
        self.stack.splice(to..to, copy);
        Some(())
    }

    fn field(&mut self, source: &Source<'_, 't>, found: &Instruction<'t>) -> Option<()> {
        let member = source.pool.member_ref(found.pool_index()?)?;
        let value = Type::of(FieldType::parse(member.descriptor.as_bytes()).ok()?);
        if matches!(found.opcode, PUTSTATIC | PUTFIELD) {
            self.pop_like(value)?;
        }
        if matches!(found.opcode, GETFIELD | PUTFIELD) {
            let object = self.pop_reference()?;
            if (found.opcode, object) == (PUTFIELD, Type::UninitializedThis) {
                let (name, descriptor) = (member.name.as_bytes(), member.descriptor.as_bytes());
                self.unset_fields.assign(name, descriptor);
            }
        }
        match found.opcode {
            GETSTATIC | GETFIELD => self.push(value),
            _ => Some(()),
        }
    }

    /// Pops a value of this type, or any reference if this is one.
    fn pop_like(&mut self, wanted: Type<'_>) -> Option<()> {
        match wanted.is_reference() {
            true => self.pop_reference().map(drop),
            false => self.pop_as(wanted),
        }
    }

    fn call(&mut self, source: &Source<'_, 't>, found: &Instruction<'t>) -> Option<()> {
        let index = found.pool_index()?;
        let member = source.pool.member_ref(index);
        let descriptor = match found.opcode {
            INVOKEDYNAMIC => source.pool.dynamic(index)?.descriptor,
            _ => member?.descriptor,
        };
        let descriptor = descriptor.as_bytes();
        let parameters: Vec<Type<'t>> = Parameters::of(descriptor).map(Type::of).collect();
        for wanted in parameters.iter().rev() {
            self.pop_like(*wanted)?;
        }
        match found.opcode {
            INVOKESTATIC | INVOKEDYNAMIC => {}
            _ if member?.name == "<init>" => self.initialize(source)?,
            _ => drop(self.pop_reference()?),
        }
        match return_type(descriptor) {
            Some(result) => self.push(Type::of(result)),
            None => Some(()),
        }
    }

    /// Initializes the object on top of the stack and all its copies.
    fn initialize(&mut self, source: &Source<'_, 't>) -> Option<()> {
        let object = self.pop()?;
        let made = Self::created(source, object)?;
        self.replace(object, Type::Object(made));
        Some(())
    }

    /// Returns the class of an uninitialized object.
    pub(crate) fn created(source: &Source<'_, 't>, object: Type<'t>) -> Option<Class<'t>> {
        match object {
            Type::UninitializedThis => Some(source.this),
            Type::Uninitialized(Origin::Method(at) | Origin::Position(at)) => {
                let made = Instructions::from(source.code, at as usize, 0).next()?;
                named(source, &made.ok()?)
            }
            _ => None,
        }
    }

    fn replace(&mut self, old: Type<'t>, new: Type<'t>) {
        let all = self.locals.iter_mut().chain(self.stack.iter_mut());
        all.filter(|found| **found == old)
            .for_each(|found| *found = new);
    }

    /// Applies instructions that create, cast and measure objects.
    fn object(&mut self, source: &Source<'_, 't>, found: &Instruction<'t>) -> Option<()> {
        let made = match found.opcode {
            NEW => {
                let made = Type::Uninitialized((source.origin)(u32::from(found.bci.0)));
                self.replace(made, Type::Top);
                made
            }
            NEWARRAY => {
                self.pop_as(Type::Int)?;
                Type::Object(Class::of_primitives(found.immediate()?))
            }
            ANEWARRAY => {
                self.pop_as(Type::Int)?;
                Type::Object(named(source, found)?.array()?)
            }
            MULTIANEWARRAY => {
                for _ in 0..found.immediate()? {
                    self.pop_as(Type::Int)?;
                }
                Type::Object(named(source, found)?)
            }
            CHECKCAST => {
                self.pop_reference()?;
                Type::Object(named(source, found)?)
            }
            ARRAYLENGTH | INSTANCEOF => {
                self.pop_reference()?;
                Type::Int
            }
            _ => return None,
        };
        self.push(made)
    }

    /// Returns the operands of an instruction, bottom first, with the types in its descriptor. `None` if code cannot
    /// surround it.
    pub(crate) fn operands(
        &self,
        source: &Source<'_, 't>,
        found: &Instruction<'t>,
    ) -> Option<Vec<Type<'t>>> {
        let member = || source.pool.member_ref(found.pool_index()?);
        let owner = || member().map(|member| Type::Object(Class::named(member.owner.as_bytes())));
        let value = || {
            let descriptor = member()?.descriptor.as_bytes();
            FieldType::parse(descriptor).ok().map(Type::of)
        };
        let parameters = |descriptor| Parameters::of(descriptor).map(Type::of);
        let mut operands = match found.opcode {
            GETSTATIC => Vec::new(),
            PUTSTATIC => vec![value()?],
            GETFIELD => vec![owner()?],
            PUTFIELD => vec![owner()?, value()?],
            INVOKEDYNAMIC => {
                let site = source.pool.dynamic(found.pool_index()?)?;
                parameters(site.descriptor.as_bytes()).collect()
            }
            INVOKEVIRTUAL..=INVOKEINTERFACE => {
                let receiver = match found.opcode {
                    INVOKESTATIC => None,
                    INVOKESPECIAL => Some(Type::Object(source.this)),
                    _ => Some(owner()?),
                };
                let arguments = parameters(member()?.descriptor.as_bytes());
                receiver.into_iter().chain(arguments).collect()
            }
            MONITORENTER | MONITOREXIT => vec![Type::Object(Class::OBJECT)],
            NEWARRAY | ANEWARRAY => vec![Type::Int],
            MULTIANEWARRAY => vec![Type::Int; usize::try_from(found.immediate()?).ok()?],
            _ => return None,
        };
        // A receiver of the current class keeps its type (JVMS 4.10.1.8).
        let slots = operands.iter().map(|value| value.slots() as usize).sum();
        let first = self.stack.len().checked_sub(slots)?;
        let own = Type::Object(source.this);
        if let Some(receiver) = operands.first_mut()
            && receiver.is_reference()
            && self.stack.get(first) == Some(&own)
        {
            *receiver = own;
        }
        Some(operands)
    }

    /// Checks for equal local variables and stack.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let slots = self.locals.len().max(other.locals.len());
        let is_early = self.locals.contains(&Type::UninitializedThis);
        self.stack == other.stack
            && self.same_locals(other, slots)
            && (!is_early || self.unset_fields == other.unset_fields)
    }

    /// Checks for equality of the first `slots` local variables.
    pub(crate) fn same_locals(&self, other: &Self, slots: usize) -> bool {
        (0..slots).all(|slot| self.local(slot) == other.local(slot))
    }

    /// Joins the types of two paths; `None` if the stacks cannot be joined. Two different classes become `Object`,
    /// because no class hierarchy is known.
    pub(crate) fn join(&mut self, other: &Self) -> Option<()> {
        self.locals.truncate(other.locals.len());
        for (local, there) in self.locals.iter_mut().zip(&other.locals) {
            *local = both(*local, *there).unwrap_or(Type::Top);
        }
        (self.stack.len() == other.stack.len()).then_some(())?;
        for (value, there) in self.stack.iter_mut().zip(&other.stack) {
            *value = both(*value, *there)?;
        }
        Some(())
    }
}

fn both<'t>(one: Type<'t>, other: Type<'t>) -> Option<Type<'t>> {
    match (one, other) {
        _ if one == other => Some(one),
        (Type::Null, object @ Type::Object(_)) | (object @ Type::Object(_), Type::Null) => {
            Some(object)
        }
        (Type::Object(_), Type::Object(_)) => Some(Type::Object(Class::OBJECT)),
        _ => None,
    }
}

fn named<'t>(source: &Source<'_, 't>, found: &Instruction<'_>) -> Option<Class<'t>> {
    let name = source.pool.class_name(found.pool_index()?)?;
    Some(Class::named(name.as_bytes()))
}

fn constant<'t>(source: &Source<'_, 't>, found: &Instruction<'_>) -> Option<Type<'t>> {
    Some(match source.pool.constant(found.pool_index()?)? {
        LoadableConstant::Integer(_) => Type::Int,
        LoadableConstant::Long(_) => Type::Long,
        LoadableConstant::Float(_) => Type::Float,
        LoadableConstant::Double(_) => Type::Double,
        LoadableConstant::String(_) => Type::object(b"java/lang/String"),
        LoadableConstant::Class(_) => Type::object(b"java/lang/Class"),
        LoadableConstant::MethodType(_) => Type::object(b"java/lang/invoke/MethodType"),
        LoadableConstant::MethodHandle(_) => Type::object(b"java/lang/invoke/MethodHandle"),
        LoadableConstant::Dynamic(site) => {
            Type::of(FieldType::parse(site.descriptor.as_bytes()).ok()?)
        }
    })
}

/// Returns the local variable that an instruction writes, and its number of slots.
pub(crate) fn written(found: &Instruction<'_>) -> Option<(usize, usize)> {
    let family = match found.opcode {
        IINC => 0,
        code @ ISTORE..=ASTORE_3 => general_form(code) - ISTORE,
        _ => return None,
    };
    let slots = usize::from(family & 1) + 1;
    Some((usize::from(found.local()?), slots))
}
