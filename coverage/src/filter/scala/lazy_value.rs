//! Lazy values: the source does not contain the tests whether they are computed.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::output::FilterOutput;
use super::member::Member;
use crate::class::{Instruction, Operand};
use crate::flow::InstructionKind;

/// Name parts of methods that compute lazy values, in Scala 2 and 3.
const COMPUTES: [&str; 2] = ["$lzycompute", "$lzyINIT"];

/// Checks whether a method returns a lazy value and calls the method that computes it, or lets a trait compute its
/// own.
pub(super) fn is_accessor(member: Member<'_>) -> bool {
    let computes = |name: &str| COMPUTES.iter().any(|part| name.contains(part));
    if let Some(name) = member.name.strip_suffix(COMPUTES[0]) {
        // The code of a trait's value is in the trait.
        return member
            .calls()
            .any(|call| call.name.strip_suffix('$') == Some(name));
    }
    !computes(member.name)
        && member
            .calls()
            .any(|call| call.owner == member.class.name && computes(call.name))
        && member.only_line().is_some()
        && member.code.len() <= LONGEST
}

/// Maximum number of instructions of an accessor. A longer method may call the computing method, too, and is no
/// accessor.
const LONGEST: usize = 30;

/// Leaves out the tests in the method that computes a lazy value.
pub(super) fn ignore_tests(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let (name, code) = (context.method.name, context.code.instructions);
    if name.contains(COMPUTES[0]) {
        let jump = code
            .iter()
            .position(|at| InstructionKind::of(at.opcode) == InstructionKind::Branch);
        if let Some(jump) = jump.filter(|jump| code[..*jump].iter().any(reads_state)) {
            ignore(context, output, |index| index <= jump);
        }
    } else if name.contains(COMPUTES[1]) {
        let lines = context.code.lines;
        let first = lines.first().map(|line| line.number);
        let has_others = lines.iter().any(|line| Some(line.number) != first);
        let line_of = |bci: u16| {
            let mut before = lines.iter().filter(|line| line.bci <= bci);
            before.next_back().map(|line| line.number)
        };
        ignore(context, output, |index| {
            let at = &code[index];
            let decides = matches!(
                InstructionKind::of(at.opcode),
                InstructionKind::Branch | InstructionKind::Switch
            );
            line_of(at.bci) == first && (has_others || decides)
        });
    }
}

/// Checks whether an instruction reads the state of a lazy value.
fn reads_state(instruction: &Instruction<'_>) -> bool {
    let Operand::Member(member) = instruction.operand else {
        return false;
    };
    match instruction.opcode {
        opcode::GETFIELD | opcode::GETSTATIC => member.name.starts_with("bitmap$"),
        _ => member.name == "initialized",
    }
}

fn ignore(
    context: &FilterContext<'_>,
    output: &mut FilterOutput,
    is_ignored: impl Fn(usize) -> bool,
) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        if nodes.instruction_index(at).is_some_and(&is_ignored) {
            output.ignore(nodes, at, at);
        }
    }
}
