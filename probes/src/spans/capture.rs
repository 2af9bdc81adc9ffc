//! Encodes captured values as words.
//!
//! The first word of a value holds the type byte, the value number (byte), the number of following words (u16), and a
//! number (u32): the identity hash of an object, or the length of an array or string. Then follow, for numbers, the
//! value; for objects, arrays and classes, the number of the class; for strings, enum constants and opened objects,
//! the number of stored bytes and the bytes; for call stacks, a word for each frame. The highest bit of the type byte
//! marks the value of a slot in a condition's program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use conditions::{Datum, Root, Text};

use crate::events::stored_value::{CONSTANT, read_alone};
use crate::events::{Capture, CaptureSource, RETURNED, SHOWN, StackFrame, Value};

/// Maximum number of capture words of one thread's open calls.
pub(crate) const ARENA: usize = 2_048;
/// The same limit if objects are opened. The words of one call fit into a segment.
pub(crate) const ARENA_OF_OPENED: usize = 4_000;
/// Type of an object with its contents; its bytes are its own type and parts.
const OPENED_OBJECT: u8 = b'V';
/// Maximum number of text bytes of one string.
pub const MAX_TEXT: usize = conditions::limits::MAX_TEXT;

/// Specifies the captured value and its limit, as one `int` constant of the instrumented code.
///
/// Bits 0 to 6: type, as in a descriptor, and `M` for an object that is known to be a string. Bit 7: an object is
/// stored with its contents. Bits 8 to 15: parameter, 255 for the returned value; number of a slot. Bits 16 to 26:
/// maximum number of text bytes. Bits 27 and 28: 0 a parameter or the returned value, 1 a slot, or with bit 29 a
/// local variable, 2 `this`, 3 the exception. Bit 29: a program reads values from it. Bit 30: it is read from, and
/// not stored itself. Bit 31: the first capture of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureSpec(pub i32);

/// Bits 27 and 28 of a [`CaptureSpec`].
const OF_SLOT: u32 = 1;
const OF_THIS: u32 = 2;
const OF_THROWN: u32 = 3;
const PLACE: u32 = 27;
/// A bit of the type.
const OPENED: u8 = 1 << 7;
const READ_FROM: u32 = 1 << 29;
const NOT_KEPT: u32 = 1 << 30;

impl CaptureSpec {
    /// Specifies a value of `kind` (the first byte of its descriptor).
    #[must_use]
    pub fn new(kind: u8, source: CaptureSource, limit: u32, first: bool) -> Self {
        let (source, place) = match source {
            CaptureSource::Argument(index) => (index, 0),
            CaptureSource::Returned => (RETURNED, 0),
            CaptureSource::Shown(slot) => (slot, OF_SLOT),
            CaptureSource::Stack => (0, OF_SLOT),
        };
        let limit = limit.min(MAX_TEXT as u32);
        let bits = u32::from(kind) | u32::from(source) << 8 | limit << 16 | u32::from(first) << 31;
        Self((bits | place << PLACE) as i32)
    }

    /// Specifies a value from which a condition's program reads others; `is_kept` is set if it is stored itself.
    #[must_use]
    pub fn read_from(kind: u8, root: Root, limit: u32, first: bool, is_kept: bool) -> Self {
        let (source, place) = match root {
            Root::Argument(index) => (CaptureSource::Argument(index), 0),
            Root::Returned => (CaptureSource::Returned, 0),
            Root::This => (CaptureSource::Argument(0), OF_THIS),
            Root::Thrown => (CaptureSource::Argument(0), OF_THROWN),
            Root::Local => (CaptureSource::Argument(0), OF_SLOT), // see `read_from_variable`
        };
        let kept = if is_kept { 0 } else { NOT_KEPT };
        let bits = Self::new(kind, source, limit, first).bits();
        Self((bits | place << PLACE | READ_FROM | kept) as i32)
    }

    /// Specifies a local variable with this index among those that a program reads from.
    #[must_use]
    pub fn read_from_variable(kind: u8, index: u8, limit: u32, first: bool) -> Self {
        let spec = Self::new(kind, CaptureSource::Shown(index), limit, first);
        Self((spec.bits() | READ_FROM | NOT_KEPT) as i32)
    }

    /// Returns the index of the local variable among those that a program reads from.
    #[must_use]
    pub fn variable(self) -> u8 {
        self.source()
    }

    /// Returns the root from which a program reads other values, if it does.
    #[must_use]
    pub fn root(self) -> Option<Root> {
        let root = match (self.bits() >> PLACE & 3, self.source()) {
            (OF_SLOT, _) => Root::Local,
            (OF_THIS, _) => Root::This,
            (OF_THROWN, _) => Root::Thrown,
            (_, RETURNED) => Root::Returned,
            (_, index) => Root::Argument(index),
        };
        (self.bits() & READ_FROM != 0).then_some(root)
    }

    /// Checks whether the value itself is stored.
    #[must_use]
    pub fn is_kept(self) -> bool {
        self.bits() & NOT_KEPT == 0
    }

    /// Checks whether the value belongs to a call that is about to be entered.
    #[must_use]
    pub fn is_of_entry(self) -> bool {
        self.bits() >> PLACE & 3 == 0 && self.source() != RETURNED
    }

    /// Checks whether the value belongs to a call that is about to be left.
    #[must_use]
    pub fn is_of_end(self) -> bool {
        match self.bits() >> PLACE & 3 {
            0 => self.source() == RETURNED,
            place => place != OF_SLOT,
        }
    }

    /// Derives the specification of a slot's value; `is_whole` is set to store as much text as possible.
    #[must_use]
    pub fn of_slot(self, slot: u8, is_whole: bool, first: bool) -> Self {
        let limit = if is_whole { MAX_TEXT } else { self.limit() };
        Self::new(self.kind(), CaptureSource::Shown(slot), limit as u32, first)
    }

    fn bits(self) -> u32 {
        self.0 as u32
    }

    /// Returns the first byte of the value's descriptor.
    #[must_use]
    pub fn kind(self) -> u8 {
        self.bits() as u8 & !OPENED
    }

    /// Derives the specification that stores an object with its contents.
    #[must_use]
    pub fn opened(self) -> Self {
        Self((self.bits() | u32::from(OPENED)) as i32)
    }

    /// Checks whether an object is stored with its contents.
    #[must_use]
    pub fn is_opened(self) -> bool {
        self.bits() as u8 & OPENED != 0
    }

    /// Checks whether the value is known to be a string: the helper class has added 1 to the type of an object.
    #[must_use]
    pub fn is_text(self) -> bool {
        self.kind() == b'L' + 1
    }

    /// Returns the maximum number of text bytes.
    #[must_use]
    pub fn limit(self) -> usize {
        ((self.bits() >> 16) as usize & 0x7FF).min(MAX_TEXT)
    }

    /// Checks whether it is the first capture of its call.
    #[must_use]
    pub fn is_first(self) -> bool {
        self.0 < 0
    }

    fn source(self) -> u8 {
        (self.bits() >> 8) as u8
    }

    /// Returns the bit of the type byte that marks a slot.
    fn shown(self) -> u8 {
        match self.bits() >> PLACE & 3 {
            OF_SLOT => SHOWN,
            _ => 0,
        }
    }
}

/// A value read from the JVM. Class numbers come from [`Runtime::class`](super::Runtime::class).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JvmValue<'a> {
    /// `null`.
    Null,
    /// A primitive value: the first byte of its descriptor, and its bits.
    Number(u8, u64),
    /// A string: its stored part, and its whole length.
    Text(&'a [u16], u32),
    /// An array: class and length.
    Array(u32, u32),
    /// Another object: class and identity hash.
    Object(u32, u32),
    /// An enum constant: the stored part of its name, and the whole length.
    Constant(&'a [u16], u32),
    /// An object with its contents, encoded by an [`OpenedWriter`](super::OpenedWriter).
    Opened(&'a [u8]),
    /// A class.
    Class(u32),
    /// A value without the next field of the path: numbers of the class, of the field's name, and of the existing
    /// field names, joined by commas.
    NoField(u32, u32, u32),
    /// An unreadable value.
    Unreadable,
}

/// Encodes a value into the words; `None` if they do not suffice.
#[inline(always)]
pub(crate) fn encode(spec: CaptureSpec, value: JvmValue<'_>, words: &[AtomicU64]) -> Option<usize> {
    let (kind, number, payload) = match value {
        JvmValue::Null => (b'N', 0, None),
        JvmValue::Unreadable | JvmValue::NoField(..) => (b'?', 0, None),
        JvmValue::Number(kind, bits) => (kind, 0, Some(bits)),
        JvmValue::Array(class, length) => (b'[', length, Some(class.into())),
        JvmValue::Object(class, identity) => (b'L', identity, Some(class.into())),
        JvmValue::Class(class) => (b'K', 0, Some(class.into())),
        JvmValue::Text(units, length) => return encode_text(spec, b'T', units, length, words),
        JvmValue::Constant(units, length) => {
            return encode_text(spec, CONSTANT, units, length, words);
        }
        JvmValue::Opened(bytes) => return put_bytes(spec, OPENED_OBJECT, 0, bytes, words),
    };
    match (payload, words) {
        (None, [head, ..]) => {
            head.store(head_of(spec, kind, 0, number), Ordering::Relaxed);
            Some(1)
        }
        (Some(payload), [head, word, ..]) => {
            head.store(head_of(spec, kind, 1, number), Ordering::Relaxed);
            word.store(payload, Ordering::Relaxed);
            Some(2)
        }
        _ => None,
    }
}

/// Returns the first word of a value with `count` further words.
#[inline(always)]
fn head_of(spec: CaptureSpec, kind: u8, count: usize, number: u32) -> u64 {
    u64::from(kind | spec.shown())
        | u64::from(spec.source()) << 8
        | (count as u64) << 16
        | u64::from(number) << 32
}

/// Encodes a text; see [`encode`].
#[inline(never)]
fn encode_text(
    spec: CaptureSpec,
    kind: u8,
    units: &[u16],
    length: u32,
    words: &[AtomicU64],
) -> Option<usize> {
    let ascii = units.get(..spec.limit()).unwrap_or(units);
    if ascii.iter().all(|unit| *unit < 0x80) {
        let tail = ascii.chunks(8).map(|chunk| {
            let places = (0..u64::BITS).step_by(8);
            let bytes = chunk.iter().zip(places);
            bytes.fold(0, |word, (unit, place)| word | u64::from(*unit) << place)
        });
        return put_words(spec, (kind, length), ascii.len(), tail, words);
    }
    let mut bytes = [0; MAX_TEXT];
    let text = utf8(units, spec.limit(), &mut bytes);
    put_bytes(spec, kind, length, text, words)
}

/// Writes bytes after their number.
fn put_bytes(
    spec: CaptureSpec,
    kind: u8,
    number: u32,
    bytes: &[u8],
    words: &[AtomicU64],
) -> Option<usize> {
    let tail = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        let length = chunk.len();
        word[..length].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    put_words(spec, (kind, number), bytes.len(), tail, words)
}

/// Writes a value of `kept` bytes from `tail`, and for a text the number of its UTF-16 units.
fn put_words(
    spec: CaptureSpec,
    (kind, number): (u8, u32),
    kept: usize,
    tail: impl Iterator<Item = u64>,
    words: &[AtomicU64],
) -> Option<usize> {
    let count = 1 + kept.div_ceil(8);
    let place = words.get(..=count)?;
    let head = head_of(spec, kind, count, number);
    let all = [head, kept as u64].into_iter().chain(tail);
    for (word, value) in place.iter().zip(all) {
        word.store(value, Ordering::Relaxed);
    }
    Some(count + 1)
}

/// Encodes as much of a text as `limit` bytes hold.
pub(super) fn utf8<'b>(units: &[u16], limit: usize, out: &'b mut [u8; MAX_TEXT]) -> &'b [u8] {
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

/// Returns the only word of a value for which there was no room.
pub(crate) fn missing(spec: CaptureSpec) -> u64 {
    u64::from(b'?' | spec.shown()) | u64::from(spec.source()) << 8
}

/// Encodes a frame of a call stack as a word: the numbers of its class's and method's names, and the line.
#[must_use]
pub fn frame_word(class: u32, method: u32, line: u16) -> u64 {
    u64::from(class) & 0xFF_FFFF | (u64::from(method) & 0xFF_FFFF) << 24 | u64::from(line) << 48
}

/// Encodes a call stack into the words; `None` if they do not suffice.
pub(crate) fn encode_stack(frames: &[u64], words: &[AtomicU64]) -> Option<usize> {
    let place = words.get(..=frames.len())?;
    let head = u64::from(b'#') | (frames.len() as u64) << 16;
    let all = std::iter::once(head).chain(frames.iter().copied());
    for (word, value) in place.iter().zip(all) {
        word.store(value, Ordering::Relaxed);
    }
    Some(frames.len() + 1)
}

/// Returns the value in a slot of a program; texts are copied into `buffer`. `class_name` writes the name with a
/// number to the buffer, as far as it fits, and returns its length in UTF-16 units.
pub(crate) fn slot<'b>(
    words: &[AtomicU64],
    slot: u8,
    buffer: &'b mut [u8; MAX_TEXT],
    class_name: impl FnOnce(u32, &mut [u8; MAX_TEXT]) -> (usize, u32),
) -> Datum<'b> {
    let Some((head, payload)) = find(words, slot) else {
        return Datum::Missing;
    };
    let bits = payload
        .first()
        .map_or(0, |word| word.load(Ordering::Relaxed));
    match head as u8 & !SHOWN {
        b'N' => Datum::Null,
        b'Z' => Datum::Truth(bits & 1 != 0),
        b'B' => Datum::Integer((bits as i8).into()),
        b'C' => Datum::Integer((bits as u16).into()),
        b'S' => Datum::Integer((bits as i16).into()),
        b'I' => Datum::Integer((bits as i32).into()),
        b'J' => Datum::Integer(bits as i64),
        b'F' => Datum::Float(f32::from_bits(bits as u32).into()),
        b'D' => Datum::Float(f64::from_bits(bits)),
        b'L' | b'[' | OPENED_OBJECT => Datum::Object,
        b'K' => {
            let (kept, length) = class_name(bits as u32, buffer);
            datum_of_text(buffer, kept, length)
        }
        b'T' | CONSTANT => {
            let words = payload.get(1..).unwrap_or_default();
            for (bytes, word) in buffer.chunks_mut(8).zip(words) {
                bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
            }
            datum_of_text(buffer, bits as usize, (head >> 32) as u32)
        }
        _ => Datum::Missing,
    }
}

/// Returns a text whose first `kept` bytes are in the buffer.
pub(crate) fn datum_of_text(buffer: &[u8; MAX_TEXT], kept: usize, length: u32) -> Datum<'_> {
    let known = buffer.get(..kept).and_then(|it| str::from_utf8(it).ok());
    known.map_or(Datum::Missing, |known| {
        Datum::Text(Text::new(known, length))
    })
}

/// Finds the head of a slot's value, and the words after it.
fn find(words: &[AtomicU64], slot: u8) -> Option<(u64, &[AtomicU64])> {
    let mut rest = words;
    loop {
        let (head, behind) = rest.split_first()?;
        let head = head.load(Ordering::Relaxed);
        let (payload, behind) = behind.split_at_checked((head >> 16) as usize & 0xFFFF)?;
        if head as u8 & SHOWN != 0 && (head >> 8) as u8 == slot {
            return Some((head, payload));
        }
        rest = behind;
    }
}

/// Decodes the captures in `words`, up to the first invalid one.
pub(crate) fn decode(mut words: &[u64], class: impl Fn(u32) -> Arc<str>) -> Vec<Capture> {
    let mut captures = Vec::new();
    while let Some((head, rest)) = words.split_first() {
        let count = (head >> 16) as usize & 0xFFFF;
        let Some((payload, rest)) = rest.split_at_checked(count) else {
            break;
        };
        words = rest;
        let kind = *head as u8;
        let source = match (head >> 8) as u8 {
            _ if kind == b'#' => CaptureSource::Stack,
            slot if kind & SHOWN != 0 => CaptureSource::Shown(slot),
            RETURNED => CaptureSource::Returned,
            index => CaptureSource::Argument(index),
        };
        let (number, bits) = ((head >> 32) as u32, payload.first().copied().unwrap_or(0));
        let value = match kind & !SHOWN {
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
            CONSTANT => Value::Constant(text(payload, bits)),
            OPENED_OBJECT => read_alone(&bytes(payload, bits), &|number| Some(class(number))),
            b'[' => Value::Array {
                class: class(bits as u32),
                length: number,
            },
            b'L' => Value::Object {
                class: class(bits as u32),
                identity: number,
            },
            b'K' => Value::Class(class(bits as u32)),
            b'#' => Value::Stack(payload.iter().map(|word| frame(*word, &class)).collect()),
            _ => Value::Missing,
        };
        captures.push(Capture { source, value });
    }
    captures
}

fn frame(word: u64, name: impl Fn(u32) -> Arc<str>) -> StackFrame {
    StackFrame {
        class: name(word as u32 & 0xFF_FFFF),
        method: name((word >> 24) as u32 & 0xFF_FFFF),
        line: (word >> 48) as u32,
    }
}

fn text(payload: &[u64], length: u64) -> String {
    String::from_utf8_lossy(&bytes(payload, length)).into_owned()
}

fn bytes(payload: &[u64], length: u64) -> Vec<u8> {
    let words = payload.get(1..).unwrap_or_default();
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(length as usize);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(spec: CaptureSpec, value: JvmValue<'_>) -> Vec<Capture> {
        let words: Vec<AtomicU64> = (0..200).map(|_| AtomicU64::new(0)).collect();
        let used = encode(spec, value, &words).expect("room");
        let words: Vec<u64> = words[..used]
            .iter()
            .map(|word| word.load(Ordering::Relaxed))
            .collect();
        decode(&words, |number| format!("class{number}").into())
    }

    #[test]
    fn values_round_trip_as_words() {
        let spec = |kind| CaptureSpec::new(kind, CaptureSource::Argument(3), 10, true);
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
            let found = through(spec(kind), JvmValue::Number(kind, bits));
            assert_eq!(
                found,
                [Capture {
                    source: CaptureSource::Argument(3),
                    value
                }]
            );
        }
        let returned = CaptureSpec::new(b'L', CaptureSource::Returned, 10, false);
        let object = Value::Object {
            class: "class7".into(),
            identity: u32::MAX,
        };
        assert_eq!(
            through(returned, JvmValue::Object(7, u32::MAX)),
            [Capture {
                source: CaptureSource::Returned,
                value: object
            }]
        );
        let array = Value::Array {
            class: "class8".into(),
            length: 9,
        };
        assert_eq!(through(spec(b'['), JvmValue::Array(8, 9))[0].value, array);
        assert_eq!(through(spec(b'L'), JvmValue::Null)[0].value, Value::Null);
    }

    #[test]
    fn specification_of_a_text_keeps_its_other_bits() {
        for source in [CaptureSource::Argument(3), CaptureSource::Returned] {
            let object = CaptureSpec::new(b'L', source, 77, true);
            let text = CaptureSpec(object.0 + 1);
            assert!(text.is_text() && !object.is_text());
            assert!(text.is_first() && text.limit() == 77);
            assert!(text.of_slot(2, true, false).is_text());
            let seen = JvmValue::Text(&[65], 1);
            assert_eq!(through(text, seen), through(object, seen));
        }
        assert!(!CaptureSpec::new(b'[', CaptureSource::Argument(0), 1, true).is_text());
    }

    #[test]
    fn text_is_cut_at_a_character_within_the_limit() {
        let spec = CaptureSpec::new(b'L', CaptureSource::Argument(0), 10, true);
        let kept = |text: &str| {
            let units: Vec<u16> = text.encode_utf16().collect();
            match through(spec, JvmValue::Text(&units, 99)).remove(0).value {
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
        let half = through(spec, JvmValue::Text(&[0xD83D, 65], 2))
            .remove(0)
            .value;
        assert_eq!(
            half,
            Value::Text {
                text: "\u{FFFD}A".to_owned(),
                length: 2
            }
        );
    }

    #[test]
    fn value_without_room_takes_no_words() {
        let words: Vec<AtomicU64> = (0..2).map(|_| AtomicU64::new(0)).collect();
        let spec = CaptureSpec::new(b'L', CaptureSource::Argument(0), 80, true);
        assert_eq!(encode(spec, JvmValue::Text(&[65; 9], 9), &words), None);
        assert_eq!(encode(spec, JvmValue::Number(b'I', 1), &words), Some(2));
    }
}
