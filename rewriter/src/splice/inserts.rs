//! The code of all insertions into one method.

use crate::plan::Action;
use crate::splice::probe::ProbeWriter;
use crate::splice::replacements::Replacements;
use crate::splice::snippets::{Lowered, Snippets};

/// The code of all insertions into one method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inserts<'s> {
    pub(crate) probes: ProbeWriter,
    pub(crate) snippets: &'s Snippets,
    pub(crate) changes: &'s Replacements,
}

impl Inserts<'_> {
    /// Returns the operand stack slots that `action` needs.
    pub(crate) fn stack(&self, action: Action) -> u32 {
        match action {
            Action::Hit(_) => self.probes.hit_stack(),
            Action::Insert(id) => self.snippets.get(id).map_or(0, |found| found.stack),
            Action::Change(_) => self.changes.stack(),
            Action::Count(_) => 0, // refused before
        }
    }

    /// Returns the bytes of code of `action`.
    #[inline]
    pub(crate) fn size(&self, action: Action) -> u32 {
        match action {
            Action::Hit(probe) => self.probes.hit_size(probe),
            Action::Insert(id) => self.snippets.get(id).map_or(0, Lowered::length),
            // A change replaces instructions and inserts no code.
            Action::Change(_) | Action::Count(_) => 0,
        }
    }

    /// Writes the code of `action`.
    #[inline]
    pub(crate) fn write(&self, action: Action, out: &mut Vec<u8>) {
        match action {
            Action::Hit(probe) => {
                let hit = self.probes.hit(probe);
                hit.each(|part| out.extend_from_slice(part));
            }
            Action::Insert(id) => out.extend_from_slice(self.snippets.code(id)),
            Action::Change(_) | Action::Count(_) => {}
        }
    }
}
