//! A class beside the loaded ones.

/// A class to define in addition to the loaded ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Companion {
    /// Internal name.
    pub name: String,
    /// The class file.
    pub bytes: Vec<u8>,
}
