//! Code that a plugin inserts, as a value.
//!
//! Names are symbols and labels are numbers. When the code is inserted ([`crate::Plan::insert`]),
//! the host checks it against the method and the place.
//!
//! | place | stack before | stack after |
//! |---|---|---|
//! | before a return instruction | the returned value, if any | such a value |
//! | before `athrow`, or at [`crate::MethodView::unwind`] | the exception | an exception |
//! | around an instruction ([`crate::Plan::around`]) | empty | the result of the instruction |
//! | at other places | empty | empty |
//!
//! Instead of reaching its end, a snippet may also return a value of the method's type, or throw an
//! exception.

use crate::wit::MemberRef;

/// Code to insert.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snippet {
    parts: Vec<Operation>,
    labels: u32,
}

/// A place in a snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(u32);

/// A field or method by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Internal name of the class, such as `java/lang/String`.
    pub owner: String,
    /// The name of the member.
    pub name: String,
    /// Its descriptor (JVMS 4.3).
    pub descriptor: String,
    /// `true` for a method of an interface.
    pub interface: bool,
}

impl Member {
    /// A member of a class.
    #[must_use]
    pub fn of_class(owner: &str, name: &str, descriptor: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            interface: false,
        }
    }

    /// Converts to the WIT type.
    #[must_use]
    pub fn reference(&self) -> MemberRef {
        MemberRef {
            owner: self.owner.clone(),
            name: self.name.clone(),
            descriptor: self.descriptor.clone(),
        }
    }
}

/// One operation; the method of [`Snippet`] with the same name describes it.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "documented at the methods of Snippet")]
pub enum Operation {
    This,
    Argument(u8),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    String(String),
    Class(String),
    Null,
    Invoke(u8, Member),
    Field(u8, Member),
    WithType(u8, String),
    Op(u8, i32),
    Increment(u16, i16),
    Place(u32),
    Jump(u8, u32),
    Operand(u8),
    Proceed,
}

impl Snippet {
    /// Creates a snippet without code.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Pushes `this`.
    pub fn load_this(&mut self) -> &mut Self {
        self.add(Operation::This)
    }

    /// Pushes a parameter of the method, counted from 0 without `this`.
    pub fn load_argument(&mut self, index: u8) -> &mut Self {
        self.add(Operation::Argument(index))
    }

    /// Pushes an `int`.
    pub fn push_int(&mut self, value: i32) -> &mut Self {
        self.add(Operation::Int(value))
    }

    /// Pushes a `long`.
    pub fn push_long(&mut self, value: i64) -> &mut Self {
        self.add(Operation::Long(value))
    }

    /// Pushes a `float`.
    pub fn push_float(&mut self, value: f32) -> &mut Self {
        self.add(Operation::Float(value))
    }

    /// Pushes a `double`.
    pub fn push_double(&mut self, value: f64) -> &mut Self {
        self.add(Operation::Double(value))
    }

    /// Pushes a string.
    pub fn push_string(&mut self, value: &str) -> &mut Self {
        self.add(Operation::String(value.to_owned()))
    }

    /// Pushes a class object, by internal name.
    pub fn push_class(&mut self, name: &str) -> &mut Self {
        self.add(Operation::Class(name.to_owned()))
    }

    /// Pushes `null`.
    pub fn push_null(&mut self) -> &mut Self {
        self.add(Operation::Null)
    }

    /// Calls a method with this opcode.
    pub fn invoke(&mut self, opcode: u8, target: Member) -> &mut Self {
        self.add(Operation::Invoke(opcode, target))
    }

    /// Reads or writes a field with this opcode.
    pub fn field(&mut self, opcode: u8, target: Member) -> &mut Self {
        self.add(Operation::Field(opcode, target))
    }

    /// Appends `new`, `checkcast`, `instanceof` or `anewarray` of a class by internal name.
    pub fn with_type(&mut self, opcode: u8, name: &str) -> &mut Self {
        self.add(Operation::WithType(opcode, name.to_owned()))
    }

    /// Appends any other instruction. Local variables belong to the snippet; they are numbered from
    /// 0 and live only within it.
    pub fn op(&mut self, opcode: u8, operand: i32) -> &mut Self {
        self.add(Operation::Op(opcode, operand))
    }

    /// Adds to an `int` in one of the snippet's local variables.
    pub fn increment(&mut self, slot: u16, by: i16) -> &mut Self {
        self.add(Operation::Increment(slot, by))
    }

    /// Pushes an operand of the instruction that the code surrounds ([`crate::Plan::around`]),
    /// counted from 0, a receiver or array first.
    pub fn load_operand(&mut self, index: u8) -> &mut Self {
        self.add(Operation::Operand(index))
    }

    /// Appends the instruction that the code surrounds, with its operands, and leaves its result on
    /// the stack.
    pub fn proceed(&mut self) -> &mut Self {
        self.add(Operation::Proceed)
    }

    /// Creates a label without a place.
    pub fn new_label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Places a label here.
    pub fn place(&mut self, label: Label) -> &mut Self {
        self.add(Operation::Place(label.0))
    }

    /// Appends a branch or `goto` with this opcode.
    pub fn jump(&mut self, opcode: u8, to: Label) -> &mut Self {
        self.add(Operation::Jump(opcode, to.0))
    }

    /// Returns the operations in order, and the number of labels.
    #[doc(hidden)]
    #[must_use]
    pub fn parts(&self) -> (&[Operation], u32) {
        (&self.parts, self.labels)
    }

    fn add(&mut self, part: Operation) -> &mut Self {
        self.parts.push(part);
        self
    }
}
