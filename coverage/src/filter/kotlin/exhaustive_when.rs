//! The default branch of an exhaustive `when` without `else`, and the number -1 for a null enum constant.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::exhaustive_switch::without_default;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    for (at, _) in context.nodes.iter() {
        if let Some((default, cases)) = context.nodes.switch_labels(at)
            && let Some(index) = context.nodes.instruction_index(at)
        {
            ignore_null_number(context, at, output);
            if let Some(end) = end_of_throw(context, default) {
                output.ignore(context.nodes, default, end);
                output.replace(index, without_default(index, default, &cases));
            }
        }
        if context.nodes.opcode(at) == Some(opcode::IFEQ)
            && let Some(label) = context.nodes.jump_label(at)
            && let Some(end) = end_of_throw(context, label)
        {
            output.ignore(context.nodes, at, at);
            output.ignore(context.nodes, label, end);
        }
    }
}

fn end_of_throw(context: &FilterContext<'_>, label: usize) -> Option<usize> {
    const NAME: &str = "kotlin/NoWhenBranchMatchedException";
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(label));
    cursor.next_is_type(opcode::NEW, NAME);
    cursor.next_is(opcode::DUP);
    cursor.next_is_member(opcode::INVOKESPECIAL, NAME, "<init>", "()V");
    cursor.next_is(opcode::ATHROW);
    cursor.at()
}

/// Leaves out the code that finds the number of the enum constant before the switch at `switch`.
fn ignore_null_number(context: &FilterContext<'_>, switch: usize, output: &mut FilterOutput) {
    const LENGTH: usize = 9;
    const NOT_NULL: (&str, u32) = ("not null", 0);
    const FOUND: (&str, u32) = ("found", 0);
    let nodes = context.nodes;
    let mut start = switch;
    for _ in 0..=LENGTH {
        let Some(previous) = nodes.previous_instruction(start) else {
            return;
        };
        start = previous;
    }
    let mut cursor = Cursor::new(nodes);
    cursor.go_to(Some(start));
    cursor.next_is(opcode::DUP);
    let Some(first) = cursor.at() else {
        return;
    };
    cursor.next_is_jump(opcode::IFNONNULL, NOT_NULL);
    cursor.next_is(opcode::POP);
    cursor.next_is(opcode::ICONST_M1);
    cursor.next_is_jump(opcode::GOTO, FOUND);
    cursor.next_is(opcode::GETSTATIC);
    cursor.next_is(opcode::SWAP);
    cursor.next_is(opcode::INVOKEVIRTUAL);
    cursor.next_is(opcode::IALOAD);
    if let Some(end) = cursor.at() {
        output.ignore(nodes, first, end);
    }
}
