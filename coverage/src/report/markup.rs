//! Writes XML.

use std::io::{self, Write};

use super::append::{self, push_all};

/// Attributes of an element, in order.
pub(super) type Attributes<'a> = [(&'a str, &'a str)];

/// Approximate number of bytes passed on at once.
const PIECE: usize = 64 << 10;

/// Writes elements sequentially. Element and attribute names must be valid, values may be any text.
pub(super) struct Markup<W: Write> {
    out: W,
    /// Text that `out` has not received yet.
    text: String,
}

impl Markup<Vec<u8>> {
    /// Writes `content` to a buffer that can be [appended](Self::append) to a document.
    pub(super) fn part(content: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<Vec<u8>> {
        let mut part = Self {
            out: Vec::new(),
            text: String::new(),
        };
        content(&mut part)?;
        part.hand_on()?;
        Ok(part.out)
    }
}

impl<W: Write> Markup<W> {
    /// Starts a document with its declaration and document type.
    pub(super) fn new(out: W, standalone: Option<&str>, doctype: &str) -> Self {
        let standalone =
            standalone.map_or_else(String::new, |value| format!(" standalone=\"{value}\""));
        let mut text = String::with_capacity(PIECE + (PIECE >> 4));
        let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"";
        let parts = [declaration, &standalone, "?><!DOCTYPE ", doctype, ">"];
        push_all(&mut text, parts);
        Self { out, text }
    }

    /// Appends a part that was written separately.
    pub(super) fn append(&mut self, part: &[u8]) -> io::Result<()> {
        self.hand_on()?;
        self.out.write_all(part)
    }

    /// Writes an element; the closure writes its content.
    pub(super) fn element(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.numbered(name, attributes, &[], content)
    }

    /// Writes an element with additional numeric attributes after `attributes`.
    pub(super) fn numbered(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        numbers: &[(&str, u32)],
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.start(name, attributes, numbers);
        self.text.push('>');
        content(self)?;
        push_all(&mut self.text, ["</", name, ">"]);
        if self.text.len() >= PIECE {
            self.hand_on()?;
        }
        Ok(())
    }

    /// Writes an element without content.
    pub(super) fn empty(&mut self, name: &str, attributes: &Attributes<'_>) {
        self.start(name, attributes, &[]);
        self.text.push_str("/>");
    }

    /// Writes raw markup.
    pub(super) fn raw<const N: usize>(&mut self, parts: [&str; N]) {
        push_all(&mut self.text, parts);
    }

    /// Writes raw markup, with a number between each two pieces.
    pub(super) fn filled(&mut self, pieces: &[&str], numbers: &[u32]) {
        append::filled(pieces, numbers, &mut self.text);
    }

    /// Writes a comment for each sentence about missing data: these formats have no element for it.
    pub(super) fn incomplete<'s>(&mut self, sentences: impl Iterator<Item = &'s str>) {
        for sentence in sentences {
            push_all(&mut self.text, ["<!-- ", &incomplete(sentence), " -->"]);
        }
    }

    /// Writes text.
    pub(super) fn text(&mut self, text: &str) {
        escape_into(text, &mut self.text);
    }

    /// Ends the document: passes on the rest.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.hand_on()?;
        self.out.flush()
    }

    fn hand_on(&mut self) -> io::Result<()> {
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    fn start(&mut self, name: &str, attributes: &Attributes<'_>, numbers: &[(&str, u32)]) {
        self.text.push('<');
        self.text.push_str(name);
        for &(key, value) in attributes {
            self.key(key);
            escape_into(value, &mut self.text);
            self.text.push('"');
        }
        for &(key, value) in numbers {
            self.key(key);
            append::decimal(value, &mut self.text);
            self.text.push('"');
        }
    }

    fn key(&mut self, key: &str) {
        push_all(&mut self.text, [" ", key, "=\""]);
    }
}

/// Formats a sentence about missing data for an XML comment, without consecutive hyphens.
pub(super) fn incomplete(sentence: &str) -> String {
    format!("incomplete: {}", escape(sentence).replace("--", "-&#45;"))
}

/// Escapes text for XML 1.0 and HTML. Characters that XML 1.0 forbids become U+FFFD; class files may contain any.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    escape_into(text, &mut escaped);
    escaped
}

/// Appends the result of [`escape()`].
fn escape_into(text: &str, escaped: &mut String) {
    append::escaped(text, escaped, |character, escaped| match character {
        '&' => escaped.push_str("&amp;"),
        '<' => escaped.push_str("&lt;"),
        '>' => escaped.push_str("&gt;"),
        '"' => escaped.push_str("&quot;"),
        '\'' => escaped.push_str("&#39;"),
        '\t' => escaped.push_str("&#9;"),
        '\n' => escaped.push_str("&#10;"),
        '\r' => escaped.push_str("&#13;"),
        '\0'..='\x1F' | '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
        other => escaped.push(other),
    });
}
