//! Builds an annotation from a plugin's list of elements and counts its bytes.

use edits::{Element, Value};
use rewriter::limits::MAX_ELEMENT_DEPTH;
use rewriter::{Annotation, ElementValue};

use crate::limits::{ELEMENT_BYTES, MAX_ANNOTATION_BYTES};
use crate::refusal::RefusedRequest;

/// An annotation with the bytes that it counts for.
#[derive(Debug)]
pub(crate) struct CountedAnnotation {
    pub(crate) annotation: Annotation,
    pub(crate) bytes: usize,
}

impl CountedAnnotation {
    /// Builds an annotation. It begins the list, and its content follows.
    pub(crate) fn of(list: Vec<Element>) -> Result<Self, RefusedRequest> {
        let bytes = list
            .iter()
            .map(|element| ELEMENT_BYTES + text_of(element))
            .sum();
        if bytes > MAX_ANNOTATION_BYTES {
            let message = format!(
                "expected at most {MAX_ANNOTATION_BYTES} bytes in one annotation, found {bytes}"
            );
            return Err(RefusedRequest::limit(message, None));
        }
        let mut list = list.into_iter();
        let (_, value) = value(&mut list, 0)?;
        match (value, list.next()) {
            (ElementValue::Annotation(annotation), None) => Ok(Self { annotation, bytes }),
            (_, None) => Err(unsuitable("an annotation as the first element")),
            (_, Some(_)) => Err(unsuitable(
                "no element behind the content of the annotation",
            )),
        }
    }
}

/// Takes a value, with all values in it, from a list.
fn value(
    list: &mut impl Iterator<Item = Element>,
    depth: u32,
) -> Result<(String, ElementValue), RefusedRequest> {
    let missing = || unsuitable("as many elements as the annotations and arrays announce");
    let Element { name, value: next } = list.next().ok_or_else(missing)?;
    if depth > MAX_ELEMENT_DEPTH {
        return Err(unsuitable(
            "an annotation that is nested at most 64 levels deep",
        ));
    }
    let mut several = |count: u16| {
        let one = |_| value(list, depth.saturating_add(1));
        (0..count).map(one).collect::<Result<Vec<_>, _>>()
    };
    let value = match next {
        Value::Boolean(value) => ElementValue::Boolean(value),
        Value::Byte(value) => ElementValue::Byte(value),
        Value::Char(value) => ElementValue::Char(value),
        Value::Short(value) => ElementValue::Short(value),
        Value::Integer(value) => ElementValue::Int(value),
        Value::Long(value) => ElementValue::Long(value),
        Value::Float(value) => ElementValue::Float(value.to_bits()),
        Value::Double(value) => ElementValue::Double(value.to_bits()),
        Value::Text(text) => ElementValue::String(text),
        Value::Class(descriptor) => ElementValue::Class(descriptor),
        Value::Enum(found) => ElementValue::Enum {
            descriptor: found.descriptor,
            constant: found.name,
        },
        Value::Annotation(start) => ElementValue::Annotation(Annotation {
            descriptor: start.kind,
            elements: several(start.elements)?,
        }),
        Value::Array(length) => {
            let values = several(length)?;
            ElementValue::Array(values.into_iter().map(|(_, value)| value).collect())
        }
    };
    Ok((name, value))
}

fn unsuitable(expected: &str) -> RefusedRequest {
    let cause = format!("expected {expected}, in an annotation");
    RefusedRequest::unsuitable(None, &cause)
}

/// Returns the bytes of text in one element.
fn text_of(element: &Element) -> usize {
    let value = match &element.value {
        Value::Text(text) | Value::Class(text) => text.len(),
        Value::Enum(found) => found.descriptor.len() + found.name.len(),
        Value::Annotation(start) => start.kind.len(),
        _ => 0,
    };
    element.name.len() + value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(annotation: &edits::Annotation) -> String {
        let refused = CountedAnnotation::of(annotation.elements());
        refused.expect_err("refused").message
    }

    #[test]
    fn nested_annotations_and_arrays_keep_their_content() {
        let mut inner = edits::Annotation::new("La/B;");
        inner.put_array("numbers", vec![Value::Integer(1), Value::Integer(2)]);
        let mut outer = edits::Annotation::new("La/A;");
        outer
            .nest("one", inner.clone())
            .nest_array("many", vec![inner; 2]);
        outer.put("text", Value::Text("x".to_owned()));
        let built = CountedAnnotation::of(outer.elements())
            .expect("valid")
            .annotation;
        assert_eq!(
            built.to_string(),
            "@La/A;(one=@La/B;(numbers={1, 2}), many={@La/B;(numbers={1, 2}), @La/B;(numbers={1, 2})}, text=\"x\")"
        );
    }

    #[test]
    fn large_and_deep_annotations_are_refused() {
        let mut large = edits::Annotation::new("La/A;");
        large.put("text", Value::Text("x".repeat(1 << 20)));
        assert!(refusal(&large).starts_with("expected at most 1048576 bytes in one annotation"));
        let mut deep = edits::Annotation::new("La/A;");
        for _ in 0..70 {
            let mut outer = edits::Annotation::new("La/A;");
            outer.nest("in", deep);
            deep = outer;
        }
        assert!(refusal(&deep).contains("64 levels"));
    }

    #[test]
    fn incomplete_lists_are_refused() {
        let single = Element {
            name: String::new(),
            value: Value::Array(3),
        };
        for list in [vec![], vec![single]] {
            let refused = CountedAnnotation::of(list).expect_err("refused");
            assert!(
                refused.message.contains("as many elements"),
                "{}",
                refused.message
            );
        }
    }
}
