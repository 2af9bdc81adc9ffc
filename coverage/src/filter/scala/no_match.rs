//! The error of a `match` without a matching case.

use std::collections::HashSet;

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::nodes::Nodes;
use super::super::output::{FilterOutput, Replacement};

const ERROR: &str = "scala/MatchError";

/// Leaves out the throwing code, and the branch of the last case that leads to it.
pub(super) fn ignore(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    let mut errors = HashSet::new();
    for (at, _) in nodes.iter().filter(|_| nodes.has(opcode::ATHROW)) {
        if let Some((first, end)) = throws(context, at) {
            output.ignore(nodes, first, end);
            errors.insert(first);
        }
    }
    if errors.is_empty() {
        return;
    }
    for at in (0..nodes.len()).rev() {
        if nodes.opcode(at) == Some(opcode::GOTO) && leads(nodes, at, &errors) {
            output.ignore(nodes, at, at);
            errors.insert(at);
        }
    }
    for at in 0..nodes.len() {
        let before = nodes.previous_instruction(at);
        // A guard is a condition of the source, so it counts.
        let tests_type = before.and_then(|before| nodes.opcode(before)) == Some(opcode::INSTANCEOF);
        let index = nodes.instruction_index(at).filter(|_| tests_type);
        if let Some(index) = index.filter(|_| leads(nodes, at, &errors)) {
            let mut only = Replacement::default();
            only.add(0, index, 0);
            output.replace(index, only);
        }
    }
}

/// Checks whether a jump leads to one of these instructions.
fn leads(nodes: &Nodes<'_>, at: usize, instructions: &HashSet<usize>) -> bool {
    let label = nodes.jump_label(at);
    let target = label.and_then(|label| nodes.skip_to_instruction(label));
    target.is_some_and(|target| instructions.contains(&target))
}

/// Returns the first and last instruction after the node at `at`, if they throw the error.
fn throws(context: &FilterContext<'_>, at: usize) -> Option<(usize, usize)> {
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(at));
    cursor.next_is_type(opcode::NEW, ERROR);
    let first = cursor.at()?;
    cursor.next_is(opcode::DUP);
    cursor.next(); // the value, which may be boxed
    if cursor.opcode_of_next() == Some(opcode::INVOKESTATIC) {
        cursor.next();
    }
    cursor.next_is_member(
        opcode::INVOKESPECIAL,
        ERROR,
        "<init>",
        "(Ljava/lang/Object;)V",
    );
    cursor.next_is(opcode::ATHROW);
    Some((first, cursor.at()?))
}
