//! Jumps: branches, `goto`, `jsr` and switches.

use crate::class::instruction::{branch_offset, decode, switch_layout, undecodable};
use crate::cursor::i32_at;
use crate::error::ReadError;
use jvms::opcode::{self, Form};

/// The form of a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JumpForm {
    /// `goto` or `jsr`, which have a wide form.
    Plain,
    /// `if…`.
    Conditional,
    /// `goto_w` or `jsr_w`.
    Wide,
    Switch,
}

/// A jump and its target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundJump {
    pub(crate) bci: u32,
    pub(crate) length: u32,
    /// Its target; 0 for a switch.
    pub(crate) target: u32,
    pub(crate) form: JumpForm,
}

/// Decodes the jump at `at`; fails if it does not lead into the code.
#[inline(always)]
pub(super) fn jump(code: &[u8], at: usize) -> Result<FoundJump, ReadError> {
    let opcode = code.get(at).copied().unwrap_or_default();
    match short_branch(code, at, opcode) {
        Some(jump) => Ok(jump),
        None => other_jump(code, at, opcode),
    }
}

/// Decodes a 16-bit branch at `at` into the code; `None` for anything else.
#[inline(always)]
fn short_branch(code: &[u8], at: usize, opcode: u8) -> Option<FoundJump> {
    let form = match opcode::form(opcode) {
        Form::Branch if opcode::is_conditional(opcode) => JumpForm::Conditional,
        Form::Branch => JumpForm::Plain,
        _ => return None,
    };
    let bci = at as u32;
    let target = bci.checked_add_signed(branch_offset(code, at)?)?;
    ((target as usize) < code.len()).then_some(FoundJump {
        bci,
        length: 3,
        target,
        form,
    })
}

/// Decodes any other jump.
#[inline(never)]
fn other_jump(code: &[u8], at: usize, opcode: u8) -> Result<FoundJump, ReadError> {
    let unreadable = || undecodable(opcode, at, 0);
    let length = decode(code, at).ok_or_else(unreadable)?;
    let inside = |distance: i32| {
        let target = (at as u32).checked_add_signed(distance);
        target.filter(|target| (*target as usize) < code.len())
    };
    let (form, target) = match opcode::form(opcode) {
        Form::BranchWide => {
            let target = branch_offset(code, at).and_then(inside);
            (JumpForm::Wide, target.ok_or_else(unreadable)?)
        }
        Form::TableSwitch | Form::LookupSwitch => {
            let layout = switch_layout(code, at).ok_or_else(unreadable)?;
            let mut targets = layout.distances().map(|operand| i32_at(code, operand));
            let all = targets.all(|distance| distance.and_then(inside).is_some());
            (JumpForm::Switch, all.then_some(0).ok_or_else(unreadable)?)
        }
        _ => return Err(unreadable()),
    };
    Ok(FoundJump {
        bci: at as u32,
        length: length as u32,
        target,
        form,
    })
}
