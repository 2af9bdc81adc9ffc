//! Checks the types of operands that the check of added frames takes for granted (JVMS 4.10.1.9).

use crate::class::{ClassFile, Instruction, Method};
use crate::limits::STATIC_INTERFACE_METHODS_SINCE;
use crate::self_check::{Machine, Source};
use crate::typing::{Class, Hierarchy, Type};
use jvms::constant_tag::INTERFACE_METHOD_REF;
use jvms::descriptor::{BaseType, FieldType, return_type};
use jvms::names::INIT;
use jvms::opcode::*;

/// A class whose code is checked, and the method.
pub(super) struct Operands<'w, 't> {
    class: &'w ClassFile<'t>,
    known: Hierarchy<'t>,
    /// The return type.
    result: Option<Type<'t>>,
}

impl<'w, 't> Operands<'w, 't> {
    pub(super) fn of(class: &'w ClassFile<'t>, method: &Method<'_, 't>) -> Self {
        Operands {
            class,
            known: Hierarchy::of(class),
            result: return_type(method.descriptor().as_bytes()).map(Type::of),
        }
    }

    /// Checks the operands of an instruction before its effect; `None` if a type does not suit.
    pub(super) fn check(
        &self,
        source: &Source<'_, 't>,
        found: &Instruction<'t>,
        machine: &Machine<'t>,
    ) -> Option<()> {
        let mut stack = machine.clone();
        let suits = match found.opcode {
            IINC => machine.local(usize::from(found.local()?)) == Type::Int,
            RETURN => self.result.is_none(),
            IRETURN..=ARETURN => self.is_a(stack.pop()?, self.result?),
            ATHROW => self.is_a(stack.pop()?, Type::Object(Class::THROWABLE)),
            ARRAYLENGTH => is_array(stack.pop()?, |_| true),
            CHECKCAST | INSTANCEOF => !stack.pop()?.is_uninitialized(),
            IALOAD..=SALOAD => {
                stack.pop()?;
                holds(stack.pop()?, found.opcode - IALOAD)
            }
            IASTORE..=SASTORE => {
                let value = stack.pop()?;
                stack.pop()?;
                !value.is_uninitialized() && holds(stack.pop()?, found.opcode - IASTORE)
            }
            GETSTATIC..=INVOKEDYNAMIC => return self.member(source, found, machine),
            _ => true,
        };
        suits.then_some(())
    }

    /// Checks the values of a field access or call.
    fn member(
        &self,
        source: &Source<'_, 't>,
        found: &Instruction<'t>,
        machine: &Machine<'t>,
    ) -> Option<()> {
        let mut wanted = machine.operands(source, found)?;
        let mut stack = machine.clone();
        let constructs = self.constructs(source, found);
        let receiver = (constructs || found.opcode == PUTFIELD).then(|| wanted.remove(0));
        for wanted in wanted.iter().rev() {
            self.is_a(stack.pop()?, *wanted).then_some(())?;
        }
        match receiver {
            Some(_) if constructs => self.creates(source, found, stack.pop()?),
            Some(wanted) => {
                let object = stack.pop()?;
                self.is_a(object, wanted) || self.sets_own_field(source, found, object)
            }
            None => found.opcode != INVOKESPECIAL || self.may_call_specially(source, found),
        }
        .then_some(())
    }

    fn constructs(&self, source: &Source<'_, 't>, found: &Instruction<'t>) -> bool {
        let member = found
            .pool_index()
            .and_then(|index| source.pool.member_ref(index));
        found.opcode == INVOKESPECIAL && member.is_some_and(|member| member.name == INIT)
    }

    /// Checks that a constructor belongs to the class of its object, or to the superclass of `this`.
    fn creates(&self, source: &Source<'_, 't>, found: &Instruction<'t>, object: Type<'t>) -> bool {
        let index = found.pool_index();
        let Some(member) = index.and_then(|index| source.pool.member_ref(index)) else {
            return false;
        };
        let owner = Class::named(member.owner.as_bytes());
        match object {
            Type::UninitializedThis => {
                owner == source.this || self.known.is_superclass(member.owner.as_bytes())
            }
            _ => Machine::created(source, object) == Some(owner),
        }
    }

    /// Checks for a field of the class itself, which a constructor may set before it calls another one.
    fn sets_own_field(
        &self,
        source: &Source<'_, 't>,
        found: &Instruction<'t>,
        object: Type<'t>,
    ) -> bool {
        let index = found.pool_index();
        let Some(member) = index.and_then(|index| source.pool.member_ref(index)) else {
            return false;
        };
        let mut fields = self.class.fields();
        object == Type::UninitializedThis
            && member.owner == self.class.this_class()
            && fields.any(|it| it.name() == member.name && it.descriptor() == member.descriptor)
    }

    /// Checks the class that `invokespecial` names: the class itself, a superclass or a direct superinterface (JVMS
    /// 4.9.2).
    fn may_call_specially(&self, source: &Source<'_, 't>, found: &Instruction<'t>) -> bool {
        let index = found.pool_index();
        let Some((index, member)) =
            index.and_then(|index| Some((index, source.pool.member_ref(index)?)))
        else {
            return false;
        };
        let owner = member.owner.as_bytes();
        if owner == self.class.this_class().as_bytes() || self.known.is_parent(owner) {
            return true;
        }
        let of_interface = source.pool.tag(index) == Some(INTERFACE_METHOD_REF)
            && self.class.major_version() >= STATIC_INTERFACE_METHODS_SINCE;
        !of_interface && !self.known.is_superclass(Class::OBJECT.name)
    }

    /// Checks whether a value is assignable. Subclass relations between other classes are trusted, unless they are known.
    pub(super) fn is_a(&self, found: Type<'_>, wanted: Type<'_>) -> bool {
        match (found, wanted) {
            (Type::Null, Type::Object(_)) => true,
            (Type::Object(found), Type::Object(wanted)) => self.known.may_fit(found, wanted),
            (found, wanted) => found == wanted,
        }
    }
}

/// Checks for an array whose elements suit the instruction `family` of `iaload`, or null.
fn holds(array: Type<'_>, family: u8) -> bool {
    is_array(array, |element| match (family, element) {
        (0, FieldType::Base(base)) => base == BaseType::Int,
        (1, FieldType::Base(base)) => base == BaseType::Long,
        (2, FieldType::Base(base)) => base == BaseType::Float,
        (3, FieldType::Base(base)) => base == BaseType::Double,
        (4, element) => !matches!(element, FieldType::Base(_)),
        (5, FieldType::Base(base)) => matches!(base, BaseType::Byte | BaseType::Boolean),
        (6, FieldType::Base(base)) => base == BaseType::Char,
        (7, FieldType::Base(base)) => base == BaseType::Short,
        _ => false,
    })
}

/// Checks for null, or for an array whose element type `suits`.
fn is_array(found: Type<'_>, suits: impl Fn(FieldType<'_>) -> bool) -> bool {
    let Type::Object(class) = found else {
        return found == Type::Null;
    };
    let mut name = Vec::new();
    class.write(&mut name);
    let element = name.strip_prefix(b"[").map(FieldType::parse);
    element.is_some_and(|element| element.is_ok_and(suits))
}
