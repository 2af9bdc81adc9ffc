//! The handler of a `synchronized` block (JVMS 3.14).

use super::cursor::{Cursor, op};
use super::{Effects, Subject};

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    for handler in &subject.code.handlers {
        if handler.catch_type.is_some() || handler.start == handler.target {
            continue;
        }
        let start = subject.nodes.label(handler.target);
        let end = ecj(subject, start).or_else(|| javac(subject, start));
        if let (Some(start), Some(end)) = (start, end) {
            effects.ignore(subject.nodes, start, end);
        }
    }
}

fn javac(subject: &Subject<'_>, start: Option<usize>) -> Option<usize> {
    const T: (&str, u32) = ("t", 0);
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(start);
    cursor.next_is_local(op::ASTORE, T);
    cursor.next_is(op::ALOAD);
    cursor.next_is(op::MONITOREXIT);
    cursor.next_is_local(op::ALOAD, T);
    cursor.next_is(op::ATHROW);
    cursor.at()
}

fn ecj(subject: &Subject<'_>, start: Option<usize>) -> Option<usize> {
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(start);
    cursor.next_is(op::ALOAD);
    cursor.next_is(op::MONITOREXIT);
    cursor.next_is(op::ATHROW);
    cursor.at()
}
