//! Merges several snapshots: unites the hits of classes with the same name and bytes.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::format::{Failure, Incomplete, Meta, Summary};
use crate::snapshot::{Snapshot, SnapshotClass};
use crate::test_hits::TestHits;

/// The union of several snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// One entry for each snapshot, in the given order.
    pub sessions: Vec<Meta>,
    /// For each session, the reason and amount of data that could not be written.
    pub incomplete: Vec<Option<Incomplete>>,
    /// One entry for each (name, fingerprint, plugin), in order of first appearance, so two versions of a class stay
    /// apart. The loader is part of the key for snapshots that keep loaders apart.
    pub classes: Vec<SnapshotClass>,
    /// Probes executed by tests, by the numbers of the merged classes.
    pub tests: Vec<TestHits>,
    /// `true` if a snapshot lacks the results of later tests.
    pub tests_cut_off: bool,
    /// All failures, without duplicates.
    pub failures: Vec<Failure>,
    /// The totals.
    pub summary: Summary,
    /// `true` if every JVM ended in good order.
    pub complete: bool,
    /// Classes of the same bytes with different numbers of probes. The first one was kept.
    pub conflicts: Vec<Conflict>,
}

/// A class that two snapshots hold with the same bytes and different numbers of probes, from two versions of a
/// plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Internal name of the class.
    pub name: String,
    /// Name of the plugin.
    pub plugin: String,
    /// Number of probes of the class that was kept.
    pub kept: usize,
    /// Number of probes of the class that was left out.
    pub left_out: usize,
}

/// Merges snapshots.
#[must_use]
pub fn merge(snapshots: impl IntoIterator<Item = Snapshot>) -> Merged {
    let mut merged = Merged {
        complete: true,
        ..Merged::default()
    };
    let (mut known, mut failures) = (HashMap::new(), HashSet::new());
    for snapshot in snapshots {
        let per_loader = snapshot.meta.per_loader;
        merged.complete &= snapshot.complete;
        merged.sessions.push(snapshot.meta);
        merged.incomplete.push(snapshot.incomplete);
        merged.summary.add(&snapshot.summary);
        let classes = snapshot.classes.into_iter();
        let numbers: Vec<Option<usize>> = classes
            .map(|class| merged.add_class(&mut known, class, per_loader))
            .collect();
        let tests = snapshot.tests.into_iter();
        let tests = tests.map(|test| test.renumbered(&numbers));
        merged.tests.extend(tests);
        merged.tests_cut_off |= snapshot.tests_cut_off;
        for failure in snapshot.failures {
            if failures.insert(failure.clone()) {
                merged.failures.push(failure);
            }
        }
    }
    merged
}

/// Name, fingerprint and plugin; and the loader if loaders are kept apart.
type Key = (String, u64, String, Option<String>);

impl Merged {
    /// Adds a class and returns its number. `None` if its number of probes differs from the class already added.
    fn add_class(
        &mut self,
        known: &mut HashMap<Key, usize>,
        class: SnapshotClass,
        per_loader: bool,
    ) -> Option<usize> {
        let loader = per_loader.then(|| class.loader.clone());
        let (name, plugin) = (class.name.clone(), class.plugin.clone());
        match known.entry((name, class.fingerprint, plugin, loader)) {
            Entry::Vacant(entry) => {
                let number = *entry.insert(self.classes.len());
                self.classes.push(class);
                Some(number)
            }
            Entry::Occupied(entry) => {
                let number = *entry.get();
                match self.classes.get_mut(number)?.unite(class) {
                    Ok(()) => Some(number),
                    Err(conflict) => {
                        self.conflicts.push(conflict);
                        None
                    }
                }
            }
        }
    }
}

impl SnapshotClass {
    fn unite(&mut self, other: Self) -> Result<(), Conflict> {
        if self.probes.len() != other.probes.len() {
            let (kept, left_out) = (self.probes.len(), other.probes.len());
            return Err(Conflict {
                name: other.name,
                plugin: other.plugin,
                kept,
                left_out,
            });
        }
        self.probes
            .iter_mut()
            .zip(&other.probes)
            .for_each(|(mine, theirs)| *mine |= theirs);
        self.bytes = self.bytes.take().or(other.bytes);
        Ok(())
    }
}

impl Summary {
    fn add(&mut self, other: &Self) {
        self.seen = self.seen.saturating_add(other.seen);
        self.selected = self.selected.saturating_add(other.selected);
        self.transformed = self.transformed.saturating_add(other.transformed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped_methods = self.skipped_methods.saturating_add(other.skipped_methods);
        self.lost = self.lost.saturating_add(other.lost);
        self.unselected.add(&other.unselected);
        let failed = other.failed_plugins.iter().cloned();
        self.failed_plugins.extend(failed);
    }
}
