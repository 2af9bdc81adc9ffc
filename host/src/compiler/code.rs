//! The interface of compilers, and their output.

use crate::plugin_file::PluginFile;
use errors::Error;

/// Machine code of a component, made by a [`Compiler`].
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

/// Compiles components to machine code.
pub trait Compiler {
    /// Compiles a component for the engine of this version.
    ///
    /// # Errors
    /// If the component is damaged (`H0106`) or exceeds a limit (`H0117`), or no compiler exists
    /// (`H0116`).
    fn compile(&self, plugin: &PluginFile) -> Result<Code, Error>;
}
