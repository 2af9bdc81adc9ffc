//! A described method as input of the flow.

use crate::class::{CodeDescription, Instruction, Operand};
use crate::flow::{Kind, Labels, Subroutine};

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
        let kind = Kind::of(opcode);
        if kind == Kind::Subroutine {
            return Err(Subroutine { bci, opcode });
        }
        marking.instruction(usize::from(bci), kind);
        match operand {
            Operand::Target(target) => marking.target(*target),
            Operand::Switch { default, cases } => marking.switch(targets(*default, cases)),
            _ => {}
        }
    }
    Ok(())
}

/// The targets of a switch: the default first, then the cases in order.
pub(super) fn targets(
    default: u16,
    cases: &[(i32, u16)],
) -> impl Iterator<Item = u16> + Clone + use<'_> {
    std::iter::once(default).chain(cases.iter().map(|&(_, target)| target))
}

/// How many probes `code` has, whose labels are marked.
pub(super) fn probe_count(labels: &Labels, code: &CodeDescription<'_>) -> usize {
    let mut count = 0;
    for at in code.instructions {
        count += usize::from(labels.at(at.bci).needs_probe());
        count += match (Kind::of(at.opcode), &at.operand) {
            (Kind::Exit, _) => 1,
            (Kind::Branch | Kind::Goto, Operand::Target(target)) => {
                usize::from(labels.at(*target).is_multitarget())
            }
            (Kind::Switch, Operand::Switch { default, cases }) => {
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
