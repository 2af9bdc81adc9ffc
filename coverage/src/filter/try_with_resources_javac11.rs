//! The closing of resources as javac 11 and later compile it (JLS 14.20.3).

use super::cursor::{Cursor, op};
use super::{Effects, Subject};

const RESOURCE: (&str, u32) = ("resource", 0);
const PRIMARY: (&str, u32) = ("primary", 0);
const SECOND: (&str, u32) = ("second", 0);

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    for handler in &subject.code.handlers {
        if handler.catch_type.as_deref() == Some("java/lang/Throwable")
            && let Some(handler) = subject.nodes.label(handler.target)
        {
            for null_check in [true, false] {
                ignore_closing(subject, handler, null_check, effects);
            }
        }
    }
}

fn ignore_closing(
    subject: &Subject<'_>,
    handler: usize,
    null_check: bool,
    effects: &mut Effects,
) -> Option<()> {
    let mut cursor = Cursor::new(subject.nodes);
    let end = end_of_handler(&mut cursor, handler, null_check)?;
    let (from, to) = super::try_with_resources_javac::last_before(
        subject.nodes,
        &mut cursor,
        handler,
        |cursor| {
            close(cursor, null_check);
        },
    )?;
    effects.ignore(subject.nodes, from, to);
    effects.ignore(subject.nodes, handler, end);
    Some(())
}

/// Closes the resource after an exception, which keeps what that throws.
fn end_of_handler(cursor: &mut Cursor<'_>, handler: usize, null_check: bool) -> Option<usize> {
    cursor.go_to(Some(handler.checked_sub(1)?));
    cursor.next_is_local(op::ASTORE, PRIMARY);
    close(cursor, null_check);
    cursor.next_is(op::GOTO);
    cursor.next_is_local(op::ASTORE, SECOND);
    cursor.next_is_local(op::ALOAD, PRIMARY);
    cursor.next_is_local(op::ALOAD, SECOND);
    cursor.next_is_member(
        op::INVOKEVIRTUAL,
        "java/lang/Throwable",
        "addSuppressed",
        "(Ljava/lang/Throwable;)V",
    );
    cursor.next_is_local(op::ALOAD, PRIMARY);
    cursor.next_is(op::ATHROW);
    cursor.at()
}

fn close(cursor: &mut Cursor<'_>, null_check: bool) {
    if null_check {
        cursor.next_is_local(op::ALOAD, RESOURCE);
        cursor.next_is(op::IFNULL);
    }
    cursor.next_is_close(RESOURCE);
}
