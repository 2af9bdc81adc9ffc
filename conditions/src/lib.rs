//! Conditions over single calls of methods, and lists of what is shown of them.
//!
//! ```text
//! duration > 100ms && arg[0] == "x" || threw          a condition
//! arg, returned, this.size, stack(10)                 what is shown
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `lexer`, `parse` | text to values of `condition`; what is wrong is a [`Mistake`] with its place |
//! | `kinds` | which values can be compared |
//! | `condition` | conditions as values, and their text |
//! | `program` | a condition as a [`Program`] of branches that only go forward |
//! | `evaluate` | what a program says of one call |
//!
//! A program has at most [`limits::MAX_TESTS`] tests, each of which is made at most once. Evaluating it allocates
//! nothing, takes no lock and calls nothing but the [`Call`] that it is given.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod condition;
mod evaluate;
mod kinds;
mod lexer;
pub mod limits;
mod mistake;
mod parse;
mod program;
mod text;

pub use condition::{
    About, Comparison, Condition, Function, Literal, NamedField, Operand, Path, Root, Show, Step,
    Test, Value, Watch,
};
pub use evaluate::{Call, Datum, Verdict};
pub use lexer::duration;
pub use mistake::Mistake;
pub use program::{Program, Slot, WriteSite};
pub use text::Text;
