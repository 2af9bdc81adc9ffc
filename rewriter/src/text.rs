//! Texts of a class, safe for display.

use std::fmt::{self, Display, Formatter};

use jvms::modified_utf8::Utf8;

/// A text of a class file for display. Invisible characters, quotes and backslashes are escaped, and texts of more than
/// 1,000 bytes are cut off.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a>(pub Utf8<'a>);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all = self.0.as_bytes();
        let start = clipped(all);
        let text = Utf8::new(start).to_str_lossless();
        text.chars().try_for_each(|c| escape::quoted(c, f))?;
        if start.len() < all.len() {
            write!(f, "... ({} bytes)", all.len())?;
        }
        Ok(())
    }
}

/// Returns the first [`MAX_TEXT`] bytes, or slightly fewer at a character boundary.
fn clipped(bytes: &[u8]) -> &[u8] {
    let mut end = bytes.len().min(MAX_TEXT);
    while end > MAX_TEXT.saturating_sub(6) && bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80)
    {
        end -= 1;
    }
    bytes.get(..end).unwrap_or_default()
}

/// Maximum bytes of a text that is written in full.
const MAX_TEXT: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_clipped_between_characters() {
        let long = "é".repeat(40_000 / 2);
        let text = Text(Utf8::new(long.as_bytes())).to_string();
        assert_eq!(text, format!("{}... (40000 bytes)", "é".repeat(500)));
        let odd = format!("x{long}");
        assert!(
            Text(Utf8::new(odd.as_bytes()))
                .to_string()
                .ends_with("é... (40001 bytes)")
        );
    }
}
