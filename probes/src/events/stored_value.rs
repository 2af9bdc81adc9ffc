//! Encodes values in the event file, and in the memory of a thread while its call is open.
//!
//! A value is a type byte and the type's content, see the table of docs/event-file-format.md. Names of classes and
//! fields are numbers; file and agent assign them independently.

use std::sync::Arc;

use super::{Content, Opened, StackFrame, Value};
use crate::error::SnapshotError;
use crate::format::write_varint;
use crate::log::read::Fields;

/// Type bytes of opened objects.
pub(crate) const FIELDS: u8 = b'o';
pub(crate) const ELEMENTS: u8 = b'e';
pub(crate) const ENTRIES: u8 = b'm';
pub(crate) const CYCLE: u8 = b'^';
/// Type byte of an enum constant.
pub(crate) const CONSTANT: u8 = b'E';
/// Precedes each part of an opened object.
pub(crate) const PART: u8 = 1;
/// Follows the last part.
pub(crate) const END: u8 = 0;
/// Stands for an unknown number of parts.
const UNKNOWN: u64 = u32::MAX as u64;
/// Maximum nesting of objects on reading.
const MAX_LEVELS: u32 = 32;

/// Returns the number of a name.
pub(super) type Numbers<'n> = dyn FnMut(&Arc<str>) -> u32 + 'n;
/// Returns the name of a number.
pub(crate) type Names<'n> = dyn Fn(u32) -> Option<Arc<str>> + 'n;

/// Returns the type byte of a value.
pub(super) fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => b'N',
        Value::Missing => b'?',
        Value::Boolean(_) => b'Z',
        Value::Byte(_) => b'B',
        Value::Char(_) => b'C',
        Value::Short(_) => b'S',
        Value::Int(_) => b'I',
        Value::Long(_) => b'J',
        Value::Float(_) => b'F',
        Value::Double(_) => b'D',
        Value::Text { .. } => b'T',
        Value::Array { .. } => b'[',
        Value::Object { .. } => b'L',
        Value::Constant(_) => CONSTANT,
        Value::Class(_) => b'K',
        Value::Stack(_) => b'#',
        Value::Opened(opened) => match opened.content {
            Content::Fields(_) => FIELDS,
            Content::Elements(_) => ELEMENTS,
            Content::Entries(_) => ENTRIES,
            Content::Cycle => CYCLE,
        },
    }
}

/// Writes the content of a value after its type byte.
pub(super) fn write(out: &mut Vec<u8>, value: &Value, number: &mut Numbers<'_>) {
    match value {
        Value::Null | Value::Missing => {}
        Value::Boolean(value) => write_varint(out, zigzag(i64::from(*value))),
        Value::Byte(value) => write_varint(out, zigzag(i64::from(*value))),
        Value::Char(value) => write_varint(out, zigzag(i64::from(*value))),
        Value::Short(value) => write_varint(out, zigzag(i64::from(*value))),
        Value::Int(value) => write_varint(out, zigzag(i64::from(*value))),
        Value::Long(value) => write_varint(out, zigzag(*value)),
        Value::Float(value) => write_varint(out, value.to_bits()),
        Value::Double(value) => write_varint(out, value.to_bits()),
        Value::Text { text, length } => {
            write_varint(out, *length);
            write_bytes(out, text);
        }
        Value::Constant(name) => write_bytes(out, name),
        Value::Array { class, length } => {
            write_varint(out, number(class));
            write_varint(out, *length);
        }
        Value::Object { class, identity } => {
            write_varint(out, number(class));
            write_varint(out, *identity);
        }
        Value::Class(class) => write_varint(out, number(class)),
        Value::Stack(frames) => {
            write_varint(out, frames.len() as u64);
            for frame in frames {
                write_varint(out, number(&frame.class));
                write_varint(out, number(&frame.method));
                write_varint(out, frame.line);
            }
        }
        Value::Opened(opened) => write_opened(out, opened, number),
    }
}

fn write_opened(out: &mut Vec<u8>, opened: &Opened, number: &mut Numbers<'_>) {
    write_varint(out, number(&opened.class));
    write_varint(out, opened.identity);
    let whole = |out: &mut Vec<u8>, value: &Value, number: &mut Numbers<'_>| {
        out.push(kind(value));
        write(out, value, number);
    };
    match &opened.content {
        Content::Cycle => return,
        Content::Fields(fields) => {
            for (name, value) in fields {
                out.push(PART);
                write_varint(out, number(name));
                whole(out, value, number);
            }
        }
        Content::Elements(elements) => {
            for value in elements {
                out.push(PART);
                whole(out, value, number);
            }
        }
        Content::Entries(entries) => {
            for (key, value) in entries {
                out.push(PART);
                whole(out, key, number);
                whole(out, value, number);
            }
        }
    }
    out.push(END);
    write_varint(
        out,
        match opened.left {
            u64::MAX => UNKNOWN,
            left => left,
        },
    );
}

fn write_bytes(out: &mut Vec<u8>, text: &str) {
    write_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Reads the content of a value after its type byte.
pub(crate) fn read(
    kind: u8,
    fields: &mut Fields<'_>,
    names: &Names<'_>,
) -> Result<Value, SnapshotError> {
    Reader { names, level: 0 }.value(kind, fields)
}

/// Reads a value outside a file, such as one in the memory of a thread. An unreadable value is missing.
pub(crate) fn read_alone(bytes: &[u8], names: &Names<'_>) -> Value {
    let mut fields = Fields::of_bytes(bytes);
    let read = fields
        .number()
        .and_then(|[kind]| read(kind, &mut fields, names));
    read.unwrap_or(Value::Missing)
}

/// Reads nested values.
struct Reader<'n> {
    names: &'n Names<'n>,
    level: u32,
}

impl Reader<'_> {
    fn value(&mut self, kind: u8, fields: &mut Fields<'_>) -> Result<Value, SnapshotError> {
        Ok(match kind {
            b'N' => Value::Null,
            b'?' => Value::Missing,
            b'Z' => Value::Boolean(unzigzag(fields.varint()?) != 0),
            b'B' => Value::Byte(unzigzag(fields.varint()?) as i8),
            b'C' => Value::Char(unzigzag(fields.varint()?) as u16),
            b'S' => Value::Short(unzigzag(fields.varint()?) as i16),
            b'I' => Value::Int(unzigzag(fields.varint()?) as i32),
            b'J' => Value::Long(unzigzag(fields.varint()?)),
            b'F' => Value::Float(f32::from_bits(fields.varint32()?)),
            b'D' => Value::Double(f64::from_bits(fields.varint()?)),
            b'T' => Value::Text {
                length: fields.varint32()?,
                text: text(fields)?,
            },
            CONSTANT => Value::Constant(text(fields)?),
            b'[' => Value::Array {
                class: self.name(fields)?,
                length: fields.varint32()?,
            },
            b'L' => Value::Object {
                class: self.name(fields)?,
                identity: fields.varint32()?,
            },
            b'K' => Value::Class(self.name(fields)?),
            b'#' => Value::Stack(self.frames(fields)?),
            FIELDS | ELEMENTS | ENTRIES | CYCLE => {
                Value::Opened(Box::new(self.opened(kind, fields)?))
            }
            other => return Err(fields.corrupt("a type of capture", other.to_string())),
        })
    }

    fn name(&self, fields: &mut Fields<'_>) -> Result<Arc<str>, SnapshotError> {
        let number = fields.varint32()?;
        (self.names)(number).ok_or_else(|| {
            fields.corrupt("the number of a name written before", number.to_string())
        })
    }

    fn frames(&self, fields: &mut Fields<'_>) -> Result<Vec<StackFrame>, SnapshotError> {
        let mut frames = Vec::new();
        for _ in 0..fields.varint()? {
            frames.push(StackFrame {
                class: self.name(fields)?,
                method: self.name(fields)?,
                line: fields.varint32()?,
            });
        }
        Ok(frames)
    }

    fn opened(&mut self, kind: u8, fields: &mut Fields<'_>) -> Result<Opened, SnapshotError> {
        self.level += 1;
        if self.level > MAX_LEVELS {
            let expected = format!("at most {MAX_LEVELS} nested objects");
            return Err(fields.corrupt(expected, "more"));
        }
        let class = self.name(fields)?;
        let identity = fields.varint32()?;
        let content = match kind {
            FIELDS => Content::Fields(self.parts(fields, |reader, fields| {
                Ok((reader.name(fields)?, reader.whole(fields)?))
            })?),
            ELEMENTS => Content::Elements(self.parts(fields, Self::whole)?),
            ENTRIES => Content::Entries(self.parts(fields, |reader, fields| {
                Ok((reader.whole(fields)?, reader.whole(fields)?))
            })?),
            _ => Content::Cycle,
        };
        let left = match content {
            Content::Cycle => 0,
            _ => match fields.varint()? {
                UNKNOWN => u64::MAX,
                left => left,
            },
        };
        self.level -= 1;
        Ok(Opened {
            class,
            identity,
            content,
            left,
        })
    }

    fn parts<T>(
        &mut self,
        fields: &mut Fields<'_>,
        part: impl Fn(&mut Self, &mut Fields<'_>) -> Result<T, SnapshotError>,
    ) -> Result<Vec<T>, SnapshotError> {
        let mut parts = Vec::new();
        loop {
            match fields.number()? {
                [END] => return Ok(parts),
                [PART] => parts.push(part(self, fields)?),
                [other] => {
                    return Err(fields.corrupt("a part of an object", other.to_string()));
                }
            }
        }
    }

    fn whole(&mut self, fields: &mut Fields<'_>) -> Result<Value, SnapshotError> {
        let [kind] = fields.number()?;
        self.value(kind, fields)
    }
}

fn text(fields: &mut Fields<'_>) -> Result<String, SnapshotError> {
    let kept = fields.varint32()?;
    let bytes = fields.take(kept as usize)?;
    String::from_utf8(bytes.to_vec()).map_err(|error| fields.corrupt("UTF-8", error.to_string()))
}

/// Encodes a signed number so that small absolute values are short.
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Decodes a number of [`zigzag`].
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(value: &Value) -> Value {
        let mut names: Vec<Arc<str>> = Vec::new();
        let mut bytes = vec![kind(value)];
        write(&mut bytes, value, &mut |name| {
            names.push(Arc::clone(name));
            names.len() as u32 - 1
        });
        read_alone(&bytes, &|number| names.get(number as usize).cloned())
    }

    fn opened(content: Content, left: u64) -> Value {
        Value::Opened(Box::new(Opened {
            class: "a/B".into(),
            identity: 7,
            content,
            left,
        }))
    }

    #[test]
    fn opened_objects_round_trip() {
        let cycle = opened(Content::Cycle, 0);
        let elements = opened(Content::Elements(vec![Value::Long(-5), cycle]), 998);
        let entries = vec![(Value::Constant("K".to_owned()), elements)];
        let fields = vec![("f".into(), opened(Content::Entries(entries), 0))];
        let value = opened(Content::Fields(fields), 1);
        assert_eq!(through(&value), value);
    }

    #[test]
    fn nested_objects_are_limited_and_a_truncated_object_is_missing() {
        let mut value = Value::Null;
        for _ in 0..MAX_LEVELS {
            value = opened(Content::Elements(vec![value]), 0);
        }
        assert_eq!(through(&value), value);
        let deeper = opened(Content::Elements(vec![value]), 0);
        assert_eq!(through(&deeper), Value::Missing);
        let torn = [ELEMENTS, 0, 0, PART, b'N'];
        assert_eq!(read_alone(&torn, &|_| Some("a".into())), Value::Missing);
    }
}
