//! The default branch that an exhaustive `switch` can only take when a class
//! has changed since it was compiled (JLS 15.28.2).

use super::cursor::{Cursor, op};
use super::{Effects, Node, Replacement, Subject};

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    let mut line = None;
    for (at, node) in subject.nodes.iter() {
        match node {
            Node::Line(number) => line = Some(number),
            Node::Instruction(index) => {
                if let Some((default, cases)) = subject.nodes.switch_labels(at)
                    && let Some(end) = end_of_throw(subject, default, line)
                {
                    effects.ignore(subject.nodes, default, end);
                    effects.replace(index, without_default(index, default, &cases));
                }
            }
            Node::Label => {}
        }
    }
}

/// The `athrow` of the default branch if that only throws, on the line of the
/// switch.
fn end_of_throw(subject: &Subject<'_>, default: usize, line: Option<u16>) -> Option<usize> {
    let nodes = subject.nodes;
    let mut at = default;
    while nodes.get(at)? == Node::Label {
        at += 1;
    }
    if let Some(Node::Line(number)) = nodes.get(at)
        && Some(number) != line
    {
        return None;
    }
    match_exception(subject, default).or_else(|| incompatible_class_change(subject, default))
}

fn match_exception(subject: &Subject<'_>, default: usize) -> Option<usize> {
    const NAME: &str = "java/lang/MatchException";
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(Some(default));
    cursor.next_is_type(op::NEW, NAME);
    cursor.next_is(op::DUP);
    cursor.next_is(op::ACONST_NULL);
    cursor.next_is(op::ACONST_NULL);
    cursor.next_is_member(
        op::INVOKESPECIAL,
        NAME,
        "<init>",
        "(Ljava/lang/String;Ljava/lang/Throwable;)V",
    );
    cursor.next_is(op::ATHROW);
    cursor.at()
}

fn incompatible_class_change(subject: &Subject<'_>, default: usize) -> Option<usize> {
    const NAME: &str = "java/lang/IncompatibleClassChangeError";
    let mut cursor = Cursor::new(subject.nodes);
    cursor.go_to(Some(default));
    cursor.next_is_type(op::NEW, NAME);
    cursor.next_is(op::DUP);
    cursor.next_is_member(op::INVOKESPECIAL, NAME, "<init>", "()V");
    cursor.next_is(op::ATHROW);
    cursor.at()
}

/// One branch for each distinct case.
fn without_default(switch: usize, default: usize, cases: &[usize]) -> Replacement {
    let mut replacement = Replacement::default();
    let mut branch = 0;
    for &case in cases {
        if case != default && !replacement.has(case) {
            branch += 1;
            replacement.add(case, switch, branch);
        }
    }
    replacement
}
