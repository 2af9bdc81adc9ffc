//! Strongly connected components: nodes that reach one another.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the components of more than one node (Tarjan), each in order.
pub fn components<N: Copy + Ord>(arrows: &BTreeSet<(N, N)>) -> Vec<Vec<N>> {
    let mut search = Search {
        arrows: BTreeMap::new(),
        order: BTreeMap::new(),
        open: Vec::new(),
        found: Vec::new(),
    };
    for (from, to) in arrows {
        search.arrows.entry(*from).or_default().push(*to);
    }
    for (from, _) in arrows {
        if !search.order.contains_key(from) {
            search.visit(*from);
        }
    }
    search.found
}

struct Search<N> {
    arrows: BTreeMap<N, Vec<N>>,
    order: BTreeMap<N, usize>,
    open: Vec<N>,
    found: Vec<Vec<N>>,
}

impl<N: Copy + Ord> Search<N> {
    fn visit(&mut self, node: N) -> usize {
        let number = self.order.len();
        self.order.insert(node, number);
        self.open.push(node);
        let mut lowest = number;
        for next in self.arrows.get(&node).cloned().unwrap_or_default() {
            let reached = match self.order.get(&next) {
                None => self.visit(next),
                Some(number) if self.open.contains(&next) => *number,
                Some(_) => continue,
            };
            lowest = lowest.min(reached);
        }
        if lowest == number {
            let first = self.open.iter().position(|open| *open == node);
            let mut component = self.open.split_off(first.unwrap_or_default());
            if component.len() > 1 {
                component.sort_unstable();
                self.found.push(component);
            }
        }
        lowest
    }
}
