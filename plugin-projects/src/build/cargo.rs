//! Builds components of Rust projects with cargo.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use errors::{Error, codes};
use local_files::programs::find_program;
use serde_json::Value;

use super::failure::{not_built, not_startable};

/// The compilation target of plugins.
const TARGET: &str = "wasm32-unknown-unknown";
/// The variable for the linker, and the linker of Rust's toolchain that turns a module into a
/// component.
const LINKER: (&str, &str) = (
    "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER",
    "wasm-component-ld",
);

/// A library that cargo built.
struct Built {
    module: PathBuf,
    package: String,
    version: String,
}

/// Compiles the project in a folder. Its component is the file `NAME.wasm` in its folder `target`.
///
/// # Errors
/// If cargo cannot be started (`H0683`), or builds no component (`H0684`).
pub fn build(folder: &Path) -> Result<PathBuf, Error> {
    let words = [
        "build",
        "--release",
        "--lib",
        "--target",
        TARGET,
        // The location of the component, even if the user's cargo builds elsewhere.
        "--target-dir",
        "target",
        "--message-format",
        "json-render-diagnostics",
    ];
    let mut cargo = cargo(folder, &words)?;
    let mut child = cargo
        .env(LINKER.0, LINKER.1)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| no_cargo(&error.to_string()))?;
    let manifest = fs::canonicalize(folder.join("Cargo.toml"));
    let manifest = manifest.map_err(|error| Error::unreadable(folder, &error))?;
    let built = child.stdout.take().and_then(|out| artifact(out, &manifest));
    let status = child.wait().map_err(|error| no_cargo(&error.to_string()))?;
    if !status.success() {
        let found = format!("cargo ended with {status}; its messages are above");
        let problem = not_built(folder).with("found", found);
        return Err(match missing_tool(folder) {
            Some(help) => problem.with("help", help),
            None => problem,
        });
    }
    let built = built.ok_or_else(|| {
        not_built(folder)
            .with(
                "expected",
                "crate-type = [\"cdylib\", \"rlib\"] below [lib] in Cargo.toml",
            )
            .with("found", "a library of another type")
    })?;
    let component = component(&built);
    copy(&built, &component).map_err(|error| Error::unwritable(&component, &error))?;
    Ok(component)
}

/// Returns the installation command for a missing part of Rust's toolchain: the target's library,
/// or the linker, which is beside the library of the compiler's own platform.
fn missing_tool(folder: &Path) -> Option<&'static str> {
    let target = library_folder(folder, &["--target", TARGET])?;
    if !target.is_dir() {
        return Some(
            "plugins need Rust's target wasm32-unknown-unknown: `rustup target add wasm32-unknown-unknown`",
        );
    }
    let beside = library_folder(folder, &[])?.join("../bin").join(LINKER.1);
    let is_there = beside.is_file() || find_program(LINKER.1.as_ref()).is_some();
    (!is_there).then_some(
        "plugins need the linker wasm-component-ld, which comes with rustup's toolchains (https://rustup.rs)",
    )
}

/// Returns the standard library's folder for a project's compiler.
fn library_folder(folder: &Path, words: &[&str]) -> Option<PathBuf> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir"]).args(words);
    let output = rustc.current_dir(folder).stdin(Stdio::null()).output();
    let printed = String::from_utf8(output.ok()?.stdout).ok()?;
    let path = printed.trim_end();
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// Runs the project's own tests. Their output goes to this command's output.
///
/// The profile is that of the component, so that most code, which runs at build time, is compiled
/// once for both.
///
/// # Errors
/// As [`build`], and if a test fails (`H0685`).
pub fn test(folder: &Path) -> Result<(), Error> {
    let status = cargo(folder, &["test", "--release"])?.status();
    let status = status.map_err(|error| no_cargo(&error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    let message = format!("the tests of {} fail", folder.display());
    Err(Error::mistake(codes::H0685, message).with(
        "found",
        format!("cargo ended with {status}; its messages are above"),
    ))
}

/// Returns a call of cargo in the project's folder.
fn cargo(folder: &Path, words: &[&str]) -> Result<Command, Error> {
    if find_program("cargo".as_ref()).is_none() {
        return Err(no_cargo("no such program in PATH"));
    }
    let mut cargo = Command::new("cargo");
    cargo.args(words).current_dir(folder).stdin(Stdio::null());
    Ok(cargo)
}

/// Finds the WebAssembly module for the package of this manifest in cargo's messages.
fn artifact(reported: impl Read, manifest: &Path) -> Option<Built> {
    let mut found = None;
    for line in BufReader::new(reported).lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let of = message.get("manifest_path").and_then(Value::as_str);
        let is_its =
            of.is_some_and(|path| fs::canonicalize(path).is_ok_and(|path| path == manifest));
        if is_its && let Some(built) = built(&message) {
            found = Some(built);
        }
    }
    found
}

fn built(message: &Value) -> Option<Built> {
    let files = message.get("filenames")?.as_array()?;
    let mut files = files.iter().filter_map(Value::as_str);
    let module = files.find(|file| file.ends_with(".wasm"))?;
    let package = message.get("package_id")?.as_str()?;
    Some(Built {
        module: PathBuf::from(module),
        package: package_name(package, Path::new(module)),
        version: package_version(package).to_owned(),
    })
}

/// Returns `call-counter` from `path+file:///work/call-counter#0.1.0`,
/// `path+file:///work#call-counter@0.1.0` and similar ids.
fn package_name(id: &str, module: &Path) -> String {
    let (url, rest) = id.rsplit_once('#').unwrap_or((id, ""));
    let named = rest.rsplit_once('@').map(|(name, _)| name);
    let name = named.or_else(|| url.rsplit('/').next());
    let stem = module.file_stem().unwrap_or_default().to_string_lossy();
    // Only `-` and `_` differ.
    let name = name.filter(|name| name.replace('-', "_") == stem);
    name.map_or_else(|| stem.clone().into_owned(), str::to_owned)
}

/// Returns `0.1.0` from the same ids.
fn package_version(id: &str) -> &str {
    let (_, rest) = id.rsplit_once('#').unwrap_or_default();
    rest.rsplit_once('@').map_or(rest, |(_, version)| version)
}

/// Returns `target/NAME.wasm` for `target/wasm32-unknown-unknown/release/name.wasm`.
fn component(built: &Built) -> PathBuf {
    let target = built.module.ancestors().nth(3);
    let target = target.unwrap_or(Path::new("target"));
    target.join(format!("{}.wasm", built.package))
}

/// Copies the module with the version of its package. An equal file stays unchanged.
fn copy(built: &Built, to: &Path) -> std::io::Result<()> {
    let mut bytes = fs::read(&built.module)?;
    version_section(&built.version, &mut bytes);
    if fs::read(to).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    fs::write(to, bytes)
}

/// Appends the custom section with the version of a component.
fn version_section(version: &str, component: &mut Vec<u8>) {
    let text = [b"\x07version", version.as_bytes()].concat();
    // One byte of LEB128 holds its length: Cargo's versions are short, and longer ones are left
    // out.
    if let Ok(length @ 9..=72) = u8::try_from(text.len()) {
        component.extend([0, length]);
        component.extend(text);
    }
}

fn no_cargo(found: &str) -> Error {
    let help = "install Rust (https://rustup.rs); built components do not need it";
    not_startable("cargo", found, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_the_last_custom_section() {
        let folder = tempfile::tempdir().unwrap();
        let (module, component) = (
            folder.path().join("a_b.wasm"),
            folder.path().join("a-b.wasm"),
        );
        fs::write(&module, b"\0asm").unwrap();
        let mut built = Built {
            module,
            package: "a-b".to_owned(),
            version: "1.2.3".to_owned(),
        };
        copy(&built, &component).unwrap();
        assert_eq!(
            fs::read(&component).unwrap(),
            b"\0asm\0\x0d\x07version1.2.3"
        );
        built.version = "1".repeat(500);
        copy(&built, &component).unwrap();
        assert_eq!(fs::read(&component).unwrap(), b"\0asm");
    }

    #[test]
    fn packages_keep_their_name() {
        let module = Path::new("/t/wasm32-unknown-unknown/release/call_counter.wasm");
        for id in [
            "path+file:///work/call-counter#0.1.0",
            "path+file:///work/x#call-counter@0.1.0",
        ] {
            let built = Built {
                module: module.to_owned(),
                package: package_name(id, module),
                version: package_version(id).to_owned(),
            };
            assert_eq!(component(&built), Path::new("/t/call-counter.wasm"), "{id}");
            assert_eq!(built.version, "0.1.0", "{id}");
        }
        assert_eq!(package_version("?"), "");
        assert_eq!(package_name("?", module), "call_counter");
    }
}
