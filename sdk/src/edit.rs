//! Edits apart from inserted code, as values: changed instructions, new bodies and changes of
//! structure.

use crate::snippet::{Member, Snippet};
use crate::wit::Site;
pub use crate::wit::{Constant, Element, EnumConstant};

/// A field to add (JVMS 4.5).
///
/// ```
/// use classhook_sdk::edit::{Constant, Field};
/// use classhook_sdk::access_flags::{ACC_PUBLIC, ACC_STATIC};
/// let field = Field::new(ACC_PUBLIC | ACC_STATIC, "calls", "J").with_value(Constant::Long(1));
/// assert_eq!(field.access_flags, 0x0009);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// `access_flags` (JVMS table 4.5-A).
    pub access_flags: u16,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The initial value of a static field (JVMS 4.7.2).
    pub value: Option<Constant>,
}

impl Field {
    /// Creates a field that is initially zero or null.
    #[must_use]
    pub fn new(access_flags: u16, name: &str, descriptor: &str) -> Self {
        Self {
            access_flags,
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            value: None,
        }
    }

    /// Sets the initial value of a static field.
    #[must_use]
    pub fn with_value(mut self, value: Constant) -> Self {
        self.value = Some(value);
        self
    }
}

/// An annotation (JVMS 4.7.16).
///
/// ```
/// use classhook_sdk::edit::{Annotation, Element};
/// let mut marked = Annotation::new("Lcom/acme/Marked;");
/// marked.put("text", Element::Text("by a plugin".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    kind: String,
    elements: Vec<(String, Value)>,
}

/// The value of an annotation's element.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "documented at the methods of Annotation")]
pub enum Value {
    One(Element),
    Many(Vec<Element>),
    Nested(Annotation),
    NestedMany(Vec<Annotation>),
}

impl Annotation {
    /// Creates an annotation without elements, by the field descriptor of its interface.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            elements: Vec::new(),
        }
    }

    /// Adds an element.
    pub fn put(&mut self, name: &str, value: Element) -> &mut Self {
        self.add(name, Value::One(value))
    }

    /// Adds an array element.
    pub fn put_array(&mut self, name: &str, values: Vec<Element>) -> &mut Self {
        self.add(name, Value::Many(values))
    }

    /// Adds an element that is an annotation.
    pub fn nest(&mut self, name: &str, value: Annotation) -> &mut Self {
        self.add(name, Value::Nested(value))
    }

    /// Adds an element that is an array of annotations.
    pub fn nest_array(&mut self, name: &str, values: Vec<Annotation>) -> &mut Self {
        self.add(name, Value::NestedMany(values))
    }

    /// Returns the descriptor and the elements.
    #[doc(hidden)]
    #[must_use]
    pub fn parts(&self) -> (&str, &[(String, Value)]) {
        (&self.kind, &self.elements)
    }

    fn add(&mut self, name: &str, value: Value) -> &mut Self {
        self.elements.push((name.to_owned(), value));
        self
    }
}

/// The change of an instruction.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "documented at the methods of Plan")]
pub enum Change {
    Call(u8, Member),
    Field(u8, Member),
    Factory(Member),
    New(String),
    NewWithCast(String),
    Remove(Option<Constant>),
}

/// The target of an annotation or attribute.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "documented at the methods of Plan")]
pub enum Target {
    Class,
    Field(String, String),
    Method(u16),
}

/// An edit in the form for [`crate::source::NativePlan`].
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "documented at the methods of Plan")]
pub enum Edit<'e> {
    Insert(&'e [Site], &'e Snippet),
    Wrap(&'e [Site], &'e Snippet, &'e Snippet),
    Around(&'e [Site], &'e Snippet),
    Change(&'e [Site], Change),
    Body(u16, &'e Snippet),
    Class(&'e [u8]),
    AddField(&'e Field),
    AddMethod(u16, &'e str, &'e str, Option<&'e Snippet>),
    AddInterface(&'e str),
    Annotate(Target, bool, &'e Annotation),
    Rename(&'e Member, &'e str),
    RenameType(&'e str, &'e str),
    AddAttribute(Target, &'e str, &'e [u8]),
}
