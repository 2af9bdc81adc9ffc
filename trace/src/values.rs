//! Converts captured values to JSON.

use std::sync::Arc;

use probes::events::{Call, Capture, CaptureSource, Content, Opened, SpanInfo, StackFrame, Value};
use serde_json::{Map, json};

use crate::names::{class, printable};

/// Converts numbers, booleans and null to themselves, texts and chars to strings; arrays and other objects to
/// objects.
pub fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Boolean(value) => json!(value),
        Value::Byte(value) => json!(value),
        Value::Short(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Long(value) => json!(value),
        Value::Float(value) if value.is_finite() => number(&format!("{value:?}")),
        Value::Double(value) if value.is_finite() => json!(value),
        Value::Float(_) | Value::Double(_) => json!(value.to_string()), // JSON has no NaN and no infinities
        Value::Char(unit) => json!(String::from_utf16_lossy(&[*unit])),
        Value::Text { text, .. } if is_whole(value) => json!(text),
        Value::Text { text, length } => json!({"text": text, "length": length}),
        Value::Array { class, length } => json!({"array": array(class), "length": length}),
        Value::Object {
            class: name,
            identity,
        } => json!({"class": class(name), "identity": format!("{identity:x}")}),
        Value::Constant(name) => json!(name),
        Value::Opened(opened) => opened_json(opened),
        Value::Class(name) => json!(class(name)),
        Value::Stack(frames) => frames.iter().map(frame).collect(),
        Value::Missing => json!({"missing": true}),
    }
}

/// Converts an object with its content. Incomplete content has a field `left` with the number of missing parts,
/// `null` if unknown.
fn opened_json(opened: &Opened) -> serde_json::Value {
    let identity = format!("{:x}", opened.identity);
    let left = (opened.left != u64::MAX).then_some(opened.left);
    let length = |shown: usize| left.map(|left| left + shown as u64);
    let is_array = opened.class.starts_with('[');
    match &opened.content {
        Content::Cycle => {
            json!({"class": class(&opened.class), "identity": identity, "cycle": true})
        }
        Content::Fields(fields) => {
            let fields: Map<_, _> = fields
                .iter()
                .map(|(name, value)| (printable(name), to_json(value)))
                .collect();
            let mut object = Map::new();
            object.insert("class".to_owned(), json!(class(&opened.class)));
            object.insert("identity".to_owned(), json!(identity));
            object.insert("fields".to_owned(), fields.into());
            if opened.left > 0 {
                object.insert("left".to_owned(), json!(left));
            }
            object.into()
        }
        Content::Elements(elements) => {
            let shown: Vec<_> = elements.iter().map(to_json).collect();
            let length = length(shown.len());
            match is_array {
                true => {
                    json!({"array": array(&opened.class), "length": length, "elements": shown})
                }
                false => {
                    json!({"class": class(&opened.class), "length": length, "elements": shown})
                }
            }
        }
        Content::Entries(entries) => {
            let shown: Vec<_> = entries
                .iter()
                .map(|(key, value)| json!([to_json(key), to_json(value)]))
                .collect();
            let length = length(shown.len());
            json!({"class": class(&opened.class), "length": length, "entries": shown})
        }
    }
}

/// Formats a value without quotation marks: complete texts, chars and class names unchanged, all else as displayed.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Text { text, .. } if is_whole(value) => text.clone(),
        Value::Char(unit) => String::from_utf16_lossy(&[*unit]),
        Value::Class(name) => class(name),
        Value::Constant(name) => name.clone(),
        value => value.to_string(),
    }
}

/// Checks whether it is a text that was not cut.
fn is_whole(value: &Value) -> bool {
    matches!(value, Value::Text { text, length } if text.encode_utf16().count() == *length as usize)
}

/// Formats a value as input of a plugin that computes tables: as [`plain`], and cut texts with a trailing `…`.
pub fn recorded(value: &Value) -> String {
    match value {
        Value::Text { text, .. } if !is_whole(value) => format!("{text}…"),
        value => plain(value),
    }
}

/// Converts a frame of a call stack, without an unknown line.
fn frame(frame: &StackFrame) -> serde_json::Value {
    let mut shown = json!({"class": class(&frame.class), "method": printable(&frame.method)});
    if frame.line > 0
        && let Some(fields) = shown.as_object_mut()
    {
        fields.insert("line".to_owned(), frame.line.into());
    }
    shown
}

/// Converts a number by its shortest text, so that a `float` does not gain digits.
fn number(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns `int[]` for `[I`.
fn array(class: &Arc<str>) -> String {
    let one = Value::Array {
        class: Arc::clone(class),
        length: 0,
    };
    one.to_string().replacen("[0]", "[]", 1)
}

/// Returns the name of a parameter; `arg[0]`, as in conditions, if the class file has no name.
pub fn parameter(span: &SpanInfo, index: u8) -> String {
    match span.parameters.get(usize::from(index)) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => format!("arg[{index}]"),
    }
}

/// Returns the names of a method's parameters, `null` for an unnamed one.
pub fn parameters(span: &SpanInfo) -> Option<serde_json::Value> {
    let name = |name: &String| match name.as_str() {
        "" => serde_json::Value::Null,
        name => json!(printable(name)),
    };
    let names: Vec<_> = span.parameters.iter().map(name).collect();
    (!names.is_empty()).then(|| names.into())
}

/// Returns the captured arguments by position, and the returned value.
pub fn captured(call: &Call) -> (Vec<(u8, &Value)>, Option<&Value>) {
    let mut arguments = Vec::new();
    let mut returned = None;
    for capture in &call.captures {
        match capture.source {
            CaptureSource::Argument(index) => arguments.push((index, &capture.value)),
            CaptureSource::Returned => returned = Some(&capture.value),
            CaptureSource::Shown(_) | CaptureSource::Stack => {}
        }
    }
    (arguments, returned)
}

/// Returns the values that the span's condition or list of shown values reads, by their expressions.
pub fn shown<'c>(call: &'c Call, span: &'c SpanInfo) -> Vec<(&'c str, &'c Value)> {
    values(&call.captures, span)
}

/// Returns the captures with an expression.
pub fn values<'c>(captures: &'c [Capture], span: &'c SpanInfo) -> Vec<(&'c str, &'c Value)> {
    let shown = captures.iter().filter_map(|capture| match capture.source {
        CaptureSource::Shown(slot) => {
            let name = span.shown.get(usize::from(slot))?;
            Some((name.as_str(), &capture.value))
        }
        _ => None,
    });
    shown.collect()
}

/// Returns the call stack, if it was requested.
pub fn stack(call: &Call) -> Option<&Value> {
    stack_of(&call.captures)
}

/// Returns the call stack among captures.
pub fn stack_of(captures: &[Capture]) -> Option<&Value> {
    let mut captures = captures.iter();
    let found = captures.find(|capture| capture.source == CaptureSource::Stack);
    found.map(|capture| &capture.value)
}

/// Returns [`shown`] as JSON.
pub fn shown_json(call: &Call, span: &SpanInfo) -> Map<String, serde_json::Value> {
    let shown = shown(call, span).into_iter();
    shown
        .map(|(name, value)| (printable(name), to_json(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_the_nearest_json() {
        let text = |length| Value::Text {
            text: "a\u{1F600}".to_owned(),
            length,
        };
        let opened = |class: &str, content, left| {
            Value::Opened(Box::new(Opened {
                class: class.into(),
                identity: 255,
                content,
                left,
            }))
        };
        for (value, expected) in [
            (Value::Null, "null"),
            (Value::Long(i64::MIN), "-9223372036854775808"),
            (Value::Float(0.1), "0.1"),
            (Value::Double(f64::NAN), "\"NaN\""),
            (Value::Char(0xD800), "\"\u{FFFD}\""),
            (text(3), "\"a\u{1F600}\""),
            (text(9), "{\"length\":9,\"text\":\"a\u{1F600}\"}"),
            (
                Value::Array {
                    class: "[[I".into(),
                    length: 2,
                },
                r#"{"array":"int[][]","length":2}"#,
            ),
            (
                Value::Object {
                    class: "a/B".into(),
                    identity: 255,
                },
                r#"{"class":"a.B","identity":"ff"}"#,
            ),
            (Value::Missing, r#"{"missing":true}"#),
            (Value::Constant("PAID".to_owned()), "\"PAID\""),
            (
                opened("a/B", Content::Fields(vec![("f".into(), Value::Int(1))]), 2),
                r#"{"class":"a.B","fields":{"f":1},"identity":"ff","left":2}"#,
            ),
            (
                opened("[I", Content::Elements(vec![Value::Int(1)]), 2),
                r#"{"array":"int[]","elements":[1],"length":3}"#,
            ),
            (
                opened("java/util/Set", Content::Elements(vec![]), u64::MAX),
                r#"{"class":"java.util.Set","elements":[],"length":null}"#,
            ),
            (
                opened("a/Map", Content::Entries(vec![(Value::Null, text(3))]), 0),
                "{\"class\":\"a.Map\",\"entries\":[[null,\"a\u{1F600}\"]],\"length\":1}",
            ),
            (
                opened("a/B", Content::Cycle, 0),
                r#"{"class":"a.B","cycle":true,"identity":"ff"}"#,
            ),
            (Value::Class("a/B$C".into()), "\"a.B$C\""),
            (
                Value::Stack(vec![
                    StackFrame {
                        class: "a/B".into(),
                        method: "f".into(),
                        line: 7,
                    },
                    StackFrame {
                        class: "a/B".into(),
                        method: "main".into(),
                        line: 0,
                    },
                ]),
                r#"[{"class":"a.B","line":7,"method":"f"},{"class":"a.B","method":"main"}]"#,
            ),
        ] {
            assert_eq!(to_json(&value).to_string(), expected);
        }
    }
}
