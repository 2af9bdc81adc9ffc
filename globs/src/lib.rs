//! Patterns with wildcards over names of classes, methods and descriptors.
//!
//! | | in class names | in names of methods and in descriptors |
//! |---|---|---|
//! | `**` | any text | any text |
//! | `*` | any text within one package | any text |
//! | `?` | one character that is no `/` | one character that is no `/` |
//! | `.` | the same as `/` | the same as `/` |
//!
//! In paths of files the wildcards are those of class names, in texts those of descriptors; in both a `.` is a dot.
//!
//! Names are internal names (JVMS 4.2.1) in modified UTF-8; a character is a byte.
//! Matching allocates nothing and takes time in proportion to name and pattern, so it may be done
//! for every class that a JVM loads.
//!
//! ```
//! use globs::Glob;
//!
//! let glob = Glob::of_class("com.acme.**.*Service");
//! assert!(glob.matches("com/acme/orders/OrderService"));
//! assert!(!glob.matches("com/acme/orders/OrderService$1"));
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod field;
mod pattern;
mod wildcards;

pub use field::FieldPattern;
pub use pattern::{Pattern, PatternError};
use wildcards::Token;

/// Text with wildcards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    /// Text before the first wildcard. Most names differ in it already.
    prefix: Box<[u8]>,
    rest: Box<[Token]>,
}

impl Glob {
    /// Reads a glob over class names.
    ///
    /// # Errors
    /// The mistake in a text that can name no class, as the end of a sentence that begins with the text.
    pub fn parse_class(text: &str) -> Result<Self, &'static str> {
        let problem = "has a character that no class name can have";
        expect_no_braces(text)?;
        check(text, &[' ', '!', ';', '['], problem)?;
        Ok(Self::of_class(text))
    }

    /// Reads a glob over paths of files.
    ///
    /// # Errors
    /// As [`Glob::parse_class`], for a text that can name no file or folder.
    pub fn parse_path(text: &str) -> Result<Self, &'static str> {
        let problem = "has a `;`, which separates selectors: write `?` for it";
        check(text, &[';', '\0'], problem)?;
        Ok(Self::of_path(text))
    }

    /// Over class names. Any text is a glob; [`Glob::parse_class`] refuses those that make no sense.
    #[must_use]
    pub fn of_class(text: &str) -> Self {
        Self::new(text, Token::Level, b'/')
    }

    /// Over paths of files.
    #[must_use]
    pub fn of_path(text: &str) -> Self {
        Self::new(text, Token::Level, b'.')
    }

    /// Over any text, in which a `.` is a dot.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self::new(text, Token::Any, b'.')
    }

    /// Over names of methods and over descriptors.
    #[must_use]
    pub fn of_member(text: &str) -> Self {
        Self::new(text, Token::Any, b'/')
    }

    /// Reads a glob. A single `*` becomes `star`, and a `.` becomes `dot`.
    fn new(text: &str, star: Token, dot: u8) -> Self {
        let mut bytes = text.bytes().peekable();
        let mut prefix = Vec::with_capacity(text.len());
        let mut rest = Vec::new();
        while let Some(byte) = bytes.next() {
            let token = match byte {
                b'*' => {
                    let mut stars = 1_usize;
                    while bytes.next_if_eq(&b'*').is_some() {
                        stars = stars.saturating_add(1);
                    }
                    if stars == 1 { star } else { Token::Any }
                }
                b'?' => Token::One,
                b'.' => Token::Byte(dot),
                byte => Token::Byte(byte),
            };
            match token {
                Token::Byte(byte) if rest.is_empty() => prefix.push(byte),
                token => rest.push(token),
            }
        }
        Self {
            prefix: prefix.into(),
            rest: rest.into(),
        }
    }

    /// Checks whether the glob matches all of `name`.
    #[must_use]
    pub fn matches(&self, name: impl AsRef<[u8]>) -> bool {
        match (name.as_ref().strip_prefix(&*self.prefix), &*self.rest) {
            (None, _) => false,
            (Some(_), [Token::Any]) => true,
            (Some(rest), tokens) => wildcards::matches(tokens, rest),
        }
    }
}

/// Checks that `text` has no braces. No compiler writes them in names, but some languages of patterns have alternatives
/// in them, which would match nothing here.
fn expect_no_braces(text: &str) -> Result<(), &'static str> {
    match text.contains(['{', '}']) {
        true => Err("has alternatives in braces: write a pattern for each, or `?` for a brace"),
        false => Ok(()),
    }
}

/// Checks that `text` is a name without these characters.
fn check(text: &str, forbidden: &[char], problem: &'static str) -> Result<(), &'static str> {
    if text.is_empty() {
        Err("names nothing")
    } else if text.contains("***") {
        Err("has more than two `*` in a row")
    } else if text.contains(forbidden) {
        Err(problem)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_respect_packages_in_classes_and_nothing_in_methods() {
        for (glob, name, expected) in [
            ("a.*", "a/B", true),
            ("a.*", "a/b/C", false),
            ("a.**", "a/b/C", true),
            ("**.C", "a/b/C", true),
            ("**.C", "C", false),
            ("**C", "C", true),
            ("a.?", "a/B", true),
            ("a?B", "a/B", false),
            ("*a*b*", "xaxbx", true),
            ("*a*b*", "xbxax", false),
            ("***", "a/b", true),
            ("", "", true),
            ("", "a", false),
            ("com.acme.**", "com/acmes/A", false),
            ("com.acme.*", "com/acme/A$B", true),
            ("**.gen.**", "com/acme/gen/a/B", true),
            ("**.gen.**", "com/acme/genes/B", false),
            ("com/*/A?", "com/x/AB", true),
            ("com/*/A?", "com/x/A", false),
            ("com/*/A?", "com/x/y/AB", false),
            ("**.*Test", "a/b/FooTest", true),
            ("**.*Test", "a/Test/Foo", false),
            ("*.b*.c", "a/bb/c", true),
            ("**", "anything/At$all", true),
            ("com.acme.A", "com/acme/A", true),
            ("com.acme.A", "com/acme/AB", false),
        ] {
            let found = Glob::of_class(glob).matches(name);
            assert_eq!(found, expected, "{glob} on {name}");
        }
        for (glob, path, expected) in [
            ("/a/*.jar", "/a/b.jar", true),
            ("/a/*.jar", "/a/bxjar", false),
            ("/a/*.jar", "/a/b/c.jar", false),
            ("**/target/classes", "/w/it's mine/target/classes", true),
        ] {
            assert_eq!(
                Glob::of_path(glob).matches(path),
                expected,
                "{glob} on {path}"
            );
        }
        assert!(Glob::of_member("(*)V").matches("(Ljava/lang/String;I)V"));
        assert!(!Glob::of_member("(*)V").matches("(I)VV"));
        assert!(Glob::of_member("(Ljava.lang.*").matches("(Ljava/lang/ref/Cleaner;)V"));
    }

    #[test]
    fn no_pattern_takes_long() {
        let name = "a".repeat(65_535);
        assert!(Glob::of_class(&"*a".repeat(200)).matches(&name));
        assert!(!Glob::of_class(&format!("{}b", "**a*a".repeat(50))).matches(&name));
        assert!(!Glob::of_class("**a*b").matches(&name));
    }

    #[test]
    fn nonsense_is_named() {
        let (class, path) = (Glob::parse_class, Glob::parse_path);
        let nothing = Err("names nothing");
        assert_eq!(path("/a b/*.jar"), Ok(Glob::of_path("/a b/*.jar")));
        assert_eq!(path(""), nothing);
        assert!(path("a;b").is_err() && path("a/***").is_err());
        assert_eq!(class("com.acme.**"), Ok(Glob::of_class("com.acme.**")));
        assert_eq!(class(""), nothing);
        assert_eq!(class("a.***"), Err("has more than two `*` in a row"));
        for text in ["a b", "!a", "a;", "[a", "a.{B,C}"] {
            assert!(class(text).is_err(), "{text}");
        }
    }
}
