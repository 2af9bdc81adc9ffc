//! What a compiler is, and what it makes.

use crate::error::HostError;
use crate::plugin_file::PluginFile;

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

/// What compiles components.
pub trait Compiler {
    /// Compiles a component for the engine of this version.
    ///
    /// # Errors
    /// If it is damaged (`H0106`) or beyond a limit (`H0117`), or there is no compiler (`H0116`).
    fn compile(&self, plugin: &PluginFile) -> Result<Code, HostError>;
}
