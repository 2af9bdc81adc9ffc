//! `cargo xtask plugins`: WebAssembly components of all folders `plugins`, and the agent and command that carry them.
//! `cargo xtask build` builds only the plugins that those carry.
//!
//! Each plugin is compiled for `wasm32-unknown-unknown`, wrapped as a component and put into `target/bundled/`.
//! The bundled ones are precompiled by the engine that will run them, so a fresh machine compiles nothing.
//! Files are written only when they change, so a second run builds nothing.

use crate::metadata;
use crate::workspace::{Workspace, say, step, write_if_changed};
use anyhow::{Context, Result, bail};
use e2e_tests::products;
use wit_component::ComponentEncoder;

const TARGET: &str = "wasm32-unknown-unknown";

/// Plugins that are precompiled and embedded in the agent and the command.
const BUNDLED: [&str; 4] = ["advice", "coverage", "patch", "trace"];

/// Plugins are compiled as one codegen unit each. A profile of their own, or `lto`, which makes them no smaller, would
/// give build-time macros another identity, and compile them once more.
const IN_ONE_PIECE: [&str; 2] = ["--config", "profile.release.codegen-units=1"];

/// A crate in a folder `plugins`, compiled to a component.
struct Plugin {
    package: String,
    /// Name of the compiler's output, without extension.
    module: String,
    /// The file in `target/bundled`, without extension.
    name: String,
}

/// The packages of the two files that users get. They are built one after the other: cargo unites the features of the
/// packages of one command, and the agent must not hold the compiler.
const PRODUCTS: [(&str, &str); 2] = [("the command", "cli"), ("the agent", "hook-agent")];

/// Builds all plugins, the command and the agent; afterwards `target/release/{classhook,libclasshook.so}` are complete.
pub fn run(workspace: &Workspace) -> Result<()> {
    build(workspace, |_| true)
}

/// Like [`run`], but builds only the plugins that agent and command carry (`cargo xtask build`).
pub fn run_bundled(workspace: &Workspace) -> Result<()> {
    build(workspace, |plugin| BUNDLED.contains(&plugin.name.as_str()))
}

/// Builds only the plugins that agent and command carry.
pub fn for_products(workspace: &Workspace) -> Result<()> {
    build_plugins(workspace, |plugin| BUNDLED.contains(&plugin.name.as_str()))
}

fn build_plugins(workspace: &Workspace, wanted: impl Fn(&Plugin) -> bool) -> Result<()> {
    crate::setup::for_building(workspace)?;
    let mut plugins = plugins(workspace)?;
    plugins.retain(wanted);
    compile(workspace, &plugins)?;
    for plugin in &plugins {
        wrap(workspace, plugin)?;
    }
    precompile(workspace)
}

fn build(workspace: &Workspace, wanted: impl Fn(&Plugin) -> bool) -> Result<()> {
    build_plugins(workspace, wanted)?;
    for (title, package) in PRODUCTS {
        let mut build = workspace.cargo(["build", "--quiet", "--release", "-p", package]);
        step(&format!("building {title}"), &mut build)?;
    }
    check(workspace, "libclasshook.so", products::fault_of_agent)?;
    check(workspace, "classhook", products::fault_of_command)
}

/// Refuses a product that users must not get.
fn check(workspace: &Workspace, name: &str, fault: impl Fn(&[u8]) -> Option<String>) -> Result<()> {
    let file = workspace.product(name);
    let bytes =
        std::fs::read(&file).with_context(|| format!("failed to read {}", file.display()))?;
    match fault(&bytes) {
        Some(fault) => bail!("{}: {fault}", file.display()),
        None => Ok(()),
    }
}

fn plugins(workspace: &Workspace) -> Result<Vec<Plugin>> {
    let mut plugins = Vec::new();
    for package in metadata::packages(workspace)? {
        let Some(name) = package.plugin else {
            continue;
        };
        let module = package
            .targets
            .iter()
            .find(|target| target.kind.iter().any(|kind| kind == "cdylib"));
        let Some(module) = module else {
            bail!(
                "expected the plugin {} to have crate-type cdylib, found none",
                package.name
            );
        };
        plugins.push(Plugin {
            module: module.name.clone(),
            name,
            package: package.name,
        });
    }
    Ok(plugins)
}

fn compile(workspace: &Workspace, plugins: &[Plugin]) -> Result<()> {
    let mut build = workspace.cargo(["build", "--quiet", "--release", "--target", TARGET, "--lib"]);
    build.args(IN_ONE_PIECE);
    for plugin in plugins {
        build.args(["-p", &plugin.package]);
    }
    step("compiling the plugins to WebAssembly", &mut build)
}

/// Wraps the core module as a component and validates it.
fn wrap(workspace: &Workspace, plugin: &Plugin) -> Result<()> {
    let module = workspace
        .target(TARGET)
        .join("release")
        .join(format!("{}.wasm", plugin.module));
    let bytes =
        std::fs::read(&module).with_context(|| format!("failed to read {}", module.display()))?;
    let component =
        component(&bytes).with_context(|| format!("failed to wrap {}", module.display()))?;
    let file = workspace
        .target("bundled")
        .join(format!("{}.wasm", plugin.name));
    if write_if_changed(&file, &component)? {
        say(format!(
            "wrote {} ({} bytes)",
            file.display(),
            component.len()
        ));
    }
    Ok(())
}

fn component(module: &[u8]) -> Result<Vec<u8>> {
    ComponentEncoder::default()
        .module(module)?
        .validate(true)
        .encode()
}

/// Builds the compiler of plugins, which needs only crates from the network.
pub fn build_compiler(workspace: &Workspace) -> Result<()> {
    let mut build = workspace.cargo(["build", "--quiet", "--release", "-p", "plugin-compiler"]);
    step("building the compiler of plugins", &mut build)
}

/// Precompiles all components in one run, since each new file makes `host` stale.
fn precompile(workspace: &Workspace) -> Result<()> {
    build_compiler(workspace)?;
    let scratch = tempfile::tempdir()?;
    let mut command =
        workspace.cargo(["run", "--quiet", "--release", "-p", "plugin-compiler", "--"]);
    command.arg(scratch.path());
    command.args(BUNDLED.map(|name| workspace.target("bundled").join(format!("{name}.wasm"))));
    step(
        "compiling the bundled plugins to machine code",
        &mut command,
    )?;
    let files = BUNDLED.map(|name| [format!("{name}.cwasm"), format!("{name}.digest")]);
    for name in files.iter().flatten() {
        let fresh = scratch.path().join(name);
        let bytes =
            std::fs::read(&fresh).with_context(|| format!("failed to read {}", fresh.display()))?;
        let precompiled = workspace.target("bundled").join(name);
        if write_if_changed(&precompiled, &bytes)? {
            say(format!(
                "wrote {} ({} bytes)",
                precompiled.display(),
                bytes.len()
            ));
        }
    }
    Ok(())
}
