//! Static types of values, and the comparisons that they allow.

use crate::condition::{Comparison, Literal, Operand, Step, Value};

/// The type of a value that is known without a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// Any type: the value is read from an object.
    Any,
    Null,
    Truth,
    Number,
    Text,
    Duration,
}

impl ValueType {
    pub fn of(operand: &Operand) -> Self {
        match operand {
            Operand::Value(value) => Self::of_value(value),
            Operand::Literal(literal) => match literal {
                Literal::Null => Self::Null,
                Literal::Truth(_) => Self::Truth,
                Literal::Integer(_) | Literal::Float(_) | Literal::Char(_) => Self::Number,
                Literal::Text(_) => Self::Text,
                Literal::Duration(_) => Self::Duration,
            },
        }
    }

    pub fn of_value(value: &Value) -> Self {
        match value {
            Value::Duration => Self::Duration,
            Value::Threw => Self::Truth,
            Value::Thread => Self::Text,
            Value::Depth | Value::Arguments => Self::Number,
            Value::Path(path)
                if matches!(path.steps.last(), Some(Step::Class | Step::Declarer(_))) =>
            {
                Self::Text
            }
            Value::Path(_) => Self::Any,
        }
    }

    /// Returns the name of the type required on the other side of a comparison; `None` if the comparison is not
    /// allowed.
    pub fn partner(self, comparison: Comparison) -> Option<&'static str> {
        let is_ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        Some(match self {
            Self::Any if is_ordered => "a number",
            Self::Any => "a number, a text, `true`, `false` or `null`",
            Self::Null if !is_ordered => "an argument, a field or the return value",
            Self::Truth if !is_ordered => "`true` or `false`",
            Self::Text if !is_ordered => "a text such as \"x\"",
            Self::Number => "a number",
            Self::Duration => "a duration such as 100ms",
            _ => return None,
        })
    }

    /// Checks whether both types may be compared, given that `self` may.
    pub fn is_comparable_with(self, other: Self, comparison: Comparison) -> bool {
        match (self, other) {
            (Self::Any, Self::Duration) | (Self::Duration, Self::Any) => false,
            (Self::Any, Self::Any) => true,
            (Self::Any, other) | (other, Self::Any) => other.partner(comparison).is_some(),
            (one, other) => one == other && one != Self::Null,
        }
    }
}

/// Formats an operand for a message: `the number 100`, `depth, a number`, `arg[0]`.
pub(crate) fn named(operand: &Operand) -> String {
    let what = match ValueType::of(operand) {
        ValueType::Any | ValueType::Null => return format!("`{operand}`"),
        ValueType::Truth => "truth value",
        ValueType::Number => "number",
        ValueType::Text => "text",
        ValueType::Duration => "duration",
    };
    match operand {
        Operand::Literal(literal) => format!("the {what} `{literal}`"),
        Operand::Value(value) => format!("`{value}`, which is a {what}"),
    }
}
