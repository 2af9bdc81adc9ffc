//! The types of a snippet (JVMS 4.10.1.9), followed over all its paths.

use crate::limits::{
    LDC_CLASS_SINCE, MAX_SNIPPET_PASSES, MAX_SNIPPET_STATE, STATIC_INTERFACE_METHODS_SINCE,
};
use crate::snippet::{EncodedMember, Label, Operation, Snippet, SnippetError, Value};
use crate::typing::context::{StackEffect, TypingContext};
use crate::typing::machine::{Expected, Fault, Machine};
use crate::typing::types::{Class, Origin, Type};
use jvms::descriptor::FieldType;
use jvms::opcode;

/// The types at a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State<'t> {
    /// The snippet's own slots.
    pub(crate) locals: Vec<Type<'t>>,
    /// The stack, from the snippet's first value on.
    pub(crate) stack: Vec<Type<'t>>,
    /// The type of `this`, which changes in a body that calls `super()`.
    pub(crate) this: Option<Type<'t>>,
}

/// A snippet whose types fit.
#[derive(Debug, Clone)]
pub(crate) struct Typed<'t> {
    /// Maximum stack depth in slots, with the values at its start.
    pub(crate) deepest: u32,
    /// Slots of its own.
    pub(crate) slots: u32,
    pub(crate) falls_through: bool,
    /// By label; `None` if no path leads to it.
    pub(crate) labels: Vec<Option<State<'t>>>,
}

struct Check<'t, 's> {
    snippet: &'t Snippet,
    context: &'s TypingContext<'t, 's>,
    machine: Machine<'t>,
    this: Option<Type<'t>>,
    labels: Vec<Option<State<'t>>>,
    /// True for each label already passed.
    passed: Vec<bool>,
    /// Number of types in all states.
    size: usize,
    changed: bool,
}

/// Follows `snippet` in `context`.
pub(crate) fn type_snippet<'t>(
    snippet: &'t Snippet,
    context: &TypingContext<'t, '_>,
) -> Result<Typed<'t>, SnippetError> {
    if let Some(Label(label)) = snippet.missing_label() {
        return Err(SnippetError::LabelNotPlaced { label });
    }
    let mut check = Check {
        snippet,
        context,
        machine: Machine::new(false),
        this: None,
        labels: vec![None; snippet.label_count()],
        passed: Vec::new(),
        size: 0,
        changed: false,
    };
    for _ in 0..MAX_SNIPPET_PASSES {
        check.changed = false;
        let falls_through = check.pass()?;
        if !check.changed {
            return Ok(Typed {
                deepest: check.machine.deepest,
                slots: snippet.own_slots(),
                falls_through,
                labels: check.labels,
            });
        }
    }
    Err(SnippetError::NotHere {
        at: 0,
        reason: "the types at its labels do not settle; use fewer loops or checkcast",
    })
}

#[cold]
fn refuse<T>(at: u32, reason: &'static str) -> Result<T, SnippetError> {
    Err(SnippetError::NotHere { at, reason })
}

#[cold]
fn mismatch(at: u32, mnemonic: &'static str, fault: Fault<'_>) -> SnippetError {
    let found = fault
        .found
        .map_or("an empty stack".to_owned(), |found| found.to_string());
    let mut expected = fault.expected.to_string();
    if let (Expected::Type(Type::Object(_)), Some(Type::Object(_))) = (fault.expected, fault.found)
    {
        expected.push_str(" (no class is loaded to compare them: use checkcast)");
    }
    SnippetError::Mismatch {
        at,
        mnemonic,
        expected,
        found,
    }
}

impl<'t, 's> Check<'t, 's> {
    /// Follows the code once; returns true if it falls through.
    fn pass(&mut self) -> Result<bool, SnippetError> {
        self.machine.locals.clear();
        self.machine.set_stack(self.context.stack);
        self.this = self.context.this.ok();
        self.passed.clear();
        self.passed.resize(self.labels.len(), false);
        let mut live = true;
        let mut dead = None;
        let operations = self.snippet.operations();
        for (at, operation) in (0_u32..).zip(operations) {
            if let Operation::Label(label) = operation {
                live = self.arrive(*label, live, at)?;
                continue;
            }
            if !live {
                dead = dead.or(Some(at));
                continue;
            }
            live = self.step(at, operation)?;
        }
        let end = operations.len() as u32;
        match dead {
            Some(at) if !self.changed => {
                return refuse(
                    at,
                    "this code is unreachable: place the label of a jump before it, or remove it",
                );
            }
            _ => {}
        }
        if live {
            self.end(end)?;
        }
        Ok(live)
    }

    fn end(&self, at: u32) -> Result<(), SnippetError> {
        if self.context.whole_body {
            return refuse(at, "a body must return or throw, but it ends here");
        }
        let (left, wanted) = (&self.machine.stack, self.context.left());
        let fits = left.len() == wanted.len()
            && left
                .iter()
                .zip(wanted)
                .all(|(left, wanted)| self.context.known.fits(*left, *wanted));
        if fits {
            return Ok(());
        }
        let list = |types: &[Type<'_>]| {
            let names: Vec<String> = types.iter().map(Type::to_string).collect();
            format!("[{}] on the stack", names.join(", "))
        };
        Err(SnippetError::Mismatch {
            at,
            mnemonic: "end",
            expected: list(wanted),
            found: list(left),
        })
    }

    /// Handles a label reached from above; returns true if control continues there.
    fn arrive(&mut self, label: Label, live: bool, at: u32) -> Result<bool, SnippetError> {
        let index = label.0 as usize;
        if let Some(passed) = self.passed.get_mut(index) {
            *passed = true;
        }
        if live {
            self.merge(label, at, "label")?;
        }
        let Some(Some(state)) = self.labels.get(index) else {
            return Ok(false);
        };
        self.machine.locals.clone_from(&state.locals);
        self.machine.set_stack(&state.stack);
        self.this = state.this;
        Ok(true)
    }

    /// Joins the current types into those at `label`.
    fn merge(&mut self, label: Label, at: u32, mnemonic: &'static str) -> Result<(), SnippetError> {
        let Some(known) = self.labels.get_mut(label.0 as usize) else {
            return Ok(());
        };
        let Some(state) = known else {
            let entries = self.machine.locals.len() + self.machine.stack.len();
            self.size += entries + 1;
            if self.size > MAX_SNIPPET_STATE {
                return refuse(at, "too many values are alive at too many labels");
            }
            *known = Some(State {
                locals: self.machine.locals.clone(),
                stack: self.machine.stack.clone(),
                this: self.this,
            });
            self.changed = true;
            return Ok(());
        };
        if state.stack.len() != self.machine.stack.len() {
            let count = |stack: &[Type<'_>]| format!("{} values on the stack", stack.len());
            return Err(SnippetError::Mismatch {
                at,
                mnemonic,
                expected: count(&state.stack),
                found: count(&self.machine.stack),
            });
        }
        if state.locals.len() > self.machine.locals.len() {
            state.locals.truncate(self.machine.locals.len());
            self.changed = true;
        }
        for (old, new) in state.locals.iter_mut().zip(&self.machine.locals) {
            self.changed |= widen(old, *new);
        }
        if state.this != self.this {
            return refuse(
                at,
                "this is initialized on one path to this label but not on the other",
            );
        }
        for (old, new) in state.stack.iter_mut().zip(&self.machine.stack) {
            let before = *old;
            self.changed |= widen(old, *new);
            if *old == Type::Top {
                let expected = format!("{before} on the stack as on another path");
                let found = new.to_string();
                return Err(SnippetError::Mismatch {
                    at,
                    mnemonic,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    /// Applies one operation; returns true if control continues after it.
    fn step(&mut self, at: u32, operation: &'t Operation) -> Result<bool, SnippetError> {
        let known = self.context.known;
        let name = |code: u8| opcode::mnemonic(code).unwrap_or("?");
        let fault = |code: u8| move |fault| mismatch(at, name(code), fault);
        let machine = &mut self.machine;
        match operation {
            Operation::Label(_) => {}
            Operation::This => {
                let this = self.loaded_this(at)?;
                self.machine.push(this).map_err(fault(opcode::ALOAD))?;
            }
            Operation::Argument(index) => {
                let value = self.argument(at, *index)?;
                self.machine.push(value).map_err(fault(opcode::ALOAD))?;
            }
            Operation::StoreArgument(index) => self.store_argument(at, *index)?,
            Operation::Push(value) => {
                let value = self.constant(at, value)?;
                self.machine.push(value).map_err(fault(opcode::LDC))?;
            }
            Operation::Local(code, slot) if *code >= opcode::ISTORE => {
                machine
                    .store(*code, usize::from(*slot), known)
                    .map_err(fault(*code))?;
            }
            Operation::Local(code, slot) => {
                machine
                    .load(*code, usize::from(*slot))
                    .map_err(fault(*code))?;
            }
            Operation::Increment(slot, _) => {
                let slot = usize::from(*slot);
                let both = machine
                    .load(opcode::ILOAD, slot)
                    .and_then(|()| machine.store(opcode::ISTORE, slot, known));
                both.map_err(fault(opcode::IINC))?;
            }
            Operation::NewArray(kind) => {
                machine
                    .new_array(*kind, known)
                    .map_err(fault(opcode::NEWARRAY))?;
            }
            Operation::WithType(opcode::NEW, _) => {
                let made = Type::Uninitialized(Origin::Snippet(at));
                // Values of an earlier round of a loop are out of reach.
                machine
                    .locals
                    .iter_mut()
                    .filter(|found| **found == made)
                    .for_each(|found| *found = Type::Top);
                if machine.stack.contains(&made) {
                    return refuse(
                        at,
                        "the object of the previous iteration is not initialized yet",
                    );
                }
                machine.push(made).map_err(fault(opcode::NEW))?;
            }
            Operation::WithType(code, class) => {
                machine
                    .with_type(*code, Class::named(class), known)
                    .map_err(fault(*code))?;
            }
            Operation::Field(code, member) => {
                let unreadable = SnippetError::NotHere {
                    at,
                    reason: "the field's descriptor cannot be read",
                };
                let kind = FieldType::parse(&member.descriptor).map_err(|_| unreadable)?;
                let owner = Class::named(&member.owner);
                machine
                    .field(*code, owner, kind, known)
                    .map_err(fault(*code))?;
            }
            Operation::Invoke(code, member) => self.invoke(at, *code, member)?,
            Operation::Plain(code) => return self.plain(at, *code),
            Operation::Jump(code, label) => return self.jump(at, *code, *label),
            Operation::Variable(code, slot) => {
                let value = self.variable(at, *code, *slot)?;
                self.machine.push(value).map_err(fault(*code))?;
            }
            Operation::Operand(index) => {
                let value = self.operand(at, *index)?;
                self.machine.push(value).map_err(fault(opcode::ALOAD))?;
            }
            Operation::StoreOperand(index) => self.store_operand(at, *index)?,
            Operation::Proceed => {
                let effect = self.around(at)?;
                self.push_operands(effect).map_err(fault(opcode::ALOAD))?;
                self.apply_effect(effect).map_err(fault(opcode::NOP))?;
            }
            Operation::Original(bytes) => {
                let code = bytes.first().copied().unwrap_or(opcode::NOP);
                let effect = self.around(at)?;
                self.apply_effect(effect).map_err(fault(code))?;
            }
        }
        Ok(true)
    }

    /// Returns the type that `load_this` pushes.
    fn loaded_this(&self, at: u32) -> Result<Type<'t>, SnippetError> {
        let reason = self.context.this.err();
        let reason = reason.unwrap_or("this is not available here");
        self.this.ok_or(SnippetError::NotHere { at, reason })
    }

    /// Returns the stack effect of the surrounded instruction.
    fn around(&self, at: u32) -> Result<&'s StackEffect<'t>, SnippetError> {
        let reason = "only code around an instruction has operands and can proceed";
        self.context
            .around
            .ok_or(SnippetError::NotHere { at, reason })
    }

    /// Pushes the operands of an instruction.
    fn push_operands(&mut self, effect: &StackEffect<'t>) -> Result<(), Fault<'t>> {
        let mut operands = effect.operands.iter();
        operands.try_for_each(|found| self.machine.push(*found))
    }

    /// Pops the operands of an instruction and pushes its result.
    fn apply_effect(&mut self, effect: &StackEffect<'t>) -> Result<(), Fault<'t>> {
        for wanted in effect.operands.iter().rev() {
            self.machine.pop_as(*wanted, self.context.known)?;
        }
        effect
            .result
            .map_or(Ok(()), |result| self.machine.push(result))
    }

    fn argument(&self, at: u32, index: u8) -> Result<Type<'t>, SnippetError> {
        let found = self.context.arguments.get(usize::from(index));
        let missing = SnippetError::NotHere {
            at,
            reason: "the method has no such parameter",
        };
        let argument = found.ok_or(missing)?;
        if argument.lost && !self.context.at_entry {
            return refuse(
                at,
                "the method overwrites this parameter's slot; load it at the entry",
            );
        }
        Ok(Type::of(argument.kind))
    }

    /// Pops a value for a parameter.
    fn store_argument(&mut self, at: u32, index: u8) -> Result<(), SnippetError> {
        let wanted = self.argument(at, index)?;
        if !self.context.at_entry {
            return refuse(at, "a parameter is assigned at the entry alone");
        }
        let popped = self.machine.pop_as(wanted, self.context.known);
        popped.map_err(|fault| mismatch(at, "store argument", fault))
    }

    /// Returns the type of an operand of the surrounded instruction.
    fn operand(&self, at: u32, index: u8) -> Result<Type<'t>, SnippetError> {
        let operands = &self.around(at)?.operands;
        let found = operands.get(usize::from(index)).copied();
        let reason = "the instruction takes no such operand";
        found.ok_or(SnippetError::NotHere { at, reason })
    }

    /// Pops the new value of an operand of the surrounded instruction.
    fn store_operand(&mut self, at: u32, index: u8) -> Result<(), SnippetError> {
        let wanted = self.operand(at, index)?;
        if index == 0 && self.around(at)?.has_receiver {
            return refuse(at, "the receiver of a call or field access is not assigned");
        }
        let popped = self.machine.pop_as(wanted, self.context.known);
        popped.map_err(|fault| mismatch(at, "store operand", fault))
    }

    /// Returns the type of a local variable of the method, if `code` can load it.
    fn variable(&self, at: u32, code: u8, slot: u16) -> Result<Type<'t>, SnippetError> {
        let variables = self.context.variables;
        let variables = variables.map_err(|reason| SnippetError::NotHere { at, reason })?;
        let found = variables.get(usize::from(slot)).copied();
        let found = found.unwrap_or(Type::Top);
        let (fits, kind) = match code {
            opcode::ILOAD => (found == Type::Int, "an int"),
            opcode::LLOAD => (found == Type::Long, "a long"),
            opcode::FLOAD => (found == Type::Float, "a float"),
            opcode::DLOAD => (found == Type::Double, "a double"),
            _ => (
                found.is_reference() && !found.is_uninitialized(),
                "an initialized object",
            ),
        };
        if fits {
            return Ok(found);
        }
        let found = match found {
            Type::Top => "no value that is set on every path".to_owned(),
            other => other.to_string(),
        };
        Err(SnippetError::Mismatch {
            at,
            mnemonic: opcode::mnemonic(code).unwrap_or("?"),
            expected: format!("{kind} in the local variable {slot}"),
            found,
        })
    }

    fn constant(&self, at: u32, value: &Value) -> Result<Type<'t>, SnippetError> {
        Ok(match value {
            Value::Int(_) => Type::Int,
            Value::Long(_) => Type::Long,
            Value::Float(_) => Type::Float,
            Value::Double(_) => Type::Double,
            Value::String(_) => Type::object(b"java/lang/String"),
            Value::Class(_) if self.context.major >= LDC_CLASS_SINCE => {
                Type::object(b"java/lang/Class")
            }
            Value::Class(_) => {
                return refuse(
                    at,
                    "class files before version 49 have no class constants; call Class.forName",
                );
            }
        })
    }

    fn invoke(&mut self, at: u32, code: u8, member: &'t EncodedMember) -> Result<(), SnippetError> {
        let known = self.context.known;
        let fault = |fault| mismatch(at, opcode::mnemonic(code).unwrap_or("?"), fault);
        let owner = Class::named(&member.owner);
        let new_style = matches!(code, opcode::INVOKESTATIC | opcode::INVOKESPECIAL);
        if member.interface && new_style && self.context.major < STATIC_INTERFACE_METHODS_SINCE {
            return refuse(
                at,
                "class files before version 52 cannot call such a method of an interface",
            );
        }
        if owner.is_array() && (code != opcode::INVOKEVIRTUAL || member.name != b"clone") {
            return refuse(
                at,
                "arrays have no such method; name java/lang/Object as its owner",
            );
        }
        let machine = &mut self.machine;
        machine
            .arguments(&member.descriptor, known)
            .map_err(fault)?;
        if member.name == b"<init>" {
            let snippet = self.snippet;
            let this = Class::plain(known.this);
            let on_this = machine.stack.last() == Some(&Type::UninitializedThis);
            if on_this && owner != this && !known.is_superclass(owner.name) {
                return refuse(at, "a constructor calls one of its own class or superclass");
            }
            let class_of_new = |origin| match origin {
                Origin::Snippet(at) => match snippet.operations().get(at as usize) {
                    Some(Operation::WithType(_, name)) => Some(Class::named(name)),
                    _ => None,
                },
                Origin::Method(_) | Origin::Position(_) => None,
            };
            machine
                .initialize(owner, this, class_of_new)
                .map_err(fault)?;
            if on_this {
                self.this = Some(Type::Object(this));
            }
        } else if code == opcode::INVOKESPECIAL {
            if owner.name != known.this && !known.is_parent(owner.name) {
                return refuse(
                    at,
                    "invokespecial calls methods of the class itself or of its parents",
                );
            }
            machine
                .pop_as(Type::Object(Class::plain(known.this)), known)
                .map_err(fault)?;
        } else if code != opcode::INVOKESTATIC {
            let own = Class::plain(known.this);
            let protected =
                owner == Class::OBJECT && matches!(&*member.name, b"clone" | b"finalize");
            let receiver = if protected { own } else { owner };
            machine
                .pop_as(Type::Object(receiver), known)
                .map_err(fault)?;
        }
        self.machine.returned(&member.descriptor).map_err(fault)
    }

    fn plain(&mut self, at: u32, code: u8) -> Result<bool, SnippetError> {
        let known = self.context.known;
        let name = opcode::mnemonic(code).unwrap_or("?");
        let fault = |fault| mismatch(at, name, fault);
        if opcode::is_return(code) {
            self.leave(at, code)?;
            if let Some(value) = self.context.returns.map(Type::of) {
                return self
                    .machine
                    .pop_as(value, known)
                    .map(|()| false)
                    .map_err(fault);
            }
        }
        self.machine.plain(code, known).map_err(fault)?;
        Ok(opcode::falls_through(code))
    }

    /// Checks that a return instruction suits the method.
    fn leave(&self, at: u32, code: u8) -> Result<(), SnippetError> {
        let returns = self.context.returns;
        let wanted = returns.map_or(opcode::RETURN, FieldType::return_opcode);
        if code != wanted {
            let name = |code| opcode::mnemonic(code).unwrap_or("?");
            return Err(SnippetError::Mismatch {
                at,
                mnemonic: name(code),
                expected: format!("{}, as the method returns", name(wanted)),
                found: name(code).to_owned(),
            });
        }
        let ready = self.context.may_return || matches!(self.this, Some(Type::Object(_)));
        if !ready {
            return refuse(at, "a constructor cannot return before super() or this()");
        }
        Ok(())
    }

    fn jump(&mut self, at: u32, code: u8, label: Label) -> Result<bool, SnippetError> {
        let name = opcode::mnemonic(code).unwrap_or("?");
        let fault = |fault| mismatch(at, name, fault);
        self.machine
            .plain(code, self.context.known)
            .map_err(fault)?;
        if self.passed.get(label.0 as usize) == Some(&true) {
            let all = self.machine.locals.iter().chain(&self.machine.stack);
            if all.clone().any(Type::is_uninitialized) {
                return refuse(at, "a backward jump cannot carry an uninitialized object");
            }
        }
        self.merge(label, at, name)?;
        Ok(code != opcode::GOTO)
    }
}

/// Joins `new` into `old`; returns true if it changed.
fn widen<'t>(old: &mut Type<'t>, new: Type<'t>) -> bool {
    let both = match (*old, new) {
        (a, b) if a == b => a,
        (Type::Null, Type::Object(class)) | (Type::Object(class), Type::Null) => {
            Type::Object(class)
        }
        (Type::Object(_), Type::Object(_)) => Type::Object(Class::OBJECT),
        _ => Type::Top,
    };
    std::mem::replace(old, both) != both
}
