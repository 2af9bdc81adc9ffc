//! Machine code of a component.

/// Machine code of a component, made by a [`Compiler`](crate::compiler::Compiler).
pub struct Code(pub(crate) Vec<u8>);

impl Code {
    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Code({} bytes)", self.0.len())
    }
}
