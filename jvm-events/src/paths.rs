//! Finds reference paths from roots to objects in the heap.
//!
//! The search makes several passes through the heap. Each pass keeps only references to known
//! objects: first to the instances, then to their referrers, and so on, until each instance has a
//! path from a root. So the search needs memory only for the surroundings of the instances, and the
//! paths are short.

use std::collections::{HashMap, VecDeque};

/// An object, numbered in the order of discovery.
pub type Node = u32;

/// Limits of the search.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of known objects.
    pub nodes: usize,
    /// Maximum number of references to keep.
    pub references: usize,
    /// Maximum number of instances to search for.
    pub instances: usize,
}

/// A reference from an object to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference<K> {
    /// The referring object.
    pub from: Node,
    /// The object that the reference points to.
    pub to: Node,
    /// The kind of reference.
    pub kind: K,
}

/// The state of a node.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    is_target: bool,
    /// The current pass looks for referrers of the node.
    is_asked: bool,
    /// All referrers of the node are known.
    is_explored: bool,
}

/// A search for paths, with roots of type `R` and kinds of references of type `K`.
#[derive(Debug)]
pub struct Search<R, K> {
    limits: Limits,
    states: Vec<State>,
    targets: Vec<Node>,
    /// Number of references to instances found beyond the limit, and random numbers to choose among
    /// them.
    met: u64,
    random: Random,
    references: Vec<Reference<K>>,
    roots: HashMap<Node, R>,
    is_first: bool,
    /// There are more instances than the limit, so the search uses a random sample.
    pub more_instances: bool,
    /// `true` if objects or references exceeded the limits.
    pub cut: bool,
}

/// A path from a root to an instance.
#[derive(Debug, PartialEq, Eq)]
pub struct Path<R, K> {
    /// The root.
    pub root: R,
    /// The first object, which the root refers to.
    pub first: Node,
    /// The references from the first object to the instance.
    pub references: Vec<Reference<K>>,
}

impl<R: Copy, K: Copy> Search<R, K> {
    /// Creates a search without any known object.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            states: Vec::new(),
            targets: Vec::new(),
            met: 0,
            random: Random(0),
            references: Vec::new(),
            roots: HashMap::new(),
            is_first: true,
            more_instances: false,
            cut: false,
        }
    }

    /// Adds an object that may occur again. Returns `None` if the limit is reached.
    pub fn add(&mut self) -> Option<Node> {
        if self.states.len() >= self.limits.nodes {
            self.cut = true;
            return None;
        }
        self.states.push(State::default());
        Some((self.states.len() - 1) as Node) // limited far below 2³²
    }

    /// Adds an instance found in the first pass. Returns its number if the search includes it. An
    /// instance beyond the limit may replace another one. Each reference to an instance has the
    /// same chance (reservoir sampling), so the sample includes instances found late.
    pub fn instance(&mut self, known: Option<Node>) -> Option<Node> {
        if known.is_some_and(|node| self.states[node as usize].is_target) {
            return known;
        }
        self.met += 1;
        let replaced = match self.targets.len() < self.limits.instances {
            true => None,
            false => {
                self.more_instances = true;
                let drawn = self.random.below(self.met) as usize;
                Some(drawn).filter(|drawn| *drawn < self.targets.len())
            }
        };
        if self.more_instances && replaced.is_none() {
            return None;
        }
        let node = known.or_else(|| self.add())?;
        let target = State {
            is_target: true,
            is_asked: true,
            is_explored: false,
        };
        self.states[node as usize] = target;
        match replaced {
            None => self.targets.push(node),
            Some(at) => {
                let gone = std::mem::replace(&mut self.targets[at], node);
                self.states[gone as usize] = State::default();
            }
        }
        Some(node)
    }

    /// Returns whether this pass finds instances.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns whether this pass looks for referrers of an object.
    #[must_use]
    pub fn asks_for(&self, node: Node) -> bool {
        self.states[node as usize].is_asked
    }

    /// Records that a root refers to an object.
    pub fn root(&mut self, node: Node, root: R) {
        self.roots.entry(node).or_insert(root);
    }

    /// Returns whether a root is known that refers to an object.
    #[must_use]
    pub fn is_root(&self, node: Node) -> bool {
        self.roots.contains_key(&node)
    }

    /// Records that the object `from`, or a new one, refers to the object `to`. Returns the number
    /// of the referring object.
    pub fn reference(&mut self, from: Option<Node>, to: Node, kind: K) -> Option<Node> {
        if self.references.len() >= self.limits.references {
            self.cut = true;
            return from;
        }
        let from = from.or_else(|| self.add())?;
        self.references.push(Reference { from, to, kind });
        Some(from)
    }

    /// Ends a pass through the heap, and returns whether another pass can find more.
    pub fn pass_is_over(&mut self) -> bool {
        let was_first = std::mem::replace(&mut self.is_first, false);
        if was_first && self.more_instances && !self.cut {
            // References to an instance that were met before it was drawn are lost; the next pass
            // finds all of them.
            self.references.clear();
            return true;
        }
        for state in &mut self.states {
            state.is_explored |= std::mem::take(&mut state.is_asked);
        }
        let came_from = self.held();
        let into = Adjacent::new(self.states.len(), &self.references, |found| found.to);
        let mut seen = vec![false; self.states.len()];
        let mut queue: VecDeque<Node> = VecDeque::new();
        let open = |node: Node| !came_from[node as usize].is_known();
        for node in 0..self.states.len() as Node {
            if self.states[node as usize].is_target && open(node) {
                seen[node as usize] = true;
                queue.push_back(node);
            }
        }
        let mut any = false;
        while let Some(node) = queue.pop_front() {
            let state = &mut self.states[node as usize];
            if !state.is_explored {
                state.is_asked = true;
                any = true;
                continue;
            }
            for at in into.of(node) {
                let from = self.references[*at as usize].from;
                if open(from) && !std::mem::replace(&mut seen[from as usize], true) {
                    queue.push_back(from);
                }
            }
        }
        any && !self.cut
    }

    /// Computes for each object the known reference that holds it.
    fn held(&self) -> Vec<Held> {
        let out = Adjacent::new(self.states.len(), &self.references, |found| found.from);
        let mut held = vec![Held::Unknown; self.states.len()];
        let mut roots: Vec<Node> = self.roots.keys().copied().collect();
        roots.sort_unstable();
        for node in &roots {
            held[*node as usize] = Held::ByRoot;
        }
        let mut queue = VecDeque::from(roots);
        while let Some(node) = queue.pop_front() {
            for at in out.of(node) {
                let to = self.references[*at as usize].to;
                if !held[to as usize].is_known() {
                    held[to as usize] = Held::ByReference(*at);
                    queue.push_back(to);
                }
            }
        }
        held
    }

    /// Returns the number of instances in the search.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.targets.len()
    }

    /// Returns a path for each instance that has one.
    #[must_use]
    pub fn paths(&self) -> Vec<Path<R, K>> {
        let held = self.held();
        let targets =
            (0..self.states.len() as Node).filter(|node| self.states[*node as usize].is_target);
        targets
            .filter_map(|target| {
                let mut references = Vec::new();
                let mut first = target;
                while let Held::ByReference(at) = held[first as usize] {
                    let found = self.references[at as usize];
                    references.push(found);
                    first = found.from;
                }
                references.reverse();
                let root = *self.roots.get(&first)?;
                Some(Path {
                    root,
                    first,
                    references,
                })
            })
            .collect()
    }
}

/// Pseudo-random numbers, the same in each search (SplitMix64).
#[derive(Debug)]
struct Random(u64);

impl Random {
    /// Returns a number in `0..end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

#[derive(Debug, Clone, Copy)]
enum Held {
    Unknown,
    ByRoot,
    /// A reference, by its index.
    ByReference(u32),
}

impl Held {
    fn is_known(self) -> bool {
        !matches!(self, Self::Unknown)
    }
}

/// Indices of references grouped by one of their ends.
struct Adjacent {
    begins: Vec<u32>,
    indices: Vec<u32>,
}

impl Adjacent {
    fn new<K>(nodes: usize, references: &[Reference<K>], end: fn(&Reference<K>) -> Node) -> Self {
        let mut begins = vec![0_u32; nodes + 1];
        for reference in references {
            begins[end(reference) as usize + 1] += 1;
        }
        for node in 0..nodes {
            begins[node + 1] += begins[node];
        }
        let mut next = begins.clone();
        let mut indices = vec![0; references.len()];
        for (index, reference) in references.iter().enumerate() {
            let at = &mut next[end(reference) as usize];
            indices[*at as usize] = index as u32; // limited far below 2³²
            *at += 1;
        }
        Self { begins, indices }
    }

    fn of(&self, node: Node) -> &[u32] {
        let node = node as usize;
        &self.indices[self.begins[node] as usize..self.begins[node + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOMY: Limits = Limits {
        nodes: 100,
        references: 100,
        instances: 100,
    };

    /// A heap of named objects, iterated as a JVM does.
    struct Heap<'a> {
        roots: &'a [&'a str],
        references: &'a [(&'a str, &'a str)],
    }

    impl Heap<'_> {
        /// Returns the paths to instances whose names begin with `x`, and the number of passes.
        fn search(&self, limits: Limits) -> (Search<(), usize>, Vec<String>, usize) {
            let mut search = Search::new(limits);
            let mut tags: HashMap<&str, Node> = HashMap::new();
            let mut passes = 0;
            loop {
                passes += 1;
                let roots = self.roots.iter().map(|to| (None, *to));
                let inner = self.references.iter().map(|(from, to)| (Some(*from), *to));
                for (index, (from, to)) in roots.chain(inner).enumerate() {
                    let known = tags.get(to).copied();
                    let node = match to.starts_with('x') && search.is_first() {
                        true => search.instance(known),
                        false => known,
                    };
                    let Some(node) = node else { continue };
                    tags.insert(to, node);
                    if !search.asks_for(node) {
                        continue;
                    }
                    match from {
                        None => search.root(node, ()),
                        Some(from) => {
                            let found = search.reference(tags.get(from).copied(), node, index);
                            tags.extend(found.map(|node| (from, node)));
                        }
                    }
                }
                if !search.pass_is_over() {
                    break;
                }
            }
            let names: HashMap<Node, &str> =
                tags.iter().map(|(name, node)| (*node, *name)).collect();
            let mut paths: Vec<String> = Vec::new();
            for path in search.paths() {
                let mut text = names[&path.first].to_owned();
                for reference in &path.references {
                    text += " ";
                    text += names[&reference.to];
                }
                paths.push(text);
            }
            paths.sort();
            (search, paths, passes)
        }
    }

    #[test]
    fn search_stops_at_the_shortest_path() {
        let heap = Heap {
            roots: &["far", "near"],
            references: &[
                ("far", "a"),
                ("a", "b"),
                ("b", "x"),
                ("near", "c"),
                ("c", "x"),
                ("x", "c"),
            ],
        };
        let (search, paths, passes) = heap.search(ROOMY);
        assert_eq!((paths, passes), (vec!["near c x".to_owned()], 3));
        assert!(!search.cut && !search.more_instances);
    }

    #[test]
    fn instances_in_one_table_and_in_a_ring_each_have_a_path() {
        let heap = Heap {
            roots: &["map"],
            references: &[
                ("map", "table"),
                ("table", "e1"),
                ("table", "e2"),
                ("e1", "x1"),
                ("e2", "x2"),
                ("x1", "x2"),
                ("x2", "x3"),
                ("x3", "x1"),
            ],
        };
        let (search, paths, _) = heap.search(ROOMY);
        let expected = [
            "map table e1 x1",
            "map table e1 x1 x2",
            "map table e1 x1 x2 x3",
        ];
        assert_eq!(paths.len(), expected.len());
        assert_eq!(paths[0], expected[0]);
        assert!(
            paths[1].ends_with("x2 x3") || paths[1].ends_with("e2 x2"),
            "{paths:?}"
        );
        assert_eq!(search.instances(), 3);
    }

    #[test]
    fn unreachable_instance_has_no_path_and_the_search_ends() {
        let heap = Heap {
            roots: &["a"],
            references: &[("a", "x1"), ("lost", "x2"), ("x2", "lost")],
        };
        let (search, paths, _) = heap.search(ROOMY);
        assert_eq!((paths, search.instances()), (vec!["a x1".to_owned()], 2));
    }

    #[test]
    fn instances_found_last_are_sampled_as_often_as_the_first() {
        let instances: Vec<String> = (0..1000).map(|n| format!("x{n}")).collect();
        let (early, late) = instances.split_at(100);
        let early = early.iter().map(|x| ("early", x.as_str()));
        let late = late.iter().map(|x| ("late", x.as_str()));
        let all: Vec<(&str, &str)> = early.chain(late).collect();
        let heap = Heap {
            roots: &["early", "late"],
            references: &all,
        };
        let limits = Limits {
            nodes: 10_000,
            references: 10_000,
            instances: 50,
        };
        let (search, paths, passes) = heap.search(limits);
        assert!(search.more_instances && !search.cut);
        assert_eq!((paths.len(), search.instances(), passes), (50, 50, 3));
        let late = paths
            .iter()
            .filter(|path| path.starts_with("late "))
            .count();
        assert!((38..=50).contains(&late), "{late} of 50, expected 45");
    }

    #[test]
    fn data_beyond_the_limits_is_counted() {
        let heap = Heap {
            roots: &["a"],
            references: &[("a", "b"), ("b", "x1"), ("b", "x2"), ("c", "x1")],
        };
        let (search, paths, _) = heap.search(Limits {
            instances: 1,
            ..ROOMY
        });
        assert!(search.more_instances && !search.cut);
        assert_eq!((paths.len(), search.instances()), (1, 1));
        for limits in [
            Limits { nodes: 3, ..ROOMY },
            Limits {
                references: 2,
                ..ROOMY
            },
        ] {
            let (search, paths, passes) = heap.search(limits);
            assert!(search.cut && paths.is_empty());
            assert_eq!(passes, 1);
        }
    }
}
