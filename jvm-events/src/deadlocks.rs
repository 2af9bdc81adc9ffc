//! Finds threads that wait for each other.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Returns the cycles in the graph `waits`, which maps each thread to the thread that it waits for.
/// Each thread waits for at most one other, so it is in at most one cycle. Threads that wait for a
/// member of a cycle do not belong to the cycle.
#[must_use]
pub fn circles<T: Copy + Eq + Hash + Ord>(waits: &HashMap<T, T>) -> Vec<Vec<T>> {
    let mut begins: Vec<T> = waits.keys().copied().collect();
    begins.sort_unstable();
    let mut seen = HashSet::new();
    let mut circles = Vec::new();
    for begin in begins {
        let mut path = Vec::new();
        let mut next = Some(begin);
        while let Some(one) = next.filter(|one| seen.insert(*one)) {
            path.push(one);
            next = waits.get(&one).copied();
        }
        // Only a path that returns to itself is a new cycle; a path may also reach an older one.
        let back = next.and_then(|next| path.iter().position(|one| *one == next));
        circles.extend(back.map(|at| path.split_off(at)));
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_once_without_threads_that_wait_for_one() {
        let waits: HashMap<i32, i32> = [
            (1, 2),
            (2, 3),
            (3, 2),
            (4, 1),
            (5, 6),
            (7, 7),
            (8, 9),
            (9, 10),
            (10, 8),
        ]
        .into();
        assert_eq!(circles(&waits), [vec![2, 3], vec![7], vec![8, 9, 10]]);
        assert!(circles::<i32>(&HashMap::new()).is_empty());
    }
}
