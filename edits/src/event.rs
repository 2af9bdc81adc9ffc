//! The values that an event records.

use jvms::opcode;

use crate::assemble::Assemble;
use crate::constant::Constant;
use crate::instruction::{Instruction, Operand, symbolic};
use crate::snippet::Snippet;

/// The values that an event records, apart from time and thread. The plugin chooses their names. At most 16 values.
///
/// No method of a value is called. Numbers, strings and boxes are recorded as text, arrays as type and length, other
/// objects as class and identity.
///
/// ```
/// # use edits::Event;
/// let event = Event::default().argument("statement", 0).this("connection").limit(200).per_second(100);
/// # assert_ne!(event, Event::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// The values, in order.
    pub values: Vec<EventValue>,
    /// Maximum length of a value's text, in bytes; `None` means 80.
    pub limit: Option<u32>,
    /// Maximum number of recorded events per point and second; `None` means all.
    pub per_second: Option<u32>,
}

/// A value of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventValue {
    /// Its name.
    pub name: String,
    /// The code that pushes the value.
    pub code: Vec<Instruction>,
    /// The descriptor of a variable's type.
    pub as_type: Option<String>,
}

impl Event {
    /// Records the object whose method contains the point.
    #[must_use]
    pub fn this(self, name: &str) -> Self {
        self.value(name, |code| code.load_this())
    }

    /// Records the method's argument at `index`, `this` not counted. The method must not store to it.
    #[must_use]
    pub fn argument(self, name: &str, index: u8) -> Self {
        self.value(name, |code| code.load_argument(index))
    }

    /// Records an operand of the instruction at the point, counted from 0, a receiver or array first.
    #[must_use]
    pub fn operand(self, name: &str, index: u8) -> Self {
        self.value(name, |code| code.load_operand(index))
    }

    /// Records the value on top of the operand stack: the returned value before a return instruction, the exception
    /// before `athrow` and where it leaves the method, the result at an instruction.
    #[must_use]
    pub fn stack(self, name: &str) -> Self {
        self.value(name, |code| code.op(opcode::DUP, 0))
    }

    /// Records a constant.
    #[must_use]
    pub fn constant(self, name: &str, value: Constant) -> Self {
        self.value(name, |code| code.push_constant(&value))
    }

    /// Records the local variable `variable`, which the class file must name at the point (compile with `-g`) and which
    /// must be set on every path to it. Not available where an exception leaves the method, or together with operands
    /// or the result of an instruction.
    #[must_use]
    pub fn variable(self, name: &str, variable: &str) -> Self {
        let operand = Operand::Text(variable.to_owned());
        let load = Instruction::new(symbolic::LOAD_NAMED, operand);
        self.value(name, |code| code.add(load))
    }

    /// Like [`Event::variable`], by the slot and a descriptor of its type: `I`, `Ljava/lang/String;`. Also for classes
    /// without names of variables.
    #[must_use]
    pub fn slot(self, name: &str, index: u16, kind: &str) -> Self {
        let opcode = match kind {
            "J" => opcode::LLOAD,
            "F" => opcode::FLOAD,
            "D" => opcode::DLOAD,
            kind if kind.starts_with(['L', '[']) => opcode::ALOAD,
            _ => opcode::ILOAD,
        };
        let mut event = self.value(name, |code| code.load_variable(opcode, index));
        if let Some(value) = event.values.last_mut() {
            value.as_type = Some(kind.to_owned());
        }
        event
    }

    /// Records whether the last value is an instance of this class (`instanceof`), instead of the value itself. The class
    /// is an internal name, or the descriptor of an array type.
    ///
    /// ```
    /// # use edits::Event;
    /// let event = Event::default().operand("closes", 0).instance_of("java/io/Closeable");
    /// # assert_eq!(event.values[0].code.len(), 2);
    /// ```
    #[must_use]
    pub fn instance_of(mut self, class: &str) -> Self {
        let operand = Operand::Type(class.to_owned());
        if let Some(value) = self.values.last_mut() {
            value
                .code
                .push(Instruction::new(opcode::INSTANCEOF, operand));
        }
        self
    }

    /// Sets the maximum length of a value's text, in bytes of UTF-8. The default is 80, the upper limit 1,024.
    #[must_use]
    pub fn limit(mut self, bytes: u32) -> Self {
        self.limit = Some(bytes);
        self
    }

    /// Sets the maximum number of recorded events per point and second; more are only counted. By default, all are
    /// recorded.
    #[must_use]
    pub fn per_second(mut self, most: u32) -> Self {
        self.per_second = Some(most);
        self
    }

    fn value(mut self, name: &str, load: impl FnOnce(&mut Snippet) -> &mut Snippet) -> Self {
        let mut code = Snippet::new();
        load(&mut code);
        self.values.push(EventValue {
            name: name.to_owned(),
            code: code.into_instructions(),
            as_type: None,
        });
        self
    }
}
