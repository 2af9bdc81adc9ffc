//! The copies of a `finally` block (JVMS 3.13): coverage of one copy counts for all.

use std::ops::Range;

use jvms::opcode;

use super::context::FilterContext;
use super::nodes::{Node, Nodes};
use super::output::FilterOutput;
use crate::class::{Handler, Operand};

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    for handler in context.code.handlers {
        if handler.catch_type.is_none() {
            Block::of(context, handler, output);
        }
    }
}

/// The copy of the block in a catch-all handler.
struct Block<'a, 's> {
    nodes: &'s Nodes<'a>,
    output: &'s mut FilterOutput,
    /// The store of the exception; the block follows it.
    start: usize,
    /// Number of instructions of the block.
    size: usize,
    /// The ranges of the handler, in nodes.
    inside: Vec<Range<usize>>,
}

impl<'a, 's> Block<'a, 's> {
    fn of(
        context: &'s FilterContext<'a>,
        handler: &Handler<'_>,
        output: &'s mut FilterOutput,
    ) -> Option<()> {
        let nodes = context.nodes;
        let start = nodes.next_instruction(nodes.label(handler.target)?)?;
        let size = size(nodes, start).filter(|&size| size > 0)?;
        let handlers = context.code.handlers;
        let ranges = handlers
            .iter()
            .filter(|other| other.target == handler.target);
        let inside = ranges.filter_map(|range| nodes_of(nodes, range)).collect();
        let mut block = Self {
            nodes,
            output,
            start,
            size,
            inside,
        };
        for other in handlers {
            if other.target == handler.target {
                block.leave_range(other);
            }
            if !std::ptr::eq(other, handler)
                && other.start == handler.start
                && other.end == handler.end
            {
                block.leave_catch(other);
            }
        }
        Some(())
    }

    /// Merges the copies at the exits of a range: jumps and its end.
    fn leave_range(&mut self, range: &Handler<'_>) -> Option<()> {
        let mut falls_through = false;
        let nodes = self.nodes;
        for at in nodes_of(nodes, range)? {
            let Some(opcode) = nodes.opcode(at) else {
                continue;
            };
            if let Some(Operand::Target(_)) = nodes.instruction(at).map(|at| &at.operand) {
                let target = nodes
                    .jump_label(at)
                    .and_then(|label| nodes.next_instruction(label));
                self.merge_outside(target);
                falls_through = opcode != opcode::GOTO;
            } else {
                falls_through =
                    !matches!(opcode, opcode::IRETURN..=opcode::RETURN | opcode::ATHROW);
            }
        }
        let end = end_of(nodes, range)?;
        if falls_through {
            self.merge_outside(nodes.skip_to_instruction(end));
        }
        Some(())
    }

    /// Merges the copy after a `catch` without statements.
    fn leave_catch(&mut self, catch: &Handler<'_>) -> Option<()> {
        let store = self
            .nodes
            .next_instruction(self.nodes.label(catch.target)?)?;
        self.merge_outside(self.nodes.next_instruction(store));
        Some(())
    }

    fn merge_outside(&mut self, at: Option<usize>) {
        let is_inside = |at| self.inside.iter().any(|range| range.contains(&at));
        if !at.is_some_and(is_inside) && self.is_copy(at) {
            self.merge(at);
        }
    }

    fn is_copy(&self, mut copy: Option<usize>) -> bool {
        let mut own = self.nodes.next_instruction(self.start);
        for _ in 0..self.size {
            let (Some(left), Some(right)) = (own, copy) else {
                return false;
            };
            if self.nodes.opcode(left) != self.nodes.opcode(right) {
                return false;
            }
            own = self.nodes.next_instruction(left);
            copy = self.nodes.next_instruction(right);
        }
        true
    }

    fn merge(&mut self, mut copy: Option<usize>) {
        let nodes = self.nodes;
        self.output.ignore(nodes, self.start, self.start);
        let mut own = nodes.next_instruction(self.start);
        for _ in 0..self.size {
            if let (Some(left), Some(right)) = (own, copy) {
                if let (Some(of), Some(copy)) = (
                    nodes.instruction_index(left),
                    nodes.instruction_index(right),
                ) {
                    self.output.merge(of, copy);
                }
                own = nodes.next_instruction(left);
                copy = nodes.next_instruction(right);
            }
        }
        if let Some(load) = own {
            let throw = nodes.next_instruction(load).unwrap_or(load);
            self.output.ignore(nodes, load, throw);
        }
        if let Some(end) = copy.filter(|&end| nodes.opcode(end) == Some(opcode::GOTO)) {
            self.output.ignore(nodes, end, end);
        }
    }
}

/// Returns the number of instructions between the store of the exception at `start` and its load before the `athrow`.
fn size(nodes: &Nodes<'_>, start: usize) -> Option<usize> {
    if nodes.opcode(start)? != opcode::ASTORE {
        return None;
    }
    let exception = &nodes.instruction(start)?.operand;
    let mut at = start;
    let mut size = 0;
    loop {
        at = nodes.next_instruction(at)?;
        if nodes.opcode(at) == Some(opcode::ALOAD)
            && nodes.instruction(at).map(|at| &at.operand) == Some(exception)
        {
            break;
        }
        size += 1;
    }
    let throw = nodes.next_instruction(at)?;
    (nodes.opcode(throw) == Some(opcode::ATHROW)).then_some(size)
}

fn nodes_of(nodes: &Nodes<'_>, range: &Handler<'_>) -> Option<Range<usize>> {
    Some(nodes.label(range.start)?..end_of(nodes, range)?)
}

/// Returns the label at the end of a range; the end of the code has none.
fn end_of(nodes: &Nodes<'_>, range: &Handler<'_>) -> Option<usize> {
    match nodes.label(range.end) {
        Some(end) => Some(end),
        None => {
            let last = nodes.len().checked_sub(1)?;
            let Node::Instruction(_) = nodes.get(last)? else {
                return None;
            };
            (nodes.instruction(last)?.bci < range.end).then_some(nodes.len())
        }
    }
}
