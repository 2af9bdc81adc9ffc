//! Code to insert, as a value that is independent of a class.
//!
//! Names are symbols. Splicing assigns pool entries, local variable slots, parameter slots and stack map frames, and
//! checks the types.

use crate::impl_stored;
use crate::limits::{MAX_SNIPPET_OPERATIONS, MAX_SNIPPET_SLOTS, MAX_SNIPPET_TEXT};
use crate::snippet::error::SnippetError;
use crate::snippet::names::{bad, class, field, method};
use crate::snippet::operation::{Label, MemberName, Operation, Value};
use jvms::modified_utf8;
use jvms::opcode;
use jvms::opcode::Form;

/// Symbolic code with labels, branches, calls, constants and its own local variables.
///
/// The stack at its start, which it must leave in the same shape, depends on the location:
/// * `Before` an `xreturn` (`ireturn` … `areturn`): the value, with the method's return type;
/// * `Before` an `athrow`, and at `Unwind`: the exception, with type `Throwable`;
/// * at all other locations it is empty; the values below are out of reach.
///
/// It may also end without falling through: it then returns a value of the method's type, or throws. Its local
/// variables follow those of the method and exist only while it runs.
///
/// Reference types are compared by name. Known subclass relations are those of the edited class and some of
/// `java.lang`. Use `checkcast` for a type that cannot be shown to fit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Snippet {
    operations: Vec<Operation>,
    /// True for each label that has been placed.
    labels: Vec<bool>,
    /// Bytes of text so far.
    text: usize,
}

impl_stored!(struct Snippet { operations, labels, text });

impl Snippet {
    /// Creates an empty snippet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks for a snippet without operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Creates a snippet of these operations, none of which needs a label.
    pub(crate) fn of(operations: Vec<Operation>) -> Self {
        Snippet {
            operations,
            ..Snippet::default()
        }
    }

    /// Returns the snippet with every operation mapped; labels stay unchanged.
    pub(crate) fn map(&self, operation: impl FnMut(&Operation) -> Operation) -> Snippet {
        Snippet {
            operations: self.operations.iter().map(operation).collect(),
            ..self.clone()
        }
    }

    /// Returns the snippet with these operations first, and each of its own operations replaced by others. Labels stay
    /// unchanged.
    pub(crate) fn expanded(
        &self,
        mut first: Vec<Operation>,
        operation: impl FnMut(&Operation) -> Vec<Operation>,
    ) -> Snippet {
        first.extend(self.operations.iter().flat_map(operation));
        Snippet {
            operations: first,
            ..self.clone()
        }
    }

    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Appends the operations of other code, which has no labels.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn append(&mut self, other: &Snippet) -> Result<(), SnippetError> {
        let Some((last, others)) = other.operations.split_last() else {
            return Ok(());
        };
        others
            .iter()
            .try_for_each(|operation| self.add(operation.clone(), 0))?;
        self.add(last.clone(), other.text)
    }

    /// Returns the number of labels created.
    pub(crate) fn label_count(&self) -> usize {
        self.labels.len()
    }

    /// Checks for operations that may not continue to the end.
    pub(crate) fn is_branching(&self) -> bool {
        self.operations.iter().any(|operation| match operation {
            Operation::Label(_) | Operation::Jump(..) => true,
            Operation::Plain(code) => !opcode::falls_through(*code),
            _ => false,
        })
    }

    /// Checks for loads of `this` or a parameter.
    pub(crate) fn uses_parameters(&self) -> bool {
        let uses = |operation| matches!(operation, &Operation::This | &Operation::Argument(_));
        self.operations.iter().any(uses)
    }

    /// Checks for loads of the method's own local variables.
    pub(crate) fn uses_variables(&self) -> bool {
        let uses = |operation| matches!(operation, &Operation::Variable(..));
        self.operations.iter().any(uses)
    }

    pub(crate) fn uses_this(&self) -> bool {
        self.operations.contains(&Operation::This)
    }

    /// Returns the first label that was created but not placed.
    pub(crate) fn missing_label(&self) -> Option<Label> {
        let index = self.labels.iter().position(|placed| !placed)?;
        Some(Label(index as u32))
    }

    /// Returns one more than the highest of its own slots.
    pub(crate) fn own_slots(&self) -> u32 {
        let slots = self.operations.iter().map(|operation| match operation {
            Operation::Local(code, slot) => {
                let first = if *code < opcode::ISTORE {
                    opcode::ILOAD
                } else {
                    opcode::ISTORE
                };
                let family = code - first;
                u32::from(*slot) + if family & 1 == 1 { 2 } else { 1 }
            }
            Operation::Increment(slot, _) => u32::from(*slot) + 1,
            _ => 0,
        });
        slots.max().unwrap_or(0)
    }

    fn at(&self) -> u32 {
        self.operations.len() as u32
    }

    fn add(&mut self, operation: Operation, text: usize) -> Result<(), SnippetError> {
        if self.operations.len() >= MAX_SNIPPET_OPERATIONS {
            return Err(SnippetError::TooLong);
        }
        let text = self.text.saturating_add(text);
        if text > MAX_SNIPPET_TEXT {
            return Err(SnippetError::TooMuchText);
        }
        self.text = text;
        self.operations.push(operation);
        Ok(())
    }

    /// Pushes `this`. Refused in a static method, before `super()` in a constructor, and if the method stores to slot
    /// 0.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn load_this(&mut self) -> Result<(), SnippetError> {
        self.add(Operation::This, 0)
    }

    /// Pushes a parameter, counted from 0 without `this`. At locations other than the entry it is refused if the method
    /// stores to the parameter's slot.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn load_argument(&mut self, index: u8) -> Result<(), SnippetError> {
        self.add(Operation::Argument(index), 0)
    }

    /// Pushes a local variable of the method by its slot: `iload` to `aload`. Refused unless the method's stack map
    /// frames show such a value there.
    ///
    /// # Errors
    /// The opcode is another one, or the snippet is full.
    pub fn load_variable(&mut self, opcode: u8, slot: u16) -> Result<(), SnippetError> {
        if !(opcode::ILOAD..=opcode::ALOAD).contains(&opcode) {
            let expected = "iload, lload, fload, dload or aload";
            return Err(SnippetError::opcode(self.at(), opcode, expected));
        }
        self.add(Operation::Variable(opcode, slot), 0)
    }

    /// Pushes an operand of the instruction that the snippet surrounds ([`Change::Around`](crate::Change::Around)),
    /// with the type that the instruction expects. Operands count from 0; a receiver or array comes first.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn load_operand(&mut self, index: u8) -> Result<(), SnippetError> {
        self.add(Operation::Operand(index), 0)
    }

    /// Runs the instruction that the snippet surrounds, with its original operands, and leaves its result on the stack.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn proceed(&mut self) -> Result<(), SnippetError> {
        self.add(Operation::Proceed, 0)
    }

    /// Pushes an `int`.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn push_int(&mut self, value: i32) -> Result<(), SnippetError> {
        self.add(Operation::Push(Value::Int(value)), 0)
    }

    /// Pushes a `long`.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn push_long(&mut self, value: i64) -> Result<(), SnippetError> {
        self.add(Operation::Push(Value::Long(value)), 0)
    }

    /// Pushes a `float` and preserves its bits.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn push_float(&mut self, value: f32) -> Result<(), SnippetError> {
        self.add(Operation::Push(Value::Float(value.to_bits())), 0)
    }

    /// Pushes a `double` and preserves its bits.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn push_double(&mut self, value: f64) -> Result<(), SnippetError> {
        self.add(Operation::Push(Value::Double(value.to_bits())), 0)
    }

    /// Pushes a string of at most 65,535 bytes in modified UTF-8.
    ///
    /// # Errors
    /// The string is longer, or the snippet is full.
    pub fn push_string(&mut self, text: &str) -> Result<(), SnippetError> {
        let bytes = modified_utf8::encode(text);
        let length = bytes.len();
        if length > usize::from(u16::MAX) {
            let length = length as u64;
            return Err(SnippetError::TextTooLong { length });
        }
        self.add(Operation::Push(Value::String(bytes)), length)
    }

    /// Pushes the `java.lang.Class` of an internal name or array descriptor.
    ///
    /// # Errors
    /// The name is invalid, or the snippet is full.
    pub fn push_class(&mut self, internal_name: &str) -> Result<(), SnippetError> {
        let name = class(internal_name, self.at())?;
        let length = name.len();
        self.add(Operation::Push(Value::Class(name)), length)
    }

    /// Pushes `null`.
    ///
    /// # Errors
    /// The snippet is full.
    pub fn push_null(&mut self) -> Result<(), SnippetError> {
        self.add(Operation::Plain(opcode::ACONST_NULL), 0)
    }

    /// Calls a method: `invokestatic`, `invokevirtual`, `invokespecial` or `invokeinterface`.
    ///
    /// # Errors
    /// The opcode is another one, a name or descriptor is invalid, arguments take more than 255 slots, or the snippet
    /// is full.
    pub fn invoke(&mut self, opcode: u8, target: MemberName) -> Result<(), SnippetError> {
        let member = method(opcode, &target, self.at())?;
        let length = member.text();
        self.add(Operation::Invoke(opcode, member), length)
    }

    /// Reads or writes a field: `getstatic`, `putstatic`, `getfield`, `putfield`.
    ///
    /// # Errors
    /// As [`Snippet::invoke`].
    pub fn field(&mut self, opcode: u8, target: MemberName) -> Result<(), SnippetError> {
        let member = field(opcode, &target, self.at())?;
        let length = member.text();
        self.add(Operation::Field(opcode, member), length)
    }

    /// Adds `new`, `checkcast`, `instanceof` or `anewarray` of an internal name. All but `new` also accept an array
    /// descriptor.
    ///
    /// # Errors
    /// The opcode is another one, the name is invalid, or the snippet is full.
    pub fn with_type(&mut self, opcode: u8, internal_name: &str) -> Result<(), SnippetError> {
        let at = self.at();
        let known = [
            opcode::NEW,
            opcode::CHECKCAST,
            opcode::INSTANCEOF,
            opcode::ANEWARRAY,
        ];
        if !known.contains(&opcode) {
            let expected = "new, checkcast, instanceof or anewarray";
            return Err(SnippetError::opcode(at, opcode, expected));
        }
        let name = class(internal_name, at)?;
        if opcode == opcode::NEW && name.first() == Some(&b'[') {
            return Err(bad("class that is no array", internal_name, at));
        }
        let length = name.len();
        self.add(Operation::WithType(opcode, name), length)
    }

    /// Adds any other instruction. For `xload` and `xstore`, the operand is one of the snippet's own slots from 0. For
    /// `newarray` it is the element type (JVMS table 6.5.newarray-A), for `bipush` and `sipush` the number. Other
    /// instructions ignore it.
    ///
    /// # Errors
    /// The instruction has a method of its own here, or a snippet cannot hold it (`ldc`, switches, `jsr`, `ret`,
    /// `wide`, `invokedynamic`, `multianewarray`).
    /// The operand may also be out of range, or the snippet full.
    pub fn op(&mut self, opcode: u8, operand: i32) -> Result<(), SnippetError> {
        let at = self.at();
        let operation = match opcode::form(opcode) {
            Form::None | Form::Const(_) => Operation::Plain(opcode),
            Form::Byte | Form::Short => {
                let fits = opcode == opcode::BIPUSH && i8::try_from(operand).is_ok()
                    || opcode == opcode::SIPUSH && i16::try_from(operand).is_ok();
                if !fits {
                    return Err(SnippetError::operand(at, opcode, operand));
                }
                Operation::Push(Value::Int(operand))
            }
            Form::Local if opcode != opcode::RET => {
                let slot = own_slot(operand).ok_or(SnippetError::operand(at, opcode, operand))?;
                Operation::Local(opcode, slot)
            }
            Form::Slot(slot) => Operation::Local(opcode::general_form(opcode), u16::from(slot)),
            Form::NewArray => match u8::try_from(operand) {
                Ok(kind @ 4..=11) => Operation::NewArray(kind),
                _ => return Err(SnippetError::operand(at, opcode, operand)),
            },
            _ => {
                let expected = "an instruction that has no method of its own and no pool entry";
                return Err(SnippetError::opcode(at, opcode, expected));
            }
        };
        self.add(operation, 0)
    }

    /// Adds `iinc` of one of the snippet's own slots.
    ///
    /// # Errors
    /// The slot is out of range, or the snippet is full.
    pub fn increment(&mut self, slot: u16, by: i16) -> Result<(), SnippetError> {
        let operand = i32::from(slot);
        let slot =
            own_slot(operand).ok_or(SnippetError::operand(self.at(), opcode::IINC, operand))?;
        self.add(Operation::Increment(slot, by), 0)
    }

    /// Creates a label; place it once with [`Snippet::place`].
    pub fn new_label(&mut self) -> Label {
        let label = Label(self.labels.len() as u32);
        if self.labels.len() < MAX_SNIPPET_OPERATIONS {
            self.labels.push(false);
        }
        label
    }

    /// Places a label before the next operation.
    ///
    /// # Errors
    /// The label belongs to another snippet, was placed before, or the snippet is full.
    pub fn place(&mut self, label: Label) -> Result<(), SnippetError> {
        let at = self.at();
        match self.labels.get_mut(label.0 as usize) {
            None => return Err(SnippetError::UnknownLabel { at }),
            Some(true) => return Err(SnippetError::LabelPlacedTwice { at }),
            Some(placed) => *placed = true,
        }
        self.add(Operation::Label(label), 0)
    }

    /// Adds `goto`, or a conditional branch (`if…`).
    ///
    /// # Errors
    /// The opcode is another one, the label belongs to another snippet, or the snippet is full.
    pub fn jump(&mut self, opcode: u8, label: Label) -> Result<(), SnippetError> {
        let at = self.at();
        if opcode != opcode::GOTO && !opcode::is_conditional(opcode) {
            return Err(SnippetError::opcode(at, opcode, "goto or if…"));
        }
        if label.0 as usize >= self.labels.len() {
            return Err(SnippetError::UnknownLabel { at });
        }
        self.add(Operation::Jump(opcode, label), 0)
    }
}

fn own_slot(operand: i32) -> Option<u16> {
    let slot = u16::try_from(operand).ok()?;
    (slot < MAX_SNIPPET_SLOTS).then_some(slot)
}
