//! Names of classes and members.

use std::fmt::{self, Display, Formatter};

use jvms::modified_utf8::Utf8;
use rewriter::Text;

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
}
