//! The annotations of advice in class files.

use rewriter::{DeclaredAnnotation, DeclaredValue};

use crate::api::PACKAGE;

/// An annotation of our package.
pub(crate) struct Found<'a> {
    pub name: String,
    pub parameter: u8,
    annotation: DeclaredAnnotation<'a>,
}

impl<'a> Found<'a> {
    pub fn all(annotations: Vec<DeclaredAnnotation<'a>>) -> Vec<Self> {
        let own = annotations.into_iter().filter_map(|annotation| {
            let kind = match annotation.elements.first()?.value {
                DeclaredValue::Annotation(kind, _) => kind.to_str_lossless().into_owned(),
                _ => return None,
            };
            let name = kind.strip_prefix('L')?.strip_prefix(PACKAGE)?;
            Some(Self {
                name: name.strip_suffix(';')?.to_owned(),
                parameter: annotation.parameter,
                annotation,
            })
        });
        own.collect()
    }

    pub fn value(&self, element: &str) -> Option<DeclaredValue<'a>> {
        let elements = self.annotation.elements.iter().skip(1);
        let mut named = elements.filter(|found| found.name == element);
        named.next().map(|found| found.value)
    }

    pub fn switch(&self, element: &str, default: bool) -> bool {
        match self.value(element) {
            Some(DeclaredValue::Boolean(value)) => value,
            _ => default,
        }
    }

    pub fn texts(&self) -> Vec<String> {
        let elements = self.annotation.elements.iter();
        let texts = elements.filter_map(|found| match found.value {
            DeclaredValue::Text(text) => Some(text.to_str_lossless().into_owned()),
            _ => None,
        });
        texts.collect()
    }
}
