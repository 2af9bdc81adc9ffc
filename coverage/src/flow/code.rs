//! One pass over the code array (JVMS 6.5).

use jvms::instruction::{length_at, switch_layout};
use jvms::opcode;

use super::instruction_kind::InstructionKind;
use super::labels::Marking;
use super::method::{FlowMethod, Subroutine, Unplaced};

/// Lengths of the instructions that only fall through; 0 for others.
static PLAIN_LENGTHS: [u8; 256] = {
    let mut table = [0; 256];
    let mut code = 0;
    while code < table.len() {
        if matches!(
            InstructionKind::classify(code as u8),
            InstructionKind::Plain
        ) {
            table[code] = opcode::length(code as u8);
        }
        code += 1;
    }
    table
};

/// Marks the labels in the tables of `method`.
pub(super) fn mark_tables(method: &FlowMethod<'_>, labels: &mut Marking<'_>) {
    for [b0, b1, n0, n1] in method.lines {
        if [*n0, *n1] != [0, 0] {
            labels.line(u16::from_be_bytes([*b0, *b1]));
        }
    }
    for [s0, s1, _, _, h0, h1, _, _] in method.handlers {
        labels.target(u16::from_be_bytes([*s0, *s1]));
        labels.target(u16::from_be_bytes([*h0, *h1]));
    }
}

/// Marks the instructions of `code` and their targets.
pub(super) fn mark(code: &[u8], mut labels: Marking<'_>) -> Result<(), Unplaced> {
    let (mut at, mut last) = (0, 0);
    while let Some(opcode) = code.get(at) {
        last = at;
        let length = PLAIN_LENGTHS[usize::from(*opcode)];
        at += if length != 0 {
            labels.instruction(at, InstructionKind::Plain);
            usize::from(length)
        } else {
            other(code, at, &mut labels)?
        };
    }
    match at == code.len() {
        true => Ok(()),
        false => Err(no_instruction(code, last)),
    }
}

/// Marks an instruction that does not only fall through, or has no fixed length; returns its length.
fn other(code: &[u8], at: usize, labels: &mut Marking<'_>) -> Result<usize, Unplaced> {
    let length = length_at(code, at).ok_or_else(|| no_instruction(code, at))?;
    let instruction = code.get(at..).unwrap_or_default();
    let opcode = match instruction {
        [opcode::WIDE, widened, ..] => *widened,
        [opcode, ..] => *opcode,
        [] => return Err(no_instruction(code, at)),
    };
    let kind = InstructionKind::of(opcode);
    labels.instruction(at, kind);
    match kind {
        InstructionKind::Plain | InstructionKind::Invoke | InstructionKind::Exit => {}
        InstructionKind::Branch | InstructionKind::Goto => {
            if let Some(target) = jump_target(code, at) {
                let label = jump_label(code, at, target, |bci| labels.begins(bci));
                labels.target(label);
            }
        }
        InstructionKind::Switch => labels.switch(switch_targets(code, at)),
        InstructionKind::Subroutine => {
            let bci = at as u16;
            return Err(Subroutine { bci, opcode }.into());
        }
    }
    Ok(length)
}

fn no_instruction(code: &[u8], at: usize) -> Unplaced {
    Unplaced::NoInstruction {
        bci: at as u16,
        opcode: code.get(at).copied().unwrap_or_default(),
    }
}

/// Returns the target of the branch or `goto` at `at`; `None` if no code array can have it.
#[inline]
pub(super) fn jump_target(code: &[u8], at: usize) -> Option<u16> {
    let (opcode, operand) = code.get(at..)?.split_first()?;
    let distance = match *opcode {
        opcode::GOTO_W => i32::from_be_bytes(*operand.first_chunk()?),
        _ => i32::from(i16::from_be_bytes(*operand.first_chunk()?)),
    };
    absolute(at, distance)
}

/// Returns the label of the jump at `at`: `target`, unless the jump is the return of an inlined subroutine. `begins`
/// checks whether an instruction starts at a bci before `at`.
pub(super) fn jump_label(code: &[u8], at: usize, target: u16, begins: impl Fn(u16) -> bool) -> u16 {
    let is_back = code.get(at) == Some(&opcode::GOTO_W) && usize::from(target) <= at;
    let call = target.checked_sub(CALL).filter(|_| is_back);
    let is_return = call.is_some_and(|call| {
        let found = code.get(usize::from(call)..).unwrap_or_default();
        found.starts_with(&[opcode::ACONST_NULL, opcode::GOTO_W])
            && begins(call)
            && begins(call + 1)
    });
    match is_return {
        true => return_label(target),
        false => target,
    }
}

/// Length in bytes of `aconst_null` and `goto_w`, which replace a `jsr` when its subroutine is inlined.
const CALL: u16 = 6;

/// Returns the label of the returns to `bci`, which are no jumps to `bci` for JaCoCo. It is the last byte of the
/// call.
pub(crate) fn return_label(bci: u16) -> u16 {
    bci.saturating_sub(1)
}

/// Returns the targets of the switch at `at`: the default first, then the cases in order.
pub(super) fn switch_targets(code: &[u8], at: usize) -> impl Iterator<Item = u16> + Clone {
    let layout = switch_layout(code, at).into_iter();
    let distances = layout.flat_map(|layout| layout.distances());
    distances.filter_map(move |operand| {
        let distance = code.get(operand..)?.first_chunk()?;
        absolute(at, i32::from_be_bytes(*distance))
    })
}

fn absolute(at: usize, distance: i32) -> Option<u16> {
    u16::try_from(at as i64 + i64::from(distance)).ok()
}
