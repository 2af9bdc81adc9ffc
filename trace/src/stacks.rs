//! Call stacks with their times: a tree with shared callers.

mod walk;

use std::collections::HashMap;
use std::io::{self, Write};

use crate::numbers::{counted, thousands};

pub use walk::Walk;

/// Default for the maximum number of frames of a stack.
pub const DEPTH: usize = 1_024;
/// Maximum number of nodes of a tree: some 80 MB.
const MAX_NODES: usize = 1 << 20;
/// The name of the frame that represents all deeper ones.
const DEEPER: u32 = u32::MAX;

/// The depth of stacks, and the form of recursion in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Maximum number of frames of a stack. One frame represents all deeper ones and names their number.
    pub depth: usize,
    /// Merges a recursive call into the frame of its method on the stack, instead of adding a frame.
    pub fold_recursion: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            depth: DEPTH,
            fold_recursion: false,
        }
    }
}

/// One side of a comparison of two recordings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Side {
    /// The recording to compare with.
    Before,
    /// The recording that is shown.
    #[default]
    After,
}

/// A tree of methods below their callers.
#[derive(Debug, Default)]
pub struct Stacks {
    shape: Shape,
    names: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    /// A caller precedes its callees.
    nodes: Vec<Node>,
    children: HashMap<(Option<u32>, u32), u32>,
    /// Calls below the deepest frames, by the node of the representing frame.
    deeper: HashMap<u32, Deeper>,
    /// Number of frames left out because the tree is full; their time counts for their callers.
    left_out: u64,
}

#[derive(Debug)]
struct Node {
    caller: Option<u32>,
    name: u32,
    /// Number of frames up to and including this one.
    depth: usize,
    /// Self number of the method, of each [`Side`].
    own: [u64; 2],
}

/// Too deep calls that one frame represents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Deeper {
    calls: u64,
    /// The depth of the deepest call.
    deepest: usize,
}

impl Stacks {
    /// Creates a tree without stacks.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            ..Self::default()
        }
    }

    /// Returns the number of a name.
    pub fn name(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(DEEPER - 1);
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    /// Returns the node of a call below its caller's node. The call is `depth` frames deep, itself included.
    pub fn below(&mut self, caller: Option<u32>, name: u32, depth: usize) -> u32 {
        if let Some(caller) = caller {
            if self.nodes[caller as usize].name == DEEPER {
                return self.deepen(caller, depth);
            }
            if self.shape.fold_recursion
                && let Some(same) = self.on_stack(caller, name)
            {
                return same;
            }
            if self.nodes[caller as usize].depth >= self.shape.depth {
                let node = self.child(Some(caller), DEEPER);
                return self.deepen(node, depth);
            }
        }
        self.child(caller, name)
    }

    /// Counts a call for the frame that represents deeper calls.
    fn deepen(&mut self, node: u32, depth: usize) -> u32 {
        if self.nodes[node as usize].name == DEEPER {
            let deeper = self.deeper.entry(node).or_default();
            deeper.calls += 1;
            deeper.deepest = deeper.deepest.max(depth);
        }
        node
    }

    /// Returns the innermost node of this name from `node` outwards.
    fn on_stack(&self, node: u32, name: u32) -> Option<u32> {
        let mut on_stack = std::iter::successors(Some(node), |node| self.caller(*node));
        on_stack.find(|node| self.nodes[*node as usize].name == name)
    }

    fn caller(&self, node: u32) -> Option<u32> {
        self.nodes[node as usize].caller
    }

    fn child(&mut self, caller: Option<u32>, name: u32) -> u32 {
        if let Some(node) = self.children.get(&(caller, name)) {
            return *node;
        }
        if let Some(caller) = caller
            && self.nodes.len() >= MAX_NODES
        {
            self.left_out += 1;
            return caller;
        }
        let depth = caller.map_or(0, |caller| self.nodes[caller as usize].depth);
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            caller,
            name,
            depth: depth + 1,
            own: [0; 2],
        });
        self.children.insert((caller, name), node);
        node
    }

    /// Adds to a node's self number.
    pub fn add(&mut self, node: u32, side: Side, number: u64) {
        let own = &mut self.nodes[node as usize].own[side as usize];
        *own = own.saturating_add(number);
    }

    /// Subtracts from a node's self number.
    fn take(&mut self, node: u32, side: Side, number: u64) {
        let own = &mut self.nodes[node as usize].own[side as usize];
        *own = own.saturating_sub(number);
    }

    /// Scales the numbers of [`Side::Before`] so that both sides have the same sum.
    pub fn normalize(&mut self) {
        let sum = |side: usize| {
            let own = self.nodes.iter().map(|node| u128::from(node.own[side]));
            own.sum::<u128>()
        };
        let (before, after) = (sum(0), sum(1));
        if before == 0 || after == 0 {
            return;
        }
        for node in &mut self.nodes {
            let scaled = u128::from(node.own[0]) * after / before;
            node.own[0] = u64::try_from(scaled).unwrap_or(u64::MAX);
        }
    }

    /// Checks whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.iter().all(|node| node.own == [0; 2])
    }

    /// Describes the missing frames; `None` if the tree is complete.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "{} left out: there are more than {} different stacks",
                counted(self.left_out, "frame"),
                thousands(MAX_NODES as u64)
            )
        })
    }

    /// Returns the name of a node.
    fn shown(&self, node: u32) -> String {
        let name = self.nodes[node as usize].name;
        if name != DEEPER {
            let name = self.names.get(name as usize);
            return name.map_or_else(String::new, |name| name.to_string());
        }
        let deeper = self.deeper.get(&node).copied().unwrap_or_default();
        format!(
            "({} deeper than {} frames, up to {})",
            counted(deeper.calls, "call"),
            thousands(self.shape.depth as u64),
            thousands(deeper.deepest as u64)
        )
    }

    /// Returns the sums of each node and its descendants, for both sides.
    pub(crate) fn totals(&self) -> Vec<[u64; 2]> {
        let mut totals: Vec<[u64; 2]> = self.nodes.iter().map(|node| node.own).collect();
        for node in (0..totals.len()).rev() {
            if let Some(caller) = self.nodes[node].caller {
                let [before, after] = totals[node];
                let sums = &mut totals[caller as usize];
                sums[0] = sums[0].saturating_add(before);
                sums[1] = sums[1].saturating_add(after);
            }
        }
        totals
    }

    /// Returns the total, the larger one of both sides.
    pub(crate) fn whole(&self, totals: &[[u64; 2]]) -> u64 {
        let roots = totals.iter().zip(&self.nodes);
        let roots = roots.filter(|(_, node)| node.caller.is_none());
        let [before, after] = roots.fold([0_u64; 2], |[before, after], (total, _)| {
            [
                before.saturating_add(total[0]),
                after.saturating_add(total[1]),
            ]
        });
        before.max(after)
    }

    /// Passes on each stack with the self numbers of its innermost method, ordered by name. Nodes with `totals` below
    /// `least` are merged into their callers.
    ///
    /// # Errors
    /// Errors of `take`.
    pub(crate) fn each(
        &self,
        totals: &[[u64; 2]],
        least: u64,
        take: &mut dyn FnMut(&str, [u64; 2]) -> io::Result<()>,
    ) -> io::Result<()> {
        let is_shown = |node: &u32| {
            totals[*node as usize]
                .iter()
                .any(|total| *total >= least.max(1))
        };
        let mut below: HashMap<Option<u32>, Vec<u32>> = HashMap::new();
        for node in (0..self.nodes.len() as u32).filter(is_shown) {
            below.entry(self.caller(node)).or_default().push(node);
        }
        for nodes in below.values_mut() {
            nodes.sort_by_cached_key(|node| std::cmp::Reverse(self.shown(*node)));
        }
        let mut path = String::new();
        // Nodes to visit, with the length of their callers' path.
        let roots = below.remove(&None).unwrap_or_default();
        let mut next: Vec<(u32, usize)> = roots.into_iter().map(|node| (node, 0)).collect();
        while let Some((node, length)) = next.pop() {
            path.truncate(length);
            if length > 0 {
                path.push(';');
            }
            path.push_str(&self.shown(node));
            let called = below.remove(&Some(node)).unwrap_or_default();
            let mut own = totals[node as usize];
            for below in &called {
                let total = totals[*below as usize];
                own = [own[0] - total[0].min(own[0]), own[1] - total[1].min(own[1])];
            }
            if own != [0; 2] {
                take(&path, own)?;
            }
            next.extend(called.into_iter().map(|below| (below, path.len())));
        }
        Ok(())
    }

    /// Writes `caller;callee number`, one line for each stack, ordered by name: the format of `flamegraph.pl` and
    /// compatible tools.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_folded(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        self.each(&self.totals(), 1, &mut |path, [_, after]| match after {
            0 => Ok(()),
            after => writeln!(out, "{path} {after}"),
        })
    }

    /// Writes `caller;callee before after`: the format of `difffolded.pl`.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_difference(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        self.each(&self.totals(), 1, &mut |path, [before, after]| {
            writeln!(out, "{path} {before} {after}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::text;

    /// Creates a tree in which `a` and `b` call one another `depth` frames deep, one nanosecond each.
    fn recursive(depth: usize, shape: Shape) -> Stacks {
        let mut stacks = Stacks::new(shape);
        let names = ["a", "b"].map(|name| stacks.name(name));
        let mut node = None;
        for frame in 0..depth {
            let below = stacks.below(node, names[frame % 2], frame + 1);
            stacks.add(below, Side::After, 1);
            node = Some(below);
        }
        stacks
    }

    fn folded(stacks: &Stacks) -> String {
        text(|out| stacks.write_folded(out))
    }

    #[test]
    fn frames_beyond_the_depth_limit_are_one_frame() {
        let shape = Shape {
            depth: 3,
            ..Shape::default()
        };
        let expected = "a 1\na;b 1\na;b;a 1\na;b;a;(7 calls deeper than 3 frames, up to 10) 7\n";
        assert_eq!(folded(&recursive(10, shape)), expected);
        assert_eq!(folded(&recursive(3, shape)), "a 1\na;b 1\na;b;a 1\n");
    }

    #[test]
    fn recursion_is_folded_into_existing_frames() {
        let shape = Shape {
            depth: 3,
            fold_recursion: true,
        };
        assert_eq!(folded(&recursive(10, shape)), "a 5\na;b 5\n");
    }

    /// The output grows with the depth limit, not with the depth.
    #[test]
    fn deep_recursion_takes_little_memory() {
        let stacks = recursive(1_000_000, Shape::default());
        let text = folded(&stacks);
        assert_eq!(text.lines().count(), DEPTH + 1);
        assert!(text.len() < 2 * DEPTH * DEPTH, "{}", text.len());
        assert!(stacks.nodes.len() == DEPTH + 1 && stacks.left_out().is_none());
        let expected = "(998,976 calls deeper than 1,024 frames, up to 1,000,000) 998976\n";
        assert!(text.ends_with(expected));
    }

    #[test]
    fn both_sides_of_a_difference_have_their_numbers() {
        let mut stacks = Stacks::default();
        let [a, b, c] = ["a", "b", "c"].map(|name| stacks.name(name));
        let outer = stacks.below(None, a, 1);
        let (old, new) = (
            stacks.below(Some(outer), b, 2),
            stacks.below(Some(outer), c, 2),
        );
        stacks.add(outer, Side::Before, 10);
        stacks.add(outer, Side::After, 30);
        stacks.add(old, Side::Before, 5);
        stacks.add(new, Side::After, 15);
        assert_eq!(
            text(|out| stacks.write_difference(out)),
            "a 10 30\na;b 5 0\na;c 0 15\n"
        );
        assert_eq!(folded(&stacks), "a 30\na;c 15\n");
        stacks.normalize();
        assert_eq!(
            text(|out| stacks.write_difference(out)),
            "a 30 30\na;b 15 0\na;c 0 15\n"
        );
    }

    #[test]
    fn too_narrow_frames_count_for_their_callers() {
        let mut stacks = Stacks::default();
        let [a, b] = ["a", "b"].map(|name| stacks.name(name));
        let outer = stacks.below(None, a, 1);
        let inner = stacks.below(Some(outer), b, 2);
        stacks.add(outer, Side::After, 100);
        stacks.add(inner, Side::After, 3);
        let mut lines = Vec::new();
        let totals = stacks.totals();
        let mut take = |path: &str, own: [u64; 2]| {
            lines.push((path.to_owned(), own[1]));
            Ok(())
        };
        stacks.each(&totals, 4, &mut take).unwrap();
        assert_eq!(lines, [("a".to_owned(), 103)]);
    }
}
