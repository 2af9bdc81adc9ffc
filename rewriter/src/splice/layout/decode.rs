//! Collects instruction starts and jumps.

use crate::class::{FoundJump, InstructionMap, JumpForm, last_start};
use crate::splice::layout::model::{Jump, JumpKind, Layout};
use jvms::opcode;

impl Layout {
    /// Fills `starts`, `jumps` and `resized`.
    pub(super) fn decode(&mut self, code: &[u8], found: &InstructionMap<'_>) {
        self.forget(code);
        self.starts.extend_from_slice(found.marks);
        self.jumps.extend(found.jumps.iter().map(Jump::from));
        let switches = self.jumps.iter().zip(0..);
        let switches = switches.filter(|(jump, _)| jump.kind == JumpKind::Switch);
        self.resized.extend(switches.map(|(_, index)| index));
        // A widened instruction falls through unless it is a `ret`, which never ends the code.
        let last = last_start(found.marks).and_then(|last| code.get(last));
        self.last_opcode = last.copied().unwrap_or(opcode::NOP);
    }

    /// Clears the tables for `code` without reading it.
    pub(super) fn forget(&mut self, code: &[u8]) {
        self.length = code.len() as u32;
        self.starts.clear();
        self.jumps.clear();
        self.resized.clear();
        self.last_opcode = opcode::NOP;
    }
}

impl From<&FoundJump> for Jump {
    #[inline]
    fn from(found: &FoundJump) -> Self {
        Jump {
            bci: found.bci,
            length: found.length,
            target: found.target,
            kind: match found.form {
                JumpForm::Plain => JumpKind::Plain,
                JumpForm::Conditional => JumpKind::Conditional,
                JumpForm::Wide => JumpKind::Wide,
                JumpForm::Switch => JumpKind::Switch,
            },
        }
    }
}
