//! The constructor of an enum that only hands name and ordinal on.

use super::cursor::{Cursor, op};
use super::{Effects, Subject};

const DESCRIPTOR: &str = "(Ljava/lang/String;I)V";

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    if subject.is_super("java/lang/Enum") && subject.is("<init>", DESCRIPTOR) && is_empty(subject) {
        subject.ignore_all(effects);
    }
}

fn is_empty(subject: &Subject<'_>) -> bool {
    let mut cursor = Cursor::at_this(subject.nodes);
    cursor.next_is(op::ALOAD);
    cursor.next_is(op::ILOAD);
    cursor.next_is_member(op::INVOKESPECIAL, "java/lang/Enum", "<init>", DESCRIPTOR);
    cursor.next_is(op::RETURN);
    cursor.is_met()
}
