//! `classhook-plugin-compiler`: plugins become machine code, in a process of their own and under limits.
//!
//! The compiler is most of wasmtime's code and may take minutes and gigabytes for a component that is made for it.
//! So it is no part of the agent, nor of the command: both start this program (`host::compiler`).
//!
//! | module | |
//! |---|---|
//! | [`service`] | one component on standard input, the answer on standard output |
//! | [`compiler`] | the engine's own compiler |
//! | [`wrapping`] | a component of the core module that a compiler of C or Go makes |
//! | [`confinement`] | limits, and files that are closed |

mod compiler;
mod confinement;
mod service;
mod wrapping;

use std::io;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
Compiles the WebAssembly component on standard input for Classhook, which starts this program by itself.
To compile plugins beforehand: classhook compile-plugin FILE...
When Classhook is built: classhook-plugin-compiler FOLDER IN.wasm... leaves FOLDER/IN.cwasm and IN.digest
By `classhook plugin build`: classhook-plugin-compiler --wrap MODULE.wasm COMPONENT.wasm";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let done = match arguments.as_slice() {
        [] => serve(),
        [option] if option == "--help" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        [option] if option == "--version" => {
            println!("classhook-plugin-compiler {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        [option, module, component] if option == "--wrap" => {
            wrapping::wrap_file(module.as_ref(), component.as_ref())
        }
        [folder, components @ ..] if !components.is_empty() => {
            precompile(components.iter().map(Path::new), folder.as_ref())
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("classhook-plugin-compiler: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), String> {
    let closed = confinement::close_inherited();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let served =
        closed.and_then(|()| service::serve(&mut input, &mut output, &confinement::restrict));
    served.map_err(|error| format!("failed to limit itself or to answer: {error}"))
}

fn precompile<'a>(components: impl Iterator<Item = &'a Path>, folder: &Path) -> Result<(), String> {
    for component in components {
        compiler::compile_file(component, folder)
            .map_err(|error| format!("failed to compile {}: {error:#}", component.display()))?;
    }
    Ok(())
}
