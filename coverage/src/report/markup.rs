//! XML, for the reports that are XML.

use std::io::{self, Write};

use quick_xml::events::attributes::Attr;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// Attributes of an element, in order.
pub(super) type Attributes<'a> = [(&'a str, &'a str)];

/// Writes elements one after the other.
pub(super) struct Markup<W: Write> {
    writer: quick_xml::Writer<W>,
}

impl<W: Write> Markup<W> {
    /// Begins a document with its declaration and document type.
    pub(super) fn new(out: W, standalone: Option<&str>, doctype: &str) -> io::Result<Self> {
        let mut writer = quick_xml::Writer::new(out);
        writer.write_event(Event::Decl(BytesDecl::new(
            "1.0",
            Some("UTF-8"),
            standalone,
        )))?;
        writer.write_event(Event::DocType(BytesText::from_escaped(doctype)))?;
        Ok(Self { writer })
    }

    /// An element with the content that `content` writes.
    pub(super) fn element(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.writer
            .write_event(Event::Start(start(name, attributes)))?;
        content(self)?;
        self.writer.write_event(Event::End(BytesEnd::new(name)))
    }

    /// An element without content.
    pub(super) fn empty(&mut self, name: &str, attributes: &Attributes<'_>) -> io::Result<()> {
        self.writer
            .write_event(Event::Empty(start(name, attributes)))
    }

    /// Text.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        let text = escape(text);
        self.writer
            .write_event(Event::Text(BytesText::from_escaped(text)))
    }
}

fn start<'a>(name: &'a str, attributes: &Attributes<'_>) -> BytesStart<'a> {
    let mut start = BytesStart::new(name);
    for &(key, value) in attributes {
        start.push_attribute(Attr::DoubleQ(key, escape(value).as_str()));
    }
    start
}

/// Escapes for XML 1.0 and HTML alike; characters that XML 1.0 cannot hold become
/// U+FFFD, for names in class files may contain any.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    escape_into(text, &mut escaped);
    escaped
}

/// [`escape()`] into a text that exists.
pub(super) fn escape_into(text: &str, escaped: &mut String) {
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
