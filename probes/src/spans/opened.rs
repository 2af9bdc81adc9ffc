//! Encodes objects with their contents in a buffer of fixed size. Parts that do not fit are counted.

use crate::events::stored_value::{CONSTANT, CYCLE, ELEMENTS, END, ENTRIES, FIELDS, PART, zigzag};

use super::capture::{JvmValue, MAX_TEXT, utf8};

/// Maximum length of one opened object, in bytes.
pub const MAX_OPENED: usize = 4_096;
/// Encoded length of an object's end: a byte and a 32-bit number.
const OF_END: usize = 6;
/// Stands for an unknown number of parts that were left out.
pub const UNKNOWN_LEFT: u64 = u64::MAX;

/// Limits for opening an object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Opening {
    /// Maximum nesting of opened objects; 0 for none.
    pub levels: u8,
    /// Available bytes.
    pub bytes: usize,
}

/// The structure of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Fields with their names.
    Fields,
    /// Elements.
    Elements,
    /// Keys and values.
    Entries,
}

/// Encodes one object with its contents.
#[derive(Debug)]
pub struct OpenedWriter<'b> {
    bytes: &'b mut [u8],
    length: usize,
    /// Number of bytes reserved for the ends of started objects.
    reserved: usize,
}

/// A position in the output.
#[derive(Debug, Clone, Copy)]
pub struct Mark(usize, usize);

impl<'b> OpenedWriter<'b> {
    /// Writes into these bytes.
    #[must_use]
    pub fn new(bytes: &'b mut [u8]) -> Self {
        Self {
            bytes,
            length: 0,
            reserved: 0,
        }
    }

    /// Returns the current position.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark(self.length, self.reserved)
    }

    /// Removes everything after a position.
    pub fn undo(&mut self, mark: Mark) {
        (self.length, self.reserved) = (mark.0, mark.1);
    }

    /// Starts an object; `false` if there is no room. Each started object requires a call of [`end`](Self::end).
    pub fn begin(&mut self, shape: Shape, class: u32, identity: u32) -> bool {
        let kind = match shape {
            Shape::Fields => FIELDS,
            Shape::Elements => ELEMENTS,
            Shape::Entries => ENTRIES,
        };
        let mark = self.mark();
        self.reserved += OF_END;
        let begun = self.put(&[kind]) && self.varint(class.into()) && self.varint(identity.into());
        if !begun {
            self.undo(mark);
        }
        begun
    }

    /// Starts a part of an object.
    pub fn part(&mut self) -> bool {
        self.put(&[PART])
    }

    /// Writes the name of a field; its value follows.
    pub fn name(&mut self, number: u32) -> bool {
        self.varint(number.into())
    }

    /// Ends an object, with the number of parts that were left out. There is always room for it.
    pub fn end(&mut self, left: u64) {
        self.reserved = self.reserved.saturating_sub(OF_END);
        // The greatest number means unknown; known numbers are below it.
        let left = match left {
            UNKNOWN_LEFT => u32::MAX,
            left => u32::try_from(left).unwrap_or(u32::MAX).min(u32::MAX - 1),
        };
        self.put(&[END]);
        self.varint(left.into());
    }

    /// Writes an object that contains itself.
    pub fn cycle(&mut self, class: u32, identity: u32) -> bool {
        self.put(&[CYCLE]) && self.varint(class.into()) && self.varint(identity.into())
    }

    /// Writes a value that is not opened, with at most `limit` bytes of a text.
    pub fn value(&mut self, value: JvmValue<'_>, limit: usize) -> bool {
        match value {
            JvmValue::Null => self.put(b"N"),
            JvmValue::Unreadable | JvmValue::NoField(..) | JvmValue::Opened(_) => self.put(b"?"),
            JvmValue::Number(kind, bits) => {
                let number = match kind {
                    b'Z' => zigzag((bits & 1) as i64),
                    b'B' => zigzag((bits as i8).into()),
                    b'C' => zigzag((bits as u16).into()),
                    b'S' => zigzag((bits as i16).into()),
                    b'I' => zigzag((bits as i32).into()),
                    b'J' => zigzag(bits.cast_signed()),
                    b'F' => (bits as u32).into(),
                    _ => bits,
                };
                self.put(&[kind]) && self.varint(number)
            }
            JvmValue::Text(units, length) => {
                let mut buffer = [0; MAX_TEXT];
                let text = utf8(units, limit, &mut buffer);
                self.put(b"T")
                    && self.varint(length.into())
                    && self.varint(text.len() as u64)
                    && self.put(text)
            }
            JvmValue::Constant(units, _) => {
                let mut buffer = [0; MAX_TEXT];
                let name = utf8(units, limit, &mut buffer);
                self.put(&[CONSTANT]) && self.varint(name.len() as u64) && self.put(name)
            }
            JvmValue::Array(class, length) => {
                self.put(b"[") && self.varint(class.into()) && self.varint(length.into())
            }
            JvmValue::Object(class, identity) => {
                self.put(b"L") && self.varint(class.into()) && self.varint(identity.into())
            }
            JvmValue::Class(class) => self.put(b"K") && self.varint(class.into()),
        }
    }

    /// Returns the written bytes.
    #[must_use]
    pub fn finish(self) -> &'b [u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn put(&mut self, bytes: &[u8]) -> bool {
        let end = self.length + bytes.len();
        if end + self.reserved > self.bytes.len() {
            return false;
        }
        let Some(place) = self.bytes.get_mut(self.length..end) else {
            return false;
        };
        place.copy_from_slice(bytes);
        self.length = end;
        true
    }

    fn varint(&mut self, mut value: u64) -> bool {
        while value >= 0x80 {
            if !self.put(&[(value & 0x7F) as u8 | 0x80]) {
                return false;
            }
            value >>= 7;
        }
        self.put(&[value as u8])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::stored_value::read_alone;
    use crate::events::{Content, Value};

    /// Writes a list of lists of numbers as the agent does, as far as there is room.
    fn written(room: usize, outer: u64, inner: u64) -> String {
        let mut bytes = vec![0; room];
        let mut writer = OpenedWriter::new(&mut bytes);
        if !writer.begin(Shape::Elements, 1, 2) {
            return String::new();
        }
        let mut shown = 0;
        for _ in 0..outer {
            let mark = writer.mark();
            if !(writer.part() && writer.begin(Shape::Elements, 1, 3)) {
                writer.undo(mark);
                break;
            }
            let mut within = 0;
            for number in 0..inner {
                let mark = writer.mark();
                if !(writer.part() && writer.value(JvmValue::Number(b'J', number), 80)) {
                    writer.undo(mark);
                    break;
                }
                within += 1;
            }
            writer.end(inner - within);
            shown += 1;
        }
        writer.end(outer - shown);
        read_alone(writer.finish(), &|_| Some("a".into())).to_string()
    }

    #[test]
    fn objects_are_cut_at_the_limit_and_count_missing_parts() {
        assert_eq!(written(200, 2, 3), "[[0, 1, 2], [0, 1, 2]]");
        for room in 0..200 {
            let text = written(room, 9, 9);
            let is_whole = text.matches("8]").count() == 9;
            assert!(
                text.is_empty() || is_whole || text.ends_with(" more]"),
                "{room}: {text}"
            );
        }
    }

    #[test]
    fn values_of_opened_objects_round_trip() {
        let units: Vec<u16> = "\u{e4}\u{1F600}".encode_utf16().collect();
        for (value, expected) in [
            (JvmValue::Null, "null"),
            (JvmValue::Unreadable, "?"),
            (JvmValue::Number(b'Z', 1), "true"),
            (JvmValue::Number(b'I', u64::from(u32::MAX)), "-1"),
            (JvmValue::Number(b'D', 1.5_f64.to_bits()), "1.5"),
            (JvmValue::Text(&units, 9), "\"\u{e4}\u{1F600}\"…"),
            (JvmValue::Constant(&units, 3), "\u{e4}\u{1F600}"),
            (JvmValue::Object(1, 255), "a@ff"),
            (JvmValue::Class(1), "a"),
        ] {
            let mut bytes = [0; 64];
            let mut writer = OpenedWriter::new(&mut bytes);
            assert!(writer.value(value, 80));
            let read = read_alone(writer.finish(), &|_| Some("a".into()));
            assert_eq!(read.to_string(), expected);
        }
    }

    #[test]
    fn number_of_missing_parts_may_be_unknown() {
        for (left, expected) in [
            (7, 7),
            (UNKNOWN_LEFT, UNKNOWN_LEFT),
            (1 << 40, u64::from(u32::MAX) - 1),
        ] {
            let mut bytes = [0; 64];
            let mut writer = OpenedWriter::new(&mut bytes);
            assert!(writer.begin(Shape::Fields, 1, 2));
            writer.end(left);
            let Value::Opened(read) = read_alone(writer.finish(), &|_| Some("a".into())) else {
                panic!("an object");
            };
            assert_eq!(
                (read.left, &read.content),
                (expected, &Content::Fields(Vec::new()))
            );
        }
    }
}
