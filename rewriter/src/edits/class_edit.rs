//! Edits of the class itself.

use crate::index::MethodIndex;
use crate::snippet::{Member, Snippet};
use ::edits::Constant;
use stored::impl_stored;

/// A field to add (JVMS 4.5).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NewField {
    /// `access_flags` (JVMS table 4.5-A).
    pub flags: u16,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// `ConstantValue` (JVMS 4.7.2), which the JVM assigns to a static field.
    pub value: Option<Constant>,
}

impl_stored!(struct NewField { flags, name, descriptor, value });

/// A method to add (JVMS 4.6).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NewMethod {
    /// `access_flags` (JVMS table 4.6-A).
    pub flags: u16,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Its code; absent for an abstract or native method.
    pub body: Option<Snippet>,
}

impl_stored!(struct NewMethod { flags, name, descriptor, body });

/// The target of an annotation or attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// The class.
    Class,
    /// One of its fields.
    Field {
        /// Its name.
        name: String,
        /// Its descriptor.
        descriptor: String,
    },
    /// One of its methods.
    Method(MethodIndex),
}

impl_stored!(enum Target {
    0 Class,
    1 Field { name, descriptor },
    2 Method(method),
});

/// An annotation (JVMS 4.7.16).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Annotation {
    /// Field descriptor of the annotation interface: `Ljava/lang/Deprecated;`.
    pub descriptor: String,
    /// Elements by name.
    pub elements: Vec<(String, ElementValue)>,
}

impl_stored!(struct Annotation { descriptor, elements });

/// The value of an annotation's element (JVMS 4.7.16.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ElementValue {
    /// A `boolean`.
    Boolean(bool),
    /// A `byte`.
    Byte(i8),
    /// A `char`.
    Char(u16),
    /// A `short`.
    Short(i16),
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// The bits of a `float`.
    Float(u32),
    /// The bits of a `double`.
    Double(u64),
    /// A string.
    String(String),
    /// A constant of an enum.
    Enum {
        /// Field descriptor of the enum.
        descriptor: String,
        /// Name of the constant.
        constant: String,
    },
    /// A class by return descriptor: `Ljava/lang/String;`, `I`, `V`.
    Class(String),
    /// An annotation; nested at most 64 levels deep.
    Annotation(Annotation),
    /// An array.
    Array(Vec<ElementValue>),
}

impl_stored!(enum ElementValue {
    0 Boolean(value),
    1 Byte(value),
    2 Char(value),
    3 Short(value),
    4 Int(value),
    5 Long(value),
    6 Float(bits),
    7 Double(bits),
    8 String(text),
    9 Enum { descriptor, constant },
    10 Class(descriptor),
    11 Annotation(annotation),
    12 Array(values),
});

/// A native method that gets a prefix (JVM TI, Set Native Method Prefix). It is renamed to prefix and name. A new
/// method with the old name and without `native` calls it, and returns or throws its result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PrefixedNative {
    /// The native method.
    pub method: MethodIndex,
    /// The prefix.
    pub prefix: String,
}

impl_stored!(struct PrefixedNative { method, prefix });

/// A change of the class itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClassEdit {
    /// Adds a field after the existing ones.
    AddField(NewField),
    /// Adds a method after the existing ones.
    AddMethod(NewMethod),
    /// Adds a direct superinterface after the existing ones.
    AddInterface(String),
    /// Adds an annotation.
    AddAnnotation {
        /// The target.
        target: Target,
        /// True for `RuntimeVisibleAnnotations`, false for `RuntimeInvisibleAnnotations`.
        visible: bool,
        /// The annotation.
        annotation: Annotation,
    },
    /// Adds an attribute (JVMS 4.7). Pool indices in it are those of the class before its plan.
    AddAttribute {
        /// The target.
        target: Target,
        /// Its name.
        name: String,
        /// Its contents.
        bytes: Vec<u8>,
    },
    /// Renames a field or method of `owner` in its declaration and in the references of this class. References through
    /// a subclass have another owner: list it as well.
    RenameMember {
        /// The member by its current name; `interface` is ignored.
        member: Member,
        /// Its new name.
        to: String,
    },
    /// Renames a type in the pool, descriptors, signatures, annotations and debug tables of the class. Strings stay
    /// unchanged.
    RenameType {
        /// The current internal name.
        from: String,
        /// The new internal name.
        to: String,
    },
    /// Wraps a native method.
    PrefixNative(PrefixedNative),
    /// Replaces the body of a method with code.
    ReplaceBody {
        /// The method.
        method: MethodIndex,
        /// Its new code.
        body: Snippet,
    },
}

impl_stored!(enum ClassEdit {
    0 AddField(field),
    1 AddMethod(method),
    2 AddInterface(name),
    3 AddAnnotation { target, visible, annotation },
    4 AddAttribute { target, name, bytes },
    5 RenameMember { member, to },
    6 RenameType { from, to },
    7 PrefixNative(native),
    8 ReplaceBody { method, body },
});

impl ClassEdit {
    /// Returns the class's own method that it edits.
    #[must_use]
    pub fn method(&self) -> Option<MethodIndex> {
        match self {
            ClassEdit::AddAnnotation { target, .. } | ClassEdit::AddAttribute { target, .. } => {
                match target {
                    Target::Method(method) => Some(*method),
                    Target::Class | Target::Field { .. } => None,
                }
            }
            ClassEdit::PrefixNative(wrapper) => Some(wrapper.method),
            ClassEdit::ReplaceBody { method, .. } => Some(*method),
            _ => None,
        }
    }

    /// Returns the same edit for another method.
    #[must_use]
    pub fn moved(mut self, to: MethodIndex) -> Self {
        match &mut self {
            ClassEdit::AddAnnotation { target, .. } | ClassEdit::AddAttribute { target, .. } => {
                *target = Target::Method(to);
            }
            ClassEdit::PrefixNative(wrapper) => wrapper.method = to,
            ClassEdit::ReplaceBody { method, .. } => *method = to,
            _ => {}
        }
        self
    }
}
