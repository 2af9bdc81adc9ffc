//! Decisions: instructions with several branches.

/// One branch of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// `true` if it was taken.
    pub taken: bool,
    /// The outcome of the decision for which the branch is taken.
    pub outcome: Outcome,
}

/// The outcome of a decision, as far as the class file shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// The value is null.
    Null,
    /// The value is not null.
    NotNull,
    /// No case of a `switch` matches.
    Default,
    /// One of these cases of a `switch`, as in the source: `3`, `1, 2`, `"a"`.
    Cases(Box<str>),
    /// The case of a `switch` whose code starts on this line; its key is not in the class file.
    Line(u32),
    /// A loop continues at its first line.
    Back(u32),
    /// A loop does not continue at its start.
    On,
    /// Unknown.
    Unknown,
}

/// The branches of one instruction, in the order of their numbers.
pub type Decision = Box<[Branch]>;
