//! Embeds the bundled plugins that `cargo xtask plugins` left in `target/bundled`, compressed.

use std::path::{Path, PathBuf};

const PLUGINS: [&str; 3] = ["coverage", "patch", "trace"];

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
    std::fs::write(out.join("bundled.rs"), text)
}

/// The Rust text of one plugin; empty if it was not built yet.
fn entry(folder: &Path, name: &str, out: &Path) -> std::io::Result<String> {
    let wasm = folder.join(name).with_extension("wasm");
    let code = folder.join(name).with_extension("cwasm");
    println!("cargo::rerun-if-changed={}", wasm.display());
    println!("cargo::rerun-if-changed={}", code.display());
    if !wasm.exists() {
        println!("cargo::warning=built without the plugin {name}: run `cargo xtask plugins`");
        return Ok(String::new());
    }
    let wasm = included(&wasm, out)?;
    let code = if code.exists() {
        included(&code, out)?
    } else {
        "&[]".to_owned()
    };
    Ok(format!(
        "Bundled {{ name: {name:?}, wasm: {wasm}, code: {code} }},"
    ))
}

/// The Rust text of a file's bytes, compressed with LZ4 behind their length (four bytes, little-endian).
fn included(file: &Path, out: &Path) -> std::io::Result<String> {
    let packed = out.join(file.file_name().unwrap_or_default());
    std::fs::write(
        &packed,
        lz4_flex::compress_prepend_size(&std::fs::read(file)?),
    )?;
    Ok(format!("include_bytes!({packed:?})"))
}
