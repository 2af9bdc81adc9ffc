//! Captured values. They are read from memory, without calling a method of the value.

use std::fmt;
use std::sync::Arc;

use jvms::descriptor::FieldType;
use jvms::names;

/// Identifies a captured value of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaptureSource {
    /// A parameter by its index, from 0; `this` is not counted.
    Argument(u8),
    /// The returned value.
    Returned,
    /// An element of [`SpanInfo::shown`](super::SpanInfo::shown), by its index.
    Shown(u8),
    /// The call stack at the end of the call.
    Stack,
}

/// A captured value. A box (`java.lang.Integer` …) is stored as its content.
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
        /// The stored part; half a surrogate pair is U+FFFD.
        text: String,
        /// Length of the whole string.
        length: u32,
    },
    /// An array.
    Array {
        /// Class descriptor (`[I`, `[Ljava/lang/String;`).
        class: Arc<str>,
        /// Number of elements.
        length: u32,
    },
    /// Any other object.
    Object {
        /// Internal name of its class.
        class: Arc<str>,
        /// Its identity hash code.
        identity: u32,
    },
    /// An enum constant, by its name.
    Constant(String),
    /// An object with its content.
    Opened(Box<Opened>),
    /// A class by its internal name, or an array class by its descriptor.
    Class(Arc<str>),
    /// The frames of a call stack, the innermost first.
    Stack(Vec<StackFrame>),
    /// The value is absent, or there was no room for it.
    Missing,
}

/// An object, array or JDK collection with its content at the time of the capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Internal name of its class; for an array, the class descriptor.
    pub class: Arc<str>,
    /// Its identity hash code.
    pub identity: u32,
    /// Its contents, in the order of fields or of iteration.
    pub content: Content,
    /// Number of fields, elements or entries beyond `content`; [`u64::MAX`] if the number is unknown.
    pub left: u64,
}

/// The contents of an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// The instance fields by name: those of the class, then those of its superclasses.
    Fields(Vec<(Arc<str>, Value)>),
    /// The elements of an array or a collection.
    Elements(Vec<Value>),
    /// The keys and values of a map.
    Entries(Vec<(Value, Value)>),
    /// Empty: the object contains itself.
    Cycle,
}

/// A frame of a call stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackFrame {
    /// Internal name of its class.
    pub class: Arc<str>,
    /// Its name.
    pub method: Arc<str>,
    /// The current line; 0 if unknown.
    pub line: u32,
}

/// A captured value and its identification.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// Identifies the value.
    pub source: CaptureSource,
    /// The value.
    pub value: Value,
}

/// Formats values as a Java programmer would write them: texts in quotes (a shortened one with `…`), `int[3]`,
/// `com.acme.Order@1b2c3d`, `Order{id=7}`, `[1, 2]`, `{"a"=1}`.
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
            Value::Constant(name) => f.write_str(name),
            Value::Opened(opened) => opened.fmt(f),
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

/// Formats `Order{id=7, status=PAID}`, `[1, 2, … 998 more]`, `{"a"=1}`, `Optional[1]`.
impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &mut dyn Iterator<Item = String>| {
            for (index, part) in parts.enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                f.write_str(&part)?;
            }
            Ok(())
        };
        let left = match self.left {
            0 => None,
            u64::MAX => Some("… more".to_owned()),
            left => Some(format!("… {} more", grouped(left))),
        };
        match &self.content {
            Content::Fields(fields) => {
                write!(f, "{}{{", simple_name(&self.class))?;
                let parts = fields.iter().map(|(name, value)| format!("{name}={value}"));
                list(f, &mut parts.chain(left))?;
                f.write_str("}")
            }
            Content::Elements(elements) => {
                let is_optional = self.class.starts_with("java/util/Optional");
                let name = if is_optional {
                    simple_name(&self.class)
                } else {
                    ""
                };
                if is_optional && elements.is_empty() && left.is_none() {
                    return write!(f, "{name}.empty");
                }
                write!(f, "{name}[")?;
                list(f, &mut elements.iter().map(Value::to_string).chain(left))?;
                f.write_str("]")
            }
            Content::Entries(entries) => {
                f.write_str("{")?;
                let parts = entries.iter().map(|(key, value)| format!("{key}={value}"));
                list(f, &mut parts.chain(left))?;
                f.write_str("}")
            }
            Content::Cycle => {
                write!(
                    f,
                    "(cycle {}@{:x})",
                    simple_name(&self.class),
                    self.identity
                )
            }
        }
    }
}

/// Formats a number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `Order` for `com/acme/Shop$Order`, as `Class.getSimpleName` does. An anonymous class gets the name of the
/// enclosing class.
fn simple_name(class: &str) -> &str {
    let of_package = class.rsplit('/').next().unwrap_or(class);
    match of_package.rsplit_once('$') {
        Some((around, name))
            if !around.ends_with('$') && name.starts_with(|it: char| it.is_alphabetic()) =>
        {
            name
        }
        _ => of_package,
    }
}

/// Returns the binary name of a class, as `Class.getName` does: `com.acme.Order`, `[I`.
fn class_name(name: &str) -> String {
    names::binary(name).to_string()
}

/// Formats `com.acme.Store.find:17`, without the line if it is unknown.
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
    fn values_are_formatted_as_in_java() {
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
            (Value::Constant("PAID".to_owned()), "PAID"),
        ] {
            assert_eq!(value.to_string(), expected);
        }
    }

    #[test]
    fn opened_objects_are_formatted_as_in_java_with_the_number_of_missing_parts() {
        let opened = |class: &str, content, left| {
            let opened = Opened {
                class: class.into(),
                identity: 255,
                content,
                left,
            };
            Value::Opened(Box::new(opened))
        };
        let text = |text: &str| Value::Text {
            text: text.to_owned(),
            length: text.len() as u32,
        };
        let elements = |count| Content::Elements((1..=count).map(Value::Int).collect());
        let order = Content::Fields(vec![
            ("id".into(), Value::Int(7)),
            ("status".into(), Value::Constant("PAID".to_owned())),
        ]);
        let entries = vec![(text("a"), Value::Int(1)), (Value::Null, Value::Null)];
        for (class, content, left, expected) in [
            (
                "com/acme/Order",
                order.clone(),
                0,
                "Order{id=7, status=PAID}",
            ),
            ("Shop$Order", order, 3, "Order{id=7, status=PAID, … 3 more}"),
            ("Shop$1", Content::Fields(Vec::new()), 0, "Shop$1{}"),
            ("[I", elements(2), 1_998, "[1, 2, … 1,998 more]"),
            ("java/util/ArrayList", elements(0), 0, "[]"),
            ("java/util/ArrayList", elements(0), 1, "[… 1 more]"),
            (
                "java/util/HashMap",
                Content::Entries(entries),
                0,
                r#"{"a"=1, null=null}"#,
            ),
            ("java/util/Optional", elements(1), 0, "Optional[1]"),
            ("java/util/OptionalInt", elements(0), 0, "OptionalInt.empty"),
            ("a/B$C", Content::Cycle, 0, "(cycle C@ff)"),
        ] {
            assert_eq!(opened(class, content, left).to_string(), expected);
        }
    }
}
