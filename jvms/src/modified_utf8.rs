//! Modified UTF-8, the text of class files (JVMS 4.4.7).
//!
//! It differs from UTF-8 in three ways. NUL is two bytes. A character beyond the basic plane is a pair of surrogates of
//! three bytes each. Unpaired surrogates are allowed.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Write};

/// Text as the class file holds it, unchecked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Utf8<'a>(&'a [u8]);

impl<'a> Utf8<'a> {
    /// Wraps bytes without a check.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Utf8(bytes)
    }

    /// Returns the bytes as in the class file.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns the text if the bytes are also valid UTF-8.
    #[must_use]
    pub fn to_str(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    /// Returns the text for display, with surrogate pairs joined and NUL decoded. Unpaired surrogates and malformed
    /// bytes are escaped as `\uD800` or `\xFF`. Different texts look different, unless one holds such an escape
    /// literally.
    #[must_use]
    pub fn to_str_lossless(self) -> Cow<'a, str> {
        match std::str::from_utf8(self.0) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(escaped(self.0)),
        }
    }
}

/// Malformed modified UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// Offset of the first malformed byte.
    pub offset: usize,
    /// The malformed byte.
    pub byte: u8,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Malformed { offset, byte } = self;
        write!(
            f,
            "expected modified UTF-8 (JVMS 4.4.7), found the byte 0x{byte:02X} at {offset}"
        )
    }
}

impl Error for Malformed {}

/// Encodes `text` as modified UTF-8.
#[must_use]
pub fn encode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => bytes.extend_from_slice(&[0xC0, 0x80]),
            '\u{10000}'.. => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let [high, low] = unit.to_be_bytes();
                    let middle = 0x80 | (high & 0x0F) << 2 | low >> 6;
                    bytes.extend_from_slice(&[0xE0 | high >> 4, middle, 0x80 | low & 0x3F]);
                }
            }
            c => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// Decodes `bytes`; unpaired surrogates become U+FFFD.
///
/// # Errors
/// The first malformed byte.
pub fn decode(bytes: &[u8]) -> Result<String, Malformed> {
    let units: Vec<u16> = Units::of(bytes).collect::<Result<_, _>>()?;
    Ok(String::from_utf16_lossy(&units))
}

/// Checks that a `CONSTANT_Utf8` may hold `bytes`.
///
/// # Errors
/// The first malformed byte.
pub fn validate(bytes: &[u8]) -> Result<(), Malformed> {
    Units::of(bytes).try_for_each(|unit| unit.map(drop))
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut units = Units::of(bytes).peekable();
    while let Some(unit) = units.next() {
        // Writing to a string does not fail.
        let _ = match (unit, units.peek()) {
            (Err(Malformed { byte, .. }), _) => write!(text, "\\x{byte:02X}"),
            (Ok(high @ 0xD800..=0xDBFF), Some(Ok(low @ 0xDC00..=0xDFFF))) => {
                text.extend(char::decode_utf16([high, *low]).flatten());
                units.next();
                Ok(())
            }
            (Ok(unit), _) => match char::from_u32(u32::from(unit)) {
                Some(character) => text.write_char(character),
                None => write!(text, "\\u{unit:04X}"),
            },
        };
    }
    text
}

/// Iterates over the UTF-16 code units and malformed bytes of a text.
struct Units<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Units<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Units {
            rest: bytes,
            offset: 0,
        }
    }
}

impl Iterator for Units<'_> {
    type Item = Result<u16, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let bits = |byte: u8, mask: u8| u16::from(byte & mask);
        let offset = self.offset;
        let (unit, length) = match *self.rest {
            [] => return None,
            [a @ 0x01..=0x7F, ..] => (Ok(u16::from(a)), 1),
            [a @ 0xC0..=0xDF, b @ 0x80..=0xBF, ..] => (Ok(bits(a, 0x1F) << 6 | bits(b, 0x3F)), 2),
            [a @ 0xE0..=0xEF, b @ 0x80..=0xBF, c @ 0x80..=0xBF, ..] => {
                let unit = bits(a, 0x0F) << 12 | bits(b, 0x3F) << 6 | bits(c, 0x3F);
                (Ok(unit), 3)
            }
            [byte, ..] => (Err(Malformed { offset, byte }), 1),
        };
        self.rest = self.rest.get(length..)?;
        self.offset = offset.checked_add(length)?;
        Some(unit)
    }
}

impl fmt::Display for Utf8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_str_lossless())
    }
}

impl fmt::Debug for Utf8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_str_lossless())
    }
}

impl PartialEq<str> for Utf8<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Utf8<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogates_and_nul_are_shown() {
        let pair = Utf8::new(&[0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]);
        assert_eq!(pair.to_str_lossless(), "😀");
        let lone = Utf8::new(&[b'a', 0xED, 0xA0, 0xBD, b'b', 0xC0, 0x80, 0xFF]);
        assert_eq!(lone.to_str_lossless(), "a\\uD83Db\0\\xFF");
        assert_eq!(Utf8::new("é".as_bytes()), "é");
    }

    #[test]
    fn encoded_text_round_trips() {
        let all = "a\0é€😀\u{FFFF}\u{10FFFF}";
        let bytes = encode(all);
        assert_eq!(encode("😀"), [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]);
        assert_eq!(encode("\0"), [0xC0, 0x80]);
        assert_eq!(decode(&bytes).as_deref(), Ok(all));
        assert_eq!(Utf8::new(&bytes).to_str_lossless(), all);
        assert!(validate(&bytes).is_ok());
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        let bytes = [b'a', 0xED, 0xA0, 0xBD, b'b', 0xED, 0xB8, 0x80];
        assert_eq!(decode(&bytes).as_deref(), Ok("a\u{FFFD}b\u{FFFD}"));
    }

    #[test]
    fn malformed_bytes_are_found_at_their_offset() {
        for (bytes, offset) in [
            (&[b'a', 0x00][..], 1),
            (&[0xF0, 0x9F, 0x98, 0x80], 0),
            (&[b'a', 0xC3], 1),
            (&[0xC3, 0xA9, 0xE2, 0x82], 2),
            (&[0x80], 0),
            (&[0xC3, 0x41], 0),
        ] {
            let byte = bytes[offset];
            assert_eq!(validate(bytes), Err(Malformed { offset, byte }));
            assert_eq!(decode(bytes), Err(Malformed { offset, byte }));
        }
    }
}
