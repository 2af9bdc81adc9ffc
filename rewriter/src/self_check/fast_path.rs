//! Fast path of the self-check, for methods with only hits in which no instruction changed its size. It compares both
//! code arrays side by side.
//!
//! `None` means undecided: the general walk decides.

use std::ops::Range;

use crate::plan::Action;
use crate::runs::{count, make_room};
use crate::self_check::expected::{Special, SpecialKind, bci_of, is_in_front_of_label};
use crate::self_check::unsplice::{INSERTED, Unsplice, UnspliceInput, hit, instruction};
use crate::splice::edit_index;
use jvms::opcode;

impl Unsplice {
    /// Returns the end of the main line; `None` if undecided.
    pub(super) fn fast_path(&mut self, work: &UnspliceInput<'_>) -> Option<usize> {
        if work.new.len() > i16::MAX as usize {
            return None;
        }
        make_room(&mut self.labels, work.old.len() + 1);
        let mut specials = work.expected.specials.as_slice();
        let (mut compared, mut counted, mut shift) = (0, 0, 0);
        let mut edits = work.expected.main();
        while let [key, ..] = edits {
            let bci = bci_of(*key);
            specials = self.copied(work, specials, compared..bci, shift)?;
            count(&mut self.labels, counted..bci, shift as u32);
            let end = bci + shift;
            let (mut new, mut label) = (end, end);
            while let [key, rest @ ..] = edits
                && bci_of(*key) == bci
            {
                let Action::Hit(probe) = work.plan.edits().get(edit_index(*key))?.action else {
                    return None;
                };
                new = hit(work, probe, new)?;
                if is_in_front_of_label(*key) {
                    label = new;
                }
                edits = rest;
            }
            self.found(bci, (end, end), new);
            *self.labels.get_mut(bci)? = label as u32 | INSERTED;
            (compared, counted, shift) = (bci, bci + 1, new - bci);
        }
        let end = work.old.len();
        specials = self.copied(work, specials, compared..end, shift)?;
        count(&mut self.labels, counted..end + 1, shift as u32);
        self.labels.truncate(end + 1);
        specials.is_empty().then_some(end + shift)
    }

    /// Compares bytes with the original, moved by `shift`, except for branch offsets. Returns the jumps after the run.
    fn copied<'w>(
        &mut self,
        work: &UnspliceInput<'_>,
        mut specials: &'w [Special],
        run: Range<usize>,
        shift: usize,
    ) -> Option<&'w [Special]> {
        let mut from = run.start;
        while let [special, rest @ ..] = specials
            && (special.bci as usize) < run.end
        {
            let at = special.bci as usize;
            same(work, from..at + 1, shift)?;
            self.specials.push((at + shift) as u32);
            from = match special.kind {
                SpecialKind::Jump(_) => at + usize::from(opcode::length(*work.old.get(at)?)),
                SpecialKind::Switch => {
                    let (old, new) = instruction(work, at, at + shift).ok()?;
                    (old == new).then_some(at + old)?
                }
                SpecialKind::Replaced(_) => return None,
            };
            specials = rest;
        }
        same(work, from..run.end, shift)?;
        Some(specials)
    }
}

/// Compares bytes with the original, moved by `shift`.
#[inline]
fn same(work: &UnspliceInput<'_>, run: Range<usize>, shift: usize) -> Option<()> {
    let new = work.new.get(run.start + shift..run.end + shift)?;
    (work.old.get(run)? == new).then_some(())
}
