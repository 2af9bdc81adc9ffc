//! What an event records.

use crate::wit::Constant;

/// What an event records besides time and thread, by names of the plugin's choice; at most 16 values.
///
/// Values are never called: numbers, strings and boxes are kept as text, arrays
/// as type and length, other objects as class and identity.
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
    /// Longest text kept of one value, in bytes; none for 80.
    pub limit: Option<u32>,
    /// Most that are kept of each site in a second; none for all.
    pub per_second: Option<u32>,
}

/// A value of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventValue {
    /// The object whose method it is.
    This,
    /// An argument of the method, `this` not counted.
    Argument(u8),
    /// What the instruction at the site takes from the operand stack, a receiver or array first.
    Operand(u8),
    /// What lies on the operand stack.
    Stack,
    /// Always this.
    Constant(Constant),
    /// A local variable that the class file names where the site is.
    Variable(String),
    /// What a slot of the method holds, as a value of the type with this descriptor.
    Slot(u16, String),
}

impl Event {
    /// The object whose method it is.
    #[must_use]
    pub fn this(self, name: &str) -> Self {
        self.value(name, EventValue::This)
    }

    /// The argument of the method at `index`, `this` not counted, where the method has not stored to it.
    #[must_use]
    pub fn argument(self, name: &str, index: u8) -> Self {
        self.value(name, EventValue::Argument(index))
    }

    /// What the instruction at the site ([`crate::MethodView::at`]) takes from the operand stack, counted from 0, a
    /// receiver or array first.
    #[must_use]
    pub fn operand(self, name: &str, index: u8) -> Self {
        self.value(name, EventValue::Operand(index))
    }

    /// What lies on the operand stack: before a return instruction the value returned, before `athrow` and at `unwind`
    /// the exception, at an instruction what it gives.
    #[must_use]
    pub fn stack(self, name: &str) -> Self {
        self.value(name, EventValue::Stack)
    }

    /// Always this.
    #[must_use]
    pub fn constant(self, name: &str, value: Constant) -> Self {
        self.value(name, EventValue::Constant(value))
    }

    /// The local variable `variable`, which the class file names where the site is (the class is compiled with `-g`); it
    /// has to be set there on every way. Not where an exception leaves the method, and not beside operands or what an
    /// instruction gives.
    #[must_use]
    pub fn variable(self, name: &str, variable: &str) -> Self {
        self.value(name, EventValue::Variable(variable.to_owned()))
    }

    /// As [`Event::variable`], by the slot and the descriptor of a type: `I`, `Ljava/lang/String;`. Also for classes
    /// without the names of variables.
    #[must_use]
    pub fn slot(self, name: &str, index: u16, kind: &str) -> Self {
        self.value(name, EventValue::Slot(index, kind.to_owned()))
    }

    /// Longest text kept of one value, in bytes of UTF-8: 80 unless set; more than 1,024 are 1,024.
    #[must_use]
    pub fn limit(mut self, bytes: u32) -> Self {
        self.limit = Some(bytes);
        self
    }

    /// Most events that are kept of each site in a second; more are only counted. All are kept unless set.
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
