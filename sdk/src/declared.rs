//! The declarations of a class apart from its code: annotations with the values of their elements,
//! and other attributes. Only this module calls these functions of the host.

use crate::bindings::classhook::plugin::declarations as host;
use crate::source::{ClassSide, ClassSource};
use crate::wit::FoundAnnotation;
pub use crate::wit::{
    Annotated, Component, Enclosing, InnerClass, NamedMethod, Parameter, ParameterPlace,
};
pub use edits::EnumConstant;
use edits::{Element, Value as DeclaredValue, Visibility};

/// An annotation with its target.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredAnnotation {
    /// The class, or a declaration in it.
    pub of: Annotated,
    /// The annotation.
    pub annotation: Annotation,
}

/// An annotation (JVMS 4.7.16).
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// The field descriptor of its interface.
    pub kind: String,
    /// `true` if the annotation, or the one that contains it, is visible to reflection.
    pub visible: bool,
    /// The given elements, with their names.
    pub elements: Vec<(String, Value)>,
}

impl Annotation {
    /// Returns the value of the element with this name. Returns `None` if it is not given, so that
    /// the interface's default applies.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.elements.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value)
    }

    /// Returns the text of an element.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number in an element of any integer type.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        match *self.get(name)? {
            Value::Byte(value) => Some(value.into()),
            Value::Char(value) => Some(value.into()),
            Value::Short(value) => Some(value.into()),
            Value::Integer(value) => Some(value.into()),
            Value::Long(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the values of an array element; empty if it is not given.
    #[must_use]
    pub fn array(&self, name: &str) -> &[Value] {
        match self.get(name) {
            Some(Value::Array(values)) => values,
            _ => &[],
        }
    }
}

/// The value of an annotation's element (JVMS 4.7.16.1).
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A `boolean`.
    Boolean(bool),
    /// A `byte`.
    Byte(i8),
    /// A `char`.
    Char(u16),
    /// A `short`.
    Short(i16),
    /// An `int`.
    Integer(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A string.
    Text(String),
    /// A constant of an enum.
    Enum(EnumConstant),
    /// A class, by its return descriptor.
    Class(String),
    /// An annotation.
    Annotation(Annotation),
    /// An array.
    Array(Vec<Value>),
}

/// Takes a value, with all values in it, from a list.
fn value(list: &mut impl Iterator<Item = Element>, visible: bool) -> Option<(String, Value)> {
    let Element { name, value: next } = list.next()?;
    let value = match next {
        DeclaredValue::Boolean(value) => Value::Boolean(value),
        DeclaredValue::Byte(value) => Value::Byte(value),
        DeclaredValue::Char(value) => Value::Char(value),
        DeclaredValue::Short(value) => Value::Short(value),
        DeclaredValue::Integer(value) => Value::Integer(value),
        DeclaredValue::Long(value) => Value::Long(value),
        DeclaredValue::Float(value) => Value::Float(value),
        DeclaredValue::Double(value) => Value::Double(value),
        DeclaredValue::Text(text) => Value::Text(text),
        DeclaredValue::Enum(constant) => Value::Enum(constant),
        DeclaredValue::Class(descriptor) => Value::Class(descriptor),
        DeclaredValue::Annotation(found) => Value::Annotation(Annotation {
            kind: found.kind,
            visible,
            elements: several(list, found.elements, visible),
        }),
        DeclaredValue::Array(length) => {
            let values = several(list, length, visible);
            Value::Array(values.into_iter().map(|(_, value)| value).collect())
        }
    };
    Some((name, value))
}

fn several(
    list: &mut impl Iterator<Item = Element>,
    count: u16,
    visible: bool,
) -> Vec<(String, Value)> {
    let mut values = Vec::new();
    for _ in 0..count {
        values.extend(value(list, visible));
    }
    values
}

pub(crate) fn annotations(of: &dyn ClassSource, kinds: &[&str]) -> Vec<DeclaredAnnotation> {
    let kinds: Vec<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
    let all = match of.side() {
        ClassSide::Host(view) => host::annotations(view, &kinds),
        ClassSide::Native(class) => class.annotations(&kinds),
    };
    let found = |found: FoundAnnotation| {
        let mut elements = found.elements.into_iter();
        match value(&mut elements, found.visibility == Visibility::Visible)?.1 {
            Value::Annotation(annotation) => Some(DeclaredAnnotation {
                of: found.of,
                annotation,
            }),
            _ => None,
        }
    };
    all.into_iter().filter_map(found).collect()
}

pub(crate) fn annotation_default(of: &dyn ClassSource, method: u16) -> Option<Value> {
    let elements = match of.side() {
        ClassSide::Host(view) => host::annotation_default(view, method),
        ClassSide::Native(class) => class.annotation_default(method),
    };
    value(&mut elements.into_iter(), true).map(|(_, value)| value)
}

pub(crate) fn inner_classes(of: &dyn ClassSource) -> Vec<InnerClass> {
    match of.side() {
        ClassSide::Host(view) => host::inner_classes(view),
        ClassSide::Native(class) => class.inner_classes(),
    }
}

pub(crate) fn enclosing_method(of: &dyn ClassSource) -> Option<Enclosing> {
    match of.side() {
        ClassSide::Host(view) => host::enclosing_method(view),
        ClassSide::Native(class) => class.enclosing_method(),
    }
}

pub(crate) fn components(of: &dyn ClassSource) -> Option<Vec<Component>> {
    match of.side() {
        ClassSide::Host(view) => host::components(view),
        ClassSide::Native(class) => class.components(),
    }
}

pub(crate) fn listed_classes(
    of: &dyn ClassSource,
    attribute: &str,
    method: Option<u16>,
) -> Vec<String> {
    match of.side() {
        ClassSide::Host(view) => host::listed_classes(view, attribute, method),
        ClassSide::Native(class) => class.listed_classes(attribute, method),
    }
}

pub(crate) fn parameters(of: &dyn ClassSource, method: u16) -> Vec<Parameter> {
    match of.side() {
        ClassSide::Host(view) => host::parameters(view, method),
        ClassSide::Native(class) => class.parameters(method),
    }
}
