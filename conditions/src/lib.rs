//! Conditions over single method calls, and lists of shown values.
//!
//! ```text
//! duration > 100ms && arg[0] == "x" || threw          a condition
//! arg, returned, this.size, stack(10)                 a list of shown values
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `lexer`, `parse` | text to values of `condition`; errors are a [`Mistake`] with its span |
//! | `value_type` | types of values, and the comparisons that they allow |
//! | `condition` | conditions as values, and their text form |
//! | `program` | a condition as a [`Program`] of branches that only go forward |
//! | `evaluate` | evaluation of a program for one call |
//!
//! A program has at most [`limits::MAX_TESTS`] tests, each of which runs at most once.
//! Evaluation allocates nothing, takes no lock and calls only the given [`Call`].
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
mod lexer;
pub mod limits;
mod mistake;
mod parse;
mod program;
mod text;
mod value_type;

pub use condition::{
    About, Comparison, Condition, Function, Literal, NamedField, Operand, Path, Root, Show, Step,
    Test, Value, Watch,
};
pub use evaluate::{Call, Datum, Verdict};
pub use lexer::duration;
pub use mistake::Mistake;
pub use program::{Program, Slot, WriteSite};
pub use text::Text;
