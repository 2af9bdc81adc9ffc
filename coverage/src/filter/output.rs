//! The results of filters for the instructions of one method.

use super::nodes::Nodes;

/// New branches of an instruction, composed of branches of others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Replacement {
    groups: Vec<(usize, Vec<(usize, u32)>)>,
}

impl Replacement {
    /// Adds a branch to `target` (a node) that is taken if branch `branch` of the instruction with index
    /// `instruction` is.
    pub(crate) fn add(&mut self, target: usize, instruction: usize, branch: u32) {
        match self.groups.iter_mut().find(|(of, _)| *of == target) {
            Some((_, branches)) => branches.push((instruction, branch)),
            None => self.groups.push((target, vec![(instruction, branch)])),
        }
    }

    pub(crate) fn has(&self, target: usize) -> bool {
        self.groups.iter().any(|(of, _)| *of == target)
    }

    /// Returns, for each new branch, the branches that it replaces.
    pub(crate) fn branches(&self) -> impl Iterator<Item = &[(usize, u32)]> {
        self.groups.iter().map(|(_, branches)| branches.as_slice())
    }
}

/// The results of all filters.
#[derive(Debug, Default)]
pub(crate) struct FilterOutput {
    ignored: Vec<bool>,
    /// For each copy, the index of its original; empty if there is no copy.
    merged: Vec<Option<usize>>,
    replacements: Vec<(usize, Replacement)>,
}

impl FilterOutput {
    pub(crate) fn new(instructions: usize) -> Self {
        Self {
            ignored: vec![false; instructions],
            ..Self::default()
        }
    }

    /// Leaves out all instructions between two nodes, inclusive.
    pub(crate) fn ignore(&mut self, nodes: &Nodes<'_>, from: usize, to: usize) {
        for index in (from..=to).filter_map(|node| nodes.instruction_index(node)) {
            if let Some(ignored) = self.ignored.get_mut(index) {
                *ignored = true;
            }
        }
    }

    /// Records that instruction `copy` is a copy of instruction `of`.
    pub(crate) fn merge(&mut self, of: usize, copy: usize) {
        let of = self.representative(of);
        let copy = self.representative(copy);
        if of == copy {
            return;
        }
        self.merged.resize(self.ignored.len(), None);
        if let Some(merged) = self.merged.get_mut(copy) {
            *merged = Some(of);
        }
    }

    /// Replaces the branches of an instruction.
    pub(crate) fn replace(&mut self, instruction: usize, by: Replacement) {
        self.replacements.retain(|(of, _)| *of != instruction);
        self.replacements.push((instruction, by));
    }

    pub(crate) fn is_ignored(&self, instruction: usize) -> bool {
        self.ignored.get(instruction).copied().unwrap_or_default()
            || self.merged.get(instruction).is_some_and(Option::is_some)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.merged.is_empty() && self.replacements.is_empty() && !self.ignored.contains(&true)
    }

    /// Returns pairs of a copy and its representative.
    pub(crate) fn merges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.merged
            .iter()
            .enumerate()
            .filter(|(_, merged)| merged.is_some())
            .map(|(copy, _)| (copy, self.representative(copy)))
    }

    /// Returns the replaced branches of an instruction.
    pub(crate) fn replacement(&self, instruction: usize) -> Option<&Replacement> {
        let mut replacements = self.replacements.iter();
        let found = replacements.find(|(of, _)| *of == instruction);
        found.map(|(_, by)| by)
    }

    pub(crate) fn replacements(&self) -> &[(usize, Replacement)] {
        &self.replacements
    }

    fn representative(&self, mut of: usize) -> usize {
        while let Some(&Some(next)) = self.merged.get(of) {
            of = next;
        }
        of
    }
}
