//! Annotations, as lists of elements.

/// A constant of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumConstant {
    /// Field descriptor of the enum.
    pub descriptor: String,
    /// Name of the constant.
    pub name: String,
}

/// The beginning of an annotation in a list of elements (JVMS 4.7.16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotationStart {
    /// The field descriptor of its interface.
    pub kind: String,
    /// The number of its elements, which follow in the list.
    pub elements: u16,
}

/// The value of an annotation's element (JVMS 4.7.16.1). The content of an annotation or an array follows in the list.
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
    Annotation(AnnotationStart),
    /// The number of values of an array.
    Array(u16),
}

/// A value with the name of its element. A value of an array and a single value have no name.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// The name of the element.
    pub name: String,
    /// Its value.
    pub value: Value,
}

/// The visibility of an annotation to reflection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// In `RuntimeVisibleAnnotations`.
    Visible,
    /// In `RuntimeInvisibleAnnotations`.
    Invisible,
}

/// An annotation under construction (JVMS 4.7.16).
///
/// ```
/// use edits::{Annotation, Value};
/// let mut marked = Annotation::new("Lcom/acme/Marked;");
/// marked.put("text", Value::Text("by a plugin".to_owned()));
/// assert_eq!(marked.elements().len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    elements: Vec<Element>,
    count: u16,
}

impl Annotation {
    /// Creates an annotation without elements, by the field descriptor of its interface.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        let start = AnnotationStart {
            kind: kind.to_owned(),
            elements: 0,
        };
        Self {
            elements: vec![unnamed(Value::Annotation(start))],
            count: 0,
        }
    }

    /// Adds an element: a single value.
    pub fn put(&mut self, name: &str, value: Value) -> &mut Self {
        self.add(name, [unnamed(value)])
    }

    /// Adds an array element: a list of single values.
    pub fn put_array(&mut self, name: &str, values: Vec<Value>) -> &mut Self {
        let start = unnamed(Value::Array(values.len() as u16));
        self.add(
            name,
            std::iter::once(start).chain(values.into_iter().map(unnamed)),
        )
    }

    /// Adds an element that is an annotation.
    pub fn nest(&mut self, name: &str, value: Annotation) -> &mut Self {
        self.add(name, value.elements())
    }

    /// Adds an element that is an array of annotations.
    pub fn nest_array(&mut self, name: &str, values: Vec<Annotation>) -> &mut Self {
        let start = unnamed(Value::Array(values.len() as u16));
        let values = values.iter().flat_map(Annotation::elements);
        self.add(name, std::iter::once(start).chain(values))
    }

    /// Returns the annotation as a list.
    #[must_use]
    pub fn elements(&self) -> Vec<Element> {
        let mut all = self.elements.clone();
        if let Some(Value::Annotation(start)) = all.first_mut().map(|first| &mut first.value) {
            start.elements = self.count;
        }
        all
    }

    fn add(&mut self, name: &str, values: impl IntoIterator<Item = Element>) -> &mut Self {
        let mut values = values.into_iter();
        self.elements.extend(values.next().map(|first| Element {
            name: name.to_owned(),
            ..first
        }));
        self.elements.extend(values);
        self.count += 1;
        self
    }
}

fn unnamed(value: Value) -> Element {
    Element {
        name: String::new(),
        value,
    }
}

/// The target of an annotation or attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The class.
    Class,
    /// A field of it.
    Field(FieldName),
    /// A method, by its index in the class file.
    Method(u16),
}

/// The name and descriptor of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldName {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
}
