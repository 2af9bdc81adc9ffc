//! XML as a tree of elements with their positions.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::document::Mistake;

/// Depth limit, above that of any file for a build tool.
const DEEPEST: usize = 64;

/// An element: its name without a prefix, its text, and the elements in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Element {
    /// The name, without the prefix of a name space.
    pub name: String,
    /// The names of its attributes.
    pub attributes: Vec<String>,
    /// All text directly in it, without blanks around it.
    pub text: String,
    /// The elements directly in it.
    pub children: Vec<Element>,
    /// The bytes of its first tag.
    pub tag: Range<usize>,
    /// The bytes between its tags.
    pub content: Range<usize>,
}

impl Element {
    /// Returns the first direct child of this name.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// Returns the byte range of its text, or of its first tag without text.
    #[must_use]
    pub fn place(&self) -> Range<usize> {
        match self.text.is_empty() {
            true => self.tag.clone(),
            false => self.content.clone(),
        }
    }
}

/// Parses a document, and returns its root.
///
/// # Errors
/// If the text is not well-formed.
pub fn read(text: &str) -> Result<Element, Mistake> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    loop {
        let start = offset(reader.buffer_position());
        let event = reader.read_event();
        let tag = start..offset(reader.buffer_position());
        let event = event.map_err(|error| {
            let at = offset(reader.error_position());
            Mistake::new(at..tag.end.max(at), format!("this is no XML: {error}"), "")
        })?;
        match event {
            Event::Start(start) => open.push(element(&start, tag, open.len())?),
            Event::Empty(start) => {
                let element = element(&start, tag, open.len())?;
                close(element, &mut open, &mut root);
            }
            Event::End(_) => {
                if let Some(mut element) = open.pop() {
                    element.text = element.text.trim().to_owned();
                    element.content.end = tag.start;
                    close(element, &mut open, &mut root);
                }
            }
            Event::Text(text) => add(&text, &mut open),
            Event::CData(text) => add(&text, &mut open),
            Event::GeneralRef(name) => {
                let text = referred(&name).ok_or_else(|| unknown_entity(tag, &name))?;
                add(&text, &mut open);
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => (),
        }
    }
    if let Some(element) = open.pop() {
        let message = format!("`<{}>` is not closed", element.name);
        return Err(Mistake::new(element.tag, message, ""));
    }
    root.ok_or_else(|| Mistake::new(0..0, "there is no element", "`<rules>` or `<project>`"))
}

/// Converts a reader's position to an index; the text is in memory.
fn offset(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

fn element(start: &BytesStart<'_>, tag: Range<usize>, depth: usize) -> Result<Element, Mistake> {
    if depth >= DEEPEST {
        let message = format!("elements are nested deeper than {DEEPEST}");
        return Err(Mistake::new(tag, message, ""));
    }
    let mut element = Element {
        name: start.local_name().as_ref().to_owned(),
        content: tag.end..tag.end,
        ..Element::default()
    };
    for attribute in start.attributes() {
        let attribute = attribute
            .map_err(|error| Mistake::new(tag.clone(), format!("this is no XML: {error}"), ""))?;
        element.attributes.push(attribute.key.as_ref().to_owned());
    }
    element.tag = tag;
    Ok(element)
}

fn close(element: Element, open: &mut [Element], root: &mut Option<Element>) {
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None => drop(root.get_or_insert(element)),
    }
}

fn add(text: &str, open: &mut [Element]) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// Resolves `&amp;` or `&#38;`.
fn referred(name: &quick_xml::events::BytesRef<'_>) -> Option<String> {
    let known = match &**name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => name.resolve_char_ref().ok()??,
    };
    Some(known.to_string())
}

fn unknown_entity(tag: Range<usize>, name: &str) -> Mistake {
    Mistake::new(
        tag,
        format!("`&{name};` is no known entity"),
        "&amp;, &lt;, &gt;, &quot; or &apos;",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_text_and_positions() {
        let text = "<?xml version=\"1.0\"?><!-- <x> --><m:a xmlns:m=\"u\"> x &amp; <![CDATA[<y>]]>\n<b c='1'/></m:a>";
        let root = read(text).unwrap();
        assert_eq!((root.name.as_str(), root.text.as_str()), ("a", "x & <y>"));
        assert_eq!(root.children[0].attributes, ["c"]);
        assert_eq!(&text[root.children[0].tag.clone()], "<b c='1'/>");
        assert!(text[root.content].starts_with(" x "));
    }

    #[test]
    fn malformed_xml_is_reported_with_its_position() {
        let deep = "<a>".repeat(100);
        for (text, place, message) in [
            ("", "", "there is no element"),
            ("<a><b></a>", "</a>", "this is no XML"),
            ("<a><b></b>", "<a>", "`<a>` is not closed"),
            ("<a>&nbsp;</a>", "&nbsp;", "no known entity"),
            ("<a b='1' b='2'/>", "<a b='1' b='2'/>", "this is no XML"),
            (&deep, "<a>", "nested deeper"),
        ] {
            let mistake = read(text).unwrap_err();
            assert!(mistake.message.contains(message), "{text}: {mistake:?}");
            let at = text
                .get(mistake.span.clone())
                .unwrap_or_else(|| panic!("{mistake:?}"));
            assert!(place.starts_with(at) || at == place, "{text}: {mistake:?}");
        }
    }
}
