//! Two versions of a class: the class file of the loader, that of the JVM, and that of a patch.
//!
//! | module | holds |
//! |---|---|
//! | [`content`] | the content of a class file, independent of the order of constants and methods |
//! | [`fitting`] | the class files of a patch, fitted to the loaded classes |
//! | `companion` | a class beside the loaded ones |
//! | `companions` | classes for the members that a JVM cannot add to a loaded class |
//! | `model` | a class file taken apart |
//! | `parameter_names` | parameter names that a JVM has dropped |
//! | `transfer` | a plan for one form of a class, carried over to another |
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

mod companion;
mod companions;
pub mod content;
pub mod fitting;
mod model;
mod parameter_names;
mod transfer;

pub use companions::{ClassPath, NoClassPath};
pub use parameter_names::restore_parameter_names;
pub use transfer::{TransferReason, has_code_of, transfer};
