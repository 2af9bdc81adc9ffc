//! Decisions: instructions with several branches.

/// One branch of an instruction with several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Whether it was taken.
    pub taken: bool,
    /// The outcome of the decision for which it is taken.
    pub outcome: Outcome,
}

/// The outcome of a decision, as far as the class file tells it.
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
    /// No case of a `switch` fits.
    Default,
    /// One of these cases of a `switch`, as the source has them: `3`, `1, 2`, `"a"`.
    Cases(Box<str>),
    /// The case of a `switch` whose code begins on this line; its key is not in the class file.
    Line(u32),
    /// A loop goes on at its first line.
    Back(u32),
    /// A loop does not go on at its beginning.
    On,
    /// Not known.
    Unknown,
}

/// The branches of one instruction, in the order of their numbers.
pub type Decision = Box<[Branch]>;
