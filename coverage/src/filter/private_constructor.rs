//! The private constructor of a class that nobody is meant to create.

use super::cursor::{Cursor, op};
use super::{Effects, Subject};

const ACC_PRIVATE: u16 = 0x0002;

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    let private = subject.method.access_flags & ACC_PRIVATE != 0;
    if private && subject.is("<init>", "()V") && is_empty(subject) {
        subject.ignore_all(effects);
    }
}

fn is_empty(subject: &Subject<'_>) -> bool {
    let Some(super_name) = subject.class.super_name.as_deref() else {
        return false;
    };
    let mut cursor = Cursor::at_this(subject.nodes);
    cursor.next_is_member(op::INVOKESPECIAL, super_name, "<init>", "()V");
    cursor.next_is(op::RETURN);
    cursor.is_met()
}
