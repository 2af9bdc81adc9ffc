//! Captured values as words.
//!
//! The first word of a value: type byte, which value (byte), words that follow (u16), a number (u32): the identity
//! hash of an object, the length of an array or string. Then, for numbers, the value; for objects and arrays, the
//! number of the class; for strings, the bytes kept, their count first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::events::{Capture, RETURNED, Value, Which};

/// Words of captures that the open calls of one thread hold together.
pub(crate) const ARENA: usize = 2_048;
/// Most bytes of text of one string.
pub const MAX_TEXT: usize = 1_024;

/// Which value is captured and how much of it, as one `int` constant of the instrumented code.
///
/// Bits 0 to 7: type, as in a descriptor. Bits 8 to 15: parameter, 255 for the returned value. Bits 16 to 30: most
/// bytes of text. Bit 31: the first capture of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureSpec(pub i32);

impl CaptureSpec {
    /// A value of `kind` (the first byte of its descriptor).
    #[must_use]
    pub fn new(kind: u8, which: Which, limit: u32, first: bool) -> Self {
        let which = match which {
            Which::Argument(index) => index,
            Which::Returned => RETURNED,
        };
        let limit = limit.min(MAX_TEXT as u32);
        let bits = u32::from(kind) | u32::from(which) << 8 | limit << 16 | u32::from(first) << 31;
        Self(bits as i32)
    }

    fn bits(self) -> u32 {
        self.0 as u32
    }

    /// The first byte of the value's descriptor.
    #[must_use]
    pub fn kind(self) -> u8 {
        self.bits() as u8
    }

    /// Most bytes of text.
    #[must_use]
    pub fn limit(self) -> usize {
        ((self.bits() >> 16) as usize & 0x7FFF).min(MAX_TEXT)
    }

    /// Whether it is the first of its call.
    #[must_use]
    pub fn is_first(self) -> bool {
        self.0 < 0
    }

    fn which(self) -> u8 {
        (self.bits() >> 8) as u8
    }
}

/// A value as read from the JVM. `class` numbers come from [`Runtime::class`](super::Runtime::class).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<'a> {
    /// `null`.
    Null,
    /// A primitive value: the first byte of its descriptor, and its bits.
    Number(u8, u64),
    /// A string: what is kept of it, and its whole length.
    Text(&'a [u16], u32),
    /// An array: class and length.
    Array(u32, u32),
    /// Another object: class and identity hash.
    Object(u32, u32),
    /// Something that could not be read.
    Unreadable,
}

/// Writes a value into the words; none if they are too few.
pub(crate) fn encode(spec: CaptureSpec, value: Seen<'_>, words: &[AtomicU64]) -> Option<usize> {
    let mut bytes = [0; MAX_TEXT];
    let (kind, number, payload, text): (u8, u32, Option<u64>, &[u8]) = match value {
        Seen::Null => (b'N', 0, None, &[]),
        Seen::Unreadable => (b'?', 0, None, &[]),
        Seen::Number(kind, bits) => (kind, 0, Some(bits), &[]),
        Seen::Array(class, length) => (b'[', length, Some(class.into()), &[]),
        Seen::Object(class, identity) => (b'L', identity, Some(class.into()), &[]),
        Seen::Text(units, length) => {
            let kept = utf8(units, spec.limit(), &mut bytes);
            (b'T', length, Some(kept.len() as u64), kept)
        }
    };
    let count = usize::from(payload.is_some()) + text.len().div_ceil(8);
    let place = words.get(..=count)?;
    let head = u64::from(kind)
        | u64::from(spec.which()) << 8
        | (count as u64) << 16
        | u64::from(number) << 32;
    let tail = text.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        let length = chunk.len();
        word[..length].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    let all = std::iter::once(head).chain(payload).chain(tail);
    for (word, value) in place.iter().zip(all) {
        word.store(value, Ordering::Relaxed);
    }
    Some(count + 1)
}

/// As much of a text as `limit` bytes hold.
fn utf8<'b>(units: &[u16], limit: usize, out: &'b mut [u8; MAX_TEXT]) -> &'b [u8] {
    let mut length = 0;
    let limit = limit.min(MAX_TEXT);
    for unit in char::decode_utf16(units.iter().copied()) {
        let character = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
        let Some(room) = out.get_mut(length..limit) else {
            break;
        };
        if character.len_utf8() > room.len() {
            break;
        }
        length += character.encode_utf8(room).len();
    }
    out.get(..length).unwrap_or_default()
}

/// A value for which there was no room, as its only word.
pub(crate) fn missing(spec: CaptureSpec) -> u64 {
    u64::from(b'?') | u64::from(spec.which()) << 8
}

/// The captures in `words`; ends where they make no sense.
pub(crate) fn decode(mut words: &[u64], class: impl Fn(u32) -> Arc<str>) -> Vec<Capture> {
    let mut captures = Vec::new();
    while let Some((head, rest)) = words.split_first() {
        let count = (head >> 16) as usize & 0xFFFF;
        let Some((payload, rest)) = rest.split_at_checked(count) else {
            break;
        };
        words = rest;
        let which = match (head >> 8) as u8 {
            RETURNED => Which::Returned,
            index => Which::Argument(index),
        };
        let (number, bits) = ((head >> 32) as u32, payload.first().copied().unwrap_or(0));
        let value = match *head as u8 {
            b'N' => Value::Null,
            b'Z' => Value::Boolean(bits & 1 != 0),
            b'B' => Value::Byte(bits as i8),
            b'C' => Value::Char(bits as u16),
            b'S' => Value::Short(bits as i16),
            b'I' => Value::Int(bits as i32),
            b'J' => Value::Long(bits as i64),
            b'F' => Value::Float(f32::from_bits(bits as u32)),
            b'D' => Value::Double(f64::from_bits(bits)),
            b'T' => Value::Text {
                text: text(payload, bits),
                length: number,
            },
            b'[' => Value::Array {
                class: class(bits as u32),
                length: number,
            },
            b'L' => Value::Object {
                class: class(bits as u32),
                identity: number,
            },
            _ => Value::Missing,
        };
        captures.push(Capture { which, value });
    }
    captures
}

fn text(payload: &[u64], length: u64) -> String {
    let words = payload.get(1..).unwrap_or_default();
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(length as usize);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(spec: CaptureSpec, value: Seen<'_>) -> Vec<Capture> {
        let words: Vec<AtomicU64> = (0..200).map(|_| AtomicU64::new(0)).collect();
        let used = encode(spec, value, &words).expect("room");
        let words: Vec<u64> = words[..used]
            .iter()
            .map(|word| word.load(Ordering::Relaxed))
            .collect();
        decode(&words, |number| format!("class{number}").into())
    }

    #[test]
    fn values_survive_being_words() {
        let spec = |kind| CaptureSpec::new(kind, Which::Argument(3), 10, true);
        for (kind, bits, value) in [
            (b'Z', 1, Value::Boolean(true)),
            (b'B', -1_i64 as u64, Value::Byte(-1)),
            (b'C', 65, Value::Char(65)),
            (b'S', -2_i64 as u64, Value::Short(-2)),
            (b'I', -3_i64 as u64, Value::Int(-3)),
            (b'J', u64::MAX, Value::Long(-1)),
            (b'F', 1.5_f32.to_bits().into(), Value::Float(1.5)),
            (b'D', 2.5_f64.to_bits(), Value::Double(2.5)),
        ] {
            let found = through(spec(kind), Seen::Number(kind, bits));
            assert_eq!(
                found,
                [Capture {
                    which: Which::Argument(3),
                    value
                }]
            );
        }
        let returned = CaptureSpec::new(b'L', Which::Returned, 10, false);
        let object = Value::Object {
            class: "class7".into(),
            identity: u32::MAX,
        };
        assert_eq!(
            through(returned, Seen::Object(7, u32::MAX)),
            [Capture {
                which: Which::Returned,
                value: object
            }]
        );
        let array = Value::Array {
            class: "class8".into(),
            length: 9,
        };
        assert_eq!(through(spec(b'['), Seen::Array(8, 9))[0].value, array);
        assert_eq!(through(spec(b'L'), Seen::Null)[0].value, Value::Null);
    }

    #[test]
    fn text_is_cut_at_a_character_within_the_limit() {
        let spec = CaptureSpec::new(b'L', Which::Argument(0), 10, true);
        let kept = |text: &str| {
            let units: Vec<u16> = text.encode_utf16().collect();
            match through(spec, Seen::Text(&units, 99)).remove(0).value {
                Value::Text { text, length: 99 } => text,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(kept("short"), "short");
        assert_eq!(kept("exactlyten"), "exactlyten");
        assert_eq!(kept("exactly ten, no"), "exactly te");
        assert_eq!(kept("ééééééé"), "ééééé");
        assert_eq!(kept("12345678😀"), "12345678");
        assert_eq!(kept(""), "");
        let half = through(spec, Seen::Text(&[0xD83D, 65], 2)).remove(0).value;
        assert_eq!(
            half,
            Value::Text {
                text: "\u{FFFD}A".to_owned(),
                length: 2
            }
        );
    }

    #[test]
    fn value_without_room_takes_none() {
        let words: Vec<AtomicU64> = (0..2).map(|_| AtomicU64::new(0)).collect();
        let spec = CaptureSpec::new(b'L', Which::Argument(0), 80, true);
        assert_eq!(encode(spec, Seen::Text(&[65; 9], 9), &words), None);
        assert_eq!(encode(spec, Seen::Number(b'I', 1), &words), Some(2));
    }
}
