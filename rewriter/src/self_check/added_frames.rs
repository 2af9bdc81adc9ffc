//! The frames of the output, as the check of edited methods sees them.

use crate::self_check::machine::Machine;

/// A frame that the original does not have.
pub(super) struct AddedFrame<'t> {
    pub(super) position: u32,
    pub(super) types: Machine<'t>,
    /// True when the check has found a reason for the frame.
    pub(super) wanted: bool,
}

/// The frames of the output.
#[derive(Default)]
pub(super) struct NewFrames<'t> {
    /// Frames added by the splice, by position.
    pub(super) added: Vec<AddedFrame<'t>>,
    /// The new positions of the original frames.
    pub(super) moved: Vec<u32>,
}

impl<'t> NewFrames<'t> {
    pub(super) fn added(&mut self, position: u32) -> Option<&mut AddedFrame<'t>> {
        let index = self
            .added
            .binary_search_by_key(&position, |found| found.position);
        self.added.get_mut(index.ok()?)
    }
}
