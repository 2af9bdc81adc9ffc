//! Code before the first line of a method: parameter checks, or all code of a generated method.

use super::super::context::FilterContext;
use super::super::nodes::Node;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    if context.class.source_file.is_none() {
        return; // the class has no debug information
    }
    let mut nodes = context.nodes.iter();
    match nodes.find(|(_, node)| matches!(node, Node::Line(_))) {
        Some((0, _)) => {}
        Some((first, _)) => output.ignore(context.nodes, 0, first - 1),
        None => context.ignore_all(output),
    }
}
