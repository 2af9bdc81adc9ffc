//! Code to insert, as a value that is independent of a class.
//!
//! Names are symbols. Splicing assigns pool entries, local variable slots, parameter slots and stack map frames, and
//! checks the types.

use crate::limits::{MAX_SNIPPET_OPERATIONS, MAX_SNIPPET_TEXT};
use crate::snippet::checked::operation_of;
use crate::snippet::error::SnippetError;
use crate::snippet::operation::{Assemble, Label, Operation};
use ::edits::{Instruction, Operand, symbolic};
use jvms::opcode;
use stored::impl_stored;

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

    /// Returns the code with its own slots and labels moved up, to be a part of other code that has these.
    fn moved(&self, slots: u32, labels: usize) -> impl Iterator<Item = Operation> {
        let slot = move |slot: u16| u16::try_from(u32::from(slot) + slots).unwrap_or(u16::MAX);
        let label = move |label: Label| Label(label.0.saturating_add(labels as u32));
        self.operations
            .iter()
            .map(move |operation| match operation {
                Operation::Local(code, at) => Operation::Local(*code, slot(*at)),
                Operation::Increment(at, by) => Operation::Increment(slot(*at), *by),
                Operation::Label(at) => Operation::Label(label(*at)),
                Operation::Jump(code, at) => Operation::Jump(*code, label(*at)),
                other => other.clone(),
            })
    }

    /// Returns the code with `other` in place of the original instruction. Its slots follow the first `slots`.
    pub(crate) fn with_original(mut self, other: &Snippet, slots: u32) -> Snippet {
        let is_original = |operation: &Operation| matches!(operation, Operation::Original(_));
        if let Some(at) = self.operations.iter().position(is_original) {
            let code: Vec<Operation> = other.moved(slots, self.labels.len()).collect();
            self.operations.splice(at..=at, code);
            self.labels.extend_from_slice(&other.labels);
        }
        self
    }

    /// Appends other code, whose labels follow its own. Both may use the same slots.
    pub(crate) fn add_code(&mut self, other: &Snippet) {
        let code: Vec<Operation> = other.moved(0, self.labels.len()).collect();
        self.operations.extend(code);
        self.labels.extend_from_slice(&other.labels);
    }

    /// Checks for returns from the method.
    pub(crate) fn returns(&self) -> bool {
        self.operations.iter().any(is_return)
    }

    /// Returns the code with `exits` before each of its returns. Each of these finds the returned value on the stack. One
    /// that ends without falling through replaces the following ones and the return.
    pub(crate) fn with_exits(&self, exits: &[Snippet]) -> Snippet {
        let mut made = Snippet {
            operations: Vec::new(),
            ..self.clone()
        };
        let slots = self.own_slots();
        for operation in &self.operations {
            let mut is_open = true;
            if is_return(operation) {
                for exit in exits {
                    let code = exit.moved(slots, made.labels.len());
                    made.operations.extend(code);
                    made.labels.extend_from_slice(&exit.labels);
                    is_open = exit.falls_through();
                    if !is_open {
                        break;
                    }
                }
            }
            if is_open {
                made.operations.push(operation.clone());
            }
        }
        made
    }

    /// Checks whether control can reach the end, by the last operation.
    fn falls_through(&self) -> bool {
        match self.operations.last() {
            Some(Operation::Plain(code) | Operation::Jump(code, _)) => opcode::falls_through(*code),
            _ => true,
        }
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
            .try_for_each(|operation| self.push_operation(operation.clone(), 0))?;
        self.push_operation(last.clone(), other.text)
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

    /// Checks for loads of `this`, and loads or stores of a parameter.
    pub(crate) fn uses_parameters(&self) -> bool {
        let uses = |operation| {
            let store = matches!(operation, &Operation::StoreArgument(_));
            store || matches!(operation, &Operation::This | &Operation::Argument(_))
        };
        self.operations.iter().any(uses)
    }

    /// Checks for loads of the method's own local variables.
    pub(crate) fn uses_variables(&self) -> bool {
        let uses = |operation| matches!(operation, &Operation::Variable(..));
        self.operations.iter().any(uses)
    }

    /// Checks for an assignment of the first operand of the surrounded instruction.
    pub(crate) fn assigns_first_operand(&self) -> bool {
        self.operations.contains(&Operation::StoreOperand(0))
    }

    pub(crate) fn uses_this(&self) -> bool {
        self.operations.contains(&Operation::This)
    }

    /// Returns the first label that was created but not placed.
    pub(crate) fn missing_label(&self) -> Option<Label> {
        let index = self.labels.iter().position(|placed| !placed)?;
        Some(Label(index as u32))
    }

    /// Returns the first store to one of its own slots that nothing reads: the index of the operation, and the slot.
    #[must_use]
    pub fn unread_store(&self) -> Option<(usize, u16)> {
        let is_read = |slot: u16| {
            self.operations.iter().any(|operation| match operation {
                Operation::Local(code, read) => *code < opcode::ISTORE && *read == slot,
                _ => false,
            })
        };
        let mut all = self.operations.iter().enumerate();
        all.find_map(|(at, operation)| match operation {
            Operation::Local(code, slot) if *code >= opcode::ISTORE && !is_read(*slot) => {
                Some((at, *slot))
            }
            _ => None,
        })
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

    fn push_operation(&mut self, operation: Operation, text: usize) -> Result<(), SnippetError> {
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

    /// Assembles code.
    ///
    /// # Errors
    /// An instruction is refused, or the snippet is full.
    pub fn assemble(code: &[Instruction]) -> Result<Self, SnippetError> {
        let mut snippet = Self::new();
        for instruction in code {
            if let Operand::Label(label) = instruction.operand {
                snippet.expect_label(label);
            }
            snippet.add(instruction.clone())?;
        }
        Ok(snippet)
    }

    /// Creates the labels up to this number. A number above the limit of a snippet creates no label.
    fn expect_label(&mut self, label: u32) {
        let wanted = (label as usize).saturating_add(1);
        if wanted > self.labels.len() && wanted <= MAX_SNIPPET_OPERATIONS {
            self.labels.resize(wanted, false);
        }
    }

    /// Checks that a label exists, and marks it as placed if `places` is set.
    fn check_label(&mut self, label: u32, places: bool) -> Result<(), SnippetError> {
        let at = self.at();
        match self.labels.get_mut(label as usize) {
            None => Err(SnippetError::UnknownLabel { at }),
            Some(true) if places => Err(SnippetError::LabelPlacedTwice { at }),
            Some(placed) => {
                *placed |= places;
                Ok(())
            }
        }
    }
}

fn is_return(operation: &Operation) -> bool {
    matches!(operation, Operation::Plain(code) if opcode::is_return(*code))
}

/// Each instruction is refused if it is unknown, if its operand does not suit it, or if the snippet is full.
impl Assemble for Snippet {
    type Added<'s> = Result<(), SnippetError>;

    fn add(&mut self, instruction: Instruction) -> Result<(), SnippetError> {
        let is_label = instruction.opcode == symbolic::LABEL;
        let label = match instruction.operand {
            Operand::Label(label) => Some(label),
            _ => None,
        };
        let (operation, text) = operation_of(self.at(), instruction)?;
        if let Some(label) = label {
            self.check_label(label, is_label)?;
        }
        self.push_operation(operation, text)
    }

    fn new_label(&mut self) -> Label {
        let label = Label(self.labels.len() as u32);
        if self.labels.len() < MAX_SNIPPET_OPERATIONS {
            self.labels.push(false);
        }
        label
    }
}
