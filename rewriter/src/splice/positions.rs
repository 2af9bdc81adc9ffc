//! Maps bcis of the original code to positions in the new one.

/// New positions by bci of the original code.
pub(crate) trait Positions {
    /// Returns the new position of the label of `bci`; the end of the main line for the length of the code.
    fn label(&self, bci: u32) -> Option<u32>;
    /// Returns the new position of the code inserted before that label.
    fn start(&self, bci: u32) -> Option<u32>;
    /// Returns the new position of the instruction at `bci`.
    fn instruction(&self, bci: u32) -> Option<u32>;
    /// Returns the new end of the code that precedes `bci`.
    fn end(&self, bci: u32) -> Option<u32>;
}
