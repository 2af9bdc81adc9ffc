//! Makes an empty plugin for measurements, lets the linker fold functions, and links statically for musl.

#[path = "build/folding.rs"]
mod folding;
#[path = "build/nothing.rs"]
mod nothing;

use std::path::PathBuf;

use anyhow::Result;

/// The world of plugins, and the file of the interface.
const WORLD: &str = "transform-plugin";
const INTERFACE: &str = "sdk/wit/plugin.wit";

/// Links the command statically for musl. The compiler's own default is off there: agent and command share a build, and
/// a library cannot be linked statically (`cargo xtask dist`).
fn link_statically() {
    let is = |variable: &str, value: &str| {
        let text = std::env::var(variable).unwrap_or_default();
        text.split(',').any(|one| one == value)
    };
    if is("CARGO_CFG_TARGET_ENV", "musl") && !is("CARGO_CFG_TARGET_FEATURE", "crt-static") {
        println!("cargo::rustc-link-arg-bins=-static");
    }
}

fn main() -> Result<()> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let root = variable("CARGO_MANIFEST_DIR")
        .unwrap_or_default()
        .join("..");
    let out = variable("OUT_DIR").unwrap_or_default();
    folding::ask_for_it(&out)?;
    link_statically();
    let interface = root.join(INTERFACE);
    println!("cargo::rerun-if-changed={}", interface.display());
    std::fs::write(
        out.join("nothing.wasm"),
        nothing::component(&interface, WORLD)?,
    )?;
    Ok(())
}
