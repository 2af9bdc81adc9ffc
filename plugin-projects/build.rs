//! Packs the SDKs for new projects of plugins.
//!
//! - Rust: the sources of the crates for plugins and their tests, and the versions of their
//!   registry dependencies.
//! - C: its sources, and the bindings generated from the interface, so that authors do not need the
//!   generator.
//! - Python and JavaScript: a module, and the interface.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::Resolve;
use wit_component::StringEncoding;

/// The folders of the crates.
const CRATES: [&str; 14] = [
    "class-versions",
    "edits",
    "error-codes",
    "escape",
    "fingerprint",
    "globs",
    "jvm-event-table",
    "jvms",
    "plan-rules",
    "rewriter",
    "stored",
    "sdk",
    "sdk/macros",
    "sdk/testkit",
];

/// Files that are packed unchanged: for the Rust SDK, and for all.
const LOCK: &str = "Cargo.lock";
const COMMON: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Sections of a manifest that a plugin's build does not need.
const LEFT_OUT: [&str; 5] = [
    "[dev-dependencies]",
    "[[bench]]",
    "[[example]]",
    "[[test]]",
    "[lints]",
];

/// A path below the SDK's folder, and the contents.
type Packed = (String, Vec<u8>);

/// The worlds of plugins, and the file of the interface in its folder `wit`.
const WORLD: &str = "transform-plugin";
const REPORT_WORLD: &str = "report-plugin";
const INTERFACE: &str = "wit/plugin.wit";
/// The crate that holds the interface.
const SDK: &str = "sdk";
/// The sources of the SDKs for C, Python and JavaScript.
const C: &str = "sdk/c";
const PYTHON: &str = "sdk/python";
const JS: &str = "sdk/js";
/// Interfaces whose names prefix the C names; otherwise the prefix would include the package's
/// name.
const INTERFACES: [&str; 13] = [
    "class-file",
    "declarations",
    "helpers",
    "host",
    "plans",
    "probes",
    "queries",
    "raw",
    "recorded",
    "rewrite",
    "structure",
    "transformer",
    "types",
];

fn main() -> Result<()> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let root = variable("CARGO_MANIFEST_DIR")
        .unwrap_or_default()
        .join("..");
    let out = variable("OUT_DIR").unwrap_or_default();
    let rust = archive("RUST", &rust(&root)?, &out)?;
    let c = archive("C", &c(&root)?, &out)?;
    let python = archive("PYTHON", &sources(&root, PYTHON)?, &out)?;
    let js = archive("JS", &sources(&root, JS)?, &out)?;
    let common = archive("COMMON", &files(&root, &COMMON)?, &out)?;
    std::fs::write(out.join("sdk.rs"), rust + &c + &python + &js + &common)?;
    Ok(())
}

/// Writes the compressed files to a separate file. Returns the text of a constant with this name.
fn archive(name: &str, packed: &[Packed], out: &Path) -> io::Result<String> {
    let index: String = packed
        .iter()
        .map(|(path, contents)| format!("({path:?}, {}),", contents.len()))
        .collect();
    let mut compressed = DeflateEncoder::new(Vec::new(), Compression::best());
    for (_, contents) in packed {
        compressed.write_all(contents)?;
    }
    let file = out.join(format!("{name}.deflate"));
    std::fs::write(&file, compressed.finish()?)?;
    Ok(format!(
        "/// An SDK.\npub const {name}: Archive = Archive {{ files: &[{index}], packed: include_bytes!({file:?}) }};\n"
    ))
}

fn rust(root: &Path) -> io::Result<Vec<Packed>> {
    let mut packed = vec![("Cargo.toml".to_owned(), workspace(root)?.into_bytes())];
    packed.extend(files(root, &[LOCK])?);
    for name in CRATES {
        add_crate(root, name, &mut packed)?;
    }
    let name = format!("{SDK}/{INTERFACE}");
    packed.extend(files(root, &[&name])?);
    Ok(packed)
}

/// Reads unchanged files.
fn files(root: &Path, names: &[&str]) -> io::Result<Vec<Packed>> {
    let file = |name: &&str| Ok(((*name).to_owned(), read(&root.join(name))?));
    names.iter().map(file).collect()
}

/// The file of the interface.
fn interface(root: &Path) -> PathBuf {
    root.join(SDK).join(INTERFACE)
}

/// Reads an SDK's sources, and the interface.
fn sources(root: &Path, sources: &str) -> io::Result<Vec<Packed>> {
    let mut packed = vec![(INTERFACE.to_owned(), read(&interface(root))?)];
    println!("cargo::rerun-if-changed={}", root.join(sources).display());
    add_sources(&root.join(sources), "", &mut packed)?;
    Ok(packed)
}

fn c(root: &Path) -> Result<Vec<Packed>> {
    let mut packed = sources(root, C)?;
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(interface(root))?;
    let world = resolve.select_world(&[package], Some(WORLD))?;
    let renamed =
        INTERFACES.map(|name| (resolve.id_of_name(package, name), name.replace('-', "_")));
    let options = wit_bindgen_c::Opts {
        rename: renamed.to_vec(),
        rename_world: Some("classhook".to_owned()),
        // A function's borrowed handles are dropped at its end, because authors could forget that.
        autodrop_borrows: wit_bindgen_c::Enabled::Yes,
        ..wit_bindgen_c::Opts::default()
    };
    let mut files = Files::default();
    options.build().generate(&mut resolve, world, &mut files)?;
    packed.extend(
        files
            .iter()
            .map(|(name, contents)| (name.to_owned(), contents.to_vec())),
    );
    packed.push(("report_type.h".to_owned(), report_type(root)?.into_bytes()));
    Ok(packed)
}

/// Returns the world of a C plugin's optional exports, as a section of every source that includes
/// this.
fn report_type(root: &Path) -> Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(interface(root))?;
    let world = resolve.select_world(&[package], Some(REPORT_WORLD))?;
    let section = wit_component::metadata::encode(&resolve, world, StringEncoding::UTF8, None)?;
    let mut text = "// Generated from wit/plugin.wit.\n".to_owned()
        + "__asm__(\".section \\\".custom_section.component-type:report\\\",\\\"\\\",@\\n\"\n";
    for row in section.chunks(24) {
        let row: Vec<String> = row.iter().map(u8::to_string).collect();
        text += &format!("        \"  .byte {}\\n\"\n", row.join(","));
    }
    Ok(text + "        \"  .text\\n\");\n")
}

/// Reads a file, and reruns the build script when it changes.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    println!("cargo::rerun-if-changed={}", path.display());
    std::fs::read(path)
}

/// Returns the manifest of a workspace with the packed crates and their inherited settings.
fn workspace(root: &Path) -> io::Result<String> {
    let manifest = String::from_utf8_lossy(&read(&root.join("Cargo.toml"))?).into_owned();
    let inherited = ["[workspace.package]", "[workspace.dependencies]"];
    let inherited = parts(&manifest, |head| inherited.contains(&head));
    Ok(format!(
        "[workspace]\nresolver = \"3\"\nmembers = {CRATES:?}\n\n{inherited}"
    ))
}

/// Returns the sections of a manifest whose first lines are wanted.
fn parts(manifest: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let mut taken = false;
    let mut text = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            taken = is_wanted(line);
        }
        if taken {
            text += line;
            text.push('\n');
        }
    }
    text
}

fn add_crate(root: &Path, name: &str, packed: &mut Vec<Packed>) -> io::Result<()> {
    let folder = root.join(name);
    let manifest = String::from_utf8_lossy(&read(&folder.join("Cargo.toml"))?).into_owned();
    let manifest = parts(&manifest, |head| !LEFT_OUT.contains(&head));
    packed.push((format!("{name}/Cargo.toml"), manifest.into_bytes()));
    let readme = folder.join("README.md");
    if readme.is_file() {
        packed.push((format!("{name}/README.md"), read(&readme)?));
    }
    println!("cargo::rerun-if-changed={}", folder.join("src").display());
    add_sources(&folder.join("src"), &format!("{name}/src"), packed)
}

/// Adds all files below a folder; `name` is the folder's path in the package.
fn add_sources(folder: &Path, name: &str, packed: &mut Vec<Packed>) -> io::Result<()> {
    for entry in entries(folder)? {
        let last = entry.file_name().unwrap_or_default().to_string_lossy();
        let separator = if name.is_empty() { "" } else { "/" };
        let name = format!("{name}{separator}{last}");
        if entry.is_dir() {
            add_sources(&entry, &name, packed)?;
        } else {
            packed.push((name, without_unit_tests(std::fs::read(&entry)?)));
        }
    }
    Ok(())
}

/// Removes the unit tests at the end of a source, which a plugin's build does not need.
fn without_unit_tests(mut source: Vec<u8>) -> Vec<u8> {
    let begin = b"\n#[cfg(test)]\nmod tests {\n";
    let tests = source.windows(begin.len()).position(|found| found == begin);
    source.truncate(tests.unwrap_or(source.len()));
    source
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    entries.sort();
    Ok(entries)
}
