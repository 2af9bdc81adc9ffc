//! Inlined instructions: their lines count in the code that declares them.

use super::super::context::FilterContext;
use super::super::nodes::Node;
use super::super::output::FilterOutput;
use crate::source_map;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let Some(first) = source_map::first_foreign_line(context.class) else {
        return;
    };
    let mut line = 0;
    for (at, node) in context.nodes.iter() {
        match node {
            Node::Line(number) => line = u32::from(number),
            Node::Instruction(_) if line >= first => output.ignore(context.nodes, at, at),
            _ => {}
        }
    }
}
