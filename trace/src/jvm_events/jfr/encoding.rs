//! Encodes numbers, texts and events as JFR does: integers in groups of seven bits, the lowest first.

/// Bytes under construction.
#[derive(Debug, Default)]
pub(super) struct Bytes(pub Vec<u8>);

/// The form of a UTF-8 text; other forms are Latin-1 and constants.
const UTF_8: u8 = 3;

impl Bytes {
    /// Appends an integer. After eight groups the ninth byte has eight bits.
    pub fn number(&mut self, mut number: u64) -> &mut Self {
        for _ in 0..8 {
            if number < 0x80 {
                break;
            }
            self.0.push((number & 0x7F) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
        self
    }

    /// Appends an `int`, which may be negative.
    pub fn int(&mut self, number: i32) -> &mut Self {
        self.number(u64::from(number.cast_unsigned()))
    }

    pub fn boolean(&mut self, is_true: bool) -> &mut Self {
        self.0.push(u8::from(is_true));
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.0.push(UTF_8);
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// Appends an event of a type. Its size comes first, and includes itself.
    pub fn event(&mut self, kind: u64, content: &[u8]) {
        let mut event = Self::default();
        event.number(kind);
        event.0.extend_from_slice(content);
        let body = event.0.len() as u64;
        let length = |number| {
            let mut bytes = Self::default();
            bytes.number(number);
            bytes.0.len() as u64
        };
        let mut size = body + 1;
        while body + length(size) != size {
            size = body + length(size);
        }
        self.number(size);
        self.0.append(&mut event.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_groups_as_they_need() {
        for (number, bytes) in [
            (0, &[0][..]),
            (0x7F, &[0x7F]),
            (0x80, &[0x80, 1]),
            (300, &[0xAC, 2]),
            (u64::MAX, &[0xFF; 9]),
        ] {
            let mut found = Bytes::default();
            found.number(number);
            assert_eq!(found.0, bytes, "{number}");
        }
        let mut negative = Bytes::default();
        negative.int(-1);
        assert_eq!(negative.0, [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]);
    }

    #[test]
    fn size_of_an_event_includes_itself() {
        for length in [0, 1, 125, 126, 127, 128, 16_380, 16_381, 16_382] {
            let mut bytes = Bytes::default();
            bytes.event(5, &vec![9; length]);
            let mut size = 0;
            for (at, byte) in bytes.0.iter().enumerate() {
                size |= usize::from(byte & 0x7F) << (7 * at);
                if byte & 0x80 == 0 {
                    break;
                }
            }
            assert_eq!(size, bytes.0.len(), "{length}");
        }
    }
}
