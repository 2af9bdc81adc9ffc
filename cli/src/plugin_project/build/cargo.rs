//! Components of projects, by cargo.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::failure::{not_built, not_startable};
use crate::launch;
use crate::problem::Problem;

/// What plugins are compiled for.
const TARGET: &str = "wasm32-unknown-unknown";
/// The variable that names the linker, and the one of Rust's toolchain that makes a component of a module.
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

/// Compiles the project in a folder; its component is the file `NAME.wasm` in its folder `target`.
///
/// # Errors
/// If cargo cannot be started (`H0683`), or it makes no component (`H0684`).
pub fn build(folder: &Path) -> Result<PathBuf, Problem> {
    let words = [
        "build",
        "--release",
        "--lib",
        "--target",
        TARGET,
        // Where the component is looked for, also if the user's cargo builds elsewhere.
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
    let manifest = manifest.map_err(|error| Problem::unreadable(folder, &error))?;
    let built = child.stdout.take().and_then(|out| artifact(out, &manifest));
    let status = child.wait().map_err(|error| no_cargo(&error.to_string()))?;
    if !status.success() {
        let found = format!("cargo ended with {status}; its lines are above");
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
    copy(&built, &component).map_err(|error| Problem::unwritable(&component, &error))?;
    Ok(component)
}

/// How to install what plugins need of Rust's toolchain, if it is not there: the library for the target, or the linker,
/// which lies beside the library of the compiler's own platform.
fn missing_tool(folder: &Path) -> Option<&'static str> {
    let target = library_folder(folder, &["--target", TARGET])?;
    if !target.is_dir() {
        return Some(
            "plugins need Rust's target wasm32-unknown-unknown: `rustup target add wasm32-unknown-unknown`",
        );
    }
    let beside = library_folder(folder, &[])?.join("../bin").join(LINKER.1);
    let is_there = beside.is_file() || launch::find_program(LINKER.1.as_ref()).is_some();
    (!is_there).then_some(
        "plugins need the linker wasm-component-ld, which comes with rustup's toolchains (https://rustup.rs)",
    )
}

/// Where the compiler of a project looks for the standard library.
fn library_folder(folder: &Path, words: &[&str]) -> Option<PathBuf> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir"]).args(words);
    let output = rustc.current_dir(folder).stdin(Stdio::null()).output();
    let printed = String::from_utf8(output.ok()?.stdout).ok()?;
    let path = printed.trim_end();
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// Runs the project's own tests; they print where this command does.
///
/// In the profile of the component: what runs at build time, most of it all, is then compiled once for both.
///
/// # Errors
/// As [`build`], and if a test fails (`H0685`).
pub fn test(folder: &Path) -> Result<(), Problem> {
    let status = cargo(folder, &["test", "--release"])?.status();
    let status = status.map_err(|error| no_cargo(&error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    let message = format!("the tests of {} fail", folder.display());
    Err(Problem::user("H0685", message).with(
        "found",
        format!("cargo ended with {status}; its lines are above"),
    ))
}

/// A call of cargo in the project's folder.
fn cargo(folder: &Path, words: &[&str]) -> Result<Command, Problem> {
    if launch::find_program("cargo".as_ref()).is_none() {
        return Err(no_cargo("no such program in PATH"));
    }
    let mut cargo = Command::new("cargo");
    cargo.args(words).current_dir(folder).stdin(Stdio::null());
    Ok(cargo)
}

/// The WebAssembly that is made for the package of this manifest, of what cargo reports.
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

/// `call-counter` of `path+file:///work/call-counter#0.1.0`, `path+file:///work#call-counter@0.1.0` and the like.
fn package_name(id: &str, module: &Path) -> String {
    let (url, rest) = id.rsplit_once('#').unwrap_or((id, ""));
    let named = rest.rsplit_once('@').map(|(name, _)| name);
    let name = named.or_else(|| url.rsplit('/').next());
    let stem = module.file_stem().unwrap_or_default().to_string_lossy();
    // Only the letters `-` and `_` differ.
    let name = name.filter(|name| name.replace('-', "_") == stem);
    name.map_or_else(|| stem.clone().into_owned(), str::to_owned)
}

/// `0.1.0` of the same.
fn package_version(id: &str) -> &str {
    let (_, rest) = id.rsplit_once('#').unwrap_or_default();
    rest.rsplit_once('@').map_or(rest, |(_, version)| version)
}

/// `target/NAME.wasm` for `target/wasm32-unknown-unknown/release/name.wasm`.
fn component(built: &Built) -> PathBuf {
    let target = built.module.ancestors().nth(3);
    let target = target.unwrap_or(Path::new("target"));
    target.join(format!("{}.wasm", built.package))
}

/// With the version of the package; a file that is equal stays as it is.
fn copy(built: &Built, to: &Path) -> std::io::Result<()> {
    let mut bytes = fs::read(&built.module)?;
    version_section(&built.version, &mut bytes);
    if fs::read(to).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    fs::write(to, bytes)
}

/// Appends the custom section that says of which version a component is.
fn version_section(version: &str, component: &mut Vec<u8>) {
    let text = [b"\x07version", version.as_bytes()].concat();
    // One byte of LEB128 tells its length: Cargo's versions are short, and others are left out.
    if let Ok(length @ 9..=72) = u8::try_from(text.len()) {
        component.extend([0, length]);
        component.extend(text);
    }
}

fn no_cargo(found: &str) -> Problem {
    let help = "install Rust (https://rustup.rs); components that are built need none of it";
    not_startable("cargo", found, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_stands_in_a_section_of_its_own_behind_all_others() {
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
