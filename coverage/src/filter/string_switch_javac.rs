//! A `switch` on strings as javac compiles it: a first switch finds the number
//! of the key, a second one switches on that. The first is left out.

use super::cursor::{Cursor, op};
use super::{Effects, Node, Subject};

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    for (at, _) in subject.nodes.iter() {
        if let Some((default, _)) = subject.nodes.switch_labels(at)
            && finds_a_number(subject, at, default)
        {
            effects.ignore(subject.nodes, at, default);
        }
    }
}

fn finds_a_number(subject: &Subject<'_>, switch: usize, default: usize) -> bool {
    const NUMBER: (&str, u32) = ("number", 0);
    const STRING: (&str, u32) = ("string", 0);
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(four_back(subject, switch));
    if cursor.opcode() != Some(op::ICONST_M1) {
        return false;
    }
    cursor.next_is_local(op::ISTORE, NUMBER);
    cursor.next_is_local(op::ALOAD, STRING);
    cursor.next_is_member(op::INVOKEVIRTUAL, "java/lang/String", "hashCode", "()I");
    cursor.next();
    loop {
        cursor.next_is_local(op::ALOAD, STRING);
        cursor.next_is(op::LDC);
        cursor.next_is_member(
            op::INVOKEVIRTUAL,
            "java/lang/String",
            "equals",
            "(Ljava/lang/Object;)Z",
        );
        cursor.next_is(op::IFEQ);
        cursor.next();
        cursor.next_is_local(op::ISTORE, NUMBER);
        let Some(at) = cursor.at() else {
            return false;
        };
        if at + 1 == default {
            break;
        }
        cursor.next_is(op::GOTO);
        if cursor.at().and_then(|at| subject.nodes.jump_label(at)) != Some(default) {
            return false;
        }
    }
    cursor.next_is_local(op::ILOAD, NUMBER);
    cursor.next_is_switch();
    cursor.is_met()
}

/// The fourth node in front of this one that is no label.
fn four_back(subject: &Subject<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    for _ in 0..4 {
        at = at.checked_sub(1)?;
        while subject.nodes.get(at)? == Node::Label {
            at = at.checked_sub(1)?;
        }
    }
    Some(at)
}
