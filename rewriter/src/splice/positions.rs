//! From bcis of the original code to positions in the new one.

/// Where what was at a bci of the original code is now.
pub(crate) trait Positions {
    /// New position of the label of `bci`; the end of the main line for the
    /// length of the code.
    fn label(&self, bci: u32) -> Option<u32>;
    /// New position of what was inserted in front of that label.
    fn start(&self, bci: u32) -> Option<u32>;
    /// New position of the instruction at `bci`.
    fn instruction(&self, bci: u32) -> Option<u32>;
    /// New position of the end of what stands before `bci`.
    fn end(&self, bci: u32) -> Option<u32>;
}
