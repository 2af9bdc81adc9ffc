//! Methods that only call the body of an interface's function: in inheriting classes, and in `DefaultImpls` for code
//! compiled against older interfaces.

use jvms::access_flags::ACC_STATIC;
use jvms::opcode;

use super::super::context::FilterContext;
use super::super::cursor::Cursor;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let delegates = if context.method.access_flags & ACC_STATIC == 0 {
        calls_inherited(context)
    } else {
        calls_accessor(context)
    };
    if delegates {
        context.ignore_all(output);
    }
}

/// Only methods without parameters, as in JaCoCo.
fn calls_inherited(context: &FilterContext<'_>) -> bool {
    let mut cursor = Cursor::at_this(context.nodes);
    cursor.next_is(opcode::INVOKESTATIC);
    let inherited = cursor.member().is_some_and(|called| {
        called.owner.ends_with("$DefaultImpls") && called.name == context.method.name
    });
    cursor.next();
    cursor.keep_opcode(|opcode| matches!(opcode, opcode::IRETURN..=opcode::RETURN));
    inherited && cursor.is_met()
}

/// Checks for `access$name$jd`, the accessor of an interface's function for its compatibility method.
fn calls_accessor(context: &FilterContext<'_>) -> bool {
    let nodes = context.nodes;
    context.class.name.ends_with("$DefaultImpls")
        && nodes.iter().any(|(at, _)| {
            nodes.opcode(at) == Some(opcode::INVOKESTATIC)
                && nodes.member(at).is_some_and(|called| {
                    called.name.starts_with("access$") && called.name.ends_with("$jd")
                })
        })
}
