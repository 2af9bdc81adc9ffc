//! The static methods without parameters that are generated for `@JvmStatic` functions of a companion object.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.is_annotated("Lkotlin/jvm/JvmStatic;") && is_delegate(context) {
        context.ignore_all(output);
    }
}

fn is_delegate(context: &FilterContext<'_>) -> bool {
    let mut cursor = Cursor::at_first(context.nodes);
    cursor.keep_opcode(|opcode| opcode == opcode::GETSTATIC);
    let companion = cursor
        .member()
        .is_some_and(|field| field.name == "Companion");
    cursor.next();
    cursor.keep_opcode(|opcode| matches!(opcode, opcode::INVOKEVIRTUAL | opcode::INVOKESTATIC));
    cursor.next();
    cursor.keep_opcode(|opcode| matches!(opcode, opcode::IRETURN..=opcode::RETURN));
    companion && cursor.is_met()
}
