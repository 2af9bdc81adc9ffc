//! Code to insert, as a value.

use crate::assemble::Assemble;
use crate::instruction::{Instruction, Label};

/// Code to insert: instructions with labels and local variables of its own. It is checked when it is inserted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snippet {
    instructions: Vec<Instruction>,
    labels: u32,
}

impl Snippet {
    /// Creates a snippet without code.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the instructions in order.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Returns the instructions in order.
    #[must_use]
    pub fn into_instructions(self) -> Vec<Instruction> {
        self.instructions
    }
}

impl Assemble for Snippet {
    type Added<'s> = &'s mut Self;

    fn add(&mut self, instruction: Instruction) -> &mut Self {
        self.instructions.push(instruction);
        self
    }

    fn new_label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }
}
