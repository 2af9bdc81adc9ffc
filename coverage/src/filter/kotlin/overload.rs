//! The overloads made for `@JvmOverloads`: they call the function that fills in default arguments.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.is_annotated("Lkotlin/jvm/JvmOverloads;") && calls_with_defaults(context) {
        context.ignore_all(output);
    }
}

/// The call of the function with all parameters is the last thing that the method does.
fn calls_with_defaults(context: &FilterContext<'_>) -> bool {
    let (nodes, method) = (context.nodes, context.method);
    let call = nodes
        .previous_instruction(nodes.len())
        .and_then(|leave| nodes.previous_instruction(leave));
    let Some((at, called)) = call.and_then(|at| Some((at, nodes.member(at)?))) else {
        return false;
    };
    match nodes.opcode(at) {
        Some(opcode::INVOKESTATIC) => {
            called.name.strip_suffix("$default") == Some(method.name.as_str())
        }
        Some(opcode::INVOKESPECIAL) => {
            method.name == "<init>"
                && called.name == "<init>"
                && called.owner == context.class.name
                && called
                    .descriptor
                    .ends_with("Lkotlin/jvm/internal/DefaultConstructorMarker;)V")
        }
        _ => false,
    }
}
