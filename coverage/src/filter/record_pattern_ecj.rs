//! The code of Eclipse's compiler for record patterns (JLS 14.30.2).
//!
//! A component stays on the operand stack while its type is tested. If it does not match, the rest of the stack is
//! removed. The handler of the accessors keeps the exception on the stack, too; JaCoCo counts its code.

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::nodes::Nodes;
use super::record_pattern_code::{Test, finds_pattern, is_number, local};
use crate::class::Handler;

/// Returns the first and last node of the handler of an accessor.
pub(super) fn handler(
    context: &FilterContext<'_>,
    handler: &Handler<'_>,
) -> Option<(usize, usize)> {
    const EXCEPTION: &str = "java/lang/MatchException";
    if handler.catch_type != Some("java/lang/Throwable") {
        return None;
    }
    let start = context.nodes.label(handler.target)?;
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(start));
    cursor.next_is_type(opcode::NEW, EXCEPTION);
    cursor.next_is(opcode::DUP_X1);
    cursor.next_is(opcode::SWAP);
    cursor.next_is(opcode::DUP);
    cursor.next_is_member(
        opcode::INVOKEVIRTUAL,
        "java/lang/Throwable",
        "toString",
        "()Ljava/lang/String;",
    );
    cursor.next_is(opcode::SWAP);
    cursor.next_is_member(
        opcode::INVOKESPECIAL,
        EXCEPTION,
        "<init>",
        "(Ljava/lang/String;Ljava/lang/Throwable;)V",
    );
    cursor.next_is(opcode::ATHROW);
    Some((start, cursor.at()?))
}

/// Finds the test of the component that an accessor returns: `dup, instanceof, ifne, pop …, goto`.
pub(super) fn test_of(nodes: &Nodes<'_>, call: usize) -> Option<Test> {
    let from = nodes.next_instruction(call)?;
    let condition = nodes.next_instruction(from)?;
    let to = nodes.next_instruction(condition)?;
    let found = [from, condition, to].map(|at| nodes.opcode(at));
    if found != [opcode::DUP, opcode::INSTANCEOF, opcode::IFNE].map(Some) {
        return None;
    }
    let mut end = nodes.next_instruction(to)?;
    while matches!(nodes.opcode(end)?, opcode::POP | opcode::POP2) {
        end = nodes.next_instruction(end)?;
    }
    (nodes.opcode(end)? == opcode::GOTO).then_some(Test { from, to, end })
}

/// Finds the first instruction that restarts a `switch` after a case: value and index are loaded, and a jump leads to
/// the call that finds the case.
pub(super) fn restart(nodes: &Nodes<'_>, goto: usize) -> Option<usize> {
    let call = nodes.skip_to_instruction(nodes.jump_label(goto)?)?;
    let number = nodes.previous_instruction(goto)?;
    let value = nodes.previous_instruction(number)?;
    local(nodes, value, opcode::ILOAD..=opcode::ALOAD)?;
    (finds_pattern(nodes, Some(call)) && is_number(nodes, number)).then_some(value)
}
