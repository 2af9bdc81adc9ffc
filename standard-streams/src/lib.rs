//! Text on standard output and standard error, without control characters of foreign texts.
//!
//! | module | holds |
//! |---|---|
//! | [`show`] | texts, JSON documents, notes and warnings, each escaped |
//! | [`terminal`] | width and colours of the terminal |
//!
//! Names of classes, files and JVMs may hold control characters. A caller escapes each name before
//! it enters a line; the functions that write escape the rest.
//!
//! ```
//! use standard_streams::show::{all_but_last, name, show};
//! use errors::Error;
//!
//! assert_eq!(name("Cart\u{1b}[2J"), r"Cart\u001b[2J");
//! show("shop.Cart  3 calls\n")?;
//!
//! // The first of two problems is printed, and the last one ends the job.
//! let problems = [Error::partial("H0651", "the trace is incomplete"), Error::mistake("H0612", "no file")];
//! assert_eq!(all_but_last(problems).unwrap_err().code(), "H0612");
//! # Ok::<(), Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod show;
pub mod terminal;
