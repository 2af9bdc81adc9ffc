//! Edits of a class's structure and of single instructions, as values.
//!
//! Names are internal names and descriptors as the JVMS writes them. They are
//! those of the class before its plan: renaming comes last and takes what the
//! plan adds along.

mod check;
mod display;
mod objects;
mod resolve;

pub use check::Refusal;
pub(crate) use check::{ClassChecker, validate};
pub use resolve::ChangeError;
pub(crate) use resolve::{Place, Replacement};

use std::fmt;

use crate::index::MethodIndex;
use crate::shape::{Names, Role};
use crate::snippet::{MemberName, Snippet};

/// A number or text that a field or an argument can have. Floating point
/// numbers are kept by their bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Constant {
    /// An `int`, or what the JVM keeps as one (`boolean`, `byte`, `char`, `short`).
    Int(i32),
    /// A `long`.
    Long(i64),
    /// The bits of a `float`.
    Float(u32),
    /// The bits of a `double`.
    Double(u64),
    /// A string.
    String(String),
}

/// A field to be added (JVMS 4.5).
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

/// A method to be added (JVMS 4.6).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NewMethod {
    /// `access_flags` (JVMS table 4.6-A).
    pub flags: u16,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Its code; none for an abstract or native method.
    pub body: Option<Snippet>,
}

/// What an annotation or attribute is put on.
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

/// An annotation (JVMS 4.7.16).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Annotation {
    /// Field descriptor of the annotation interface: `Ljava/lang/Deprecated;`.
    pub descriptor: String,
    /// Elements by name.
    pub elements: Vec<(String, ElementValue)>,
}

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

/// A native method to be wrapped (JVM TI, Set Native Method Prefix): it is
/// renamed to prefix and name, and a method with the old name and without
/// `native` takes its place, calls it, and hands on what it returns or throws.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NativeWrapper {
    /// The native method.
    pub method: MethodIndex,
    /// What its name gets in front.
    pub prefix: String,
    /// Runs before the call.
    pub entry: Option<Snippet>,
    /// Runs after the call: finds the value returned and leaves one.
    pub exit: Option<Snippet>,
    /// Runs when the call throws: finds the exception and leaves one.
    pub unwind: Option<Snippet>,
}

/// A change of the class itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClassEdit {
    /// Adds a field, behind the others.
    AddField(NewField),
    /// Adds a method, behind the others.
    AddMethod(NewMethod),
    /// Adds a direct superinterface, behind the others.
    AddInterface(String),
    /// Adds an annotation.
    AddAnnotation {
        /// To what.
        target: Target,
        /// `RuntimeVisibleAnnotations` or `RuntimeInvisibleAnnotations`.
        visible: bool,
        /// The annotation.
        annotation: Annotation,
    },
    /// Adds an attribute (JVMS 4.7). Pool indices in it are those of the class
    /// before its plan.
    AddAttribute {
        /// To what.
        target: Target,
        /// Its name.
        name: String,
        /// Its contents.
        bytes: Vec<u8>,
    },
    /// Renames a field or method of `owner` where it is declared and where this
    /// class names it. A reference through a subclass names another owner: list
    /// it as well.
    RenameMember {
        /// The member by its names so far; `interface` is not looked at.
        member: MemberName,
        /// Its new name.
        to: String,
    },
    /// Renames a type wherever the class names it: pool, descriptors,
    /// signatures, annotations, debug tables. Strings stay as they are.
    RenameType {
        /// Internal name so far.
        from: String,
        /// Internal name from now on.
        to: String,
    },
    /// Puts a method in front of a native one.
    WrapNative(NativeWrapper),
    /// Gives a method with code another body.
    ReplaceBody {
        /// The method.
        method: MethodIndex,
        /// Its new code.
        body: Snippet,
    },
}

impl ClassEdit {
    /// The class's own method that it is about.
    #[must_use]
    pub fn method(&self) -> Option<MethodIndex> {
        match self {
            ClassEdit::AddAnnotation { target, .. } | ClassEdit::AddAttribute { target, .. } => {
                match target {
                    Target::Method(method) => Some(*method),
                    Target::Class | Target::Field { .. } => None,
                }
            }
            ClassEdit::WrapNative(wrapper) => Some(wrapper.method),
            ClassEdit::ReplaceBody { method, .. } => Some(*method),
            _ => None,
        }
    }

    /// The same edit about another method.
    pub(crate) fn moved(mut self, to: MethodIndex) -> Self {
        match &mut self {
            ClassEdit::AddAnnotation { target, .. } | ClassEdit::AddAttribute { target, .. } => {
                *target = Target::Method(to);
            }
            ClassEdit::WrapNative(wrapper) => wrapper.method = to,
            ClassEdit::ReplaceBody { method, .. } => *method = to,
            _ => {}
        }
        self
    }
}

/// A method and how it is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallTarget {
    /// `invokestatic`, `invokevirtual`, `invokeinterface` or `invokespecial`.
    pub opcode: u8,
    /// The method.
    pub method: MemberName,
}

/// What becomes of one instruction. Operands and result stay what they are, so
/// no stack map frame changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// A call (`invoke…`, `invokedynamic` included) or field access becomes the
    /// call of a method that takes what was on the stack (receiver first, for a
    /// static method) and gives what was expected. Reference types may be taken
    /// as `Object`.
    Call(CallTarget),
    /// A field access becomes that of another field of the same type; an
    /// instance access may become a static one.
    Field {
        /// `getstatic`, `putstatic`, `getfield` or `putfield`.
        opcode: u8,
        /// The field.
        field: MemberName,
    },
    /// A call or field access is taken out: its operands are dropped, and
    /// instead of a result this is pushed; zero or null if nothing is given.
    Remove(Option<Constant>),
    /// `new` and the constructor calls that belong to it make an object of this
    /// class instead, which has a constructor of the same descriptor and is a
    /// subclass of the old one.
    New(String),
    /// `new`, `dup` and the constructor calls that belong to it become calls of
    /// a static method with the constructor's parameters that gives the object.
    Factory(MemberName),
}

/// Number of a change within its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId(pub(crate) u32);

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Change {
    /// The change with new names.
    pub(crate) fn renamed(&self, names: &Names) -> Change {
        match self {
            Change::Call(target) => Change::Call(CallTarget {
                opcode: target.opcode,
                method: names.member_name(&target.method),
            }),
            Change::Field { opcode, field } => Change::Field {
                opcode: *opcode,
                field: names.member_name(field),
            },
            Change::Remove(value) => Change::Remove(value.clone()),
            Change::New(class) => Change::New(names.string(Role::Class, class)),
            Change::Factory(method) => Change::Factory(names.member_name(method)),
        }
    }
}
