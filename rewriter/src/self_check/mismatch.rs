//! The failure of one step of the check.

/// The failure of one step of the check: expectation and positions.
#[derive(Debug)]
pub(crate) struct Mismatch {
    pub(crate) expected: &'static str,
    pub(crate) bci: u32,
    pub(crate) position: u32,
}

impl Mismatch {
    #[cold]
    pub(crate) fn new(expected: &'static str, bci: u32, position: u32) -> Self {
        Mismatch {
            expected,
            bci,
            position,
        }
    }
}
