//! Builds components of C projects with clang and its linker.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use errors::Error;
use local_files::programs::find_program;

use super::failure::{not_built, not_startable};
use super::folder;

/// The compiler and the linker; Debian appends the number of a release behind a `-`.
const COMPILER: &str = "clang";
const LINKER: &str = "wasm-ld";
/// The releases that support such modules, the newest first.
const RELEASES: std::ops::RangeInclusive<u32> = 11..=40;
const HELP: &str = "install clang and its linker for WebAssembly: apt-get install clang lld (Debian, Ubuntu), dnf install clang lld (Fedora), apk add clang lld (Alpine). Built components do not need it";

/// Compiler flags: the target, without a C library.
const COMPILE: [&str; 10] = [
    "-c",
    "--target=wasm32-unknown-unknown",
    "-std=gnu11",
    "-Os",
    "-ffreestanding",
    "-nostdlibinc",
    "-Wall",
    "-Wextra",
    "-Iclasshook-sdk",
    "-isystemclasshook-sdk/include",
];
/// Linker flags. The stack comes first, so that an overflow traps.
const LINK: [&str; 5] = [
    "--no-entry",
    "--strip-debug",
    "--stack-first",
    "-z",
    "stack-size=65536",
];
/// The interface as an object file for the linker.
const INTERFACE: &str = "classhook-sdk/classhook_component_type.o";

/// Compiles the sources in the folders `src` and `classhook-sdk` to a component. If the component
/// is newer than all of these, no compiler is needed.
///
/// # Errors
/// If clang or its linker cannot be started (`H0683`), or the sources have an error (`H0684`).
pub fn build(folder: &Path) -> Result<PathBuf, Error> {
    let component = folder::component(folder)?;
    if folder::is_newest(&component, folder, &["c", "h", "o"]) {
        return Ok(component);
    }
    let compiler = tool(COMPILER)?;
    let linker = tool(LINKER)?;
    let objects = folder.join("target/objects");
    let made = fs::create_dir_all(&objects);
    made.map_err(|error| Error::unwritable(&objects, &error))?;
    let mut link = command(&linker, folder);
    for (number, source) in sources(folder)?.iter().enumerate() {
        let object = format!("target/objects/{number}.o");
        let mut compile = command(&compiler, folder);
        compile
            .args(COMPILE)
            .arg("-o")
            .args([OsStr::new(&object), source.as_os_str()]);
        run(&mut compile, COMPILER, folder)?;
        link.arg(object);
    }
    let module = "target/objects/module.wasm";
    link.args(LINK).args([INTERFACE, "-o", module]);
    run(&mut link, LINKER, folder)?;
    plugin_compiler::wrap_file(&folder.join(module), &component)
        .map_err(|cause| not_built(folder).with("found", cause))?;
    Ok(component)
}

/// Returns the sources, relative to the project's folder.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut sources = Vec::new();
    for below in ["src", "classhook-sdk"] {
        add_sources(folder, Path::new(below), &mut sources)?;
    }
    sources.sort();
    Ok(sources)
}

fn add_sources(folder: &Path, below: &Path, sources: &mut Vec<PathBuf>) -> Result<(), Error> {
    let here = folder.join(below);
    let entries = fs::read_dir(&here).map_err(|error| Error::unreadable(&here, &error))?;
    for entry in entries.flatten() {
        let path = below.join(entry.file_name());
        if entry.path().is_dir() {
            add_sources(folder, &path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "c") {
            sources.push(path);
        }
    }
    Ok(())
}

fn tool(name: &str) -> Result<PathBuf, Error> {
    let numbered = RELEASES.rev().map(|release| format!("{name}-{release}"));
    let mut names = [name.to_owned()].into_iter().chain(numbered);
    let found = names.find_map(|name| find_program(name.as_ref()));
    // The tool starts in the project's folder, where a relative `PATH` would name other programs.
    let found = found.map(|program| std::path::absolute(&program).unwrap_or(program));
    found.ok_or_else(|| not_startable(name, "no such program in PATH", HELP))
}

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn run(command: &mut Command, name: &str, folder: &Path) -> Result<(), Error> {
    let status = command.status();
    let status = status.map_err(|error| not_startable(name, &error.to_string(), HELP))?;
    if status.success() {
        return Ok(());
    }
    let found = format!("{name} ended with {status}; its messages are above");
    Err(not_built(folder).with("found", found).with(
        "help",
        "if a header or a function is missing: a plugin in C has no C library except the declarations in classhook-sdk/include",
    ))
}
