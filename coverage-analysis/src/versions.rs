//! Classes that ran in other versions than the reported one.

use std::fmt;

use class_description::{Arena, describe_as};
use coverage::carried::{self, Version};
use coverage::class::ClassDescription;
use coverage::model::CarriedOver;
use coverage_inputs::execution_data::ExecutionDataStore;
use trace::numbers::counted;

/// Hits of a class, taken from its other versions.
pub(super) struct CarriedHits {
    /// The probes of the reported version.
    pub(super) probes: Vec<bool>,
    /// Begun lines of the reported version; empty if unknown.
    pub(super) lines: Vec<bool>,
    /// Totals of the carried methods.
    pub(super) over: CarriedOver,
    /// True if the reported version ran, too.
    pub(super) is_exact: bool,
    /// The ids of the other versions.
    pub(super) ran: Vec<u64>,
}

/// Carries the hits of the recorded versions of a class over to the methods of this version. Returns
/// nothing if no other version ran, or if the recording holds no class files, as with `.exec` files.
pub(super) fn carry_over(
    class: &ClassDescription<'_>,
    recorded: &ExecutionDataStore,
) -> Option<CarriedHits> {
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
        false => {} // this version did not run
    }
    if let Some(exact) = exact {
        if exact.probes.len() != probes.len() {
            return None;
        }
        unite(&mut probes, &exact.probes);
    }
    Some(CarriedHits {
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

/// Totals over all classes with carried hits.
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

    /// Checks whether no class ran in another version.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes == 0
    }
}

impl fmt::Display for CarriedTotal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ran in other versions: the hits of {} of {} with unchanged code count",
            counted(self.classes, "class"),
            self.over.same,
            counted(self.over.methods as usize, "method")
        )
    }
}
