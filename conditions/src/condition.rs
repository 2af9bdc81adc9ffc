//! Conditions and lists as values, and their text.

use std::fmt::{self, Display, Write as _};

/// What is asked of the calls of a method: which are kept, what is shown of them, and how many.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Watch {
    /// Which calls; without one, all.
    pub when: Option<Condition>,
    /// What is shown, in order.
    pub show: Vec<Show>,
    /// How many at most.
    pub calls: Option<u64>,
    /// How many within one second at most.
    pub per_second: Option<u32>,
    /// Subject of condition and list.
    pub about: About,
    /// The fields whose writes they are about: `com.acme.Order.status`.
    pub writes: Vec<String>,
    /// Objects within one another that are shown with what they hold; 0 for none.
    pub depth: u8,
}

/// Subject of a condition and a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum About {
    /// Calls of methods, from entry to end.
    #[default]
    Calls,
    /// Moments at which a line is reached: names are those of local variables.
    Places,
    /// Moments at which a field is written: `old`, `new`, `object`.
    Writes,
}

/// A condition over one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All of these hold, at least two: `a && b`.
    All(Vec<Condition>),
    /// One of these holds, at least two: `a || b`.
    Any(Vec<Condition>),
    /// It does not hold: `!a`.
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

/// How two values are compared.
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

/// What is asked of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Whether the other text is somewhere in it.
    Contains,
    /// Whether it begins with the other text.
    StartsWith,
    /// Whether it ends with the other text.
    EndsWith,
    /// Whether it is what the other text describes: `*` is any text, `?` one character.
    Matches,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// What is written there.
    Literal(Literal),
    /// A value of the call.
    Value(Value),
}

/// A value that is written in the condition.
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
    /// From entry to end.
    Duration,
    /// Whether it was left by an exception.
    Threw,
    /// The name of the thread.
    Thread,
    /// How many calls of traced methods are open around it on its thread.
    Depth,
    /// How many parameters the method has.
    Arguments,
    /// A value that objects lead to.
    Path(Path),
}

/// A value that the objects of a call lead to: `this.orders[0].name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    /// Where it begins.
    pub root: Root,
    /// How it goes on.
    pub steps: Vec<Step>,
}

/// An object or other value that a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// A parameter by its index, as it was at the entry.
    Argument(u8),
    /// What was returned.
    Returned,
    /// The object whose method is called.
    This,
    /// The exception that left the method.
    Thrown,
    /// A parameter, a local variable, or a value of a write, whose name is the first step.
    Local,
}

/// A field as an instruction names it (JVMS 4.4.2).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedField {
    text: String,
    owner: usize,
    name: usize,
}

impl NamedField {
    /// A field by the internal name of a class, its name and its descriptor.
    #[must_use]
    pub fn new(owner: &str, name: &str, descriptor: &str) -> Self {
        Self {
            text: format!("{owner}.{name}:{descriptor}"),
            owner: owner.len(),
            name: name.len(),
        }
    }

    /// `com/acme/Order.status:I`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Internal name of the class that the instruction names.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.text.get(..self.owner).unwrap_or_default()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        let behind = self.text.get(self.owner + 1..).unwrap_or_default();
        behind.get(..self.name).unwrap_or_default()
    }

    /// Its descriptor.
    #[must_use]
    pub fn descriptor(&self) -> &str {
        let from = self.owner + self.name + 2;
        self.text.get(from..).unwrap_or_default()
    }
}

/// One step from an object to a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// `.name`: an instance field, that of the class itself before those of its superclasses.
    Field(String),
    /// `[3]`: an element of an array.
    Element(u32),
    /// `.length`: of a string or array; of another object, its field of this name.
    Length,
    /// `.class`: the name of the object's class.
    Class,
    /// The value of a field before it is written, found as the instruction finds it (JVMS 5.4.3.2). No text has this step.
    Written(NamedField),
    /// The name of the class that declares such a field, of an object or a class. No text has this step.
    Declarer(NamedField),
}

/// What is shown of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Show {
    /// `arg`: every argument.
    Arguments,
    /// `locals`: every local variable that is in scope.
    Locals,
    /// `stack(10)`: the innermost frames of the call stack.
    Stack(u8),
    /// A value that an object leads to.
    Value(Path),
    /// Another value: `depth`, `thread`, `duration`, `threw`, `args.length`.
    Computed(Value),
}

impl Condition {
    /// Both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::All(vec![self, other])
    }

    /// The call took at least so many nanoseconds.
    #[must_use]
    pub fn at_least(nanos: u64) -> Self {
        let duration = Operand::Value(Value::Duration);
        let least = Operand::Literal(Literal::Duration(nanos));
        Self::Test(Test::Compare(duration, Comparison::GreaterOrEqual, least))
    }
}

impl Comparison {
    /// As it is written.
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

    /// As it is written.
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
    /// A local variable of this name.
    #[must_use]
    pub fn local(name: &str) -> Self {
        Self {
            root: Root::Local,
            steps: vec![Step::Field(name.to_owned())],
        }
    }

    /// The name of the parameter or local variable that it begins with, if it does.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        match (self.root, self.steps.first()) {
            (Root::Local, Some(Step::Field(name))) => Some(name),
            _ => None,
        }
    }

    /// The steps from the object or variable that it begins with.
    #[must_use]
    pub fn from_root(&self) -> &[Step] {
        let named = usize::from(self.root == Root::Local);
        self.steps.get(named..).unwrap_or_default()
    }

    /// The class of what was thrown, which is what `thrown` alone stands for.
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

/// A character of a text or of a `char` as it is written.
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
