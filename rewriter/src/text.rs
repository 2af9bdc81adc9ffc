//! Texts and names of a class, safe for display.

use std::fmt::{self, Display, Formatter};

use jvms::modified_utf8::Utf8;

/// A text with all invisible characters escaped.
pub(crate) struct Text<'a>(pub(crate) Utf8<'a>);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all = self.0.as_bytes();
        let start = clipped(all);
        let text = Utf8::new(start).to_str_lossless();
        text.chars().try_for_each(|c| escape(c, f))?;
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

/// Writes one character of a quoted text, escaped if needed.
pub(super) fn escape(c: char, out: &mut dyn fmt::Write) -> fmt::Result {
    match c {
        '\\' => out.write_str("\\\\"),
        '"' => out.write_str("\\\""),
        c => escape::character(c, out),
    }
}

/// A name, quoted if the Java language has no such name.
pub(super) struct Name<'a>(pub(super) Utf8<'a>);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.to_str().is_some_and(is_java_name) {
            write!(f, "{}", Text(self.0))
        } else {
            write!(f, "\"{}\"", Text(self.0))
        }
    }
}

fn is_java_name(name: &str) -> bool {
    name.split('/').all(|part| {
        let mut characters = part.chars();
        let letter = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        characters.next().is_some_and(letter) && characters.all(|c| letter(c) || c.is_numeric())
    })
}

/// Maximum bytes of a text that is written in full.
pub const MAX_TEXT: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn name(bytes: &[u8]) -> String {
        Name(Utf8::new(bytes)).to_string()
    }

    #[test]
    fn names_that_java_cannot_write_are_quoted() {
        assert_eq!(name(b"java/lang/Object"), "java/lang/Object");
        assert_eq!(name(b"<init>"), "\"<init>\"");
        assert_eq!(name(b"[I"), "\"[I\"");
        assert_eq!(name(b""), "\"\"");
        assert_eq!(name(b"a//b"), "\"a//b\"");
    }

    #[test]
    fn nothing_reaches_the_terminal_unescaped() {
        assert_eq!(name(b"\x1b[31m\n"), "\"\\u001b[31m\\n\"");
        assert_eq!(name("a\u{202e}b".as_bytes()), "\"a\\u202eb\"");
        assert_eq!(name(&[0xFF]), "\"\\\\xFF\"");
    }

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
