//! Call stacks as a tree: each frame below the one that called it, so that stacks share what they have in common.

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Most nodes of a tree; a stack that would need more ends where the room does.
const MOST_NODES: usize = 1 << 20;

/// A place in a method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// The class, by its internal name; empty where it has been unloaded.
    pub class: String,
    /// The method.
    pub method: String,
    /// Its descriptor (JVMS 4.3.3).
    pub descriptor: String,
    /// The source file; empty if the class does not say.
    pub file: String,
    /// The line, or [`NATIVE`] or [`UNKNOWN`].
    pub line: i32,
}

/// The line of a frame of a native method.
pub const NATIVE: i32 = -2;
/// The line of a frame whose class has no line numbers.
pub const UNKNOWN: i32 = -1;

/// A frame of stacks, with the one that called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Node {
    /// The node of the caller; none for the outermost frame that is known.
    pub caller: Option<u32>,
    /// The place of the frame in [`Stacks::frames`].
    pub frame: u32,
}

/// Stacks that were seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stacks {
    /// The frames that occur.
    pub frames: Vec<Frame>,
    /// The tree: a caller's node comes before those that it calls.
    pub nodes: Vec<Node>,
    /// Stacks that were cut because the tree is full.
    pub cut: u64,
}

/// Adds stacks to a tree, always to the same one.
#[derive(Debug, Default)]
pub struct StackBuilder {
    frames: HashMap<Frame, u32>,
    /// By caller and frame: several places of a method are one frame where they are of one line.
    nodes: HashMap<Node, u32, FxBuildHasher>,
}

impl StackBuilder {
    /// The place of a frame, which is added if it is new: two bytecode indices of one line are one frame.
    pub fn frame(&mut self, stacks: &mut Stacks, frame: Frame) -> u32 {
        let frames = &mut stacks.frames;
        *self.frames.entry(frame).or_insert_with_key(|frame| {
            frames.push(frame.clone());
            index(frames.len() - 1)
        })
    }

    /// The node of a frame below that of its caller; none if there is no room.
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
    /// The frames of a stack from the innermost outwards; none where a file names what it does not hold.
    pub fn path(&self, node: Option<u32>) -> impl Iterator<Item = &Frame> {
        self.nodes_of(node)
            .filter_map(|node| self.frames.get(self.nodes[node as usize].frame as usize))
    }

    /// The nodes of a stack from the innermost outwards.
    pub fn nodes_of(&self, node: Option<u32>) -> impl Iterator<Item = u32> {
        let there = |node: &u32| (*node as usize) < self.nodes.len();
        std::iter::successors(node.filter(there), move |node| {
            // A caller comes before: a damaged file leads into no circle.
            let caller = self.nodes[*node as usize].caller;
            caller.filter(|caller| caller < node)
        })
    }

    /// The innermost frame of a stack.
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
    fn damaged_tree_has_no_circle() {
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
