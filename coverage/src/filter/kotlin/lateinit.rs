//! The check that a `lateinit` property or variable has a value.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;
use super::INTRINSICS;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        let Some(label) = nodes.jump_label(at) else {
            continue;
        };
        match nodes.opcode(at) {
            Some(opcode::IFNONNULL) if failure(context, at).is_met() && label > at => {
                output.ignore(nodes, at, label);
            }
            Some(opcode::IFNULL) => ignore_at_end(context, at, label, output),
            _ => {}
        }
    }
}

/// Handles a getter, which throws after its `areturn`.
fn ignore_at_end(
    context: &FilterContext<'_>,
    jump: usize,
    label: usize,
    output: &mut FilterOutput,
) {
    let nodes = context.nodes;
    let mut cursor = failure(context, label);
    cursor.next();
    cursor.keep_opcode(|opcode| matches!(opcode, opcode::ACONST_NULL | opcode::GETSTATIC));
    cursor.next_is(opcode::ARETURN);
    if let Some(end) = cursor.at() {
        output.ignore(nodes, jump, jump);
        output.ignore(nodes, label, end);
    }
}

/// Returns a cursor at the throwing call after `before`; the code after it exists for the verifier.
fn failure<'a>(context: &FilterContext<'a>, before: usize) -> Cursor<'a> {
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(before));
    if cursor.opcode_of_next() == Some(opcode::POP) {
        cursor.next();
    }
    cursor.next_is(opcode::LDC);
    cursor.next_is_member(
        opcode::INVOKESTATIC,
        INTRINSICS,
        "throwUninitializedPropertyAccessException",
        "(Ljava/lang/String;)V",
    );
    cursor
}
