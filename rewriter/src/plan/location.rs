//! The stored form of insertion points.

use crate::impl_stored;

pub use ::edits::{InsertionPoint, Location};

impl_stored!(enum Location {
    0 Entry,
    1 Before(bci),
    2 At(bci),
    3 FallThrough(bci),
    4 Jump { source, target },
    5 Unwind,
});

impl_stored!(struct InsertionPoint { method, location });
