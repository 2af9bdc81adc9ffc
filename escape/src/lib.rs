//! Text from elsewhere, made safe to print: names of classes, methods, threads and files, messages of plugins and JVMs.
//!
//! A class file may name a class by almost any text, and a terminal obeys the characters that it gets: escape sequences
//! that colour, erase and retitle, line ends after which a message of ours seems to begin, marks that make text run from
//! right to left and so look like other text.
//! Here each of these characters becomes a visible escape, `\u001b`. Every other character stays, the backslash
//! included, so that paths and patterns are shown as they are.
//!
//! Text for other programs is not changed, but for JSON, in which [`json`] has a lossless form.
//!
//! ```
//! assert_eq!(escape::line("a\u{1b}[31mB"), r"a\u001b[31mB");
//! assert_eq!(escape::line("one\ntwo"), r"one\ntwo");
//! assert_eq!(escape::path("a\nb".as_ref()), r"a\nb");
//! assert_eq!(escape::lines("one\n\u{202e}two"), "one\n\\u202etwo");
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::path::Path;

/// Checks that a character is no control character, no line separator, and no invisible character that changes the look
/// of others (the formats of Unicode's general category `Cf`).
#[must_use]
pub fn is_plain(c: char) -> bool {
    !c.is_control() && !is_invisible(c)
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Writes one character, escaped unless it is plain: `\n`, `\r`, `\t`, else `\u` and at least four digits.
///
/// # Errors
///
/// Those of `out`.
pub fn character(c: char, out: &mut dyn fmt::Write) -> fmt::Result {
    match c {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        c if is_plain(c) => out.write_char(c),
        c => write!(out, "\\u{:04x}", u32::from(c)),
    }
}

/// Writes one character of a text between double quotes: as [`character`], with `\\` and `\"` escaped.
///
/// # Errors
///
/// Those of `out`.
pub fn quoted(c: char, out: &mut dyn fmt::Write) -> fmt::Result {
    match c {
        '\\' => out.write_str("\\\\"),
        '"' => out.write_str("\\\""),
        c => character(c, out),
    }
}

/// A text on one line: a name, a path, a message.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_plain, |c, out| character(c, out))
}

/// A path on one line.
#[must_use]
pub fn path(path: &Path) -> String {
    line(&path.display().to_string()).into_owned()
}

/// A text whose line feeds and tabs are meant.
///
/// Its parts from elsewhere have gone through [`line()`], or begin their lines in a column of their own.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    let stays = |c| matches!(c, '\n' | '\t') || is_plain(c);
    escaped(text, stays, |c, out| character(c, out))
}

/// A JSON document that means the same: only in its strings can there be such characters, besides its own white space.
#[must_use]
pub fn json(document: &str) -> Cow<'_, str> {
    let stays = |c| matches!(c, '\n' | '\r' | '\t') || is_plain(c);
    escaped(document, stays, |c, out| {
        let mut units = [0; 2];
        let mut units = c.encode_utf16(&mut units).iter();
        units.try_for_each(|unit| write!(out, "\\u{unit:04x}"))
    })
}

/// The length of a text as a JSON string, without its quotes, as encoders write it that escape no more than they must.
///
/// ```
/// assert_eq!(escape::json_length("a\n\u{1b}ü"), 1 + 2 + 6 + 2);
/// ```
#[must_use]
pub fn json_length(text: &str) -> usize {
    let length = |byte: u8| match byte {
        b'"' | b'\\' | 0x08..=0x0a | 0x0c | 0x0d => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(length).sum()
}

/// Cuts a text to at most this number of bytes, and frees the memory of the rest.
///
/// Use it for text of a plugin that is kept: `String::truncate` alone would keep the memory of the whole text.
///
/// ```
/// let mut text = "é".repeat(1_000);
/// escape::cut(&mut text, 5);
/// assert_eq!((text.as_str(), text.capacity() < 10), ("éé", true));
/// ```
pub fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.shrink_to_fit();
    }
}

/// The text itself if every character stays.
fn escaped(
    text: &str,
    stays: impl Fn(char) -> bool,
    mut write: impl FnMut(char, &mut String) -> fmt::Result,
) -> Cow<'_, str> {
    if text.chars().all(&stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().saturating_add(16));
    for c in text.chars() {
        let written = if stays(c) {
            out.write_char(c)
        } else {
            write(c, &mut out)
        };
        debug_assert!(written.is_ok(), "a string takes everything");
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["", "com.acme.Größe$1", r"C:\x\u", "→ 日本語 😀"] {
            assert!(matches!(line(text), Cow::Borrowed(found) if found == text));
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        for (text, expected) in [
            ("\u{1b}]0;title\u{7}", r"\u001b]0;title\u0007"),
            ("\u{9b}2J\u{7f}", r"\u009b2J\u007f"),
            ("a\r\nb\tc", r"a\r\nb\tc"),
            ("\u{202e}gnp.exe\u{2066}", r"\u202egnp.exe\u2066"),
            ("a\u{2028}b\u{feff}\u{ad}", r"a\u2028b\ufeff\u00ad"),
            ("\u{e0041}", r"\ue0041"),
        ] {
            assert_eq!(line(text), expected);
        }
        assert_eq!(lines("a\r\n\tb\u{85}"), "a\\r\n\tb\\u0085");
    }

    proptest! {
        #[test]
        fn json_means_the_same(text: String, hostile in "[\u{1b}\u{9b}\u{202e}\u{e0041}\n]{0,4}") {
            let value = serde_json::json!({ "text": format!("{text}{hostile}") });
            let document = format!("{value:#}\n");
            let shown = json(&document);
            prop_assert!(shown.chars().all(|c| c == '\n' || is_plain(c)));
            let read: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
            prop_assert_eq!(read, value);
        }

        #[test]
        fn length_in_json_is_that_of_an_encoder(text: String, hostile in "[\u{0}-\u{7f}]{0,40}") {
            let text = format!("{text}{hostile}");
            let encoded = serde_json::json!(text).to_string();
            prop_assert_eq!(json_length(&text) + 2, encoded.len());
        }

        #[test]
        fn nothing_but_plain_characters_is_left(text: String) {
            prop_assert!(line(&text).chars().all(is_plain));
        }
    }
}
