//! `$assertionsDisabled` (JLS 14.10).

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::output::FilterOutput;

const FIELD: &str = "$assertionsDisabled";

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    if context.method.name == "<clinit>" && nodes.has(opcode::PUTSTATIC) {
        for (node, _) in nodes.iter() {
            ignore_initialisation(context, node, output);
        }
    }
    if nodes.has(opcode::GETSTATIC) {
        let reads = |node: &usize| nodes.opcode(*node) == Some(opcode::GETSTATIC);
        for node in (1..nodes.len()).filter(reads) {
            ignore_test(context, node - 1, output);
        }
    }
}

/// Leaves out the initialisation; `node` is the instruction before the call.
fn ignore_initialisation(context: &FilterContext<'_>, node: usize, output: &mut FilterOutput) {
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(node));
    cursor.next_is_member(
        opcode::INVOKEVIRTUAL,
        "java/lang/Class",
        "desiredAssertionStatus",
        "()Z",
    );
    cursor.next_is(opcode::IFNE);
    cursor.next_is(opcode::ICONST_1);
    cursor.next_is(opcode::GOTO);
    cursor.next_is(opcode::ICONST_0);
    cursor.next_is_member(opcode::PUTSTATIC, context.class.name, FIELD, "Z");
    if let Some(end) = cursor.at() {
        output.ignore(context.nodes, node, end);
    }
}

fn ignore_test(context: &FilterContext<'_>, node: usize, output: &mut FilterOutput) {
    let mut cursor = Cursor::new(context.nodes);
    cursor.go_to(Some(node));
    cursor.next_is_member(opcode::GETSTATIC, context.class.name, FIELD, "Z");
    cursor.next_is(opcode::IFNE);
    if let Some(jump) = cursor.at() {
        output.ignore(context.nodes, jump, jump);
    }
}
