//! Classes that ran in other versions than the one that is reported.

use std::fmt;

use class_description::{Arena, describe_as};
use coverage::carried::{self, Version};
use coverage::class::ClassDescription;
use coverage::model::CarriedOver;
use trace::numbers::counted;

use crate::inputs::execution_data::ExecutionDataStore;

/// What is known of a class by other versions of it.
pub(super) struct Carried {
    /// Its probes.
    pub(super) probes: Vec<bool>,
    /// Which of its lines were begun; none if that is not known.
    pub(super) lines: Vec<bool>,
    /// What was carried over.
    pub(super) over: CarriedOver,
    /// Whether it ran itself, too.
    pub(super) is_exact: bool,
    /// The ids of the other versions.
    pub(super) ran: Vec<u64>,
}

/// What the recorded versions of a class executed of its methods as they are now; none if no other version ran, or no
/// class file of it is kept, as of `.exec` files.
pub(super) fn carry_over(
    class: &ClassDescription<'_>,
    recorded: &ExecutionDataStore,
) -> Option<Carried> {
    let exact = recorded.by_id(class.id);
    let ids = recorded.ids_of(class.name).iter().copied();
    let ran: Vec<u64> = ids.filter(|id| *id != class.id).collect();
    let kept: Vec<_> = ran
        .iter()
        .filter_map(|id| {
            let measured = recorded.by_id(*id)?;
            Some((measured, measured.bytes.as_ref()?.inflate().ok()?))
        })
        .collect();
    let arena = Arena::new();
    let versions: Vec<_> = kept
        .iter()
        .filter_map(|(measured, bytes)| {
            Some(Version {
                class: describe_as(measured.id, bytes, &arena).ok()?,
                probes: &measured.probes,
                lines: recorded.begun_lines(measured.id),
            })
        })
        .collect();
    if versions.is_empty() {
        return None;
    }
    let (mut probes, over) = carried::carry_over(&versions, class);
    let mut lines = carried::carry_lines_over(&versions, class);
    let begun = recorded.begun_lines(class.id);
    match lines.len() == begun.len() {
        true => unite(&mut lines, begun),
        false if lines.is_empty() => lines = begun.to_vec(),
        false => {} // it did not run itself
    }
    if let Some(exact) = exact {
        if exact.probes.len() != probes.len() {
            return None;
        }
        unite(&mut probes, &exact.probes);
    }
    Some(Carried {
        probes,
        lines,
        over,
        is_exact: exact.is_some(),
        ran,
    })
}

fn unite(mine: &mut [bool], theirs: &[bool]) {
    let all = mine.iter_mut().zip(theirs);
    all.for_each(|(mine, hit)| *mine |= hit);
}

/// What was carried over into all classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CarriedTotal {
    classes: usize,
    over: CarriedOver,
}

impl CarriedTotal {
    pub(super) fn add(&mut self, over: CarriedOver) {
        self.classes += 1;
        self.over.same += over.same;
        self.over.methods += over.methods;
    }

    /// Whether no class ran in another version.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes == 0
    }
}

impl fmt::Display for CarriedTotal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ran in other versions: what ran of {} of {}, whose code is the same, counts",
            counted(self.classes, "class"),
            self.over.same,
            counted(self.over.methods as usize, "method")
        )
    }
}
