//! Embeds the bundled plugins that `cargo xtask build` put into `target/bundled`: compressed
//! code, and digest and size of the component. Also computes a digest of the sources that create
//! and store plans. Plans stored by other sources are not used.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use lz4::block::{CompressionMode, compress};

const PLUGINS: [&str; 4] = ["advice", "coverage", "patch", "trace"];
/// The highest level: its output is a fifth smaller than that of the default level, and as fast to
/// read.
const LEVEL: i32 = 12;
/// All sources that affect a plugin's view of a class, its grants, or the stored form of plans.
const SOURCES: [&str; 11] = [
    "jvms/src",
    "stored/src",
    "edits/src",
    "fingerprint/src",
    "rewriter/src",
    "subroutines/src",
    "class-versions/src",
    "plan-rules/src",
    "host/src",
    "sdk/wit",
    "Cargo.lock",
];

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-env-changed=CLASSHOOK_BUNDLED");
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let root = variable("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = variable("CLASSHOOK_BUNDLED").unwrap_or_else(|| root.join("../target/bundled"));
    let out = variable("OUT_DIR").unwrap_or_default();
    let mut plugins = String::new();
    for name in PLUGINS {
        plugins += &entry(&folder, name, &out)?;
    }
    let text = format!("const PLUGINS: &[Bundled] = &[{plugins}];\n");
    std::fs::write(out.join("bundled.rs"), text)?;
    let mut digest = DefaultHasher::new();
    for source in SOURCES {
        let path = root.join("..").join(source);
        println!("cargo::rerun-if-changed={}", path.display());
        digest_of(&path, &mut digest)?;
    }
    println!(
        "cargo::rustc-env=CLASSHOOK_SOURCES={:016x}",
        digest.finish()
    );
    Ok(())
}

/// Adds a file, or the files of a folder sorted by name.
fn digest_of(path: &Path, digest: &mut DefaultHasher) -> std::io::Result<()> {
    if !path.is_dir() {
        let text = std::fs::read(path)?;
        digest.write(path.file_name().unwrap_or_default().as_encoded_bytes());
        digest.write_usize(text.len());
        digest.write(&text);
        return Ok(());
    }
    let entries = std::fs::read_dir(path)?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    paths.iter().try_for_each(|path| digest_of(path, digest))
}

/// The Rust source for one plugin; empty if the plugin was not built yet.
fn entry(folder: &Path, name: &str, out: &Path) -> std::io::Result<String> {
    let code = folder.join(name).with_extension("cwasm");
    let component = folder.join(name).with_extension("digest");
    println!("cargo::rerun-if-changed={}", code.display());
    println!("cargo::rerun-if-changed={}", component.display());
    if !code.exists() || !component.exists() {
        println!("cargo::warning=built without the plugin {name}: run `cargo xtask build`");
        return Ok(String::new());
    }
    let code = included(&code, out)?;
    let component = std::fs::read_to_string(component)?;
    let (digest, size) = component.trim_end().split_once(' ').unwrap_or_default();
    Ok(format!(
        "Bundled {{ name: {name:?}, digest: {digest:?}, size: {size}, code: {code} }},"
    ))
}

/// The Rust source that includes a file, compressed with LZ4 behind its length (four bytes,
/// little-endian).
fn included(file: &Path, out: &Path) -> std::io::Result<String> {
    let packed = out.join(file.file_name().unwrap_or_default());
    let best = CompressionMode::HIGHCOMPRESSION(LEVEL);
    std::fs::write(&packed, compress(&std::fs::read(file)?, Some(best), true)?)?;
    Ok(format!("include_bytes!({packed:?})"))
}
