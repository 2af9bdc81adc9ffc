//! Pairs of missed and covered items.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Numbers of missed and covered items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Counter {
    /// Items not executed.
    pub missed: u32,
    /// Items executed.
    pub covered: u32,
}

impl Counter {
    /// No items.
    pub const EMPTY: Self = Self::new(0, 0);
    /// One missed item.
    pub const MISSED: Self = Self::new(1, 0);
    /// One covered item.
    pub const COVERED: Self = Self::new(0, 1);

    /// Creates a counter with these numbers.
    #[must_use]
    pub const fn new(missed: u32, covered: u32) -> Self {
        Self { missed, covered }
    }

    /// Subtracts `others`, which are among these items.
    pub(super) const fn without(self, others: Self) -> Self {
        Self::new(
            self.missed.saturating_sub(others.missed),
            self.covered.saturating_sub(others.covered),
        )
    }

    /// Returns the number of items.
    #[must_use]
    pub const fn total(self) -> u32 {
        self.missed.saturating_add(self.covered)
    }

    /// Returns the share of covered items, `0.0..=1.0`; `None` without items.
    #[must_use]
    pub fn ratio(self) -> Option<f64> {
        (self.total() > 0).then(|| f64::from(self.covered) / f64::from(self.total()))
    }

    /// Returns the status: all, some or none of the items are covered.
    #[must_use]
    pub const fn status(self) -> Status {
        match (self.missed > 0, self.covered > 0) {
            (false, false) => Status::Empty,
            (true, false) => Status::NotCovered,
            (true, true) => Status::PartlyCovered,
            (false, true) => Status::FullyCovered,
        }
    }
}

impl Add for Counter {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(
            self.missed.saturating_add(other.missed),
            self.covered.saturating_add(other.covered),
        )
    }
}

impl AddAssign for Counter {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Counter {
    fn sum<I: Iterator<Item = Self>>(counters: I) -> Self {
        counters.fold(Self::EMPTY, Add::add)
    }
}

/// The coverage status of a set of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// The set is empty.
    Empty,
    /// All items were missed.
    NotCovered,
    /// Some items were missed, some covered.
    PartlyCovered,
    /// All items were covered.
    FullyCovered,
}

impl Status {
    /// Combines the status of two sets of items.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Empty, status) | (status, Self::Empty) => status,
            (one, two) if one == two => one,
            _ => Self::PartlyCovered,
        }
    }
}

/// The kind of items that a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CounterKind {
    /// Bytecode instructions.
    Instruction,
    /// Branches of instructions with at least two of them.
    Branch,
    /// Lines with instructions.
    Line,
    /// Cyclomatic complexity of the methods.
    Complexity,
    /// Methods with instructions.
    Method,
    /// Classes with such methods.
    Class,
}

impl CounterKind {
    /// All kinds, in the order in which reports list them.
    pub const ALL: [Self; 6] = [
        Self::Instruction,
        Self::Branch,
        Self::Line,
        Self::Complexity,
        Self::Method,
        Self::Class,
    ];

    /// Returns the name in XML and CSV reports, e.g. `INSTRUCTION`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instruction => "INSTRUCTION",
            Self::Branch => "BRANCH",
            Self::Line => "LINE",
            Self::Complexity => "COMPLEXITY",
            Self::Method => "METHOD",
            Self::Class => "CLASS",
        }
    }
}

/// One counter of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// Bytecode instructions.
    pub instruction: Counter,
    /// Branches of decisions.
    pub branch: Counter,
    /// Lines with instructions.
    pub line: Counter,
    /// Cyclomatic complexity.
    pub complexity: Counter,
    /// Methods.
    pub method: Counter,
    /// Classes.
    pub class: Counter,
}

impl Counters {
    /// Returns the counter of `kind`.
    #[must_use]
    pub const fn of(&self, kind: CounterKind) -> Counter {
        match kind {
            CounterKind::Instruction => self.instruction,
            CounterKind::Branch => self.branch,
            CounterKind::Line => self.line,
            CounterKind::Complexity => self.complexity,
            CounterKind::Method => self.method,
            CounterKind::Class => self.class,
        }
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.add_but_lines(&other);
        self.line += other.line;
    }
}

impl Counters {
    /// Adds all counters except lines, which are computed separately because nodes share them.
    pub(super) fn add_but_lines(&mut self, other: &Self) {
        self.instruction += other.instruction;
        self.branch += other.branch;
        self.complexity += other.complexity;
        self.method += other.method;
        self.class += other.class;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_of_a_line_joins_instructions_and_branches() {
        let covered = Counter::new(0, 3).status();
        assert_eq!(covered.and(Counter::EMPTY.status()), Status::FullyCovered);
        assert_eq!(
            covered.and(Counter::new(1, 1).status()),
            Status::PartlyCovered
        );
        assert_eq!(
            covered.and(Counter::new(2, 0).status()),
            Status::PartlyCovered
        );
        assert_eq!(Status::Empty.and(Status::NotCovered), Status::NotCovered);
    }

    #[test]
    fn ratio_without_items_is_none() {
        assert_eq!(Counter::EMPTY.ratio(), None);
        assert_eq!(Counter::new(3, 1).ratio(), Some(0.25));
    }
}
