//! Probes that a later probe of the same straight-line code implies.
//!
//! A method whose probes do not fit into it gets only some of those: see `EditPlan::remove_implied_hits` of the
//! rewriter. Nothing jumps into straight-line code, and none of its instructions jumps, so a hit at its end implies the
//! hits before it.

use std::ops::Range;

use super::input::{self, label, targets};
use super::ranges::probe_ranges;
use crate::class::{ClassDescription, CodeDescription, Operand};
use crate::flow::{InstructionKind, Labels, return_label};

/// The most bytes that a probe takes.
const LONGEST_PROBE: usize = 11;
/// The longest jump of a conditional branch. Shorter methods have all their probes.
const REACH: usize = 32_767;

/// Marks the probes in `probes` that a hit probe implies, in the methods that may lack some of their probes.
pub fn add_implied(class: &ClassDescription<'_>, probes: &mut [bool]) {
    if !may_lack_probes(class) {
        return;
    }
    for (implied, by) in pairs_of(class, is_long).into_iter().rev() {
        if probes.get(by) == Some(&true)
            && let Some(implied) = probes.get_mut(implied)
        {
            *implied = true;
        }
    }
}

/// Checks whether some method may lack probes, by the greatest number that it could have.
pub(super) fn may_lack_probes(class: &ClassDescription<'_>) -> bool {
    let mut methods = class
        .methods
        .iter()
        .filter_map(|method| method.code.as_ref());
    // An instruction has at most one probe before and one after it, except for a switch.
    methods.any(|code| is_long(code, code.instructions.len() * 2))
}

/// Returns each probe of a class that the next one implies, with that next one, in ascending order.
#[must_use]
pub fn implied_probes(class: &ClassDescription<'_>) -> Vec<(usize, usize)> {
    pairs_of(class, |_, _| true)
}

/// Returns the pairs of the methods that `is_wanted` accepts by their code and number of probes.
fn pairs_of(
    class: &ClassDescription<'_>,
    is_wanted: impl Fn(&CodeDescription<'_>, usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut labels = Labels::default();
    let ranges = probe_ranges(class);
    let methods = class.methods.iter().zip(ranges);
    let pairs = methods.flat_map(|(method, probes)| match &method.code {
        Some(code) if is_wanted(code, probes.len()) => of_method(&mut labels, code, &probes),
        _ => Vec::new(),
    });
    pairs.collect()
}

/// Returns the number of probes of a method that later ones imply. `probes` is the range of its probe numbers.
pub(super) fn count(code: &CodeDescription<'_>, probes: &Range<usize>) -> usize {
    match is_long(code, probes.len()) {
        true => of_method(&mut Labels::default(), code, probes).len(),
        false => 0,
    }
}

fn is_long(code: &CodeDescription<'_>, probes: usize) -> bool {
    let last = code.instructions.last();
    may_be_long(last.map_or(0, |last| usize::from(last.bci) + 1), probes)
}

/// Checks whether a method of this length in bytes, with this number of probes, may lack some of them. A class file
/// that is shorter, or has fewer probes, has no such method.
#[must_use]
pub fn may_be_long(length: usize, probes: usize) -> bool {
    length + probes * LONGEST_PROBE > REACH
}

fn of_method(
    labels: &mut Labels,
    code: &CodeDescription<'_>,
    probes: &Range<usize>,
) -> Vec<(usize, usize)> {
    if input::mark(labels, code).is_err() {
        return Vec::new();
    }
    let mut chain = Chain {
        next: probes.start,
        last: None,
        pairs: Vec::new(),
    };
    for at in code.instructions {
        let (bci, here) = (at.bci, labels.at(at.bci));
        if here.needs_probe() {
            chain.probe();
        }
        let back = labels.at(return_label(bci));
        if here.is_target() || !here.is_successor() || back.is_target() && !back.begins() {
            chain.last = None;
        }
        let kind = InstructionKind::of(at.opcode);
        match (kind, &at.operand) {
            (InstructionKind::Exit, _) => chain.probe(),
            (InstructionKind::Goto, Operand::Target(target)) => {
                let label = label(code, (bci, at.opcode), *target);
                if labels.at(label).is_multitarget() {
                    chain.probe();
                }
            }
            (InstructionKind::Branch, Operand::Target(target)) => {
                chain.skip(usize::from(labels.at(*target).is_multitarget()));
            }
            (InstructionKind::Switch, Operand::Switch { default, cases }) => {
                let branches = labels.switch_branches(targets(*default, cases));
                let has_probe = |(_, target): &&(u32, u16)| labels.at(*target).is_multitarget();
                chain.skip(branches.iter().filter(has_probe).count());
            }
            _ => continue,
        }
        chain.last = None;
    }
    chain.pairs
}

/// The probes of straight-line code.
struct Chain {
    /// Number of the next probe.
    next: usize,
    /// The last probe of the straight-line code so far.
    last: Option<usize>,
    pairs: Vec<(usize, usize)>,
}

impl Chain {
    fn probe(&mut self) {
        if let Some(last) = self.last.replace(self.next) {
            self.pairs.push((last, self.next));
        }
        self.next += 1;
    }

    fn skip(&mut self, probes: usize) {
        self.last = None;
        self.next += probes;
    }
}
