//! Compiles components for the engine of the agent: `precompile FOLDER IN.wasm…` leaves `FOLDER/IN.cwasm`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [folder, components @ ..] = arguments.as_slice() else {
        eprintln!("expected a folder and components: precompile FOLDER IN.wasm…");
        return ExitCode::from(2);
    };
    for component in components.iter().map(Path::new) {
        if let Err(error) = run(component, folder.as_ref()) {
            eprintln!("failed to precompile {}: {error:#}", component.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(component: &Path, folder: &Path) -> wasmtime::Result<()> {
    let code = host::compiler::precompile(&std::fs::read(component)?)?;
    let name = component.with_extension("cwasm");
    let output = folder.join(name.file_name().unwrap_or_default());
    let temporary = output.with_extension("cwasm.tmp");
    std::fs::write(&temporary, code)?;
    std::fs::rename(&temporary, output)?;
    Ok(())
}
