//! The private constructor of a utility class.

use jvms::access_flags::ACC_PRIVATE;
use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::output::FilterOutput;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let private = context.method.access_flags & ACC_PRIVATE != 0;
    if private && context.is("<init>", "()V") && is_empty(context) {
        context.ignore_all(output);
    }
}

fn is_empty(context: &FilterContext<'_>) -> bool {
    let Some(super_name) = context.class.super_name else {
        return false;
    };
    let mut cursor = Cursor::at_this(context.nodes);
    cursor.next_is_member(opcode::INVOKESPECIAL, super_name, "<init>", "()V");
    cursor.next_is(opcode::RETURN);
    cursor.is_met()
}
