//! Edits that change the behaviour or the structure of a class, and their refusal.

use crate::annotation::{Element, Target, Visibility};
use crate::constant::Constant;
use crate::instruction::{Instruction, Member};
use crate::point::{InsertionPoint, MethodIndex};

/// A request for a change of a class. Code is a list of instructions.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Inserts code at each point.
    Insert(Vec<InsertionPoint>, Vec<Instruction>),
    /// Inserts code in front of each instruction, and behind it where it has completed normally.
    Wrap(Vec<InsertionPoint>, Vec<Instruction>, Vec<Instruction>),
    /// Inserts code around each instruction.
    Around(Vec<InsertionPoint>, Vec<Instruction>),
    /// Replaces calls and field accesses by this instruction.
    Redirect(Vec<InsertionPoint>, Instruction),
    /// Replaces `new` and its constructor calls by a static method.
    RedirectAllocation(Vec<InsertionPoint>, Member),
    /// Replaces the class of `new` by this subclass, with a cast if the flag is set.
    Allocate(Vec<InsertionPoint>, String, bool),
    /// Removes calls and field accesses; the value replaces their result.
    Remove(Vec<InsertionPoint>, Option<Constant>),
    /// Replaces the body of a method.
    ReplaceBody(MethodIndex, Vec<Instruction>),
    /// Replaces the class file.
    ReplaceClass(Vec<u8>),
    /// Adds a field.
    AddField(Field),
    /// Adds a method: its flags, name, descriptor, and code unless it is abstract or native.
    AddMethod(u16, String, String, Option<Vec<Instruction>>),
    /// Adds a direct superinterface.
    AddInterface(String),
    /// Adds an annotation.
    Annotate(Target, Visibility, Vec<Element>),
    /// Renames a field or method.
    RenameMember(Member, String),
    /// Renames a type.
    RenameType(String, String),
    /// Adds an attribute with these contents.
    AddAttribute(Target, String, Vec<u8>),
}

/// A field to add (JVMS 4.5).
///
/// ```
/// use edits::{Constant, Field};
/// use jvms::access_flags::{ACC_PUBLIC, ACC_STATIC};
/// let field = Field::new(ACC_PUBLIC | ACC_STATIC, "calls", "J").with_value(Constant::Long(1));
/// assert_eq!(field.access_flags, 0x0009);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The reason why a request was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Stable code, `H03xx`.
    pub code: String,
    /// The expectation and the fault.
    pub message: String,
    /// The remedy, if one is known.
    pub help: Option<String>,
}
