//! The texts of numbers and times of the JDK, as their `toString` gives them. The parts are read from fields, so that no
//! Java code runs; nothing here allocates memory.
//!
//! | module | holds |
//! |---|---|
//! | [`text`] | the writer of a text with a limit |
//! | [`numbers`] | decimal numbers of any length |
//! | [`times`] | dates, times and durations |

pub(crate) mod numbers;
pub(crate) mod text;
pub(crate) mod times;
