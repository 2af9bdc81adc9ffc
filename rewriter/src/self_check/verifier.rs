//! Verifies a class file as the JVM does, as far as one class file allows (JVMS 4.8 to 4.10).

mod error;
mod structure;
mod types;

pub use error::ReplacementError;
pub(super) use error::{heading, shown};
pub(crate) use structure::verify_class;
