//! Indices, one type each.

use std::fmt;

use stored::impl_stored;

pub use ::edits::{Bci, MethodIndex};

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u16);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl_stored!(struct $name(index));

        impl From<$name> for usize {
            fn from(value: $name) -> usize {
                usize::from(value.0)
            }
        }
    )*};
}

index! {
    /// Index into the constant pool (JVMS 4.4); 0 refers to no entry.
    PoolIndex;
    /// Index of a local variable (JVMS 2.6.1).
    LocalIndex;
}
