//! Modified UTF-8, the text of class files (JVMS 4.4.7).

use std::borrow::Cow;
use std::fmt;

/// Text as the class file holds it: NUL is two bytes, characters beyond the
/// basic plane are surrogate pairs, lone surrogates are allowed, and nothing
/// has been checked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Utf8<'a>(&'a [u8]);

impl<'a> Utf8<'a> {
    /// Wraps bytes without looking at them.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Utf8(bytes)
    }

    /// The bytes as they are in the class file.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The text where it is also valid UTF-8 without NUL or surrogates.
    #[must_use]
    pub fn to_str(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    /// The text for people and for files: surrogate pairs joined, `\u0000`
    /// decoded; lone surrogates and malformed bytes are escaped as `\uD800` or
    /// `\xFF`, and for that reason no two texts look alike unless one of them
    /// holds such an escape literally.
    #[must_use]
    pub fn to_str_lossless(self) -> Cow<'a, str> {
        match std::str::from_utf8(self.0) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(decode(self.0)),
        }
    }
}

/// `text` in modified UTF-8.
pub(crate) fn encode(text: &str) -> Vec<u8> {
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

fn decode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((unit, after)) = unit(rest) {
        rest = after;
        match unit {
            Unit::Byte(byte) => text.push_str(&format!("\\x{byte:02X}")),
            Unit::Code(high @ 0xD800..=0xDBFF) => match self::unit(rest) {
                Some((Unit::Code(low @ 0xDC00..=0xDFFF), after)) => {
                    rest = after;
                    let joined = char::decode_utf16([high, low]).flatten().next();
                    text.extend(joined);
                }
                _ => text.push_str(&format!("\\u{high:04X}")),
            },
            Unit::Code(code) => match char::from_u32(u32::from(code)) {
                Some(character) => text.push(character),
                None => text.push_str(&format!("\\u{code:04X}")),
            },
        }
    }
    text
}

enum Unit {
    Code(u16),
    Byte(u8),
}

/// The first UTF-16 unit of `bytes`, or its first byte if that is malformed.
fn unit(bytes: &[u8]) -> Option<(Unit, &[u8])> {
    let bits = |byte: u8, mask: u8| u16::from(byte & mask);
    Some(match *bytes {
        [] => return None,
        [a @ 0x01..=0x7F, ref rest @ ..] => (Unit::Code(u16::from(a)), rest),
        [a @ 0xC0..=0xDF, b @ 0x80..=0xBF, ref rest @ ..] => {
            (Unit::Code((bits(a, 0x1F) << 6) | bits(b, 0x3F)), rest)
        }
        [
            a @ 0xE0..=0xEF,
            b @ 0x80..=0xBF,
            c @ 0x80..=0xBF,
            ref rest @ ..,
        ] => {
            let code = (bits(a, 0x0F) << 12) | (bits(b, 0x3F) << 6) | bits(c, 0x3F);
            (Unit::Code(code), rest)
        }
        [a, ref rest @ ..] => (Unit::Byte(a), rest),
    })
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
        let all = "a\0é€😀\u{FFFF}";
        assert_eq!(encode("😀"), [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]);
        assert_eq!(Utf8::new(&encode(all)).to_str_lossless(), all);
    }
}
