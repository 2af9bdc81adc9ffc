//! The lines of other classes that a class has copies of.

use std::collections::BTreeMap;

use crate::class::ClassDescription;
use crate::model::{Fragment, MethodCoverage};
use crate::source_map::{self, Mapping};

/// The copies in one class.
pub(super) struct Inlined<'a> {
    mappings: Vec<Mapping<'a>>,
    lines: BTreeMap<&'a str, BTreeMap<u32, bool>>,
}

impl<'a> Inlined<'a> {
    pub(super) fn of(class: &'a ClassDescription<'a>) -> Self {
        let mappings = source_map::foreign(class);
        // Includes a class whose lines have no instruction left.
        let classes = mappings.iter().map(|mapping| mapping.class);
        Self {
            lines: classes.map(|class| (class, BTreeMap::new())).collect(),
            mappings,
        }
    }

    /// Checks whether the class has no copies.
    pub(super) fn is_empty(&self) -> bool {
        self.mappings.is_empty()
    }

    /// Adds an instruction on this line of the class file.
    pub(super) fn add(&mut self, line: u32, covered: bool) {
        for mapping in &self.mappings {
            if let Some(input) = mapping.input_of(line) {
                let lines = self.lines.entry(mapping.class).or_default();
                *lines.entry(input).or_default() |= covered;
            }
        }
    }

    pub(super) fn fragments(self) -> Vec<Fragment> {
        let classes = self.lines.into_iter();
        let fragments = classes.map(|(class, lines)| Fragment {
            class: class.to_owned(),
            lines,
            is_advice: false,
        });
        fragments.collect()
    }
}

/// Treats a method as a copy of advice of these classes, and lists its lines.
pub(super) fn advice(classes: &[&str], copy: &MethodCoverage) -> Vec<Fragment> {
    let executed = copy.lines.iter();
    let lines: BTreeMap<u32, bool> = executed
        .map(|(number, line)| (number, line.instructions.covered > 0))
        .collect();
    let fragment = |class: &&str| Fragment {
        class: (*class).to_owned(),
        lines: lines.clone(),
        is_advice: true,
    };
    classes.iter().map(fragment).collect()
}
