//! Code around an instruction. The operands move into local variables of the inserted code; the code reads them, and
//! the instruction gets them back.

use crate::class::{ClassFile, Instruction};
use crate::edits::ChangeError;
use crate::index::{Bci, MethodIndex, PoolIndex};
use crate::plan::{Location, PlanError};
use crate::replace::resolve::{ChangedMethod, Replacement};
use crate::snippet::{Operation, Snippet, SnippetError};
use crate::typing::{Class, Hierarchy, ProgramPoint, StackEffect, Type, Typed, type_snippet};
use jvms::descriptor::{BaseType, FieldType};
use jvms::opcode;

/// Operands and result of an instruction: primitive types, and `None` for references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operands {
    /// The operands; a receiver or array comes first.
    pub inputs: Vec<Option<BaseType>>,
    /// The result, if the instruction has one.
    pub result: Option<Option<BaseType>>,
}

impl Operands {
    /// Returns operands and result of the instruction at `bci`, which code can surround.
    ///
    /// # Errors
    /// The instruction does not exist, or no code can surround it.
    pub fn at(class: &ClassFile<'_>, method: MethodIndex, bci: Bci) -> Result<Self, PlanError> {
        let missing = PlanError::NoCode { method };
        let found = class.method(method).ok_or(missing)?;
        let code = found.code().ok().flatten();
        let code = code.ok_or(PlanError::NoCode { method })?;
        let known = Hierarchy::of(class);
        let changed = ChangedMethod::new(class, &found, &code, &known);
        let operands = changed.operands(bci);
        operands.map_err(|error| PlanError::Change { method, bci, error })
    }
}

/// The instructions that code may surround.
const EXPECTED: &str = "a call other than a constructor's, a field access, monitorenter, monitorexit or the creation of an array";

impl<'t> ChangedMethod<'t, '_> {
    /// Replaces the instruction at `bci` by `snippet` around it, or around its replacement `inner`.
    pub(super) fn around(
        &self,
        instruction: &Instruction<'t>,
        snippet: &Snippet,
        inner: Option<&Replacement>,
    ) -> Result<Replacement, ChangeError> {
        let stack_effect = self.stack_effect(instruction)?;
        self.receiver_is_ready(instruction)?;
        proceeds_once(snippet).map_err(ChangeError::Code)?;
        let typed = self.typed(instruction, snippet, &stack_effect)?;
        let operands = stack_effect.operands.iter().map(Type::slots).sum::<u32>();
        let copies = copies_first(snippet, inner, &stack_effect);
        let deepest = typed.deepest + u32::from(copies);
        let deeper = inner.map_or(0, |inner| inner.stack);
        Ok(Replacement {
            bci: u32::from(instruction.bci.0),
            length: instruction.length(),
            code: self.code_around(instruction, (snippet, inner), &stack_effect, copies),
            stack: deepest.saturating_sub(operands) + deeper,
        })
    }

    /// Returns the stack effect of the instruction at `bci`.
    pub(crate) fn stack_effect_at(&self, bci: Bci) -> Result<StackEffect<'t>, ChangeError> {
        self.stack_effect(&self.at(bci)?)
    }

    fn operands(&self, bci: Bci) -> Result<Operands, ChangeError> {
        let instruction = self.at(bci)?;
        let stack_effect = self.stack_effect(&instruction)?;
        if matches!(
            instruction.opcode,
            opcode::GETSTATIC..=opcode::INVOKEDYNAMIC
        ) {
            let effect = self.effect(&instruction)?;
            let base = |kind: FieldType<'_>| match kind {
                FieldType::Base(base) => Some(base),
                _ => None,
            };
            return Ok(Operands {
                inputs: effect.operands.into_iter().map(base).collect(),
                result: effect.result.map(base),
            });
        }
        let base = |kind: &Type<'_>| (*kind == Type::Int).then_some(BaseType::Int);
        Ok(Operands {
            inputs: stack_effect.operands.iter().map(base).collect(),
            result: stack_effect.result.as_ref().map(base),
        })
    }

    fn stack_effect(&self, instruction: &Instruction<'t>) -> Result<StackEffect<'t>, ChangeError> {
        let code = instruction.opcode;
        if matches!(code, opcode::GETSTATIC..=opcode::INVOKEDYNAMIC) {
            return self.member_stack_effect(instruction);
        }
        let ints = |count: usize| vec![Type::Int; count];
        let (operands, result) = match code {
            opcode::MONITORENTER | opcode::MONITOREXIT => (vec![Type::Object(Class::OBJECT)], None),
            opcode::NEWARRAY => (ints(1), instruction.immediate().map(Class::of_primitives)),
            opcode::ANEWARRAY => (ints(1), self.named_class(instruction)?.array()),
            opcode::MULTIANEWARRAY => {
                let dimensions = instruction.immediate().unwrap_or(0);
                let dimensions = usize::try_from(dimensions).unwrap_or(0);
                (ints(dimensions), Some(self.named_class(instruction)?))
            }
            _ => {
                return Err(ChangeError::OtherInstruction {
                    expected: EXPECTED,
                    found: instruction.mnemonic(),
                });
            }
        };
        Ok(StackEffect {
            operands,
            result: result.map(Type::Object),
            has_receiver: false,
        })
    }

    fn member_stack_effect(
        &self,
        instruction: &Instruction<'t>,
    ) -> Result<StackEffect<'t>, ChangeError> {
        if instruction.opcode == opcode::INVOKESPECIAL && self.member(instruction)?.name == "<init>"
        {
            let reason = "the object of a constructor call is uninitialized, so it is no operand: wrap the call";
            return Err(ChangeError::NotHere(reason));
        }
        let effect = self.effect(instruction)?;
        let mut operands: Vec<Type<'t>> = effect.operands.iter().copied().map(Type::of).collect();
        if instruction.opcode == opcode::INVOKESPECIAL
            && let Some(receiver) = operands.first_mut()
        {
            // The verifier requires the current class (JVMS 4.10.1.9.invokespecial).
            *receiver = Type::Object(Class::plain(self.known.this));
        }
        let is_static = matches!(
            instruction.opcode,
            opcode::GETSTATIC | opcode::PUTSTATIC | opcode::INVOKESTATIC | opcode::INVOKEDYNAMIC
        );
        Ok(StackEffect {
            operands,
            result: effect.result.map(Type::of),
            has_receiver: !is_static,
        })
    }

    fn named_class(&self, instruction: &Instruction<'_>) -> Result<Class<'t>, ChangeError> {
        let index = instruction.pool_index().unwrap_or(PoolIndex(0));
        let name = self.class.pool().class_name(index);
        let name = name.ok_or(ChangeError::NotHere("it names no class"))?;
        Ok(Class::named(name.as_bytes()))
    }

    /// Follows the types of `snippet` around the instruction.
    fn typed<'s>(
        &self,
        instruction: &Instruction<'t>,
        snippet: &'s Snippet,
        stack_effect: &StackEffect<'s>,
    ) -> Result<Typed<'s>, ChangeError>
    where
        't: 's,
    {
        let location = Location::At(instruction.bci);
        let parameters = snippet.uses_parameters();
        let context = self
            .cache
            .context(self.class, self.method, self.code, parameters)?;
        let needs_this = snippet.uses_this() || snippet.is_branching();
        let ready = !context.constructor
            || needs_this && {
                let point = ProgramPoint::of(location, context.code);
                self.cache.is_ready(self.class, context, self.code, point)?
            };
        let at_point = context.at(location, ready);
        let view = at_point.view(context).around(stack_effect);
        type_snippet(snippet, &view).map_err(ChangeError::Code)
    }

    /// Returns the code that replaces the instruction.
    fn code_around(
        &self,
        instruction: &Instruction<'_>,
        (snippet, inner): (&Snippet, Option<&Replacement>),
        stack_effect: &StackEffect<'_>,
        copies_first: bool,
    ) -> Snippet {
        let mut next = snippet.own_slots();
        let kept: Vec<(Type<'_>, u16)> = stack_effect
            .operands
            .iter()
            .map(|kind| {
                let slot = next;
                next += kind.slots();
                (*kind, slot as u16)
            })
            .collect();
        let load = |(kind, slot): &(Type<'_>, u16)| Operation::Local(kind.load_opcode(), *slot);
        let store = |(kind, slot): &(Type<'_>, u16)| Operation::Local(kind.store_opcode(), *slot);
        let copied = usize::from(copies_first);
        let mut taken: Vec<Operation> = kept.iter().skip(copied).rev().map(store).collect();
        if let (Some(first), 1) = (kept.first(), copied) {
            taken.extend([Operation::Plain(opcode::DUP), store(first)]);
        }
        let whole = snippet.expanded(taken, |operation| match operation {
            Operation::Operand(index) => {
                let operand = kept.get(usize::from(*index));
                operand.map(load).into_iter().collect()
            }
            Operation::StoreOperand(index) => {
                let operand = kept.get(usize::from(*index));
                operand.map(store).into_iter().collect()
            }
            Operation::Proceed => {
                let original = Operation::Original(instruction.bytes().to_vec());
                let others = kept.iter().skip(copied).map(load);
                others.chain([original]).collect()
            }
            other => vec![other.clone()],
        });
        match inner {
            Some(inner) => whole.with_original(&inner.code, next),
            None => whole,
        }
    }
}

/// Checks whether the first operand stays on the stack below the code, which then reads a copy. The JVM thereby finds
/// the origin of a null receiver, and its message is the same as without the code. If the code branches, the stack must
/// be empty; a first operand that the code assigns is not the one that the JVM would name.
fn copies_first(
    snippet: &Snippet,
    inner: Option<&Replacement>,
    stack_effect: &StackEffect<'_>,
) -> bool {
    let first = stack_effect.operands.first();
    let is_branching =
        snippet.is_branching() || inner.is_some_and(|inner| inner.code.is_branching());
    let is_kept = !is_branching && !snippet.assigns_first_operand();
    is_kept && first.is_some_and(|kind| kind.slots() == 1)
}

/// Checks that the code runs the instruction exactly once.
fn proceeds_once(snippet: &Snippet) -> Result<(), SnippetError> {
    let operations = (0_u32..).zip(snippet.operations());
    let mut proceeds = operations.filter(|(_, operation)| **operation == Operation::Proceed);
    let (at, reason) = match (proceeds.next(), proceeds.next()) {
        (Some(_), None) => return Ok(()),
        (None, _) => (
            snippet.operations().len() as u32,
            "it must proceed with the instruction; redirect_call, redirect_field and remove take its place",
        ),
        (Some(_), Some((at, _))) => (at, "it proceeds with the instruction a second time"),
    };
    Err(SnippetError::NotHere { at, reason })
}
