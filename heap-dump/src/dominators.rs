//! Dominators of a graph: the last node on every path from the root to another node.
//!
//! Algorithm of T. Lengauer and R. E. Tarjan, *A fast algorithm for finding dominators in a flowgraph* (1979), in its
//! simple version, O(m log n). Nothing recurses, since a linked list may be as long as the heap is large.

/// Marks a missing node.
pub const NONE: u32 = u32::MAX;

/// References by source node: those of node `n` are `targets[starts[n]..starts[n + 1]]`.
#[derive(Debug, Default)]
pub struct Edges {
    pub starts: Vec<usize>,
    pub targets: Vec<u32>,
}

impl Edges {
    /// The targets of a node.
    pub fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let range = self
            .starts
            .get(node)
            .copied()
            .zip(self.starts.get(node + 1).copied());
        range
            .and_then(|(start, end)| self.targets.get(start..end))
            .unwrap_or_default()
    }

    fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The same edges in the opposite direction.
    fn reversed(&self) -> Self {
        let mut starts = vec![0; self.nodes() + 1];
        for target in &self.targets {
            starts[*target as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut targets) = (starts.clone(), vec![0; self.targets.len()]);
        for node in 0..self.nodes() as u32 {
            for target in self.of(node) {
                let at = &mut next[*target as usize];
                targets[*at] = node;
                *at += 1;
            }
        }
        Self { starts, targets }
    }
}

/// The dominators of a graph.
#[derive(Debug)]
pub struct Dominators {
    /// The immediate dominator of each node; [`NONE`] for the root and for unreachable nodes.
    pub of: Vec<u32>,
    /// The reachable nodes; each follows its dominator.
    pub order: Vec<u32>,
}

/// Computes the dominators of all nodes that are reachable from `root`.
pub fn of(edges: &Edges, root: u32) -> Dominators {
    let count = edges.nodes();
    let mut walk = Walk::new(edges, root, count);
    let before = edges.reversed();
    let mut linked = Forest::new(count);
    // By depth-first number: semi-dominators, and a list of the nodes that have each as semi-dominator.
    let mut semi: Vec<u32> = (0..walk.order.len() as u32).collect();
    let mut bucket = vec![NONE; walk.order.len()];
    let mut next = vec![NONE; walk.order.len()];
    let mut found = vec![NONE; walk.order.len()];
    for number in (1..walk.order.len() as u32).rev() {
        let at = number as usize;
        for other in before.of(walk.order[at]) {
            let other = walk.numbers[*other as usize];
            if other != NONE {
                let least = linked.least(other, &semi);
                semi[at] = semi[at].min(semi[least as usize]);
            }
        }
        let of = semi[at] as usize;
        (next[at], bucket[of]) = (bucket[of], number);
        let parent = walk.parents[at];
        linked.link(parent, number);
        let mut one = std::mem::replace(&mut bucket[parent as usize], NONE);
        while one != NONE {
            let least = linked.least(one, &semi);
            found[one as usize] = if semi[least as usize] < semi[one as usize] {
                least
            } else {
                parent
            };
            one = next[one as usize];
        }
    }
    for at in 1..found.len() {
        if found[at] != semi[at] {
            found[at] = found[found[at] as usize];
        }
    }
    let mut of = vec![NONE; count];
    for (at, found) in found.iter().enumerate().skip(1) {
        of[walk.order[at] as usize] = walk.order[*found as usize];
    }
    let order = std::mem::take(&mut walk.order);
    Dominators { of, order }
}

/// A depth-first walk.
struct Walk {
    /// Nodes by depth-first number.
    order: Vec<u32>,
    /// Depth-first number of each node's parent, by depth-first number.
    parents: Vec<u32>,
    /// Depth-first numbers by node; [`NONE`] for unreachable nodes.
    numbers: Vec<u32>,
}

impl Walk {
    fn new(edges: &Edges, root: u32, count: usize) -> Self {
        let mut walk = Self {
            order: Vec::new(),
            parents: Vec::new(),
            numbers: vec![NONE; count],
        };
        let mut open = Vec::new();
        walk.see(root, 0, &mut open);
        while let Some((number, at)) = open.last_mut() {
            let node = walk.order[*number as usize];
            let Some(target) = edges.of(node).get(*at).copied() else {
                open.pop();
                continue;
            };
            *at += 1;
            let number = *number;
            if walk.numbers[target as usize] == NONE {
                walk.see(target, number, &mut open);
            }
        }
        walk
    }

    fn see(&mut self, node: u32, parent: u32, open: &mut Vec<(u32, usize)>) {
        let number = self.order.len() as u32;
        self.numbers[node as usize] = number;
        self.order.push(node);
        self.parents.push(parent);
        open.push((number, 0));
    }
}

/// A forest of depth-first numbers with path compression.
struct Forest {
    ancestor: Vec<u32>,
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    fn new(count: usize) -> Self {
        Self {
            ancestor: vec![NONE; count],
            label: (0..count as u32).collect(),
            path: Vec::new(),
        }
    }

    fn link(&mut self, parent: u32, child: u32) {
        self.ancestor[child as usize] = parent;
    }

    /// The number with the smallest semi-dominator between `one` and the root of its tree.
    fn least(&mut self, one: u32, semi: &[u32]) -> u32 {
        if self.ancestor[one as usize] == NONE {
            return one;
        }
        let mut at = one;
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(at) = self.path.pop() {
            let above = self.ancestor[at as usize] as usize;
            let (ours, theirs) = (self.label[at as usize], self.label[above]);
            if semi[theirs as usize] < semi[ours as usize] {
                self.label[at as usize] = theirs;
            }
            self.ancestor[at as usize] = self.ancestor[above];
        }
        self.label[one as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(all: &[&[u32]]) -> Edges {
        let mut edges = Edges {
            starts: vec![0],
            targets: Vec::new(),
        };
        for targets in all {
            edges.targets.extend(*targets);
            edges.starts.push(edges.targets.len());
        }
        edges
    }

    /// Checks whether `by` is on every path from 0 to `node`, by a search that avoids `by`.
    fn dominates(edges: &Edges, by: u32, node: u32) -> bool {
        let mut seen = vec![false; edges.nodes()];
        let mut open = vec![0];
        while let Some(one) = open.pop() {
            if one == by || std::mem::replace(&mut seen[one as usize], true) {
                continue;
            }
            open.extend(edges.of(one));
        }
        !seen[node as usize]
    }

    #[test]
    fn dominators_are_those_of_the_definition() {
        // Generated graphs, with cycles and unreachable nodes.
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let count = 2 + random(12);
            let all: Vec<Vec<u32>> = (0..count)
                .map(|_| (0..random(4)).map(|_| random(count) as u32).collect())
                .collect();
            let all: Vec<&[u32]> = all.iter().map(Vec::as_slice).collect();
            let edges = edges(&all);
            let found = of(&edges, 0);
            for node in 1..count as u32 {
                let reached = !dominates(&edges, NONE, node);
                let strict: Vec<u32> = (0..count as u32)
                    .filter(|by| *by != node && dominates(&edges, *by, node))
                    .collect();
                // The immediate dominator is dominated by all others.
                let immediate = strict.iter().copied().find(|one| {
                    strict
                        .iter()
                        .all(|by| by == one || dominates(&edges, *by, *one))
                });
                let expected = if reached { immediate } else { None };
                assert_eq!(
                    found.of[node as usize],
                    expected.unwrap_or(NONE),
                    "{all:?}, {node}"
                );
            }
        }
    }

    #[test]
    fn list_as_long_as_the_heap_needs_no_deep_stack_and_no_square_of_time() {
        // Each of a million nodes refers to the next, and all refer to the last.
        let count = 1_000_000;
        let mut edges = Edges {
            starts: vec![0],
            targets: Vec::new(),
        };
        for node in 0..count {
            if node < count - 1 {
                edges.targets.extend([node + 1, count]);
            }
            edges.starts.push(edges.targets.len());
        }
        edges.starts.push(edges.targets.len());
        let found = of(&edges, 0);
        assert_eq!(found.of[count as usize - 1], count - 2);
        assert_eq!(
            (found.of[count as usize], found.order.len()),
            (0, count as usize + 1)
        );
    }
}
