//! Hits that a later hit of the same straight-line code implies.
//!
//! Nothing jumps into straight-line code, and none of its instructions jumps. So whoever reaches its end has passed
//! every instruction before.

use crate::class::{ClassFile, Code};
use crate::index::{Bci, MethodIndex};
use crate::plan::{Action, Edit, EditPlan, Location};
use jvms::opcode;

/// A hit that another one implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImpliedHit {
    /// The probe.
    pub probe: u32,
    /// The next probe in the same straight-line code.
    pub by: u32,
}

/// Bytes of a hit.
const HIT: usize = 9;
/// Longest jump of a conditional branch.
const REACH: usize = 32_767;

impl EditPlan {
    /// Removes hits that later hits imply, spread over the method: enough of them to save `bytes`, if each one takes
    /// `size` bytes. Returns them in order of the code; none if the method cannot be read, or is so short that reports
    /// expect all its probes.
    pub fn remove_implied_hits(
        &mut self,
        class: &ClassFile<'_>,
        method: MethodIndex,
        bytes: u32,
        size: u32,
    ) -> Vec<ImpliedHit> {
        let implied = match self.is_long(class, method) {
            true => self.implied_hits(class, method),
            false => Vec::new(),
        };
        let all = implied.len();
        let wanted = bytes.div_ceil(size.max(1)).max(1) as usize;
        let wanted = wanted.min(all);
        // Every n-th one.
        let is_removed = |at: &usize| (at + 1) * wanted / all > at * wanted / all;
        let removed = (0..all).filter(is_removed);
        let removed: Vec<ImpliedHit> = removed.filter_map(|at| implied.get(at).copied()).collect();
        let mut probes: Vec<u32> = removed.iter().map(|hit| hit.probe).collect();
        probes.sort_unstable();
        self.retain(|edit| {
            let hit = hit_in(edit, method);
            hit.is_none_or(|probe| probes.binary_search(&probe).is_err())
        });
        removed
    }

    /// Checks whether a method with its hits exceeds the range of a branch. Reports expect all probes in others.
    fn is_long(&self, class: &ClassFile<'_>, method: MethodIndex) -> bool {
        let hits = self.edits().iter();
        let hits = hits.filter_map(|edit| hit_in(edit, method)).count();
        let code = class.method(method).and_then(|it| it.code().ok().flatten());
        code.is_some_and(|code| code.bytes().len() + hits * HIT > REACH)
    }

    /// Returns the hits of a method that later hits imply, in order of the code; none if the code cannot be read.
    #[must_use]
    pub fn implied_hits(&self, class: &ClassFile<'_>, method: MethodIndex) -> Vec<ImpliedHit> {
        let hits = self.edits().iter();
        let mut hits: Vec<_> = hits
            .filter_map(|edit| Some((position(edit.point.location)?, hit_in(edit, method)?)))
            .collect();
        let code = class.method(method).and_then(|it| it.code().ok().flatten());
        let Some(code) = code else {
            return Vec::new();
        };
        hits.sort_unstable();
        implied(&code, &hits).unwrap_or_default()
    }
}

/// Returns the probe of an edit that is a hit in this method.
fn hit_in(edit: &Edit, method: MethodIndex) -> Option<u32> {
    match edit.action {
        Action::Hit(probe) if edit.point.method == method => Some(probe),
        _ => None,
    }
}

/// The position of a hit relative to its instruction, in order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Before,
    Jump,
    FallThrough,
}

fn position(location: Location) -> Option<(Bci, Side)> {
    match location {
        Location::Before(bci) => Some((bci, Side::Before)),
        Location::Jump { source, .. } => Some((source, Side::Jump)),
        Location::FallThrough(bci) => Some((bci, Side::FallThrough)),
        Location::Entry | Location::Unwind | Location::At(_) => None,
    }
}

/// Finds the implied ones of these hits, which are in order of the code; `None` if the code cannot be decoded.
fn implied(code: &Code<'_, '_>, hits: &[((Bci, Side), u32)]) -> Option<Vec<ImpliedHit>> {
    let is_join = joins(code)?;
    let mut hits = hits.iter().copied().peekable();
    let mut found = Vec::new();
    // The last hit of the straight-line code so far.
    let mut last = None;
    for instruction in code.instructions() {
        let instruction = instruction.ok()?;
        let bci = instruction.bci;
        if is_join.get(usize::from(bci.0)) == Some(&true) {
            last = None;
        }
        let is_goto = matches!(instruction.opcode, opcode::GOTO | opcode::GOTO_W);
        let is_plain =
            opcode::falls_through(instruction.opcode) && !opcode::is_branch(instruction.opcode);
        let mut is_after = false;
        while let Some(((_, side), by)) = hits.next_if(|((at, _), _)| *at <= bci) {
            let is_passed = match side {
                Side::Before => true,
                Side::Jump => is_goto,
                Side::FallThrough => is_plain,
            };
            if let Some(probe) = last.filter(|_| is_passed) {
                found.push(ImpliedHit { probe, by });
            }
            last = Some(by);
            is_after = side == Side::FallThrough;
        }
        if !is_plain && !is_after {
            last = None;
        }
    }
    Some(found)
}

/// Returns flags by bci: control may come to the instruction from elsewhere than the previous one. As for the reports,
/// that includes the first instruction that a handler covers.
fn joins(code: &Code<'_, '_>) -> Option<Vec<bool>> {
    let mut joins = vec![false; code.bytes().len()];
    let mut mark = |bci: Bci| {
        if let Some(flag) = joins.get_mut(usize::from(bci.0)) {
            *flag = true;
        }
    };
    for handler in code.exception_table() {
        mark(handler.start);
        mark(handler.handler);
    }
    for instruction in code.instructions() {
        instruction.ok()?.targets().for_each(&mut mark);
    }
    Some(joins)
}
