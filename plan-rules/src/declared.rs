//! Declarations of a class outside its code, within a limit. The limit is needed because a few bytes of a class file
//! can name long texts many times.

use jvms::modified_utf8::Utf8;
use rewriter::{
    ClassFile, DeclaredAnnotation, DeclaredElement, DeclaredValue, Field, InnerClass, Method,
    MethodIndex, Parameter, RecordComponent,
};

use crate::limits::{ELEMENT_BYTES, MAX_ANSWER_BYTES};

/// The declarations of the class exceed [`MAX_ANSWER_BYTES`], which ends the plugin's work on the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expected at most {MAX_ANSWER_BYTES} bytes in one answer")
    }
}

/// The target of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Annotated {
    /// The class.
    Class,
    /// A field by its index.
    Field(u16),
    /// A method by its index.
    Method(u16),
    /// A parameter of a method.
    Parameter(u16, u8),
    /// A record component by its index.
    Component(u16),
}

/// The remaining bytes of an answer.
pub(crate) struct AnswerBudget(usize);

impl AnswerBudget {
    pub(crate) fn new() -> Self {
        Self(MAX_ANSWER_BYTES)
    }

    /// Takes the bytes of an item with these texts.
    pub(crate) fn take(&mut self, text: usize) -> Result<(), TooLarge> {
        let left = self.0.checked_sub(ELEMENT_BYTES + text);
        self.0 = left.ok_or(TooLarge)?;
        Ok(())
    }
}

/// Collects all items, if their bytes fit.
fn within<T>(all: impl Iterator<Item = T>, text: impl Fn(&T) -> usize) -> Result<Vec<T>, TooLarge> {
    let mut budget = AnswerBudget::new();
    all.map(|one| budget.take(text(&one)).map(|()| one))
        .collect()
}

fn length(text: Option<Utf8<'_>>) -> usize {
    text.map_or(0, |text| text.as_bytes().len())
}

fn text_of(element: &DeclaredElement<'_>) -> usize {
    let value = match element.value {
        DeclaredValue::Text(text)
        | DeclaredValue::Class(text)
        | DeclaredValue::Annotation(text, _) => length(Some(text)),
        DeclaredValue::Enum(descriptor, name) => length(Some(descriptor)) + length(Some(name)),
        _ => 0,
    };
    length(Some(element.name)) + value
}

/// Returns the class's annotations whose interface has one of these descriptors; all annotations if the list is empty.
///
/// # Errors
/// The annotations are too large.
pub fn annotations<'a>(
    class: &ClassFile<'a>,
    kinds: &[String],
) -> Result<Vec<(Annotated, DeclaredAnnotation<'a>)>, TooLarge> {
    let mut all = Vec::new();
    let mut budget = AnswerBudget::new();
    let mut add = |of: Annotated, found: DeclaredAnnotation<'a>| {
        let wanted = match found.elements.first().map(|first| first.value) {
            Some(DeclaredValue::Annotation(kind, _)) => {
                kinds.is_empty() || kinds.iter().any(|wanted| kind == wanted.as_str())
            }
            _ => false,
        };
        if wanted {
            budget.take(found.elements.len() * ELEMENT_BYTES)?;
            for element in &found.elements {
                budget.take(text_of(element))?;
            }
            all.push((of, found));
        }
        Ok(())
    };
    for found in class.attributes().annotations() {
        add(Annotated::Class, found)?;
    }
    for (index, field) in class.fields().enumerate() {
        for found in Field::attributes(&field).annotations() {
            add(Annotated::Field(index as u16), found)?;
        }
    }
    for method in class.methods() {
        let index = method.index().0;
        for found in method.attributes().annotations() {
            add(Annotated::Method(index), found)?;
        }
        for found in method.attributes().parameter_annotations() {
            add(Annotated::Parameter(index, found.parameter), found)?;
        }
    }
    let components = class.record_components().unwrap_or_default();
    for (index, component) in components.into_iter().enumerate() {
        for found in component.attributes.annotations() {
            add(Annotated::Component(index as u16), found)?;
        }
    }
    Ok(all)
}

/// Returns the entries of `InnerClasses`.
///
/// # Errors
/// The entries are too large.
pub fn inner_classes<'a>(class: &ClassFile<'a>) -> Result<Vec<InnerClass<'a>>, TooLarge> {
    within(class.inner_classes(), |found| {
        length(Some(found.name)) + length(found.outer) + length(found.simple_name)
    })
}

/// Returns the components of a record.
///
/// # Errors
/// The components are too large.
pub fn components<'c, 'a>(
    class: &'c ClassFile<'a>,
) -> Result<Option<Vec<RecordComponent<'c, 'a>>>, TooLarge> {
    let Some(components) = class.record_components() else {
        return Ok(None);
    };
    let text = |found: &RecordComponent<'_, '_>| {
        length(Some(found.name)) + length(Some(found.descriptor)) + length(found.signature())
    };
    within(components.into_iter(), text).map(Some)
}

/// Returns the classes listed by an attribute of the class or of a method.
///
/// # Errors
/// The list is too large.
pub fn listed_classes<'a>(
    class: &ClassFile<'a>,
    attribute: &str,
    method: Option<u16>,
) -> Result<Vec<Utf8<'a>>, TooLarge> {
    let method = method.map(|method| class.method(MethodIndex(method)));
    match (attribute, method) {
        ("NestHost", None) => names(class.nest_host().into_iter()),
        ("NestMembers", None) => names(class.nest_members()),
        ("PermittedSubclasses", None) => names(class.permitted_subclasses()),
        ("Exceptions", Some(Some(method))) => names(method.exceptions()),
        _ => Ok(Vec::new()),
    }
}

fn names<'a>(all: impl Iterator<Item = Utf8<'a>>) -> Result<Vec<Utf8<'a>>, TooLarge> {
    within(all, |name| length(Some(*name)))
}

/// Returns the default value of an annotation element, with nested values.
///
/// # Errors
/// The value is too large.
pub fn annotation_default<'a>(
    class: &ClassFile<'a>,
    method: u16,
) -> Result<Vec<DeclaredElement<'a>>, TooLarge> {
    let method = class.method(MethodIndex(method));
    let all = method.map(|method| method.annotation_default());
    within(all.unwrap_or_default().into_iter(), text_of)
}

/// Returns the entries of a method's `MethodParameters`.
///
/// # Errors
/// The entries are too large.
pub fn parameters<'a>(class: &ClassFile<'a>, method: u16) -> Result<Vec<Parameter<'a>>, TooLarge> {
    let method = class.method(MethodIndex(method));
    let all = method.iter().flat_map(Method::parameters);
    within(all, |found| length(found.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[u8] =
        include_bytes!("../../rewriter/tests/fixtures/release25/Declared.class");

    #[test]
    fn annotations_of_everything_are_found_and_picked_by_interface() {
        let class = ClassFile::read(DECLARED).expect("a class");
        let of = |kinds: &[&str]| {
            let kinds: Vec<_> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
            let found = annotations(&class, &kinds).expect("small");
            found.into_iter().map(|(of, _)| of).collect::<Vec<_>>()
        };
        let parse = class
            .methods()
            .find(|method| method.name() == "parse")
            .expect("it is there");
        let parse = parse.index().0;
        let parts = [
            Annotated::Field(0),
            Annotated::Method(parse),
            Annotated::Parameter(parse, 0),
        ];
        assert_eq!(of(&["LDeclared$Part;"]), parts);
        let hidden = [
            Annotated::Class,
            Annotated::Field(0),
            Annotated::Parameter(parse, 2),
        ];
        assert_eq!(of(&["LDeclared$Hidden;"]), hidden);
        assert_eq!(of(&[]).len(), 7);
        assert_eq!(of(&["LNobody;"]), []);
    }

    #[test]
    fn element_has_the_default_of_the_source() {
        let part = include_bytes!("../../rewriter/tests/fixtures/release25/Declared$Part.class");
        let class = ClassFile::read(part).expect("a class");
        let found = annotation_default(&class, 0).expect("small");
        let values: Vec<_> = found.iter().map(|found| found.value).collect();
        assert_eq!(values, [DeclaredValue::Text(Utf8::new(b"none"))]);
        assert_eq!(annotation_default(&class, 7), Ok(Vec::new()));
        let class = ClassFile::read(DECLARED).expect("a class");
        assert_eq!(annotation_default(&class, 0), Ok(Vec::new()));
    }

    #[test]
    fn answer_with_a_long_text_many_times_is_too_large() {
        let text = "x".repeat(60_000);
        let text = Utf8::new(text.as_bytes());
        let all = || std::iter::repeat_n(text, 1_000);
        assert_eq!(names(all()), Err(TooLarge));
        assert_eq!(names(all().take(100)).map(|all| all.len()), Ok(100));
    }
}
