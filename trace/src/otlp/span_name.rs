//! Span names that contain values of the call.

use probes::events::{Call, SpanInfo, Value};

use crate::names::printable;
use crate::values::{recorded, shown};

/// Maximum number of characters of one value: receivers index names, and shorten long ones themselves.
const LONGEST: usize = 128;

/// The pattern of span names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpanName {
    /// The parts; without parts, a name is `Store.find`.
    pub parts: Vec<NamePart>,
}

/// A part of a span name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePart {
    /// Constant text.
    Text(String),
    /// The simple class name of the method.
    Class,
    /// The method.
    Method,
    /// A captured value, by its expression: `arg[0].path`.
    Value(String),
}

impl SpanName {
    /// Returns the name of a call's span. It is `Store.find` if the call lacks one of the values.
    #[must_use]
    pub fn of(&self, call: &Call, method: &SpanInfo) -> String {
        let parts: Option<String> = self
            .parts
            .iter()
            .map(|part| part.of(call, method))
            .collect();
        match parts {
            Some(made) if !made.trim().is_empty() => made,
            _ => name(method),
        }
    }
}

/// Returns the default name of a span, `Store.find`.
fn name(method: &SpanInfo) -> String {
    let class = printable(jvms::names::without_package(&method.class));
    format!("{class}.{}", printable(&method.method))
}

impl NamePart {
    fn of(&self, call: &Call, method: &SpanInfo) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Class => Some(printable(jvms::names::without_package(&method.class))),
            Self::Method => Some(printable(&method.method)),
            Self::Value(path) => {
                let mut values = shown(call, method).into_iter();
                let (_, value) = values.find(|(name, _)| name == path)?;
                let is_there = !matches!(value, Value::Missing | Value::Null);
                is_there.then(|| shortened(&printable(&recorded(value))))
            }
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::events::{Capture, CaptureSource, Outcome};

    #[test]
    fn name_contains_values_and_falls_back_to_the_method() {
        let method = SpanInfo {
            class: "com/acme/Store".to_owned(),
            method: "find".to_owned(),
            shown: vec!["arg[0]".to_owned()],
            ..SpanInfo::default()
        };
        let parts = vec![
            NamePart::Method,
            NamePart::Text(" of ".to_owned()),
            NamePart::Class,
            NamePart::Text(": ".to_owned()),
            NamePart::Value("arg[0]".to_owned()),
        ];
        let template = SpanName { parts };
        let call = |captures| Call {
            thread: 1,
            span: 0,
            start: 0,
            end: 1,
            outcome: Outcome::Returned,
            captures,
        };
        let named = |value| {
            let source = CaptureSource::Shown(0);
            template.of(&call(vec![Capture { source, value }]), &method)
        };
        let text = |text: &str| Value::Text {
            text: text.to_owned(),
            length: text.encode_utf16().count() as u32,
        };
        assert_eq!(named(text("a\u{202e}b")), "find of Store: a\\u202eb");
        assert_eq!(named(Value::Int(-4)), "find of Store: -4");
        let long = named(text(&"x".repeat(500)));
        assert_eq!(long.len(), "find of Store: ".len() + LONGEST + "…".len());
        for missing in [Value::Missing, Value::Null] {
            assert_eq!(named(missing), "Store.find");
        }
        assert_eq!(template.of(&call(vec![]), &method), "Store.find");
        assert_eq!(SpanName::default().of(&call(vec![]), &method), "Store.find");
    }
}
