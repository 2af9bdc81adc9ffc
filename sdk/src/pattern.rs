//! Patterns for names of classes, methods and descriptors.

pub use globs::{FieldPattern, Glob, Pattern, PatternError};
