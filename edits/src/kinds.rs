//! Kinds of instructions and tables in questions and answers.

/// The kinds of instructions to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionKind {
    /// Calls, except `invokedynamic`.
    Call,
    /// Accesses to fields.
    Field,
    /// Creations of objects and arrays, by a pattern over the type.
    Allocation,
    /// Instructions that push string constants, by a pattern over the text.
    String,
    /// String concatenations by `invokedynamic`, by a pattern over their constant parts.
    Recipe,
    /// `monitorenter` and `monitorexit`.
    Monitor,
    /// `athrow`.
    Throw,
    /// The first instructions of handlers, by a pattern over the caught type.
    Catch,
}

/// The content of a recorded table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// Counts and times.
    Sums,
    /// Events.
    Events,
}
