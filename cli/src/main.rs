//! The `classhook` command. The library beside this file holds all of its code.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
