//! The values that an event records.

use crate::wit::Constant;

/// The values that an event records, apart from time and thread. The plugin chooses their names. At
/// most 16 values.
///
/// No method of a value is called. Numbers, strings and boxes are recorded as text, arrays as type
/// and length, other objects as class and identity.
///
/// ```
/// # use classhook_sdk::Event;
/// let event = Event::default().argument("statement", 0).this("connection").limit(200).per_second(100);
/// # assert_ne!(event, Event::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// The values, in order.
    pub values: Vec<(String, EventValue)>,
    /// Maximum length of a value's text, in bytes; `None` means 80.
    pub limit: Option<u32>,
    /// Maximum number of recorded events per site and second; `None` means all.
    pub per_second: Option<u32>,
}

/// A value of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventValue {
    /// The object whose method contains the site.
    This,
    /// An argument of the method, `this` not counted.
    Argument(u8),
    /// An operand of the instruction at the site, a receiver or array first.
    Operand(u8),
    /// The value on top of the operand stack.
    Stack,
    /// A constant.
    Constant(Constant),
    /// A local variable that the class file names at the site.
    Variable(String),
    /// A slot of the method, with the descriptor of its type.
    Slot(u16, String),
}

impl Event {
    /// Records the object whose method contains the site.
    #[must_use]
    pub fn this(self, name: &str) -> Self {
        self.value(name, EventValue::This)
    }

    /// Records the method's argument at `index`, `this` not counted. The method must not store to
    /// it.
    #[must_use]
    pub fn argument(self, name: &str, index: u8) -> Self {
        self.value(name, EventValue::Argument(index))
    }

    /// Records an operand of the instruction at the site ([`crate::MethodView::at`]), counted from
    /// 0, a receiver or array first.
    #[must_use]
    pub fn operand(self, name: &str, index: u8) -> Self {
        self.value(name, EventValue::Operand(index))
    }

    /// Records the value on top of the operand stack: the returned value before a return
    /// instruction, the exception before `athrow` and at `unwind`, the result at an instruction.
    #[must_use]
    pub fn stack(self, name: &str) -> Self {
        self.value(name, EventValue::Stack)
    }

    /// Records a constant.
    #[must_use]
    pub fn constant(self, name: &str, value: Constant) -> Self {
        self.value(name, EventValue::Constant(value))
    }

    /// Records the local variable `variable`, which the class file must name at the site (compile
    /// with `-g`) and which must be set on every path to it. Not available where an exception
    /// leaves the method, or together with operands or the result of an instruction.
    #[must_use]
    pub fn variable(self, name: &str, variable: &str) -> Self {
        self.value(name, EventValue::Variable(variable.to_owned()))
    }

    /// Like [`Event::variable`], by the slot and a descriptor of its type: `I`,
    /// `Ljava/lang/String;`. Also for classes without names of variables.
    #[must_use]
    pub fn slot(self, name: &str, index: u16, kind: &str) -> Self {
        self.value(name, EventValue::Slot(index, kind.to_owned()))
    }

    /// Sets the maximum length of a value's text, in bytes of UTF-8. The default is 80, the upper
    /// limit 1,024.
    #[must_use]
    pub fn limit(mut self, bytes: u32) -> Self {
        self.limit = Some(bytes);
        self
    }

    /// Sets the maximum number of recorded events per site and second; more are only counted. By
    /// default, all are recorded.
    #[must_use]
    pub fn per_second(mut self, most: u32) -> Self {
        self.per_second = Some(most);
        self
    }

    fn value(mut self, name: &str, value: EventValue) -> Self {
        self.values.push((name.to_owned(), value));
        self
    }
}
