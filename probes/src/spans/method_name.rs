//! The method of a span or frame.

/// A method, named as in its class file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MethodName {
    /// The internal name of its class.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
}
