//! Chains of safe calls (`a?.b?.c`), also followed by `?:`. All null checks lead to one label; this branch of each is
//! covered if the label is.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::nodes::Nodes;
use super::super::output::{FilterOutput, Replacement};
use crate::class::Operand;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for chain in chains(nodes) {
        let elvis = elvis_before(nodes, chain.label);
        let target = nodes.skip_to_instruction(chain.label);
        let target = target.and_then(|target| nodes.instruction_index(target));
        if chain.jumps.len() + usize::from(elvis.is_some()) < 2 {
            continue;
        }
        let jumps = chain.jumps.iter().map(|&jump| (jump, 0));
        for (jump, not_null) in jumps.chain(elvis.map(|jump| (jump, 1))) {
            if let (Some(target), Some(jump)) = (target, nodes.instruction_index(jump)) {
                let mut replacement = Replacement::default();
                replacement.add(0, target, 0);
                replacement.add(1, jump, not_null);
                output.replace(jump, replacement);
            }
        }
    }
}

/// Null checks with the same label.
struct Chain {
    label: usize,
    jumps: Vec<usize>,
}

fn chains(nodes: &Nodes<'_>) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    for (at, _) in nodes.iter() {
        if nodes.opcode(at) != Some(opcode::IFNULL) {
            continue;
        }
        let Some(label) = nodes.jump_label(at) else {
            continue;
        };
        let known = chains.iter_mut().find(|chain| chain.label == label);
        if !is_link(nodes, at, label, known.is_none()) {
            continue;
        }
        match known {
            Some(chain) => chain.jumps.push(at),
            None => chains.push(Chain {
                label,
                jumps: vec![at],
            }),
        }
    }
    chains
}

/// Checks whether the value tested at `at` is used only by the next link of a chain.
fn is_link(nodes: &Nodes<'_>, at: usize, label: usize, first: bool) -> bool {
    let target = nodes.skip_to_instruction(label);
    match target.and_then(|target| nodes.opcode(target)) {
        Some(opcode::POP) => previous_is(nodes, at, opcode::DUP).is_some(),
        Some(opcode::ACONST_NULL) => first || is_stored_and_loaded(nodes, at),
        _ => ends_with_elvis(nodes, label) && (first || is_stored_and_loaded(nodes, at)),
    }
}

/// Checks whether a non-null value jumps over the right side of `?:` at this label.
fn ends_with_elvis(nodes: &Nodes<'_>, label: usize) -> bool {
    let Some(load) = previous_is(nodes, label, opcode::GOTO)
        .and_then(|jump| previous_is(nodes, jump, opcode::ALOAD))
    else {
        return false;
    };
    let check = previous_is(nodes, load, opcode::IFNULL);
    check.and_then(|check| nodes.jump_label(check)) == Some(label)
}

fn is_stored_and_loaded(nodes: &Nodes<'_>, at: usize) -> bool {
    let Some(load) = previous_is(nodes, at, opcode::ALOAD) else {
        return false;
    };
    let Some(store) = previous_is(nodes, load, opcode::ASTORE) else {
        return false;
    };
    let local = |at| nodes.instruction(at).map(|at| &at.operand);
    matches!(local(load), Some(Operand::Local(_))) && local(load) == local(store)
}

fn previous_is(nodes: &Nodes<'_>, at: usize, opcode: u8) -> Option<usize> {
    let previous = nodes.previous_instruction(at)?;
    (nodes.opcode(previous) == Some(opcode)).then_some(previous)
}

/// Returns the check of `?:` that falls through to this label.
fn elvis_before(nodes: &Nodes<'_>, label: usize) -> Option<usize> {
    previous_is(nodes, label, opcode::IFNONNULL)
}
