//! The members of a record that the compiler makes (JLS 8.10.3).

use super::cursor::{Cursor, op};
use super::{Effects, Subject};
use crate::class::Operand;

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    if subject.is_super("java/lang/Record") && (is_object_method(subject) || is_accessor(subject)) {
        subject.ignore_all(effects);
    }
}

fn is_object_method(subject: &Subject<'_>) -> bool {
    let mut cursor = Cursor::at_this(subject.nodes);
    let leave = if subject.is("equals", "(Ljava/lang/Object;)Z") {
        cursor.next_is(op::ALOAD);
        op::IRETURN
    } else if subject.is("hashCode", "()I") {
        op::IRETURN
    } else if subject.is("toString", "()Ljava/lang/String;") {
        op::ARETURN
    } else {
        return false;
    };
    cursor.next_is(op::INVOKEDYNAMIC);
    let made = matches!(cursor.operand(), Some(Operand::Dynamic(site))
        if site.name == subject.method.name
            && site.bootstrap.owner == "java/lang/runtime/ObjectMethods"
            && site.bootstrap.name == "bootstrap");
    cursor.next_is(leave);
    made && cursor.is_met()
}

fn is_accessor(subject: &Subject<'_>) -> bool {
    if !subject.method.descriptor.starts_with("()") {
        return false;
    }
    let mut cursor = Cursor::at_this(subject.nodes);
    cursor.next_is(op::GETFIELD);
    let same_name = cursor
        .member()
        .is_some_and(|field| field.name == subject.method.name);
    cursor.next();
    same_name && matches!(cursor.opcode(), Some(op::IRETURN..=op::ARETURN))
}
