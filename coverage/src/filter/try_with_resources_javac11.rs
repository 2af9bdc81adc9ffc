//! The closing of resources as javac 11 and later compile it (JLS 14.20.3).

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::output::FilterOutput;

const RESOURCE: (&str, u32) = ("resource", 0);
const PRIMARY: (&str, u32) = ("primary", 0);
const SECOND: (&str, u32) = ("second", 0);

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    for handler in context.code.handlers {
        if handler.catch_type == Some("java/lang/Throwable")
            && let Some(handler) = context.nodes.label(handler.target)
        {
            for null_check in [true, false] {
                ignore_closing(context, handler, null_check, output);
            }
        }
    }
}

fn ignore_closing(
    context: &FilterContext<'_>,
    handler: usize,
    null_check: bool,
    output: &mut FilterOutput,
) -> Option<()> {
    let mut cursor = Cursor::new(context.nodes);
    let end = end_of_handler(&mut cursor, handler, null_check)?;
    let (from, to) = super::try_with_resources_javac::last_before(
        context.nodes,
        &mut cursor,
        handler,
        |cursor| {
            close(cursor, null_check);
        },
    )?;
    output.ignore(context.nodes, from, to);
    output.ignore(context.nodes, handler, end);
    Some(())
}

/// Matches the closing of a resource after an exception, which adds its own exceptions as suppressed.
fn end_of_handler(cursor: &mut Cursor<'_>, handler: usize, null_check: bool) -> Option<usize> {
    cursor.go_to(Some(handler.checked_sub(1)?));
    cursor.next_is_local(opcode::ASTORE, PRIMARY);
    close(cursor, null_check);
    cursor.next_is(opcode::GOTO);
    cursor.next_is_local(opcode::ASTORE, SECOND);
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is_local(opcode::ALOAD, SECOND);
    cursor.next_is_member(
        opcode::INVOKEVIRTUAL,
        "java/lang/Throwable",
        "addSuppressed",
        "(Ljava/lang/Throwable;)V",
    );
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is(opcode::ATHROW);
    cursor.at()
}

fn close(cursor: &mut Cursor<'_>, null_check: bool) {
    if null_check {
        cursor.next_is_local(opcode::ALOAD, RESOURCE);
        cursor.next_is(opcode::IFNULL);
    }
    cursor.next_is_close(RESOURCE);
}
