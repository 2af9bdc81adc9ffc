//! The overloads made for `@JvmOverloads`: they call the function that fills in default arguments.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.is_annotated("Lkotlin/jvm/JvmOverloads;") && calls_with_defaults(context) {
        context.ignore_all(output);
    }
}

fn calls_with_defaults(context: &FilterContext<'_>) -> bool {
    let method = context.method;
    context.nodes.iter().any(|(at, _)| {
        let Some(called) = context.nodes.member(at) else {
            return false;
        };
        match context.nodes.opcode(at) {
            Some(opcode::INVOKESTATIC) => {
                called.name.strip_suffix("$default") == Some(method.name.as_str())
            }
            Some(opcode::INVOKESPECIAL) => {
                called.name == "<init>"
                    && called
                        .descriptor
                        .ends_with("Lkotlin/jvm/internal/DefaultConstructorMarker;)V")
            }
            _ => false,
        }
    })
}
