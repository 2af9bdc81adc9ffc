//! Who called whom for how long.

use std::collections::HashMap;
use std::io::{self, Write};

use probes::events::{Call, Trace};

use crate::names::Names;

/// A tree of methods below those that called them.
#[derive(Debug, Default)]
pub struct Stacks {
    nodes: Vec<Node>,
    by_name: HashMap<(Option<usize>, String), usize>,
}

#[derive(Debug)]
struct Node {
    caller: Option<usize>,
    name: String,
    /// Nanoseconds in the method itself.
    own: u64,
}

/// A call that has not ended where the walk is.
struct Open<'t> {
    call: &'t Call,
    node: usize,
    /// Nanoseconds in calls below it.
    below: u64,
}

impl Stacks {
    /// The stacks of all threads of all traces together.
    #[must_use]
    pub fn of(traces: &[Trace]) -> Self {
        let names = Names::of(traces);
        let mut stacks = Self::default();
        for trace in traces {
            let by_span: HashMap<u32, String> = (trace.spans.values())
                .map(|span| (span.id, names.get(span)))
                .collect();
            for calls in trace.calls.chunk_by(|one, next| one.thread == next.thread) {
                stacks.add(calls, &by_span);
            }
        }
        stacks
    }

    /// The calls of one thread by their start.
    fn add(&mut self, calls: &[Call], names: &HashMap<u32, String>) {
        let mut open: Vec<Open<'_>> = Vec::new();
        for call in calls {
            while open.last().is_some_and(|last| last.call.end < call.start) {
                self.leave(&mut open);
            }
            let name = names.get(&call.span).map_or("(unknown)", String::as_str);
            let node = self.node(open.last().map(|caller| caller.node), name);
            open.push(Open {
                call,
                node,
                below: 0,
            });
        }
        while !open.is_empty() {
            self.leave(&mut open);
        }
    }

    fn leave(&mut self, open: &mut Vec<Open<'_>>) {
        let Some(ended) = open.pop() else {
            return;
        };
        let duration = ended.call.end.saturating_sub(ended.call.start);
        self.nodes[ended.node].own += duration.saturating_sub(ended.below);
        if let Some(caller) = open.last_mut() {
            caller.below += duration;
        }
    }

    fn node(&mut self, caller: Option<usize>, name: &str) -> usize {
        let next = self.nodes.len();
        let node = *self
            .by_name
            .entry((caller, name.to_owned()))
            .or_insert(next);
        if node == next {
            self.nodes.push(Node {
                caller,
                name: name.to_owned(),
                own: 0,
            });
        }
        node
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// `caller;callee nanoseconds`, one line per stack in the order of the text, time of the innermost method itself.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = (self.nodes.iter())
            .filter(|node| node.own > 0)
            .map(|node| format!("{} {}", self.path(node), node.own))
            .collect();
        lines.sort_unstable();
        lines
    }

    fn path(&self, node: &Node) -> String {
        let mut names = vec![node.name.as_str()];
        let mut caller = node.caller;
        while let Some(above) = caller {
            names.push(&self.nodes[above].name);
            caller = self.nodes[above].caller;
        }
        names.reverse();
        names.join(";")
    }

    /// Writes [`Stacks::lines`]: the format of `flamegraph.pl` and its kin.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_folded(&self, out: &mut impl Write) -> io::Result<()> {
        self.lines()
            .iter()
            .try_for_each(|line| writeln!(out, "{line}"))
    }
}
