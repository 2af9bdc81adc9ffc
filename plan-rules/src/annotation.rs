//! Assembles an annotation for a plugin and counts its bytes.

use rewriter::{Annotation, ElementValue};

use crate::limits::{ELEMENT_BYTES, MAX_ANNOTATION_BYTES};

/// An annotation under construction.
#[derive(Debug, Clone)]
pub struct AnnotationBuilder {
    annotation: Annotation,
    bytes: usize,
}

impl AnnotationBuilder {
    /// Creates an annotation without elements from the field descriptor of its interface.
    ///
    /// # Errors
    /// As [`AnnotationBuilder::put`].
    pub fn new(descriptor: String) -> Result<Self, String> {
        let bytes = ELEMENT_BYTES + descriptor.len();
        expect_room(bytes)?;
        let annotation = Annotation {
            descriptor,
            elements: Vec::new(),
        };
        Ok(Self { annotation, bytes })
    }

    /// Adds an element.
    ///
    /// # Errors
    /// The annotation becomes too large, which ends the plugin's work on the class.
    pub fn put(&mut self, name: String, value: ElementValue) -> Result<(), String> {
        let bytes = text_of(&value);
        self.add(name, value, bytes)
    }

    /// Adds an array of elements.
    ///
    /// # Errors
    /// As [`AnnotationBuilder::put`].
    pub fn put_array(&mut self, name: String, values: Vec<ElementValue>) -> Result<(), String> {
        let bytes = values.iter().map(|value| ELEMENT_BYTES + text_of(value));
        let bytes = bytes.sum();
        self.add(name, ElementValue::Array(values), bytes)
    }

    /// Adds an annotation as an element.
    ///
    /// # Errors
    /// As [`AnnotationBuilder::put`].
    pub fn nest(&mut self, name: String, value: &Self) -> Result<(), String> {
        let annotation = ElementValue::Annotation(value.annotation.clone());
        self.add(name, annotation, value.bytes)
    }

    /// Adds an array of annotations.
    ///
    /// # Errors
    /// As [`AnnotationBuilder::put`].
    pub fn nest_array(&mut self, name: String, values: NestedArray) -> Result<(), String> {
        self.add(name, ElementValue::Array(values.annotations), values.bytes)
    }

    /// Returns the annotation built so far.
    pub(crate) fn annotation(&self) -> &Annotation {
        &self.annotation
    }

    /// Returns the bytes that the annotation counts for.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn add(&mut self, name: String, value: ElementValue, bytes: usize) -> Result<(), String> {
        let bytes = self.bytes + ELEMENT_BYTES + name.len() + bytes;
        expect_room(bytes)?;
        self.bytes = bytes;
        self.annotation.elements.push((name, value));
        Ok(())
    }
}

fn expect_room(bytes: usize) -> Result<(), String> {
    if bytes <= MAX_ANNOTATION_BYTES {
        return Ok(());
    }
    Err(format!(
        "expected at most {MAX_ANNOTATION_BYTES} bytes in one annotation, found {bytes}"
    ))
}

/// Annotations that become an array element of another one, up to its size limit.
#[derive(Debug)]
pub struct NestedArray {
    annotations: Vec<ElementValue>,
    bytes: usize,
}

impl NestedArray {
    /// Creates an array of these annotations.
    pub fn of<'v>(values: impl Iterator<Item = &'v AnnotationBuilder>) -> Self {
        let (mut bytes, mut annotations) = (0, Vec::new());
        for value in values {
            bytes += value.bytes;
            if bytes > MAX_ANNOTATION_BYTES {
                break; // refused when it is nested, and takes no memory until then
            }
            annotations.push(ElementValue::Annotation(value.annotation.clone()));
        }
        Self { annotations, bytes }
    }
}

/// Returns the bytes of text in one value.
fn text_of(value: &ElementValue) -> usize {
    match value {
        ElementValue::String(text) | ElementValue::Class(text) => text.len(),
        ElementValue::Enum {
            descriptor,
            constant,
        } => descriptor.len() + constant.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotation_that_doubles_by_nesting_is_refused() {
        let mut nested = AnnotationBuilder::new("La/A;".to_owned()).expect("short");
        let text = ElementValue::String("x".repeat(1 << 18));
        assert_eq!(nested.put("text".to_owned(), text), Ok(()));
        let mut outer = AnnotationBuilder::new("La/A;".to_owned()).expect("short");
        assert_eq!(outer.nest("one".to_owned(), &nested), Ok(()));
        let all = [&nested; 5];
        let refused = outer.nest_array("many".to_owned(), NestedArray::of(all.into_iter()));
        let text = refused.expect_err("too many bytes");
        assert!(text.starts_with("expected at most 1048576 bytes in one annotation"));
        assert_eq!(outer.annotation().elements.len(), 1);
    }
}
