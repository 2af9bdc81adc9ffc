//! `precompile FOLDER IN.wasm…`: compiles the bundled plugins while Classhook is built; writes `FOLDER/IN.cwasm` and
//! `FOLDER/IN.digest`. Users do not get this program.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let Some((folder, components)) = words.split_first().filter(|(_, rest)| !rest.is_empty())
    else {
        eprintln!("usage: precompile FOLDER IN.wasm...");
        return ExitCode::from(2);
    };
    for component in components.iter().map(Path::new) {
        if let Err(error) = plugin_compiler::compile_file(component, folder.as_ref()) {
            eprintln!("failed to compile {}: {error:#}", component.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
