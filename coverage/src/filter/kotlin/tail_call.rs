//! The end of a suspending function after a tail call of another one.
//!
//! Such a function has no state: if the call suspends, the function returns, and its caller resumes. The code that
//! returns `Unit` on the last line runs only if the call did not suspend.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;
use super::coroutine::{next_is_suspended, suspends};
use crate::class::MemberRef;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if !suspends(context) {
        return;
    }
    for (at, _) in context.nodes.iter() {
        merge_returns(context, at, output);
    }
    ignore_marker(context, output);
}

/// Merges the two returns after the instruction at `at`, which are copies.
fn merge_returns(context: &FilterContext<'_>, at: usize, output: &mut FilterOutput) {
    let nodes = context.nodes;
    let mut cursor = Cursor::new(nodes);
    cursor.go_to(Some(at));
    cursor.next_is(opcode::DUP);
    next_is_suspended(&mut cursor);
    cursor.next_is(opcode::IF_ACMPNE);
    cursor.next_is(opcode::ARETURN);
    let suspended = cursor.at();
    cursor.next_is(opcode::POP);
    cursor.next_is(opcode::GETSTATIC);
    let unit = cursor.at().filter(|_| cursor.member().is_some_and(is_unit));
    cursor.next_is(opcode::ARETURN);
    let (Some(suspended), Some(unit), Some(end)) = (suspended, unit, cursor.at()) else {
        return;
    };
    output.ignore(nodes, unit, unit);
    let returns = nodes
        .instruction_index(end)
        .zip(nodes.instruction_index(suspended));
    if let Some((end, suspended)) = returns {
        output.merge(end, suspended);
    }
}

fn is_unit(field: &MemberRef<'_>) -> bool {
    (field.owner, field.name) == ("kotlin/Unit", "INSTANCE")
}

/// Leaves out the local variable at the start of an inline function. It exists for debuggers, and copies of the
/// function have it on a line of the caller.
fn ignore_marker(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        let is_head = nodes
            .member(at)
            .is_some_and(|call| (call.owner, call.name) == ("kotlin/ResultKt", "throwOnFailure"));
        if !is_head {
            continue;
        }
        let mut cursor = Cursor::new(nodes);
        cursor.go_to(Some(at));
        cursor.next_is(opcode::ICONST_0);
        let first = cursor.at();
        cursor.next_is(opcode::ISTORE);
        if let Some((first, end)) = first.zip(cursor.at())
            && nodes.line(first) == context.code.lines.first().map(|line| line.number)
            && nodes
                .next_instruction(end)
                .is_some_and(|next| nodes.line(next) != nodes.line(first))
        {
            output.ignore(nodes, first, end);
        }
        return;
    }
}
