//! The null check of `as` as Kotlin before 1.4 compiles it.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;

const EXCEPTIONS: [&str; 2] = ["kotlin/TypeCastException", "java/lang/NullPointerException"];

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        if nodes.opcode(at) == Some(opcode::IFNONNULL)
            && let Some(end) = EXCEPTIONS
                .iter()
                .find_map(|exception| end_of_throw(context, at, exception))
        {
            output.ignore(nodes, at, end);
        }
    }
}

fn end_of_throw(context: &FilterContext<'_>, jump: usize, exception: &str) -> Option<usize> {
    let nodes = context.nodes;
    let mut cursor = Cursor::new(nodes);
    cursor.go_to(Some(jump));
    cursor.next_is_throw(exception, "null cannot be cast to non-null type");
    let end = cursor.at()?;
    let target = nodes.skip_to_instruction(nodes.jump_label(jump)?);
    (nodes.next_instruction(end) == target).then_some(end)
}
