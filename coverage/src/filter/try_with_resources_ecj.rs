//! The closing of resources as the Eclipse compiler compiles it (JLS 14.20.3).

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::{Cursor, Name};
use super::output::FilterOutput;

const PRIMARY: Name = ("primary", 0);

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    for handler in context.code.handlers {
        if handler.catch_type.is_none()
            && let Some(handler) = context.nodes.label(handler.target)
            && ignore_closing(context, handler, output).is_none()
        {
            ignore_closing_without_end(context, handler, output);
        }
    }
}

/// Handles a body that can end normally.
fn ignore_closing(
    context: &FilterContext<'_>,
    handler: usize,
    output: &mut FilterOutput,
) -> Option<()> {
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(handler.checked_sub(1)?));
    cursor.next_is_local(opcode::ASTORE, PRIMARY);
    close_and_throw(&mut cursor, 0);
    let mut resource = 1;
    loop {
        let back = cursor.at();
        if !close(&mut cursor, resource) {
            cursor.go_to(back);
            break;
        }
        cursor.next_is_jump(opcode::GOTO, ("end", resource));
        suppress(&mut cursor, resource);
        close_and_throw(&mut cursor, resource);
        resource += 1;
    }
    suppress(&mut cursor, LAST);
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is(opcode::ATHROW);
    let end = cursor.at()?;
    let from = last_close_before(&mut cursor, handler)?;
    cursor.next_is(opcode::GOTO);
    let to = cursor.at()?;
    output.ignore(context.nodes, from, to);
    output.ignore(context.nodes, handler, end);
    Some(())
}

/// Handles a body that ends only by a jump, `return` or `throw`.
fn ignore_closing_without_end(
    context: &FilterContext<'_>,
    handler: usize,
    output: &mut FilterOutput,
) -> Option<()> {
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(handler.checked_sub(1)?));
    cursor.next_is_local(opcode::ASTORE, PRIMARY);
    let mut resource = 0;
    loop {
        let back = cursor.at();
        if !(close_and_throw(&mut cursor, resource) && suppress(&mut cursor, resource)) {
            cursor.go_to(back);
            break;
        }
        resource += 1;
    }
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is(opcode::ATHROW);
    let end = cursor.at()?;
    let from = last_close_before(&mut cursor, handler)?;
    for other in 1..resource {
        if !close(&mut cursor, other) {
            return None;
        }
    }
    output.ignore(context.nodes, from, cursor.at()?);
    output.ignore(context.nodes, handler, end);
    Some(())
}

/// The index in names of the code after the last resource.
const LAST: u32 = u32::MAX;

/// Returns the last closing of the first resource before `handler`; the cursor is then at its end.
fn last_close_before(cursor: &mut Cursor<'_>, handler: usize) -> Option<usize> {
    let mut before = handler.checked_sub(1)?;
    loop {
        cursor.go_to(Some(before));
        if close(cursor, 0) {
            return Some(before + 1);
        }
        before = before.checked_sub(1)?;
    }
}

fn close(cursor: &mut Cursor<'_>, resource: u32) -> bool {
    cursor.next_is_local(opcode::ALOAD, ("resource", resource));
    cursor.next_is_jump(opcode::IFNULL, ("end", resource));
    cursor.next_is_close(("resource", resource));
    cursor.is_met()
}

fn close_and_throw(cursor: &mut Cursor<'_>, resource: u32) -> bool {
    cursor.next_is_local(opcode::ALOAD, ("resource", resource));
    cursor.next_is_jump(opcode::IFNULL, ("throw", resource));
    cursor.next_is_close(("resource", resource));
    cursor.next_is_label(("throw", resource));
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is(opcode::ATHROW);
    cursor.is_met()
}

/// Matches the code that adds an exception of the closing as suppressed.
fn suppress(cursor: &mut Cursor<'_>, resource: u32) -> bool {
    let thrown = ("thrown", resource);
    let start = ("suppress", resource);
    let end = ("suppressed", resource);
    cursor.next_is_local(opcode::ASTORE, thrown);
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is_jump(opcode::IFNONNULL, start);
    cursor.next_is_local(opcode::ALOAD, thrown);
    cursor.next_is_local(opcode::ASTORE, PRIMARY);
    cursor.next_is_jump(opcode::GOTO, end);
    cursor.next_is_label(start);
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is_local(opcode::ALOAD, thrown);
    cursor.next_is_jump(opcode::IF_ACMPEQ, end);
    cursor.next_is_local(opcode::ALOAD, PRIMARY);
    cursor.next_is_local(opcode::ALOAD, thrown);
    cursor.next_is_member(
        opcode::INVOKEVIRTUAL,
        "java/lang/Throwable",
        "addSuppressed",
        "(Ljava/lang/Throwable;)V",
    );
    cursor.next_is_label(end);
    cursor.is_met()
}
