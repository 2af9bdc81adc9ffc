//! Advice in Java: static methods with annotations, which run in the methods of a program.
//!
//! | module | holds |
//! |---|---|
//! | [`api`] | the annotations and the guard, as class files and as a jar |
//! | [`files`] | sources, class files and jars with advice |
//! | [`model`] | the classes with advice, read from class files and checked |
//! | [`guard`] | the class between program and advice |
//! | [`rows`] | the tables and counts that the code of an advice records |
//! | [`probed_rows`] | the class with one method for each table and count; the plugin adds a probe to each method |
//! | [`settings`] | values for the fields with `@Setting` |
//! | [`prepared`] | the configuration of the bundled plugin `advice` |
//!
//! The command reads annotations and names mistakes with file and line; the plugin selects methods
//! and plans calls of the guard.
#![forbid(unsafe_code)]

mod annotations;
pub mod api;
pub mod files;
pub mod guard;
pub mod model;
mod places;
pub mod prepared;
pub mod probed_rows;
pub mod rows;
pub mod settings;
mod writer;

pub use model::{AdviceClass, Binding, Hook, Value, When};
