//! Conditions and lists as values, and their text form.

use std::fmt::{self, Display, Write as _};

/// The filter, the shown values and the limits for the calls of a method.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Watch {
    /// The condition; `None` keeps every call.
    pub when: Option<Condition>,
    /// The shown values, in order.
    pub show: Vec<Show>,
    /// Maximum number of calls.
    pub calls: Option<u64>,
    /// Maximum number of calls per second.
    pub per_second: Option<u32>,
    /// Subject of condition and list.
    pub about: About,
    /// The fields whose writes are the subject: `com.acme.Order.status`.
    pub writes: Vec<String>,
    /// Levels of nested objects that are shown with their fields; 0 for none.
    pub depth: u8,
}

/// Subject of a condition and a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum About {
    /// Calls of methods, from entry to exit.
    #[default]
    Calls,
    /// Executions of a line; names are those of local variables.
    Places,
    /// Writes of a field: `old`, `new`, `object`.
    Writes,
}

/// A condition over one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// At least two conditions, all of which must hold: `a && b`.
    All(Vec<Condition>),
    /// At least two conditions, one of which must hold: `a || b`.
    Any(Vec<Condition>),
    /// The negation: `!a`.
    Not(Box<Condition>),
    /// One test.
    Test(Test),
}

/// The smallest condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// A value is `true`.
    Holds(Value),
    /// `a < b`.
    Compare(Operand, Comparison, Operand),
    /// `a.startsWith(b)`.
    Text(Value, Function, Operand),
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A function of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Checks whether the text contains the other one.
    Contains,
    /// Checks whether the text begins with the other one.
    StartsWith,
    /// Checks whether the text ends with the other one.
    EndsWith,
    /// Checks whether the text matches a pattern: `*` is any text, `?` one character.
    Matches,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A literal.
    Literal(Literal),
    /// A value of the call.
    Value(Value),
}

/// A literal in a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Truth(bool),
    /// `17`
    Integer(i64),
    /// `1.5`
    Float(f64),
    /// `'x'`: a UTF-16 unit.
    Char(u16),
    /// `"text"`
    Text(String),
    /// `100ms`, in nanoseconds.
    Duration(u64),
}

/// A value of the call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// Time from entry to exit.
    Duration,
    /// True if an exception left the method.
    Threw,
    /// The name of the thread.
    Thread,
    /// Number of open calls of traced methods around this one on its thread.
    Depth,
    /// Number of parameters of the method.
    Arguments,
    /// A value read from objects.
    Path(Path),
}

/// A value read from the objects of a call: `this.orders[0].name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    /// The first value.
    pub root: Root,
    /// The steps from the root.
    pub steps: Vec<Step>,
}

/// An object or other value of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// A parameter by its index, with its value at the entry.
    Argument(u8),
    /// The return value.
    Returned,
    /// The receiver of the call.
    This,
    /// The exception that left the method.
    Thrown,
    /// A parameter, a local variable, or a value of a write; the first step is its name.
    Local,
}

/// A field as in the operand of an instruction (JVMS 4.4.2).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedField {
    text: String,
    owner: usize,
    name: usize,
}

impl NamedField {
    /// Creates a field from the internal name of a class, the field's name and its descriptor.
    #[must_use]
    pub fn new(owner: &str, name: &str, descriptor: &str) -> Self {
        Self {
            text: format!("{owner}.{name}:{descriptor}"),
            owner: owner.len(),
            name: name.len(),
        }
    }

    /// Formats as `com/acme/Order.status:I`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the internal name of the class in the operand.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.text.get(..self.owner).unwrap_or_default()
    }

    /// Returns the field's name.
    #[must_use]
    pub fn name(&self) -> &str {
        let behind = self.text.get(self.owner + 1..).unwrap_or_default();
        behind.get(..self.name).unwrap_or_default()
    }

    /// Returns the field's descriptor.
    #[must_use]
    pub fn descriptor(&self) -> &str {
        let from = self.owner + self.name + 2;
        self.text.get(from..).unwrap_or_default()
    }
}

/// One step from an object to a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// `.name`: an instance field; fields of the class come before those of its superclasses.
    Field(String),
    /// `[3]`: an element of an array.
    Element(u32),
    /// `.length` of a string or array; of other objects, the field `length`.
    Length,
    /// `.class`: the name of the object's class.
    Class,
    /// The value of a field before a write, resolved as the instruction resolves the field (JVMS 5.4.3.2). This step
    /// has no text form.
    Written(NamedField),
    /// The name of the class that declares such a field, for an object or a class. This step has no text form.
    Declarer(NamedField),
}

/// A shown value of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Show {
    /// `arg`: every argument.
    Arguments,
    /// `locals`: every local variable that is in scope.
    Locals,
    /// `stack(10)`: the innermost frames of the call stack.
    Stack(u8),
    /// A value read from an object.
    Value(Path),
    /// Another value: `depth`, `thread`, `duration`, `threw`, `args.length`.
    Computed(Value),
}

impl Condition {
    /// Joins both conditions by `&&`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::All(vec![self, other])
    }

    /// Creates the condition that a call took at least `nanos` nanoseconds.
    #[must_use]
    pub fn at_least(nanos: u64) -> Self {
        let duration = Operand::Value(Value::Duration);
        let least = Operand::Literal(Literal::Duration(nanos));
        Self::Test(Test::Compare(duration, Comparison::GreaterOrEqual, least))
    }
}

impl Comparison {
    /// Returns the operator in a condition's text.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl Function {
    pub(crate) const ALL: [Self; 4] = [
        Self::Contains,
        Self::StartsWith,
        Self::EndsWith,
        Self::Matches,
    ];

    /// Returns the name in a condition's text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Matches => "matches",
        }
    }
}

impl Path {
    /// Creates the path of a local variable.
    #[must_use]
    pub fn local(name: &str) -> Self {
        Self {
            root: Root::Local,
            steps: vec![Step::Field(name.to_owned())],
        }
    }

    /// Returns the name of the parameter or local variable at the root, if it is one.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        match (self.root, self.steps.first()) {
            (Root::Local, Some(Step::Field(name))) => Some(name),
            _ => None,
        }
    }

    /// Returns the steps after the root object or variable.
    #[must_use]
    pub fn from_root(&self) -> &[Step] {
        let named = usize::from(self.root == Root::Local);
        self.steps.get(named..).unwrap_or_default()
    }

    /// Creates the path `thrown.class`, which `thrown` alone abbreviates.
    pub(crate) fn thrown_class() -> Self {
        Self {
            root: Root::Thrown,
            steps: vec![Step::Class],
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(parts) => joined(f, " && ", parts, |part| {
                matches!(part, Self::All(_) | Self::Any(_))
            }),
            Self::Any(parts) => joined(f, " || ", parts, |part| matches!(part, Self::Any(_))),
            Self::Not(part) => {
                let alone = match &**part {
                    Self::Not(_) => true,
                    Self::Test(test) => !matches!(test, Test::Compare(..)),
                    _ => false,
                };
                f.write_str("!")?;
                enclosed(f, part, !alone)
            }
            Self::Test(test) => test.fmt(f),
        }
    }
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    between: &str,
    parts: &[Condition],
    is_enclosed: impl Fn(&Condition) -> bool,
) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        enclosed(f, part, is_enclosed(part))?;
    }
    Ok(())
}

fn enclosed(f: &mut fmt::Formatter<'_>, part: &Condition, is_enclosed: bool) -> fmt::Result {
    if is_enclosed {
        write!(f, "({part})")
    } else {
        part.fmt(f)
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds(value) => value.fmt(f),
            Self::Compare(left, comparison, right) => {
                write!(f, "{left} {} {right}", comparison.symbol())
            }
            Self::Text(value, function, other) => {
                write!(f, "{value}.{}({other})", function.name())
            }
        }
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(literal) => literal.fmt(f),
            Self::Value(value) => value.fmt(f),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Truth(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Char(unit) => {
                f.write_str("'")?;
                match char::from_u32((*unit).into()) {
                    Some(char) => escaped(f, char, '\'')?,
                    None => write!(f, "\\u{unit:04x}")?,
                }
                f.write_str("'")
            }
            Self::Text(text) => {
                f.write_str("\"")?;
                text.chars().try_for_each(|char| escaped(f, char, '"'))?;
                f.write_str("\"")
            }
            Self::Duration(nanos) => {
                let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
                let whole = units.iter().find(|(unit, _)| nanos % unit == 0);
                match whole.filter(|_| *nanos > 0) {
                    Some((unit, name)) => write!(f, "{}{name}", nanos / unit),
                    None => write!(f, "{nanos}ns"),
                }
            }
        }
    }
}

/// Writes a character of a text or `char`, escaped if needed.
fn escaped(f: &mut fmt::Formatter<'_>, char: char, quote: char) -> fmt::Result {
    match char {
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        '\\' => f.write_str("\\\\"),
        char if char == quote => write!(f, "\\{char}"),
        char if char.is_control() => write!(f, "\\u{:04x}", u32::from(char)),
        char => f.write_char(char),
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration => f.write_str("duration"),
            Self::Threw => f.write_str("threw"),
            Self::Thread => f.write_str("thread"),
            Self::Depth => f.write_str("depth"),
            Self::Arguments => f.write_str("args.length"),
            Self::Path(path) => path.fmt(f),
        }
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = self.steps.iter();
        match self.root {
            Root::Argument(index) => write!(f, "arg[{index}]")?,
            Root::Returned => f.write_str("returned")?,
            Root::This => f.write_str("this")?,
            Root::Thrown => f.write_str("thrown")?,
            Root::Local => match steps.next() {
                Some(Step::Field(name)) => f.write_str(name)?,
                _ => f.write_str("?")?,
            },
        }
        if *self == Self::thrown_class() {
            return Ok(());
        }
        steps.try_for_each(|step| match step {
            Step::Field(name) => write!(f, ".{name}"),
            Step::Element(index) => write!(f, "[{index}]"),
            Step::Length => f.write_str(".length"),
            Step::Class => f.write_str(".class"),
            Step::Written(field) => write!(f, ".{}", field.name()),
            Step::Declarer(_) => f.write_str(".class"),
        })
    }
}

impl Display for Show {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arguments => f.write_str("arg"),
            Self::Locals => f.write_str("locals"),
            Self::Stack(frames) => write!(f, "stack({frames})"),
            Self::Value(path) => path.fmt(f),
            Self::Computed(value) => value.fmt(f),
        }
    }
}
