//! The stored form of constants.

use crate::impl_stored;

pub use ::edits::Constant;

impl_stored!(enum Constant {
    0 Integer(value),
    1 Long(value),
    2 Float(value),
    3 Double(value),
    4 Text(text),
});
