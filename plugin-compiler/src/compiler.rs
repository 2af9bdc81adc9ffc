//! The compiler.

use std::fs;
use std::path::Path;

use wasmtime::{Engine, OptLevel};

/// Compiles a component for the engine that will run it, on any CPU of this architecture: code is carried to other
/// machines, in the agent and in home folders that machines share.
///
/// # Errors
/// If the component is invalid.
pub fn compile(wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
    let mut settings = plugin_code::settings();
    settings
        .cranelift_opt_level(OptLevel::Speed)
        .target(&format!("{}-unknown-linux-gnu", std::env::consts::ARCH))?;
    Engine::new(&settings)?.precompile_component(wasm)
}

/// Writes the code of `component`, a file `IN.wasm`, to `folder/IN.cwasm`, and its digest and length to
/// `folder/IN.digest`.
///
/// # Errors
/// If a file cannot be read or written, and the errors of the compiler.
pub fn compile_file(component: &Path, folder: &Path) -> wasmtime::Result<()> {
    let wasm = fs::read(component)?;
    let digest = format!("{} {}\n", plugin_code::sha256_hex(&wasm), wasm.len());
    let output = folder.join(component.file_name().unwrap_or_default());
    for (extension, content) in [("cwasm", compile(&wasm)?), ("digest", digest.into_bytes())] {
        let temporary = output.with_extension(format!("{extension}.tmp"));
        fs::write(&temporary, content)?;
        fs::rename(&temporary, output.with_extension(extension))?;
    }
    Ok(())
}
