//! What can be known of a plugin without showing it a class.

use std::sync::Arc;

use crate::compilation::Compilation;
use crate::compiler::Compiler;
use crate::config::{CAPABILITIES, LogLevel, PluginConfig, PluginSource};
use crate::error::HostError;
use crate::instance::Instance;
use crate::plugin_file::PluginFile;
use crate::{abilities, bundled, component, engine};
use plugin_code::sha256_hex;

/// A plugin, seen from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginDescription {
    /// Its name in messages and snapshots.
    pub name: String,
    /// Length of the component in bytes.
    pub size: usize,
    /// SHA-256 of the component, lower-case hex.
    pub digest: String,
    /// What it imports, in the order of the component.
    pub imports: Vec<Interface>,
    /// What it exports.
    pub exports: Vec<Interface>,
    /// Which classes it selects when it is configured with nothing.
    pub selectors: Result<Vec<String>, String>,
}

impl PluginDescription {
    /// Whether it computes tables when a report is made.
    #[must_use]
    pub fn computes_tables(&self) -> bool {
        let mut exports = self.exports.iter();
        exports.any(|export| abilities::is_reporter(&export.name))
    }
}

/// An imported or exported interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// `classhook:plugin/probes@0.1.0`.
    pub name: String,
    /// Its functions, methods as `[method]resource.name`.
    pub functions: Vec<String>,
    /// The capability that must be granted for it, and what that allows.
    pub grant: Option<(&'static str, &'static str)>,
}

/// Loads a plugin, within the limits of any, and says what it is; `compiler` compiles it if it is in no cache.
///
/// # Errors
/// If it cannot be read, is no component, or does not fit this agent (`H01xx`).
pub fn describe(
    config: &PluginConfig,
    compiler: &dyn Compiler,
) -> Result<PluginDescription, HostError> {
    let everything = PluginConfig {
        grant: CAPABILITIES.map(str::to_owned).to_vec(),
        ..config.clone()
    };
    let (engine, ticker) = engine::start()?;
    let _running = ticker.run().map_err(|error| engine::broken(&error))?;
    let loaded = component::read(&everything, &engine, &Compilation::new(None, compiler))?;
    let component = loaded.component;
    let world = component.component_type();
    let interface = |name: &str, functions: Vec<String>| Interface {
        name: name.to_owned(),
        functions,
        grant: abilities::grant_for(name),
    };
    let imports = world
        .imports(&engine)
        .map(|(name, item)| interface(name, abilities::functions(&item.ty, &engine)))
        .collect();
    let exports = world
        .exports(&engine)
        .map(|(name, item)| interface(name, abilities::functions(&item.ty, &engine)))
        .collect();
    let pre = component::prepare(&everything, &component, &engine)?;
    let selectors = Instance::new(&pre, &config.name, "{}", LogLevel::Off, &Arc::default())
        .map(|(_, selectors)| selectors)
        .map_err(|fault| fault.cause);
    let (size, digest) = bytes_of(config)?;
    Ok(PluginDescription {
        name: config.name.clone(),
        size,
        digest,
        imports,
        exports,
        selectors,
    })
}

fn bytes_of(config: &PluginConfig) -> Result<(usize, String), HostError> {
    match &config.source {
        PluginSource::Bundled(name) => {
            let wasm = bundled::find(name).and_then(|found| found.wasm().ok());
            let of = |wasm: Vec<u8>| (wasm.len(), sha256_hex(&wasm));
            Ok(wasm.map(of).unwrap_or_default())
        }
        PluginSource::File(path) => {
            let file = PluginFile::open(&config.name, path)?;
            Ok((file.wasm.len(), file.digest))
        }
    }
}
