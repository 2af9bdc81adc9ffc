//! Where instructions begin, and what jumps.

use crate::arithmetic::Exact;
use crate::class::{JumpForm, walk};
use crate::cursor::{i16_at, i32_at};
use crate::plan::SkipReason;
use crate::splice::layout::model::{Jump, JumpKind, Layout};
use jvms::opcode;

impl Layout {
    /// Fills `starts`, `jumps` and `resized`.
    #[inline(never)]
    pub(super) fn decode(&mut self, code: &[u8]) -> Result<(), SkipReason> {
        self.forget(code);
        let Layout {
            starts,
            jumps,
            resized,
            ..
        } = self;
        let last = walk(code, starts, |found| {
            let kind = match found.form {
                JumpForm::Plain => JumpKind::Plain,
                JumpForm::Conditional => JumpKind::Conditional,
                JumpForm::Wide => JumpKind::Wide,
                JumpForm::Switch => JumpKind::Switch,
            };
            if kind == JumpKind::Switch {
                resized.push(jumps.len() as u32);
            }
            jumps.push(Jump {
                bci: found.bci,
                length: found.length,
                target: found.target,
                kind,
            });
        });
        // A widened instruction falls through unless it is a `ret`, which ends no code.
        self.last_opcode = last?;
        Ok(())
    }

    /// Empties the tables for `code`, without looking at it.
    pub(super) fn forget(&mut self, code: &[u8]) {
        self.length = code.len() as u32;
        self.starts.clear();
        self.jumps.clear();
        self.resized.clear();
        self.last_opcode = opcode::NOP;
    }
}

/// Target of the branch at `at`.
pub(super) fn jump_target(code: &[u8], at: usize, opcode: u8) -> Option<i64> {
    let operand = at.plus(1);
    let distance = match opcode::form(opcode) {
        opcode::Form::Branch => i64::from(i16_at(code, operand)?),
        opcode::Form::BranchWide => i64::from(i32_at(code, operand)?),
        _ => return None,
    };
    Some((at as i64).plus(distance))
}
