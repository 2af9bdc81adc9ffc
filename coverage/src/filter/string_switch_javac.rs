//! A `switch` on strings as javac compiles it: a first switch finds the number of the key, a second one switches on
//! it. The first is left out.

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::nodes::Node;
use super::output::FilterOutput;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    for &at in context.nodes.switches() {
        if let Some((default, _)) = context.nodes.switch_labels(at)
            && finds_a_number(context, at, default)
        {
            output.ignore(context.nodes, at, default);
        }
    }
}

fn finds_a_number(context: &FilterContext<'_>, switch: usize, default: usize) -> bool {
    const NUMBER: (&str, u32) = ("number", 0);
    const STRING: (&str, u32) = ("string", 0);
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(four_back(context, switch));
    if cursor.opcode() != Some(opcode::ICONST_M1) {
        return false;
    }
    cursor.next_is_local(opcode::ISTORE, NUMBER);
    cursor.next_is_local(opcode::ALOAD, STRING);
    cursor.next_is_member(opcode::INVOKEVIRTUAL, "java/lang/String", "hashCode", "()I");
    cursor.next();
    loop {
        cursor.next_is_string_comparison(STRING);
        cursor.next_is(opcode::IFEQ);
        cursor.next();
        cursor.next_is_local(opcode::ISTORE, NUMBER);
        let Some(at) = cursor.at() else {
            return false;
        };
        if at + 1 == default {
            break;
        }
        cursor.next_is(opcode::GOTO);
        if cursor.at().and_then(|at| context.nodes.jump_label(at)) != Some(default) {
            return false;
        }
    }
    cursor.next_is_local(opcode::ILOAD, NUMBER);
    cursor.next_is_switch();
    cursor.is_met()
}

/// Returns the fourth node before this one, not counting labels.
fn four_back(context: &FilterContext<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    for _ in 0..4 {
        at = at.checked_sub(1)?;
        while context.nodes.get(at)? == Node::Label {
            at = at.checked_sub(1)?;
        }
    }
    Some(at)
}
