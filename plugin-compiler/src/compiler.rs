//! The compiler itself.

use std::fs;
use std::path::Path;

use wasmtime::{Engine, OptLevel};

/// Compiles a component for the engine that will run it, on any CPU of this architecture: code is carried to other
/// machines, in the agent and in home folders that machines share.
///
/// # Errors
/// When it is no valid component.
pub fn compile(wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
    let mut settings = plugin_code::settings();
    settings
        .cranelift_opt_level(OptLevel::Speed)
        .target(&format!("{}-unknown-linux-gnu", std::env::consts::ARCH))?;
    Engine::new(&settings)?.precompile_component(wasm)
}

/// Leaves the code of `component`, a file `IN.wasm`, in `folder/IN.cwasm`.
///
/// # Errors
/// Those of the files and of [`compile`].
pub fn compile_file(component: &Path, folder: &Path) -> wasmtime::Result<()> {
    let code = compile(&fs::read(component)?)?;
    let name = component.with_extension("cwasm");
    let output = folder.join(name.file_name().unwrap_or_default());
    let temporary = output.with_extension("cwasm.tmp");
    fs::write(&temporary, code)?;
    fs::rename(&temporary, output)?;
    Ok(())
}
