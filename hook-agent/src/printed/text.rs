//! A writer of a text with a limit. A text that is cut ends with `…`.

use std::fmt::{self, Write};

/// The end of a cut text.
const CUT: char = '…';

/// Writes a text as UTF-16 units, of at most as many bytes of UTF-8 as there are units.
#[derive(Debug)]
pub(crate) struct TextWriter<'t> {
    units: &'t mut [u16],
    length: usize,
    /// The bytes of UTF-8 so far, with those that have no room.
    bytes: usize,
    /// The last length at which [`CUT`] still has room.
    cut: usize,
}

impl<'t> TextWriter<'t> {
    pub fn new(units: &'t mut [u16]) -> Self {
        Self {
            units,
            length: 0,
            bytes: 0,
            cut: 0,
        }
    }

    pub fn push(&mut self, character: char) {
        self.bytes += character.len_utf8();
        if self.bytes > self.units.len() {
            return;
        }
        let mut encoded = [0; 2];
        let encoded = character.encode_utf16(&mut encoded);
        let end = self.length + encoded.len();
        if let Some(room) = self.units.get_mut(self.length..end) {
            room.copy_from_slice(encoded);
            self.length = end;
        }
        if self.bytes + CUT.len_utf8() <= self.units.len() {
            self.cut = self.length;
        }
    }

    pub fn push_units(&mut self, units: impl IntoIterator<Item = u16>) {
        for character in char::decode_utf16(units) {
            self.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }

    /// Marks the text as cut at this place.
    pub fn overflow(&mut self) {
        self.bytes = self.bytes.max(self.units.len()) + 1;
    }

    /// Returns the number of units of the finished text.
    pub fn finish(self) -> usize {
        if self.bytes <= self.units.len() {
            return self.length;
        }
        let has_room = self.units.len() >= CUT.len_utf8();
        match self.units.get_mut(self.cut) {
            Some(unit) if has_room => {
                CUT.encode_utf16(std::slice::from_mut(unit));
                self.cut + 1
            }
            _ => 0,
        }
    }
}

impl Write for TextWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().for_each(|character| self.push(character));
        Ok(())
    }
}

#[cfg(test)]
pub(super) fn written(write: impl FnOnce(&mut TextWriter<'_>)) -> String {
    let mut units = [0; 2_048];
    let mut writer = TextWriter::new(&mut units);
    write(&mut writer);
    let length = writer.finish();
    String::from_utf16(&units[..length]).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_beyond_the_limit_ends_with_an_ellipsis_within_the_limit() {
        for (text, whole) in [("12345678", 8), ("aäß😀", 9), ("", 0)] {
            for limit in 0..12 {
                let mut units = vec![0; limit];
                let mut writer = TextWriter::new(&mut units);
                writer.write_str(text).unwrap();
                let length = writer.finish();
                let found = String::from_utf16(&units[..length]).unwrap();
                assert!(found.len() <= limit, "{found}");
                match found.strip_suffix(CUT) {
                    Some(kept) => assert!(text.starts_with(kept) && limit < whole, "{found}"),
                    None if limit < whole => assert!(found.is_empty() && limit < 3, "{found}"),
                    None => assert_eq!(found, text),
                }
            }
        }
    }
}
