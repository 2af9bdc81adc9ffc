//! Embeds the bundled plugins that `cargo xtask plugins` left in `target/bundled`.

use std::path::{Path, PathBuf};

const PLUGINS: [&str; 3] = ["coverage", "patch", "trace"];

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-env-changed=CLASSHOOK_BUNDLED");
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let root = variable("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = variable("CLASSHOOK_BUNDLED").unwrap_or_else(|| root.join("../target/bundled"));
    let plugins: String = PLUGINS.iter().map(|name| entry(&folder, name)).collect();
    let text = format!("const PLUGINS: &[Bundled] = &[{plugins}];\n");
    std::fs::write(
        variable("OUT_DIR").unwrap_or_default().join("bundled.rs"),
        text,
    )
}

/// The Rust text of one plugin; empty if it was not built yet.
fn entry(folder: &Path, name: &str) -> String {
    let wasm = folder.join(name).with_extension("wasm");
    let code = folder.join(name).with_extension("cwasm");
    println!("cargo::rerun-if-changed={}", wasm.display());
    println!("cargo::rerun-if-changed={}", code.display());
    if !wasm.exists() {
        println!("cargo::warning=built without the plugin {name}: run `cargo xtask plugins`");
        return String::new();
    }
    let code = if code.exists() {
        format!("include_bytes!({code:?})")
    } else {
        "&[]".to_owned()
    };
    format!("Bundled {{ name: {name:?}, wasm: include_bytes!({wasm:?}), code: {code} }},")
}
