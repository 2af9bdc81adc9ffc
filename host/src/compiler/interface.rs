//! The interface of compilers.

use crate::cache::Cache;
use crate::compiled_code::Code;
use crate::plugin_file::PluginFile;
use errors::Error;

/// Compiles components to machine code.
pub trait Compiler {
    /// Compiles a component for the engine of this version.
    ///
    /// # Errors
    /// If the component is damaged (`H0106`) or exceeds a limit (`H0117`), or no compiler exists
    /// (`H0116`).
    fn compile(&self, plugin: &PluginFile) -> Result<Code, Error>;

    /// Returns the cache that keeps the code after a start; by default that of the user.
    fn cache(&self) -> Option<Cache> {
        Cache::of_user()
    }
}
