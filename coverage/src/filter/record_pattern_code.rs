//! Instructions of record patterns that javac and Eclipse's compiler emit alike (JLS 14.30.2).

use jvms::opcode;

use super::nodes::Nodes;
use crate::class::{Constant, Operand};

const SWITCHES: &str = "java/lang/runtime/SwitchBootstraps";

/// A test of a component: its first node, its jump or `switch`, and the last node of the code that only tests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Test {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) end: usize,
}

/// Checks whether an instruction finds the case of a pattern.
pub(super) fn finds_pattern(nodes: &Nodes<'_>, at: Option<usize>) -> bool {
    let instruction = at.and_then(|at| nodes.instruction(at));
    matches!(
        instruction.map(|instruction| &instruction.operand),
        Some(Operand::Dynamic(site)) if site.bootstrap.owner == SWITCHES
    )
}

/// Returns the local variable of an instruction, if `opcodes` contains its opcode.
pub(super) fn local(
    nodes: &Nodes<'_>,
    at: usize,
    opcodes: std::ops::RangeInclusive<u8>,
) -> Option<u16> {
    let is_one = opcodes.contains(&nodes.opcode(at)?);
    match nodes.instruction(at)?.operand {
        Operand::Local(local) if is_one => Some(local),
        _ => None,
    }
}

/// Checks whether an instruction loads the index of a case.
pub(super) fn is_number(nodes: &Nodes<'_>, at: usize) -> bool {
    let operand = nodes.instruction(at).map(|at| &at.operand);
    match (nodes.opcode(at), operand) {
        (Some(opcode::ICONST_0..=opcode::ICONST_5 | opcode::BIPUSH | opcode::SIPUSH), _) => true,
        (Some(opcode::LDC), Some(Operand::Constant(constant))) => {
            !matches!(constant, Constant::String(_))
        }
        _ => false,
    }
}
