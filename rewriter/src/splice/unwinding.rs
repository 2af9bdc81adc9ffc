//! The rows of the exception table that lead to the code at `Unwind`.
//!
//! An exception passes the code of each layer whose entry has run and whose exit has not, from the innermost one on:
//!
//! ```text
//! entry of layer 0 | entry of layer 1 → 0 | body → 1, then 0 | exit of layer 1 → 1, then 0 | exit of layer 0 → 0
//! handler          code of layer 1 → 0 | code of layer 0 | athrow
//! ```
//!
//! The return instruction counts as a part of the body: it throws only if the method's monitors are unbalanced.

use crate::plan::{Action, EditPlan, SkipReason};
use crate::splice::inserts::Inserts;
use crate::splice::layout::{Gap, Layout};
use crate::splice::order::edit_index;
use crate::splice::positions::Positions;
use crate::splice::tables::{UnwindRow, bad_bci};
use jvms::opcode;

/// The code at `Unwind`, by layer.
#[derive(Debug, Default)]
pub(crate) struct Unwinding {
    /// Layer and start, innermost first.
    layers: Vec<(u16, u32)>,
}

impl Unwinding {
    /// Finds the code of each layer in the handler.
    pub(crate) fn of(layout: &Layout, plan: &EditPlan, inserts: Inserts<'_>) -> Self {
        let mut layers: Vec<(u16, u32)> = Vec::new();
        let mut at = layout.unwind;
        for key in &layout.unwind_keys {
            let index = edit_index(*key);
            let layer = plan.layer(index);
            if layers.last().is_none_or(|last| last.0 != layer) {
                layers.push((layer, at));
            }
            let edit = plan.edits().get(index);
            at += edit.map_or(0, |edit| inserts.size(edit.action));
        }
        Unwinding { layers }
    }

    /// Returns the start of the code of each layer.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u32> {
        self.layers.iter().map(|layer| layer.1)
    }

    /// Returns the handler of the innermost layer outside `layer`.
    fn outside(&self, layer: u16) -> Option<u32> {
        let mut layers = self.layers.iter();
        layers.find(|found| found.0 < layer).map(|found| found.1)
    }

    /// Returns the handler of the innermost layer that is not inside `layer`.
    fn not_inside(&self, layer: u16) -> Option<u32> {
        let mut layers = self.layers.iter();
        layers.find(|found| found.0 <= layer).map(|found| found.1)
    }

    /// Returns the rows for the covered ranges. Those of the body come last.
    pub(crate) fn rows(
        &self,
        covered: &[(u32, u32)],
        code: &[u8],
        (layout, plan, inserts): (&Layout, &EditPlan, Inserts<'_>),
    ) -> Result<Vec<UnwindRow>, SkipReason> {
        let Some((_, innermost)) = self.layers.first().copied() else {
            return Ok(Vec::new());
        };
        let mut rows = Rows::default();
        let pieces = Pieces {
            layout,
            plan,
            inserts,
        };
        for (from, to) in covered {
            if let Some(gap) = layout.gap(*from) {
                let mut handler = None;
                for (layer, start, end) in pieces.of(gap, true) {
                    handler = layer.map_or(handler, |layer| self.outside(layer));
                    rows.add(start, end, handler);
                }
            }
            let ends = layout.label(*from).zip(layout.end(*to));
            let (mut start, end) = ends.ok_or_else(|| bad_bci(*to))?;
            let is_exit = |gap: &&Gap| {
                let opcode = code.get(gap.bci as usize).copied();
                (*from..*to).contains(&gap.bci) && opcode.is_some_and(opcode::is_return)
            };
            for gap in layout.gaps.iter().filter(is_exit) {
                let mut handler = Some(innermost);
                for (layer, from, to) in pieces.of(gap, false) {
                    handler = layer.map_or(handler, |layer| self.not_inside(layer));
                    if handler != Some(innermost) {
                        rows.add(start, from, Some(innermost));
                        rows.add(from, to, handler);
                        start = to;
                    }
                }
            }
            rows.add(start, end, Some(innermost));
        }
        for pair in self.layers.windows(2) {
            if let [(_, start), (_, next)] = pair {
                rows.add(*start, *next, Some(*next));
            }
        }
        let mut found = rows.found;
        found.sort_by_key(|row| row.2 == innermost);
        Ok(found)
    }
}

/// Rows in a list, adjacent ones of one handler joined.
#[derive(Default)]
struct Rows {
    found: Vec<UnwindRow>,
}

impl Rows {
    fn add(&mut self, start: u32, end: u32, handler: Option<u32>) {
        let Some(handler) = handler.filter(|_| start < end) else {
            return;
        };
        match self.found.last_mut() {
            Some(last) if last.1 == start && last.2 == handler => last.1 = end,
            _ => self.found.push((start, end, handler)),
        }
    }
}

/// The inserted code before one instruction.
struct Pieces<'p> {
    layout: &'p Layout,
    plan: &'p EditPlan,
    inserts: Inserts<'p>,
}

impl Pieces<'_> {
    /// Returns start and end of each edit before or after the label, with its layer; `None` for a probe, which throws
    /// nothing.
    fn of(&self, gap: &Gap, is_before_label: bool) -> Vec<(Option<u16>, u32, u32)> {
        let label = self.layout.label(gap.bci).unwrap_or_default();
        let (mut at, first, count) = match is_before_label {
            true => (label - gap.pre, gap.first, gap.pre_count),
            false => (label, gap.first + gap.pre_count, gap.at_count),
        };
        let range = first as usize..(first + count) as usize;
        let keys = self.layout.keys.get(range).unwrap_or_default();
        let mut found = Vec::new();
        for key in keys {
            let index = edit_index(*key);
            let Some(edit) = self.plan.edits().get(index) else {
                continue;
            };
            let start = at;
            at += self.inserts.size(edit.action);
            let layer = matches!(edit.action, Action::Insert(_)).then(|| self.plan.layer(index));
            found.push((layer, start, at));
        }
        found
    }
}
