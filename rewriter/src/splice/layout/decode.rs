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
    #[inline(never)]
    pub(super) fn decode(&mut self, code: &[u8]) -> Result<(), SkipReason> {
        self.forget(code);
        self.starts.resize(code.len(), 0);
        let starts = self.starts.get_mut(..code.len()).unwrap_or_default();
        let (mut at, mut last) = (0, opcode::NOP);
        while let Some((opcode, start)) = code.get(at).zip(starts.get_mut(at)) {
            *start = 1;
            last = *opcode;
            let step = opcode::step(last);
            if step != SPECIAL {
                at = at.plus(usize::from(step));
                continue;
            }
            let (next, jump) = special(code, at, last)?;
            at = next;
            if let Some(jump) = jump {
                if jump.kind == JumpKind::Switch {
                    self.resized.push(self.jumps.len() as u32);
                }
                self.jumps.push(jump);
            }
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
}

/// Where what follows the instruction at `at` begins, and the branch or switch that
/// it is.
#[inline(always)]
fn special(code: &[u8], at: usize, opcode: u8) -> Result<(usize, Option<Jump>), SkipReason> {
    let bci = at as u32;
    let Some(target) = near_target(code, at, opcode) else {
        return other(code, at, opcode);
    };
    let kind = match opcode {
        opcode::GOTO | opcode::JSR => JumpKind::Plain,
        _ => JumpKind::Conditional,
    };
    let length = 3;
    let jump = Jump {
        bci,
        length,
        target,
        kind,
    };
    Ok((at.plus(3), Some(jump)))
}

/// The same of what is no branch of 16 bits, or none into the code.
#[inline(never)]
fn other(code: &[u8], at: usize, opcode: u8) -> Result<(usize, Option<Jump>), SkipReason> {
    let unreadable = || undecodable(opcode, at, 0);
    let length = instruction_length(code, at).ok_or_else(unreadable)?;
    let inside = |target: i64| {
        u32::try_from(target)
            .ok()
            .filter(|at| (*at as usize) < code.len())
    };
    let (kind, target) = match opcode::form(opcode) {
        Form::Branch | Form::BranchWide => {
            let target = jump_target(code, at, opcode).and_then(inside);
            (JumpKind::Wide, target.ok_or_else(unreadable)?)
        }
        Form::TableSwitch | Form::LookupSwitch => {
            let layout = switch_layout(code, at).ok_or_else(unreadable)?;
            let mut targets = layout.distances().map(|operand| {
                let distance = i32_at(code, operand)?;
                inside(i64::from(distance).plus(at as i64))
            });
            let all = targets.all(|target| target.is_some());
            all.then_some((JumpKind::Switch, 0))
                .ok_or_else(unreadable)?
        }
        _ => return Ok((at.plus(length), None)),
    };
    let (bci, length) = (at as u32, length as u32);
    let jump = Jump {
        bci,
        length,
        target,
        kind,
    };
    Ok((at.plus(length as usize), Some(jump)))
}

/// Where in the code the branch of 16 bits at `at` goes; none for anything else.
#[inline]
fn near_target(code: &[u8], at: usize, opcode: u8) -> Option<u32> {
    if !matches!(opcode::form(opcode), Form::Branch) {
        return None;
    }
    let distance = i16_at(code, at.plus(1))?;
    let target = (at as u32).checked_add_signed(i32::from(distance))?;
    ((target as usize) < code.len()).then_some(target)
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
