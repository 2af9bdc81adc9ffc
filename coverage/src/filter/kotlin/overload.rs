//! The `void` overloads generated for `@JvmOverloads`, such as constructors: their only line starts at the `return`,
//! after the call that fills in default arguments.
//!
//! Other overloads have no lines, or a line that starts at the return of a value, which counts.

use jvms::opcode;

use super::super::context::FilterContext;
use super::super::nodes::{Node, Nodes};
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if is_overload(context.nodes).unwrap_or(false) {
        context.ignore_all(output);
    }
}

fn is_overload(nodes: &Nodes<'_>) -> Option<bool> {
    let leave = nodes.previous_instruction(nodes.len())?;
    let (line, label) = (leave.checked_sub(1)?, leave.checked_sub(2)?);
    let call = leave.checked_sub(3)?;
    let is_line = |node: Option<Node>| matches!(node, Some(Node::Line(_)));
    let begins_a_line = is_line(nodes.get(line)) && nodes.get(label) == Some(Node::Label);
    let has_others = nodes.iter().take(call).any(|(_, node)| is_line(Some(node)));
    Some(
        nodes.opcode(leave) == Some(opcode::RETURN)
            && begins_a_line
            && !has_others
            && fills_in_defaults(nodes, call)?,
    )
}

fn fills_in_defaults(nodes: &Nodes<'_>, call: usize) -> Option<bool> {
    let called = nodes.member(call)?;
    Some(match nodes.opcode(call)? {
        opcode::INVOKESTATIC => called.name.ends_with("$default"),
        opcode::INVOKESPECIAL => called
            .descriptor
            .ends_with("Lkotlin/jvm/internal/DefaultConstructorMarker;)V"),
        _ => false,
    })
}
