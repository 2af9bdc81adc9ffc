//! The handlers that convert an exception of an accessor to a `MatchException` while a record pattern is matched (JLS
//! 14.30.2).

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::output::FilterOutput;

use crate::class::Handler;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    for handler in context.code.handlers {
        if let Some((start, end)) = code_of(context, handler) {
            output.ignore(context.nodes, start, end);
        }
    }
}

/// Checks whether a handler covers the call of an accessor.
pub(super) fn is_handler(context: &FilterContext<'_>, handler: &Handler<'_>) -> bool {
    code_of(context, handler).is_some()
}

/// Returns the first and last node of such a handler.
fn code_of(context: &FilterContext<'_>, handler: &Handler<'_>) -> Option<(usize, usize)> {
    if handler.catch_type != Some("java/lang/Throwable") {
        return None;
    }
    let start = context.nodes.label(handler.target)?;
    Some((start, end_of_handler(context, start)?))
}

fn end_of_handler(context: &FilterContext<'_>, start: usize) -> Option<usize> {
    const EXCEPTION: &str = "java/lang/MatchException";
    const CAUSE: (&str, u32) = ("cause", 0);
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(start));
    cursor.next_is_local(opcode::ASTORE, CAUSE);
    cursor.next_is_type(opcode::NEW, EXCEPTION);
    cursor.next_is(opcode::DUP);
    cursor.next_is_local(opcode::ALOAD, CAUSE);
    cursor.next_is_member(
        opcode::INVOKEVIRTUAL,
        "java/lang/Throwable",
        "toString",
        "()Ljava/lang/String;",
    );
    cursor.next_is_local(opcode::ALOAD, CAUSE);
    cursor.next_is_member(
        opcode::INVOKESPECIAL,
        EXCEPTION,
        "<init>",
        "(Ljava/lang/String;Ljava/lang/Throwable;)V",
    );
    cursor.next_is(opcode::ATHROW);
    cursor.at()
}
