//! `$assertionsDisabled` (JLS 14.10).

use super::cursor::{Cursor, op};
use super::{Effects, Subject};

const FIELD: &str = "$assertionsDisabled";

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    let initialiser = subject.method.name == "<clinit>";
    for (node, _) in subject.nodes.iter() {
        if initialiser {
            ignore_initialisation(subject, node, effects);
        }
        ignore_test(subject, node, effects);
    }
}

/// `node` is the instruction in front of the call.
fn ignore_initialisation(subject: &Subject<'_>, node: usize, effects: &mut Effects) {
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(Some(node));
    cursor.next_is_member(
        op::INVOKEVIRTUAL,
        "java/lang/Class",
        "desiredAssertionStatus",
        "()Z",
    );
    cursor.next_is(op::IFNE);
    cursor.next_is(op::ICONST_1);
    cursor.next_is(op::GOTO);
    cursor.next_is(op::ICONST_0);
    cursor.next_is_member(op::PUTSTATIC, &subject.class.name, FIELD, "Z");
    if let Some(end) = cursor.at() {
        effects.ignore(subject.nodes, node, end);
    }
}

fn ignore_test(subject: &Subject<'_>, node: usize, effects: &mut Effects) {
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(Some(node));
    cursor.next_is_member(op::GETSTATIC, &subject.class.name, FIELD, "Z");
    cursor.next_is(op::IFNE);
    if let Some(jump) = cursor.at() {
        effects.ignore(subject.nodes, jump, jump);
    }
}
