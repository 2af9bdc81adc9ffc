//! XML, for the reports that are XML.

use std::io::{self, Write};

/// Attributes of an element, in order.
pub(super) type Attributes<'a> = [(&'a str, &'a str)];

/// Writes elements one after the other. Their names and those of attributes are XML's, values may be any text.
pub(super) struct Markup<W: Write> {
    out: W,
    /// An escaped text, whose memory the next one uses.
    escaped: String,
}

impl<W: Write> Markup<W> {
    /// Begins a document with its declaration and document type.
    pub(super) fn new(mut out: W, standalone: Option<&str>, doctype: &str) -> io::Result<Self> {
        out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"")?;
        if let Some(standalone) = standalone {
            write!(out, " standalone=\"{standalone}\"")?;
        }
        write!(out, "?><!DOCTYPE {doctype}>")?;
        let escaped = String::new();
        Ok(Self { out, escaped })
    }

    /// An element with the content that `content` writes.
    pub(super) fn element(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.start(name)?;
        for (key, value) in attributes {
            self.attribute(key, value)?;
        }
        self.out.write_all(b">")?;
        content(self)?;
        for part in ["</", name, ">"] {
            self.out.write_all(part.as_bytes())?;
        }
        Ok(())
    }

    /// An element without content.
    pub(super) fn empty(&mut self, name: &str, attributes: &Attributes<'_>) -> io::Result<()> {
        self.start(name)?;
        for (key, value) in attributes {
            self.attribute(key, value)?;
        }
        self.out.write_all(b"/>")
    }

    /// An element without content whose attributes, behind `attributes`, are numbers.
    pub(super) fn numbers(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        numbers: &[(&str, u32)],
    ) -> io::Result<()> {
        self.start(name)?;
        for (key, value) in attributes {
            self.attribute(key, value)?;
        }
        for (key, value) in numbers {
            write!(self.out, " {key}=\"{value}\"")?;
        }
        self.out.write_all(b"/>")
    }

    /// Text.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.escaped.clear();
        escape_into(text, &mut self.escaped);
        self.out.write_all(self.escaped.as_bytes())
    }

    fn start(&mut self, name: &str) -> io::Result<()> {
        self.out.write_all(b"<")?;
        self.out.write_all(name.as_bytes())
    }

    fn attribute(&mut self, key: &str, value: &str) -> io::Result<()> {
        for part in [" ", key, "=\""] {
            self.out.write_all(part.as_bytes())?;
        }
        self.text(value)?;
        self.out.write_all(b"\"")
    }
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
    for character in text.chars() {
        match character {
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
        }
    }
}
