//! The expected rows of the exception table for `Unwind`, from the positions in the output.
//!
//! An exception in inserted code must reach the layers that are open there: at the entry those outside the code's own
//! layer, at an exit its own layer and those outside it, everywhere else all.

use std::collections::BTreeMap;

use crate::plan::EditPlan;
use crate::self_check::expected::{Expected, bci_of, is_in_front_of_label};
use crate::self_check::unsplice::Unsplice;
use crate::splice::{Positions, edit_index};
use jvms::opcode;

/// Start, end and handler.
pub(super) type ExpectedRow = (u32, u32, u32);

/// Returns the expected rows, those of the innermost layer last; `None` if a position is unknown. `covered` are the
/// ranges of the body in the original code.
pub(super) fn expected_rows(
    covered: &[(u32, u32)],
    code: &[u8],
    (expected, plan): (&Expected, &EditPlan),
    unspliced: &Unsplice,
) -> Option<Vec<ExpectedRow>> {
    let handlers = unspliced.unwinding();
    let Some((_, innermost)) = handlers.first().copied() else {
        return Some(Vec::new());
    };
    // The position from which on another handler, or none, is in charge.
    let mut in_charge: BTreeMap<u32, Option<u32>> = BTreeMap::new();
    let open = |limit: u32| {
        let mut open = handlers.iter();
        let found = open.find(|(layer, _)| u32::from(*layer) < limit);
        found.map(|(_, position)| *position)
    };
    let snippets = unspliced.placed().iter();
    let snippets: BTreeMap<usize, u32> = snippets.map(|found| (found.index, found.start)).collect();
    for (from, to) in covered {
        let label = unspliced.label(*from)?;
        in_charge.insert(unspliced.end(*to)?, None);
        for key in expected.main() {
            let (bci, index) = (bci_of(*key) as u32, edit_index(*key));
            let Some(start) = snippets.get(&index).copied() else {
                continue;
            };
            let layer = u32::from(plan.layer(index));
            if bci == *from && is_in_front_of_label(*key) {
                in_charge.insert(start, open(layer));
            }
        }
        in_charge.insert(label, Some(innermost));
        for key in expected.main() {
            let (bci, index) = (bci_of(*key) as u32, edit_index(*key));
            let is_return = code
                .get(bci as usize)
                .copied()
                .is_some_and(opcode::is_return);
            let is_exit = (*from..*to).contains(&bci) && is_return && !is_in_front_of_label(*key);
            let Some(start) = snippets.get(&index).copied().filter(|_| is_exit) else {
                continue;
            };
            in_charge.insert(start, open(u32::from(plan.layer(index)) + 1));
            // Code without instructions may begin at the return itself.
            in_charge.insert(unspliced.instruction(bci)?, Some(innermost));
        }
    }
    for pair in handlers.windows(2) {
        if let [(_, start), (_, next)] = pair {
            in_charge.insert(*start, Some(*next));
            in_charge.insert(*next, None);
        }
    }
    let mut rows: Vec<ExpectedRow> = Vec::new();
    let ends = in_charge.keys().skip(1);
    for ((start, handler), end) in in_charge.iter().zip(ends) {
        let Some(handler) = *handler else { continue };
        match rows.last_mut() {
            Some(last) if last.1 == *start && last.2 == handler => last.1 = *end,
            _ => rows.push((*start, *end, handler)),
        }
    }
    rows.sort_by_key(|row| row.2 == innermost);
    Some(rows)
}
