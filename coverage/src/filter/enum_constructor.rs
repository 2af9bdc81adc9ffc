//! The constructor of an enum that only passes on name and ordinal.

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::output::FilterOutput;

const DESCRIPTOR: &str = "(Ljava/lang/String;I)V";

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.is_super("java/lang/Enum") && context.is("<init>", DESCRIPTOR) && is_empty(context) {
        context.ignore_all(output);
    }
}

fn is_empty(context: &FilterContext<'_>) -> bool {
    let mut cursor = Cursor::at_this(context.nodes);
    cursor.next_is(opcode::ALOAD);
    cursor.next_is(opcode::ILOAD);
    cursor.next_is_member(
        opcode::INVOKESPECIAL,
        "java/lang/Enum",
        "<init>",
        DESCRIPTOR,
    );
    cursor.next_is(opcode::RETURN);
    cursor.is_met()
}
