//! The null check of `!!` as Kotlin before 1.4 compiles it.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;
use super::INTRINSICS;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        if nodes.opcode(at) != Some(opcode::IFNONNULL) {
            continue;
        }
        let mut cursor = Cursor::new(nodes);
        cursor.go_to(Some(at));
        cursor.next_is_member(opcode::INVOKESTATIC, INTRINSICS, "throwNpe", "()V");
        if let Some(end) = cursor.at() {
            output.ignore(nodes, at, end);
        }
    }
}
