//! The members of a record that the compiler generates (JLS 8.10.3).

use jvms::opcode;

use super::context::FilterContext;
use super::cursor::Cursor;
use super::output::FilterOutput;
use crate::class::Operand;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.is_super("java/lang/Record") && (is_object_method(context) || is_accessor(context)) {
        context.ignore_all(output);
    }
}

fn is_object_method(context: &FilterContext<'_>) -> bool {
    let mut cursor = Cursor::at_this(context.nodes);
    let leave = if context.is("equals", "(Ljava/lang/Object;)Z") {
        cursor.next_is(opcode::ALOAD);
        opcode::IRETURN
    } else if context.is("hashCode", "()I") {
        opcode::IRETURN
    } else if context.is("toString", "()Ljava/lang/String;") {
        opcode::ARETURN
    } else {
        return false;
    };
    cursor.next_is(opcode::INVOKEDYNAMIC);
    let made = matches!(cursor.operand(), Some(Operand::Dynamic(site))
        if site.name == context.method.name
            && site.bootstrap.owner == "java/lang/runtime/ObjectMethods"
            && site.bootstrap.name == "bootstrap");
    cursor.next_is(leave);
    made && cursor.is_met()
}

fn is_accessor(context: &FilterContext<'_>) -> bool {
    if !context.method.descriptor.starts_with("()") {
        return false;
    }
    let mut cursor = Cursor::at_this(context.nodes);
    cursor.next_is(opcode::GETFIELD);
    let same_name = cursor
        .member()
        .is_some_and(|field| field.name == context.method.name);
    cursor.next();
    same_name && matches!(cursor.opcode(), Some(opcode::IRETURN..=opcode::ARETURN))
}
