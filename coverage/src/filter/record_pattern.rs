//! An exception thrown by an accessor while a record pattern is matched
//! becomes a `MatchException` (JLS 14.30.2).

use super::cursor::{Cursor, op};
use super::{Effects, Subject};

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    for handler in &subject.code.handlers {
        if handler.catch_type.as_deref() == Some("java/lang/Throwable")
            && let Some(start) = subject.nodes.label(handler.target)
            && let Some(end) = end_of_handler(subject, start)
        {
            effects.ignore(subject.nodes, start, end);
        }
    }
}

fn end_of_handler(subject: &Subject<'_>, start: usize) -> Option<usize> {
    const EXCEPTION: &str = "java/lang/MatchException";
    const CAUSE: (&str, u32) = ("cause", 0);
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(Some(start));
    cursor.next_is_local(op::ASTORE, CAUSE);
    cursor.next_is_type(op::NEW, EXCEPTION);
    cursor.next_is(op::DUP);
    cursor.next_is_local(op::ALOAD, CAUSE);
    cursor.next_is_member(
        op::INVOKEVIRTUAL,
        "java/lang/Throwable",
        "toString",
        "()Ljava/lang/String;",
    );
    cursor.next_is_local(op::ALOAD, CAUSE);
    cursor.next_is_member(
        op::INVOKESPECIAL,
        EXCEPTION,
        "<init>",
        "(Ljava/lang/String;Ljava/lang/Throwable;)V",
    );
    cursor.next_is(op::ATHROW);
    cursor.at()
}
