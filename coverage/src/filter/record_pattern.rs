//! An exception thrown by an accessor while a record pattern is matched
//! becomes a `MatchException` (JLS 14.30.2).

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::output::FilterOutput;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    for handler in context.code.handlers {
        if handler.catch_type == Some("java/lang/Throwable")
            && let Some(start) = context.nodes.label(handler.target)
            && let Some(end) = end_of_handler(context, start)
        {
            output.ignore(context.nodes, start, end);
        }
    }
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
