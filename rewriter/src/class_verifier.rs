//! Verifies a class file as the JVM does, without other classes (JVMS 4.8 to 4.10).

mod attributes;
mod debug_tables;
mod error;
mod inference;
mod operands;
mod replaced;
mod structure;
mod types;

pub use error::ReplacementError;
pub use replaced::{check_replacement, check_shape, check_soundness};
