//! The closing of resources as the Eclipse compiler compiles it (JLS 14.20.3).

use super::cursor::{Cursor, Name, op};
use super::{Effects, Subject};

const PRIMARY: Name = ("primary", 0);

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    for handler in &subject.code.handlers {
        if handler.catch_type.is_none()
            && let Some(handler) = subject.nodes.label(handler.target)
            && ignore_closing(subject, handler, effects).is_none()
        {
            ignore_closing_without_end(subject, handler, effects);
        }
    }
}

/// The body of the statement can be left by its end.
fn ignore_closing(subject: &Subject<'_>, handler: usize, effects: &mut Effects) -> Option<()> {
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(Some(handler.checked_sub(1)?));
    cursor.next_is_local(op::ASTORE, PRIMARY);
    close_and_throw(&mut cursor, 0);
    let mut resource = 1;
    loop {
        let back = cursor.at();
        if !close(&mut cursor, resource) {
            cursor.go_to(back);
            break;
        }
        cursor.next_is_jump(op::GOTO, ("end", resource));
        suppress(&mut cursor, resource);
        close_and_throw(&mut cursor, resource);
        resource += 1;
    }
    suppress(&mut cursor, LAST);
    cursor.next_is_local(op::ALOAD, PRIMARY);
    cursor.next_is(op::ATHROW);
    let end = cursor.at()?;
    let from = last_close_before(&mut cursor, handler)?;
    cursor.next_is(op::GOTO);
    let to = cursor.at()?;
    effects.ignore(subject.nodes, from, to);
    effects.ignore(subject.nodes, handler, end);
    Some(())
}

/// The body of the statement is left by a jump, `return` or `throw` only.
fn ignore_closing_without_end(
    subject: &Subject<'_>,
    handler: usize,
    effects: &mut Effects,
) -> Option<()> {
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(Some(handler.checked_sub(1)?));
    cursor.next_is_local(op::ASTORE, PRIMARY);
    let mut resource = 0;
    loop {
        let back = cursor.at();
        if !(close_and_throw(&mut cursor, resource) && suppress(&mut cursor, resource)) {
            cursor.go_to(back);
            break;
        }
        resource += 1;
    }
    cursor.next_is_local(op::ALOAD, PRIMARY);
    cursor.next_is(op::ATHROW);
    let end = cursor.at()?;
    let from = last_close_before(&mut cursor, handler)?;
    for other in 1..resource {
        if !close(&mut cursor, other) {
            return None;
        }
    }
    effects.ignore(subject.nodes, from, cursor.at()?);
    effects.ignore(subject.nodes, handler, end);
    Some(())
}

/// The names of what follows the last resource.
const LAST: u32 = u32::MAX;

/// Where the first resource is closed for the last time before `handler`; the
/// cursor then stands at the end of that.
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
    cursor.next_is_local(op::ALOAD, ("resource", resource));
    cursor.next_is_jump(op::IFNULL, ("end", resource));
    cursor.next_is_close(("resource", resource));
    cursor.is_met()
}

fn close_and_throw(cursor: &mut Cursor<'_>, resource: u32) -> bool {
    cursor.next_is_local(op::ALOAD, ("resource", resource));
    cursor.next_is_jump(op::IFNULL, ("throw", resource));
    cursor.next_is_close(("resource", resource));
    cursor.next_is_label(("throw", resource));
    cursor.next_is_local(op::ALOAD, PRIMARY);
    cursor.next_is(op::ATHROW);
    cursor.is_met()
}

/// Keeps what the closing of a resource has thrown.
fn suppress(cursor: &mut Cursor<'_>, resource: u32) -> bool {
    let thrown = ("thrown", resource);
    let start = ("suppress", resource);
    let end = ("suppressed", resource);
    cursor.next_is_local(op::ASTORE, thrown);
    cursor.next_is_local(op::ALOAD, PRIMARY);
    cursor.next_is_jump(op::IFNONNULL, start);
    cursor.next_is_local(op::ALOAD, thrown);
    cursor.next_is_local(op::ASTORE, PRIMARY);
    cursor.next_is_jump(op::GOTO, end);
    cursor.next_is_label(start);
    cursor.next_is_local(op::ALOAD, PRIMARY);
    cursor.next_is_local(op::ALOAD, thrown);
    cursor.next_is_jump(op::IF_ACMPEQ, end);
    cursor.next_is_local(op::ALOAD, PRIMARY);
    cursor.next_is_local(op::ALOAD, thrown);
    cursor.next_is_member(
        op::INVOKEVIRTUAL,
        "java/lang/Throwable",
        "addSuppressed",
        "(Ljava/lang/Throwable;)V",
    );
    cursor.next_is_label(end);
    cursor.is_met()
}
