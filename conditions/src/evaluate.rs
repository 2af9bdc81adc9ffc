//! Evaluation of a program for one call.

use std::cmp::Ordering;

use crate::condition::{Comparison, Function, Literal};
use crate::limits::MAX_TEXT;
use crate::program::{CompiledTest, KEPT, Program, Source};
use crate::text::Text;

/// A completed call.
pub trait Call {
    /// Returns the nanoseconds from entry to exit.
    fn duration(&self) -> u64;

    /// Checks whether an exception left the method.
    fn threw(&self) -> bool;

    /// Returns the number of open calls of traced methods around this one on its thread.
    fn depth(&self) -> u64;

    /// Returns the number of parameters of the method.
    fn arguments(&self) -> u64;

    /// Returns the name of its thread; may write the text into `buffer`.
    fn thread<'b>(&self, buffer: &'b mut [u8; MAX_TEXT]) -> Datum<'b>;

    /// Returns the value read into this slot; may write a text into `buffer`.
    fn slot<'b>(&self, slot: u8, buffer: &'b mut [u8; MAX_TEXT]) -> Datum<'b>;
}

/// A value of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Datum<'a> {
    /// A value that such a call does not have. No comparison holds, and the verdict stays decided.
    Absent,
    /// A value that could not be read. No comparison holds.
    Missing,
    /// `null`
    Null,
    /// A `boolean`.
    Truth(bool),
    /// A whole number, or a `char` by its code.
    Integer(i64),
    /// A `float` or `double`.
    Float(f64),
    /// Nanoseconds.
    Duration(u64),
    /// A string, or the name of a class.
    Text(Text<'a>),
    /// An array, or another object.
    Object,
}

/// The result of a program for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It matches.
    Matches,
    /// It does not match.
    Fails,
    /// The call does not match, and a value was missing or had another type than its comparison needs.
    Undecided,
}

/// The result of a test; `None` if a value is missing or has another type.
type Answer = Option<bool>;

impl Program {
    /// Evaluates the program for a call, without allocation.
    #[must_use]
    pub fn evaluate(&self, call: &impl Call) -> Verdict {
        let mut next = self.start;
        let mut is_unknown = false;
        // Each branch leads to one with a lower number, so this ends.
        while let Some(branch) = self.branches.get(usize::from(next)) {
            let answer = branch.test.answer(call);
            is_unknown |= answer.is_none();
            next = if answer == Some(true) {
                branch.then
            } else {
                branch.otherwise
            };
        }
        match (next, is_unknown) {
            (KEPT, _) => Verdict::Matches,
            (_, false) => Verdict::Fails,
            (_, true) => Verdict::Undecided,
        }
    }
}

impl CompiledTest {
    fn answer(&self, call: &impl Call) -> Answer {
        match self {
            Self::Holds(Source::Threw) => Some(call.threw()),
            Self::Compare(Source::Duration, comparison, Source::Literal(Literal::Duration(to))) => {
                Some(ordered(call.duration().cmp(to), *comparison))
            }
            Self::Holds(source) => match source.datum(call, &mut [0; MAX_TEXT]) {
                Datum::Truth(value) => Some(value),
                Datum::Absent => Some(false),
                _ => None,
            },
            Self::Compare(left, comparison, right) => with_both(call, left, right, |one, other| {
                compare(one, *comparison, other)
            }),
            Self::Text(of, function, what) => {
                with_both(call, of, what, |of, what| text(of, *function, what))
            }
        }
    }
}

fn with_both(
    call: &impl Call,
    left: &Source,
    right: &Source,
    answer: impl FnOnce(Datum<'_>, Datum<'_>) -> Answer,
) -> Answer {
    let (mut one, mut other) = ([0; MAX_TEXT], [0; MAX_TEXT]);
    answer(left.datum(call, &mut one), right.datum(call, &mut other))
}

impl Source {
    fn datum<'b>(&'b self, call: &impl Call, buffer: &'b mut [u8; MAX_TEXT]) -> Datum<'b> {
        match self {
            Self::Literal(literal) => literal.datum(),
            Self::Duration => Datum::Duration(call.duration()),
            Self::Threw => Datum::Truth(call.threw()),
            Self::Thread => call.thread(buffer),
            Self::Depth => Datum::Integer(call.depth().cast_signed()),
            Self::Arguments => Datum::Integer(call.arguments().cast_signed()),
            Self::Returned(_) if call.threw() => Datum::Absent,
            Self::Thrown(_) if !call.threw() => Datum::Absent,
            Self::Returned(slot) | Self::Thrown(slot) | Self::Slot(slot) => {
                call.slot(*slot, buffer)
            }
        }
    }
}

impl Literal {
    /// Returns the literal as a value of a call.
    #[must_use]
    pub fn datum(&self) -> Datum<'_> {
        match self {
            Self::Null => Datum::Null,
            Self::Truth(value) => Datum::Truth(*value),
            Self::Integer(value) => Datum::Integer(*value),
            Self::Float(value) => Datum::Float(*value),
            Self::Char(unit) => Datum::Integer((*unit).into()),
            Self::Text(text) => Datum::Text(Text::whole(text)),
            Self::Duration(nanos) => Datum::Duration(*nanos),
        }
    }
}

fn compare(one: Datum<'_>, comparison: Comparison, other: Datum<'_>) -> Answer {
    use Datum::{Absent, Duration, Float, Integer, Missing, Null, Text, Truth};
    let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    let equality = |same: bool| same == (comparison == Comparison::Equal);
    match (one, other) {
        (Absent, _) | (_, Absent) => Some(false),
        (Missing, _) | (_, Missing) => None,
        (Null, Null) => Some(is_equality && equality(true)),
        (Null, _) | (_, Null) => Some(is_equality && equality(false)),
        (Truth(one), Truth(other)) => is_equality.then(|| equality(one == other)),
        (Text(one), Text(other)) if is_equality => one.is(other).map(equality),
        (Integer(one), Integer(other)) => Some(ordered(one.cmp(&other), comparison)),
        (Duration(one), Duration(other)) => Some(ordered(one.cmp(&other), comparison)),
        (Float(one), Float(other)) => Some(partially(one.partial_cmp(&other), comparison)),
        (Integer(one), Float(other)) => Some(partially(mixed(one, other), comparison)),
        (Float(one), Integer(other)) => {
            let ordering = mixed(other, one).map(Ordering::reverse);
            Some(partially(ordering, comparison))
        }
        _ => None,
    }
}

/// Compares an integer with a float without rounding the integer; `None` for NaN.
fn mixed(one: i64, other: f64) -> Option<Ordering> {
    /// 2^63, which a float holds exactly.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if other.is_nan() {
        return None;
    }
    if other >= LIMIT {
        return Some(Ordering::Less);
    }
    if other < -LIMIT {
        return Some(Ordering::Greater);
    }
    let whole = other.trunc();
    let fraction = whole.partial_cmp(&other)?;
    Some(one.cmp(&(whole as i64)).then(fraction))
}

/// Applies the operator; NaN differs from every number.
fn partially(ordering: Option<Ordering>, comparison: Comparison) -> bool {
    match ordering {
        Some(ordering) => ordered(ordering, comparison),
        None => comparison == Comparison::NotEqual,
    }
}

fn ordered(ordering: Ordering, comparison: Comparison) -> bool {
    match comparison {
        Comparison::Equal => ordering.is_eq(),
        Comparison::NotEqual => ordering.is_ne(),
        Comparison::Less => ordering.is_lt(),
        Comparison::LessOrEqual => ordering.is_le(),
        Comparison::Greater => ordering.is_gt(),
        Comparison::GreaterOrEqual => ordering.is_ge(),
    }
}

fn text(of: Datum<'_>, function: Function, what: Datum<'_>) -> Answer {
    match (of, what) {
        (Datum::Absent | Datum::Null, _) | (_, Datum::Absent | Datum::Null) => Some(false),
        (Datum::Text(of), Datum::Text(what)) => of.answer(function, what),
        _ => None,
    }
}
