//! Call stacks as a tree. Stacks share the nodes of their common callers.

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Maximum number of nodes in a tree; a stack that needs more is cut.
const MOST_NODES: usize = 1 << 20;

/// A frame: a line of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// The internal name of the class; empty if the class has been unloaded.
    pub class: String,
    /// The method.
    pub method: String,
    /// Its descriptor (JVMS 4.3.3).
    pub descriptor: String,
    /// The source file, or an empty text if the class has no `SourceFile` attribute.
    pub file: String,
    /// The line, or [`NATIVE`] or [`UNKNOWN`].
    pub line: i32,
}

/// The line of a frame of a native method.
pub const NATIVE: i32 = -2;
/// The line of a frame whose class has no line numbers.
pub const UNKNOWN: i32 = -1;

/// A frame of a stack with its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Node {
    /// The node of the caller, or `None` for the outermost known frame.
    pub caller: Option<u32>,
    /// The index of the frame in [`Stacks::frames`].
    pub frame: u32,
}

/// The stacks of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stacks {
    /// The distinct frames.
    pub frames: Vec<Frame>,
    /// The tree. A caller's node has a lower index than its callees.
    pub nodes: Vec<Node>,
    /// Number of stacks that were cut because the tree was full.
    pub cut: u64,
}

/// Adds stacks to one tree.
#[derive(Debug, Default)]
pub struct StackBuilder {
    frames: HashMap<Frame, u32>,
    /// Nodes by caller and frame. Bytecode indices of the same line share a frame.
    nodes: HashMap<Node, u32, FxBuildHasher>,
}

impl StackBuilder {
    /// Returns the index of a frame, and adds the frame if it is new. Bytecode indices of the same
    /// line share a frame.
    pub fn frame(&mut self, stacks: &mut Stacks, frame: Frame) -> u32 {
        let frames = &mut stacks.frames;
        *self.frames.entry(frame).or_insert_with_key(|frame| {
            frames.push(frame.clone());
            index(frames.len() - 1)
        })
    }

    /// Returns the node of a frame below its caller's node, or `None` if the tree is full.
    pub fn below(&mut self, stacks: &mut Stacks, caller: Option<u32>, frame: u32) -> Option<u32> {
        let node = Node { caller, frame };
        let known = self.nodes.get(&node).copied();
        known.or_else(|| self.add(stacks, node))
    }

    fn add(&mut self, stacks: &mut Stacks, node: Node) -> Option<u32> {
        if stacks.nodes.len() >= MOST_NODES {
            return None;
        }
        stacks.nodes.push(node);
        let added = index(stacks.nodes.len() - 1);
        self.nodes.insert(node, added);
        Some(added)
    }
}

impl Stacks {
    /// Iterates over the frames of a stack, the innermost first. The iteration ends at a node that
    /// a damaged file does not hold.
    pub fn path(&self, node: Option<u32>) -> impl Iterator<Item = &Frame> {
        self.nodes_of(node)
            .filter_map(|node| self.frames.get(self.nodes[node as usize].frame as usize))
    }

    /// Iterates over the nodes of a stack, the innermost first.
    pub fn nodes_of(&self, node: Option<u32>) -> impl Iterator<Item = u32> {
        let there = |node: &u32| (*node as usize) < self.nodes.len();
        std::iter::successors(node.filter(there), move |node| {
            // A caller has a lower index, so a damaged file cannot cause an endless loop.
            let caller = self.nodes[*node as usize].caller;
            caller.filter(|caller| caller < node)
        })
    }

    /// Returns the innermost frame of a stack.
    #[must_use]
    pub fn innermost(&self, node: Option<u32>) -> Option<&Frame> {
        self.path(node).next()
    }
}

fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(method: &str) -> Frame {
        Frame {
            method: method.to_owned(),
            ..Frame::default()
        }
    }

    #[test]
    fn stacks_share_their_callers() {
        let (mut builder, mut stacks) = (StackBuilder::default(), Stacks::default());
        let mut frame = |name| builder.frame(&mut stacks, frame(name));
        let [main, a, b] = ["main", "a", "b"].map(&mut frame);
        assert_eq!(frame("a"), a);
        let mut below = |caller, frame| builder.below(&mut stacks, caller, frame);
        let outer = below(None, main);
        let one = below(outer, a);
        let two = below(one, b);
        assert_eq!(below(outer, a), one);
        assert_eq!(stacks.nodes.len(), 3);
        let names = |node| stacks.path(node).map(|frame| frame.method.as_str());
        assert_eq!(names(two).collect::<Vec<_>>(), ["b", "a", "main"]);
    }

    #[test]
    fn damaged_tree_has_no_cycle() {
        let node = |caller| Node { caller, frame: 9 };
        let stacks = Stacks {
            nodes: vec![node(Some(1)), node(Some(0)), node(Some(7))],
            ..Stacks::default()
        };
        for start in 0..4 {
            assert!(stacks.nodes_of(Some(start)).count() <= 3);
            assert_eq!(stacks.path(Some(start)).count(), 0);
        }
    }
}
