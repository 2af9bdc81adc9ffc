//! Indices, one type each.

use stored::index;

pub use ::edits::{Bci, MethodIndex};

index! {
    /// Index into the constant pool (JVMS 4.4); 0 refers to no entry.
    PoolIndex;
    /// Index of a local variable (JVMS 2.6.1).
    LocalIndex;
}
