//! Loads a configured plugin up to a component that can be instantiated.

use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, Linker};

use crate::bindings::{TransformPlugin, TransformPluginPre};
use crate::cache::load_bundled;
use crate::compilation::{Compilation, Kept};
use crate::config::{PluginConfig, PluginSource, lock};
use crate::imports::{jvm_events, jvm_requests};
use crate::plugin_file::PluginFile;
use crate::store_data::StoreData;
use crate::{bundled, capabilities, engine};
use errors::{Error, codes};

/// A plugin's component, compiled.
pub struct Loaded {
    /// The component.
    pub component: Component,
    /// The digest that identifies the component.
    pub digest: String,
}

/// Reads, checks, compiles and links a plugin. Also returns the digest that identifies it.
pub fn load(
    plugin: &PluginConfig,
    engine: &Engine,
    compilation: &Compilation<'_>,
) -> Result<(TransformPluginPre<StoreData>, String), Error> {
    let Loaded { component, digest } = read(plugin, engine, compilation)?;
    Ok((prepare(plugin, &component, engine)?, digest))
}

/// Reads and compiles a plugin. Checks only that it is a component.
pub fn read(
    plugin: &PluginConfig,
    engine: &Engine,
    compilation: &Compilation<'_>,
) -> Result<Loaded, Error> {
    match &plugin.source {
        PluginSource::Bundled(name) => load_from_agent(plugin, name, engine),
        PluginSource::File(path) => {
            let (loaded, _) = from_file(plugin, path, engine, compilation)?;
            Ok(loaded)
        }
    }
}

/// Compiles a plugin in advance, unless a cache holds its code, and reports where the code is
/// stored. Code of bundled plugins is never compiled.
///
/// # Errors
/// If its file cannot be read, is no component (`H0106`, `H0109`), or cannot be compiled (`H0117`,
/// `H0116`).
pub fn compile_ahead(plugin: &PluginConfig, compilation: &Compilation<'_>) -> Result<Kept, Error> {
    let PluginSource::File(path) = &plugin.source else {
        return Ok(Kept::Before);
    };
    let engine = engine::new().map_err(|error| engine::broken(&format_args!("{error:#}")))?;
    let (_, kept) = from_file(plugin, path, &engine, compilation)?;
    Ok(kept)
}

fn from_file(
    plugin: &PluginConfig,
    path: &Path,
    engine: &Engine,
    compilation: &Compilation<'_>,
) -> Result<(Loaded, Kept), Error> {
    let file = PluginFile::open(&plugin.name, path)?;
    check_digest(plugin, &file.digest)?;
    check_kind(plugin, &file.wasm)?;
    let component = compilation.component(engine, &file);
    let (component, kept) = component.map_err(|error| of_file(error, plugin))?;
    let digest = file.digest;
    Ok((Loaded { component, digest }, kept))
}

/// Checks a plugin's imports and exports, and links it.
pub fn prepare(
    plugin: &PluginConfig,
    component: &Component,
    engine: &Engine,
) -> Result<TransformPluginPre<StoreData>, Error> {
    capabilities::check(plugin, component, engine)?;
    link(component, engine).map_err(|error| {
        Error::mistake(
            codes::H0108,
            format!("plugin `{}` does not fit this agent", plugin.name),
        )
        .with("found", format!("{error:#}"))
        .with("help", "build the plugin with the SDK of this version")
    })
}

fn load_from_agent(plugin: &PluginConfig, name: &str, engine: &Engine) -> Result<Loaded, Error> {
    let missing = |what: &str| {
        Error::mistake(
            codes::H0101,
            format!("this binary was built without {what} `{name}`"),
        )
        .with("help", "build it with `cargo xtask build`")
    };
    let found = bundled::find(name).ok_or_else(|| missing("its plugin"))?;
    check_digest(plugin, found.digest)?;
    let component = load_bundled(engine, &found);
    Ok(Loaded {
        component: component.ok_or_else(|| missing("the code of its plugin"))?,
        digest: found.digest.to_owned(),
    })
}

fn link(component: &Component, engine: &Engine) -> wasmtime::Result<TransformPluginPre<StoreData>> {
    let mut linker = Linker::new(engine);
    TransformPlugin::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
    jvm_events::link(&mut linker)?;
    jvm_requests::link(&mut linker)?;
    TransformPluginPre::new(linker.instantiate_pre(component)?)
}

fn check_digest(plugin: &PluginConfig, found: &str) -> Result<(), Error> {
    let Some(expected) = &plugin.digest else {
        return Ok(());
    };
    if found == *expected {
        return Ok(());
    }
    let is_kept =
        matches!(&plugin.source, PluginSource::File(path) if lock::digest_of(path).is_some());
    let help = match is_kept {
        true => {
            "the file has changed since it was added; `classhook plugin add` restores the locked one"
        }
        false => "if you changed the plugin on purpose, set `digest` to the found one",
    };
    Err(of_file(
        Error::mistake(
            codes::H0109,
            format!("plugin `{}` is not the file that was pinned", plugin.name),
        ),
        plugin,
    )
    .with("expected", format!("sha256:{expected}"))
    .with("found", format!("sha256:{found}"))
    .with("help", help))
}

/// Checks the header: a component begins with `\0asm`, version 13, layer 1.
fn check_kind(plugin: &PluginConfig, wasm: &[u8]) -> Result<(), Error> {
    let (found, help) = match wasm {
        [0, b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => return Ok(()),
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => (
            "a core module".to_owned(),
            "wrap it: set `linker = \"wasm-component-ld\"` for wasm32-unknown-unknown, or run `wasm-tools component new`",
        ),
        [0, b'a', b's', b'm', ..] => (
            "WebAssembly of an unknown version".to_owned(),
            "build the plugin with current tools",
        ),
        [0x7f, b'E', b'L', b'F', ..] => (
            "native or precompiled code".to_owned(),
            "name the .wasm file; precompiled code is never taken from a file",
        ),
        [] => ("an empty file".to_owned(), "build the plugin again"),
        other => {
            let first: Vec<String> = other
                .iter()
                .take(4)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            (
                format!("a file that begins with {}", first.join(" ")),
                "name a .wasm file",
            )
        }
    };
    let message = format!("plugin `{}` is no WebAssembly component", plugin.name);
    Err(of_file(Error::mistake(codes::H0106, message), plugin)
        .with("expected", "a component (\\0asm, version 13, layer 1)")
        .with("found", found)
        .with("help", help))
}

/// Adds the plugin's file to the error, unless the plugin is bundled.
fn of_file(error: Error, plugin: &PluginConfig) -> Error {
    match &plugin.source {
        PluginSource::File(path) => error.with("file", path.display().to_string()),
        PluginSource::Bundled(_) => error,
    }
}
