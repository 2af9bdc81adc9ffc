//! Numbers and texts.

use std::fmt;
use std::hash::{Hash, Hasher};

use stored::impl_stored;

/// A number or text as the value of a field or a result (JVMS 4.7.2).
///
/// Two constants are equal if their bits are, so a NaN equals itself, and zero differs from negative zero.
#[derive(Debug, Clone)]
pub enum Constant {
    /// An `int`, or a type that the JVM stores as one (`boolean`, `byte`, `char`, `short`).
    Integer(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A string.
    Text(String),
}

impl_stored!(enum Constant {
    0 Integer(value),
    1 Long(value),
    2 Float(value),
    3 Double(value),
    4 Text(text),
});

impl Constant {
    /// Returns the kind, the bits and the text.
    fn content(&self) -> (u8, u64, &str) {
        match self {
            Self::Integer(value) => (0, u64::from(value.cast_unsigned()), ""),
            Self::Long(value) => (1, value.cast_unsigned(), ""),
            Self::Float(value) => (2, u64::from(value.to_bits()), ""),
            Self::Double(value) => (3, value.to_bits(), ""),
            Self::Text(text) => (4, 0, text),
        }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Long(value) => write!(f, "{value}L"),
            Self::Float(value) => write!(f, "{value:?}f"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl PartialEq for Constant {
    fn eq(&self, other: &Self) -> bool {
        self.content() == other.content()
    }
}

impl Eq for Constant {}

impl Hash for Constant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.content().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_compared_by_their_bits() {
        assert_eq!(Constant::Float(f32::NAN), Constant::Float(f32::NAN));
        assert_ne!(Constant::Double(0.0), Constant::Double(-0.0));
        assert_ne!(Constant::Integer(0), Constant::Long(0));
    }
}
