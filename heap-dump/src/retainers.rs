//! The retained size of each object: its own, and that of all objects that only it keeps reachable.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::dominators::{self, Dominators, NONE};
use crate::graph::{Heap, NodeKind};
use crate::records::Root;

/// The objects of a file that retain the most, as a tree: each below the object that retains it.
///
/// # Errors
/// If the file is no heap dump, or is damaged.
pub fn table(path: &Path, rows: usize) -> Result<String, String> {
    let heap = Heap::read(path).map_err(|error| error.to_string())?;
    let found = dominators::of(&heap.edges, heap.root());
    let retained = Retained::new(&heap, &found);
    let mut text = retained.head();
    retained
        .tree(path, rows, &mut text)
        .map_err(|error| error.to_string())?;
    if !heap.whole {
        text.push_str("the dump has no end: it may be cut off\n");
    }
    Ok(text)
}

struct Retained<'a> {
    heap: &'a Heap,
    found: &'a Dominators,
    /// Retained bytes and objects, by node.
    bytes: Vec<u64>,
    objects: Vec<u32>,
}

impl<'a> Retained<'a> {
    fn new(heap: &'a Heap, found: &'a Dominators) -> Self {
        let count = heap.kinds.len() + 1;
        let mut retained = Self {
            heap,
            found,
            bytes: vec![0; count],
            objects: vec![0; count],
        };
        for node in found.order.iter().rev() {
            let at = *node as usize;
            if let Some(size) = heap.sizes.get(at) {
                retained.bytes[at] += u64::from(*size);
                retained.objects[at] += 1;
            }
            let above = found.of[at];
            if above == NONE {
                continue;
            }
            let above = above as usize;
            retained.bytes[above] += retained.bytes[at];
            retained.objects[above] += retained.objects[at];
        }
        retained
    }

    fn total(&self) -> u64 {
        self.bytes[self.heap.root() as usize]
    }

    /// The nodes that retain the most, without those whose dominator is of the same class, as in a list.
    fn largest(&self, most: usize) -> Vec<u32> {
        let kind = |node: u32| self.heap.kinds.get(node as usize);
        let mut nodes: Vec<u32> = self.found.order.iter().copied().skip(1).collect();
        nodes.retain(|node| {
            let above = self.found.of[*node as usize];
            kind(*node) != kind(above) || kind(*node) == Some(&NodeKind::Class)
        });
        let key = |node: &u32| (std::cmp::Reverse(self.bytes[*node as usize]), *node);
        if most < nodes.len() {
            nodes.select_nth_unstable_by_key(most, key);
            nodes.truncate(most);
        }
        nodes.sort_unstable_by_key(key);
        nodes
    }

    fn head(&self) -> String {
        let objects = self.objects[self.heap.root() as usize];
        let unreached = self.heap.kinds.len() as u64 - u64::from(objects);
        let mut text = format!(
            "RETAINERS: {} bytes in {} objects can be reached",
            thousands(self.total()),
            thousands(objects.into())
        );
        if unreached > 0 {
            let _ = write!(text, "; {} more cannot", thousands(unreached));
        }
        text.push_str(
            "\nan object retains all objects that only it keeps reachable; soft, weak, phantom and final references do not count\n",
        );
        text.push_str("   self           bytes      objects  what\n");
        text
    }

    /// Writes a line for each node that retains the most, below the nearest shown node that retains it.
    fn tree(&self, path: &Path, rows: usize, text: &mut String) -> std::io::Result<()> {
        let nodes = self.largest(rows);
        let shown: HashSet<u32> = nodes.iter().copied().collect();
        let mut below: HashMap<u32, Vec<u32>> = HashMap::new();
        for node in &nodes {
            let mut above = self.found.of[*node as usize];
            while above != self.heap.root() && !shown.contains(&above) {
                above = self.found.of[above as usize];
            }
            below.entry(above).or_default().push(*node);
        }
        let mut open = vec![(self.heap.root(), 0)];
        while let Some((node, depth)) = open.pop() {
            if node != self.heap.root() {
                self.line(path, node, depth - 1, text)?;
            }
            let below = below.remove(&node).unwrap_or_default();
            open.extend(below.into_iter().rev().map(|one| (one, depth + 1)));
        }
        Ok(())
    }

    fn line(&self, path: &Path, node: u32, depth: usize, text: &mut String) -> std::io::Result<()> {
        let (bytes, objects) = (self.bytes[node as usize], self.objects[node as usize]);
        let above = self.found.of[node as usize];
        let what = match above == self.heap.root() {
            true => self.what(node),
            false => {
                let name = self.heap.reference(path, above, node)?;
                let name = name.unwrap_or_else(|| "in several ways".to_owned());
                format!("{name}: {}", self.heap.name(node))
            }
        };
        let _ = writeln!(
            text,
            "{:>6.2}%  {:>14}  {:>11}  {}{what}",
            self.percent(bytes),
            thousands(bytes),
            thousands(objects.into()),
            "  ".repeat(depth)
        );
        Ok(())
    }

    /// The name of a node, and its root.
    fn what(&self, node: u32) -> String {
        let name = self.heap.name(node);
        let root = self.heap.roots.get(&node);
        let held_by = match (root, self.heap.kinds.get(node as usize)) {
            (Some(Root::Class), _) | (None, Some(NodeKind::Class)) => return name,
            (None, _) => "held in several ways",
            (Some(Root::Jni), _) => "a reference of JNI",
            (Some(Root::Frame), _) => "a local variable",
            (Some(Root::Thread), _) => "a thread",
            (Some(Root::Monitor), _) => "a monitor that is entered",
            (Some(Root::Other), _) => "the JVM itself",
        };
        format!("{name}, {held_by}")
    }

    fn percent(&self, bytes: u64) -> f64 {
        bytes as f64 / self.total().max(1) as f64 * 100.0
    }
}

/// Formats a number with commas.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
