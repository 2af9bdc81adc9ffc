//! Captured values: read from their memory, never asked.

use std::fmt;
use std::sync::Arc;

use jvms::descriptor::FieldType;
use jvms::names;

/// Which value of a call was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    /// A parameter by its index, from 0; `this` is not counted.
    Argument(u8),
    /// What the method returned.
    Returned,
    /// One of [`SpanInfo::shown`](super::SpanInfo::shown), by its place there.
    Shown(u8),
    /// The call stack at the end of the call.
    Stack,
}

/// A value as it was when it was captured. A box (`java.lang.Integer` …) is the value in it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// A `boolean`.
    Boolean(bool),
    /// A `byte`.
    Byte(i8),
    /// A `char`: a UTF-16 unit.
    Char(u16),
    /// A `short`.
    Short(i16),
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// The beginning of a `String` of `length` UTF-16 units.
    Text {
        /// What was kept; a half surrogate pair is U+FFFD.
        text: String,
        /// Length of the whole string.
        length: u32,
    },
    /// An array.
    Array {
        /// Its class as a descriptor (`[I`, `[Ljava/lang/String;`).
        class: Arc<str>,
        /// How many elements.
        length: u32,
    },
    /// Any other object.
    Object {
        /// Internal name of its class.
        class: Arc<str>,
        /// Its identity hash code.
        identity: u32,
    },
    /// A class by its internal name, or an array class by its descriptor.
    Class(Arc<str>),
    /// The frames of a call stack, the innermost first.
    Stack(Vec<StackFrame>),
    /// It is not there, or there was no room for it.
    Missing,
}

/// A method in a call stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackFrame {
    /// Internal name of its class.
    pub class: Arc<str>,
    /// Its name.
    pub method: Arc<str>,
    /// The line that is executed; 0 if not known.
    pub line: u32,
}

/// A value and which one it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// Which value.
    pub which: Which,
    /// The value.
    pub value: Value,
}

/// As a Java programmer would write it: texts in quotes (with `…` behind a shortened one), `int[3]`,
/// `com.acme.Order@1b2c3d`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Byte(value) => write!(f, "{value}"),
            Value::Char(unit) => {
                let shown = char::from_u32(u32::from(*unit)).unwrap_or('\u{FFFD}');
                write!(f, "'{}'", shown.escape_debug())
            }
            Value::Short(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Long(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Double(value) => write!(f, "{value:?}"),
            Value::Text { text, length } => {
                write!(f, "\"{}\"", text.escape_debug())?;
                let shortened = text.encode_utf16().count() < *length as usize;
                f.write_str(if shortened { "…" } else { "" })
            }
            Value::Array { class, length } => {
                let (dimensions, element) = FieldType::Array(class.as_bytes()).element();
                let element = element.to_java(names::binary);
                let others = "[]".repeat(dimensions.saturating_sub(1));
                write!(f, "{element}[{length}]{others}")
            }
            Value::Object { class, identity } => {
                write!(f, "{}@{identity:x}", names::binary(class))
            }
            Value::Class(class) => write!(f, "{}", class_name(class)),
            Value::Stack(frames) => {
                for (index, frame) in frames.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { " < " })?;
                    frame.fmt(f)?;
                }
                Ok(())
            }
            Value::Missing => f.write_str("?"),
        }
    }
}

/// The name of a class as `Class.getName` gives it: `com.acme.Order`, `[I`.
fn class_name(name: &str) -> String {
    names::binary(name).to_string()
}

/// `com.acme.Store.find:17`, without the line if it is not known.
impl fmt::Display for StackFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", names::binary(&self.class), self.method)?;
        match self.line {
            0 => Ok(()),
            line => write!(f, ":{line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_in_java() {
        let text = |text: &str, length| Value::Text {
            text: text.to_owned(),
            length,
        };
        let array = |class: &str| Value::Array {
            class: class.into(),
            length: 3,
        };
        let object = Value::Object {
            class: "com/acme/Order".into(),
            identity: 0x1B2C,
        };
        for (value, expected) in [
            (Value::Null, "null"),
            (Value::Char(10), "'\\n'"),
            (Value::Double(1.0), "1.0"),
            (text("a\"b", 3), "\"a\\\"b\""),
            (text("ab", 30), "\"ab\"…"),
            (array("[I"), "int[3]"),
            (array("[[Ljava/lang/String;"), "java.lang.String[3][]"),
            (object, "com.acme.Order@1b2c"),
        ] {
            assert_eq!(value.to_string(), expected);
        }
    }
}
