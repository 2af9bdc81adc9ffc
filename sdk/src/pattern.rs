//! Patterns over names: of classes, methods and descriptors.

pub use globs::{Glob, Pattern, PatternError};
