//! Passes a described method to the flow.

use jvms::opcode::{ACONST_NULL, GOTO_W};

use crate::class::{CodeDescription, Instruction, Operand};
use crate::flow::{InstructionKind, Labels, Subroutine, return_label};

/// Finds the labels of `code`.
pub(super) fn mark(labels: &mut Labels, code: &CodeDescription<'_>) -> Result<(), Subroutine> {
    let last = code.instructions.last();
    let mut marking = labels.begin(last.map_or(0, |last| usize::from(last.bci) + 1));
    for line in code.lines.iter().filter(|line| line.number != 0) {
        marking.line(line.bci);
    }
    for handler in code.handlers {
        marking.target(handler.start);
        marking.target(handler.target);
    }
    for Instruction {
        bci,
        opcode,
        operand,
    } in code.instructions
    {
        let (bci, opcode) = (*bci, *opcode);
        let kind = InstructionKind::of(opcode);
        if kind == InstructionKind::Subroutine {
            return Err(Subroutine { bci, opcode });
        }
        marking.instruction(usize::from(bci), kind);
        match operand {
            Operand::Target(target) => marking.target(label(code, (bci, opcode), *target)),
            Operand::Switch { default, cases } => marking.switch(targets(*default, cases)),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the label of a jump: `target`, unless the jump is the return of an inlined subroutine.
pub(super) fn label(code: &CodeDescription<'_>, (bci, opcode): (u16, u8), target: u16) -> u16 {
    if opcode != GOTO_W || target > bci {
        return target;
    }
    let index = code.instructions.binary_search_by_key(&target, |at| at.bci);
    let before = |distance: usize| {
        let index = index.ok()?.checked_sub(distance)?;
        Some(code.instructions.get(index)?.opcode)
    };
    match (before(2), before(1)) {
        (Some(ACONST_NULL), Some(GOTO_W)) => return_label(target),
        _ => target,
    }
}

/// Returns the targets of a switch: the default first, then the cases in order.
pub(super) fn targets(
    default: u16,
    cases: &[(i32, u16)],
) -> impl Iterator<Item = u16> + Clone + use<'_> {
    std::iter::once(default).chain(cases.iter().map(|&(_, target)| target))
}

/// Counts the probes of `code`, whose labels are marked.
pub(super) fn probe_count(labels: &Labels, code: &CodeDescription<'_>) -> usize {
    let mut count = 0;
    for at in code.instructions {
        count += usize::from(labels.at(at.bci).needs_probe());
        count += match (InstructionKind::of(at.opcode), &at.operand) {
            (InstructionKind::Exit, _) => 1,
            (InstructionKind::Branch | InstructionKind::Goto, Operand::Target(target)) => {
                let label = label(code, (at.bci, at.opcode), *target);
                usize::from(labels.at(label).is_multitarget())
            }
            (InstructionKind::Switch, Operand::Switch { default, cases }) => {
                let targets = targets(*default, cases);
                let mut multitargets: Vec<u16> = targets
                    .filter(|target| labels.at(*target).is_multitarget())
                    .collect();
                multitargets.sort_unstable();
                multitargets.dedup();
                multitargets.len()
            }
            _ => 0,
        };
    }
    count
}
