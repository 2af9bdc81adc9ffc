//! The default branch of an exhaustive `switch`. It runs only if a class has changed since the compilation (JLS
//! 15.28.2).

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::nodes::Node;
use super::output::{FilterOutput, Replacement};

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for &at in nodes.switches() {
        if let Some(index) = nodes.instruction_index(at)
            && let Some((default, cases)) = nodes.switch_labels(at)
            && let Some(end) = end_of_throw(context, default, nodes.line(at))
        {
            output.ignore(nodes, default, end);
            output.replace(index, without_default(index, default, &cases));
        }
    }
}

/// Returns the `athrow` of the default branch if the branch only throws, on the line of the switch.
fn end_of_throw(context: &FilterContext<'_>, default: usize, line: Option<u16>) -> Option<usize> {
    let nodes = context.nodes;
    let mut at = default;
    while nodes.get(at)? == Node::Label {
        at += 1;
    }
    if let Some(Node::Line(number)) = nodes.get(at)
        && Some(number) != line
    {
        return None;
    }
    match_exception(context, default).or_else(|| incompatible_class_change(context, default))
}

fn match_exception(context: &FilterContext<'_>, default: usize) -> Option<usize> {
    const NAME: &str = "java/lang/MatchException";
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(default));
    cursor.next_is_type(opcode::NEW, NAME);
    cursor.next_is(opcode::DUP);
    cursor.next_is(opcode::ACONST_NULL);
    cursor.next_is(opcode::ACONST_NULL);
    cursor.next_is_member(
        opcode::INVOKESPECIAL,
        NAME,
        "<init>",
        "(Ljava/lang/String;Ljava/lang/Throwable;)V",
    );
    cursor.next_is(opcode::ATHROW);
    cursor.at()
}

fn incompatible_class_change(context: &FilterContext<'_>, default: usize) -> Option<usize> {
    const NAME: &str = "java/lang/IncompatibleClassChangeError";
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(default));
    cursor.next_is_type(opcode::NEW, NAME);
    cursor.next_is(opcode::DUP);
    cursor.next_is_member(opcode::INVOKESPECIAL, NAME, "<init>", "()V");
    cursor.next_is(opcode::ATHROW);
    cursor.at()
}

/// Returns one branch for each distinct case.
pub(super) fn without_default(switch: usize, default: usize, cases: &[usize]) -> Replacement {
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
