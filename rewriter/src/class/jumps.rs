//! One walk over a code array: where instructions begin, and what jumps.

use crate::arithmetic::Exact;
use crate::class::instruction::{decode, switch_layout, undecodable};
use crate::cursor::{i16_at, i32_at};
use crate::error::ReadError;
use jvms::opcode::{self, Form, SPECIAL};

/// What an instruction that leads elsewhere is.
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

/// An instruction that leads elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundJump {
    pub(crate) bci: u32,
    pub(crate) length: u32,
    /// Where it goes; 0 for a switch.
    pub(crate) target: u32,
    pub(crate) form: JumpForm,
}

/// Sets `starts` to 1 by the bci of each instruction, shows what leads elsewhere, all
/// of it into the code, and returns the last opcode.
#[inline]
pub(crate) fn walk(
    code: &[u8],
    starts: &mut Vec<u8>,
    mut found: impl FnMut(FoundJump),
) -> Result<u8, ReadError> {
    starts.clear();
    starts.resize(code.len(), 0);
    let (mut at, mut last) = (0, opcode::NOP);
    while let Some((opcode, start)) = code.get(at).zip(starts.get_mut(at)) {
        *start = 1;
        last = *opcode;
        let step = opcode::step(last);
        if step != SPECIAL {
            at = at.plus(usize::from(step));
            continue;
        }
        if let Some(jump) = near(code, at, last) {
            found(jump);
            at = at.plus(3);
            continue;
        }
        let (length, jump) = other(code, at, last)?;
        if let Some(jump) = jump {
            found(jump);
        }
        at = at.plus(length);
    }
    match at == code.len() {
        true => Ok(last),
        false => Err(undecodable(last, code.len(), 0)),
    }
}

/// The branch of 16 bits at `at`; none for anything else, and where it goes elsewhere
/// than into the code.
#[inline(always)]
fn near(code: &[u8], at: usize, opcode: u8) -> Option<FoundJump> {
    let form = match opcode::form(opcode) {
        Form::Branch if opcode::is_conditional(opcode) => JumpForm::Conditional,
        Form::Branch => JumpForm::Plain,
        _ => return None,
    };
    let bci = at as u32;
    let distance = i16_at(code, at.plus(1))?;
    let target = bci.checked_add_signed(i32::from(distance))?;
    ((target as usize) < code.len()).then_some(FoundJump {
        bci,
        length: 3,
        target,
        form,
    })
}

/// Any other instruction: its length, and what it is if it leads elsewhere.
#[inline(never)]
fn other(code: &[u8], at: usize, opcode: u8) -> Result<(usize, Option<FoundJump>), ReadError> {
    let unreadable = || undecodable(opcode, at, 0);
    let length = decode(code, at).ok_or_else(unreadable)?;
    let inside = |distance: i32| {
        let target = (at as u32).checked_add_signed(distance);
        target.filter(|target| (*target as usize) < code.len())
    };
    let (form, target) = match opcode::form(opcode) {
        Form::Branch => return Err(unreadable()),
        Form::BranchWide => {
            let target = i32_at(code, at.plus(1)).and_then(inside);
            (JumpForm::Wide, target.ok_or_else(unreadable)?)
        }
        Form::TableSwitch | Form::LookupSwitch => {
            let layout = switch_layout(code, at).ok_or_else(unreadable)?;
            let mut targets = layout.distances().map(|operand| i32_at(code, operand));
            let all = targets.all(|distance| distance.and_then(inside).is_some());
            (JumpForm::Switch, all.then_some(0).ok_or_else(unreadable)?)
        }
        _ => return Ok((length, None)),
    };
    let jump = FoundJump {
        bci: at as u32,
        length: length as u32,
        target,
        form,
    };
    Ok((length, Some(jump)))
}
