//! XML, for the reports that are XML.

use std::io::{self, Write};

use super::append::{self, push_all};

/// Attributes of an element, in order.
pub(super) type Attributes<'a> = [(&'a str, &'a str)];

/// Text is handed on in pieces of about this many bytes.
const PIECE: usize = 64 << 10;

/// Writes elements one after the other. Their names and those of attributes are XML's, values may be any text.
pub(super) struct Markup<W: Write> {
    out: W,
    /// What `out` has not been given yet.
    text: String,
}

impl Markup<Vec<u8>> {
    /// What `content` writes, to be [appended](Self::append) to a document.
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
    /// Begins a document with its declaration and document type.
    pub(super) fn new(out: W, standalone: Option<&str>, doctype: &str) -> Self {
        let standalone =
            standalone.map_or_else(String::new, |value| format!(" standalone=\"{value}\""));
        let mut text = String::with_capacity(PIECE + (PIECE >> 4));
        let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"";
        let parts = [declaration, &standalone, "?><!DOCTYPE ", doctype, ">"];
        push_all(&mut text, parts);
        Self { out, text }
    }

    /// A part that was made apart from the document.
    pub(super) fn append(&mut self, part: &[u8]) -> io::Result<()> {
        self.hand_on()?;
        self.out.write_all(part)
    }

    /// An element with the content that `content` writes.
    pub(super) fn element(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.numbered(name, attributes, &[], content)
    }

    /// The same, with attributes behind `attributes` that are numbers.
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

    /// An element without content.
    pub(super) fn empty(&mut self, name: &str, attributes: &Attributes<'_>) {
        self.start(name, attributes, &[]);
        self.text.push_str("/>");
    }

    /// Markup as it is, in parts.
    pub(super) fn raw<const N: usize>(&mut self, parts: [&str; N]) {
        push_all(&mut self.text, parts);
    }

    /// Markup as it is, and a number between each two pieces.
    pub(super) fn filled(&mut self, pieces: &[&str], numbers: &[u32]) {
        append::filled(pieces, numbers, &mut self.text);
    }

    /// A comment for each sentence of what the report lacks, as no element of these formats says it.
    pub(super) fn incomplete<'s>(&mut self, sentences: impl Iterator<Item = &'s str>) {
        for sentence in sentences {
            push_all(&mut self.text, ["<!-- ", &incomplete(sentence), " -->"]);
        }
    }

    /// Text.
    pub(super) fn text(&mut self, text: &str) {
        escape_into(text, &mut self.text);
    }

    /// Ends the document: hands on what is left of it.
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

/// A sentence of what a report lacks, as it may stand in a comment of XML: without two hyphens in a row.
pub(super) fn incomplete(sentence: &str) -> String {
    format!("incomplete: {}", escape(sentence).replace("--", "-&#45;"))
}

/// Escapes for XML 1.0 and HTML alike; characters that XML 1.0 cannot hold become
/// U+FFFD, for names in class files may contain any.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    escape_into(text, &mut escaped);
    escaped
}

/// [`escape()`] into a text that exists.
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
