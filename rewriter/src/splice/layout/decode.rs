//! One walk over the code: where instructions begin, and what jumps.

use crate::arithmetic::Exact;
use crate::class::{decode as instruction_length, switch_layout, undecodable};
use crate::cursor::{i16_at, i32_at};
use crate::plan::SkipReason;
use crate::splice::layout::model::{Jump, JumpKind, Layout};
use jvms::opcode;
use jvms::opcode::{Form, SPECIAL};

impl Layout {
    /// Fills `starts`, `jumps` and `resized`.
    pub(super) fn decode(&mut self, code: &[u8]) -> Result<(), SkipReason> {
        self.forget(code);
        self.starts.resize(code.len(), 0);
        let (mut at, mut last) = (0, opcode::NOP);
        while let Some(opcode) = code.get(at) {
            if let Some(start) = self.starts.get_mut(at) {
                *start = 1;
            }
            let step = opcode::step(*opcode);
            last = *opcode;
            at = match step {
                SPECIAL => self.special(code, at, *opcode)?,
                _ => at.plus(usize::from(step)),
            };
        }
        // A widened instruction falls through unless it is a `ret`, which ends no code.
        self.last_opcode = last;
        if at != code.len() {
            return Err(undecodable(last, code.len(), 0).into());
        }
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

    /// Notes a branch or switch; returns where the next instruction begins.
    fn special(&mut self, code: &[u8], at: usize, opcode: u8) -> Result<usize, SkipReason> {
        let unreadable = || undecodable(opcode, at, 0);
        let length = instruction_length(code, at).ok_or_else(unreadable)?;
        let next = at.plus(length);
        let kind = match (opcode::form(opcode), opcode) {
            (_, opcode::GOTO | opcode::JSR) => JumpKind::Plain,
            (Form::Branch, _) => JumpKind::Conditional,
            (Form::BranchWide, _) => JumpKind::Wide,
            (Form::TableSwitch | Form::LookupSwitch, _) => JumpKind::Switch,
            _ => return Ok(next),
        };
        let target = if kind == JumpKind::Switch {
            self.resized.push(self.jumps.len() as u32);
            self.check_switch(code, at).ok_or_else(unreadable)?;
            0
        } else {
            let target = jump_target(code, at, opcode).ok_or_else(unreadable)?;
            u32::try_from(target)
                .ok()
                .filter(|target| *target < self.length)
                .ok_or_else(unreadable)?
        };
        self.jumps.push(Jump {
            bci: at as u32,
            length: length as u32,
            target,
            kind,
        });
        Ok(next)
    }

    /// All targets of the switch at `at` lie in the code, or none.
    fn check_switch(&self, code: &[u8], at: usize) -> Option<()> {
        let layout = switch_layout(code, at)?;
        let inside = |operand: usize| {
            let target = i64::from(i32_at(code, operand)?).plus(at as i64);
            u32::try_from(target)
                .ok()
                .filter(|target| *target < self.length)
        };
        inside(layout.default)?;
        let first = layout.entries.plus(layout.stride).minus(4);
        (first..layout.end)
            .step_by(layout.stride)
            .try_for_each(|operand| inside(operand).map(drop))
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
