//! Makes an empty plugin for measurements, and lets the linker fold functions.

#[path = "build/folding.rs"]
mod folding;
#[path = "build/nothing.rs"]
mod nothing;

use std::path::PathBuf;

use anyhow::Result;

/// The world of plugins, and the file of the interface.
const WORLD: &str = "transform-plugin";
const INTERFACE: &str = "sdk/wit/plugin.wit";

fn main() -> Result<()> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let root = variable("CARGO_MANIFEST_DIR")
        .unwrap_or_default()
        .join("..");
    let out = variable("OUT_DIR").unwrap_or_default();
    folding::ask_for_it(&out)?;
    let interface = root.join(INTERFACE);
    println!("cargo::rerun-if-changed={}", interface.display());
    std::fs::write(
        out.join("nothing.wasm"),
        nothing::component(&interface, WORLD)?,
    )?;
    Ok(())
}
