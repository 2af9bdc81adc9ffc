//! Compiles a component for the engine of the agent: `precompile IN.wasm OUT.cwasm`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        eprintln!("expected two arguments: precompile IN.wasm OUT.cwasm");
        return ExitCode::from(2);
    };
    match run(input.as_ref(), output.as_ref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("failed to precompile {}: {error:#}", input.display());
            ExitCode::FAILURE
        }
    }
}

fn run(input: &std::path::Path, output: &std::path::Path) -> wasmtime::Result<()> {
    let code = host::bundled::precompile(&std::fs::read(input)?)?;
    let temporary = output.with_extension("cwasm.tmp");
    std::fs::write(&temporary, code)?;
    std::fs::rename(&temporary, output)?;
    Ok(())
}
