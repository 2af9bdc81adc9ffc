//! clang and its linker for WebAssembly, which compile a plugin in C in the tests: the machine's own, or those of
//! Debian's packages, unpacked without being installed.

use super::apt::Apt;
use crate::workspace::{Workspace, in_path, output_of, say};
use anyhow::{Context, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The programs, and the folder of the packages that holds them.
const PROGRAMS: [&str; 2] = ["clang", "wasm-ld"];
const BIN: &str = "usr/lib/llvm-14/bin";
/// The oldest suite, whose packages also run on older machines.
const SUITE: &str = "bookworm";
const PACKAGES: [&str; 4] = [
    "clang-14",
    "lld-14",
    "libclang-cpp14",
    "libclang-common-14-dev",
];
/// Libraries of these programs that a machine may lack, 40 MB.
const LIBRARIES: [&str; 10] = [
    "libbsd0",
    "libedit2",
    "libffi8",
    "libicu72",
    "libllvm14",
    "liblzma5",
    "libmd0",
    "libtinfo6",
    "libxml2",
    "libz3-4",
];

/// Provides the programs in `PATH` or in `target/clang/bin`.
pub fn fetch(workspace: &Workspace) -> Result<()> {
    if PROGRAMS.iter().all(|program| in_path(program).is_some()) {
        return Ok(());
    }
    let home = workspace.target("clang");
    if home.join("bin").is_dir() {
        return Ok(());
    }
    say("fetching clang from Debian's packages");
    make(&home).context(
        "expected clang and wasm-ld in PATH (they compile plugins in C), and could not fetch them; \
         on Debian: apt-get install clang lld",
    )
}

fn make(home: &Path) -> Result<()> {
    std::fs::create_dir_all(home)?;
    let scratch = tempfile::tempdir_in(home)?;
    let apt = Apt::of(&[SUITE], scratch.path())?;
    let trouble = apt.update();
    let parts = home.join("parts");
    let unpack = |packages: &[&str]| {
        packages.iter().try_for_each(|package| {
            let unpacked = apt.unpack(package, &parts);
            unpacked.with_context(|| format!("expected the package {package}{trouble}"))
        })
    };
    unpack(&PACKAGES)?;
    let made = scratch.path().join("bin");
    std::fs::create_dir(&made)?;
    for program in PROGRAMS {
        put(&made.join(program), program, &parts)?;
    }
    let start = |program| output_of(Command::new(made.join(program)).arg("--version"));
    if PROGRAMS.iter().any(|program| start(program).is_err()) {
        unpack(&LIBRARIES)?;
        PROGRAMS
            .iter()
            .try_for_each(|program| start(program).map(drop))?;
    }
    // This rename comes last: if the folder exists, all files are complete.
    std::fs::rename(&made, home.join("bin")).context("failed to put clang into place")
}

/// Writes a script that starts the program with the libraries unpacked beside it.
fn put(file: &Path, program: &str, parts: &Path) -> Result<()> {
    let parts = parts.display();
    let script = format!(
        "#!/bin/sh\n\
         LD_LIBRARY_PATH='{parts}/usr/lib/llvm-14/lib:{parts}/usr/lib/x86_64-linux-gnu:{parts}/lib/x86_64-linux-gnu' \
         exec '{parts}/{BIN}/{program}' \"$@\"\n"
    );
    std::fs::write(file, script)?;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}
