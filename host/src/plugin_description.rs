//! The properties of a plugin that need no class.

use crate::compilation::Compilation;
use crate::compiler::Compiler;
use crate::config::{CAPABILITIES, LogLevel, PluginConfig, PluginSource};
use crate::instance::Instance;
use crate::plugin_file::PluginFile;
use crate::store_data::StoreSettings;
use crate::{bundled, capabilities, component, engine};
use errors::Error;

/// Maximum length of a version in bytes.
const MAX_VERSION: usize = 64;

/// The external description of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginDescription {
    /// Its name in messages and snapshots.
    pub name: String,
    /// Length of the component in bytes.
    pub size: usize,
    /// SHA-256 of the component, lower-case hex.
    pub digest: String,
    /// The content of its custom section `version`.
    pub version: Option<String>,
    /// The imports, in the order of the component.
    pub imports: Vec<Interface>,
    /// The exports.
    pub exports: Vec<Interface>,
    /// The selectors of the plugin with an empty configuration, or the text of its error.
    pub selectors: Result<Vec<String>, String>,
}

impl PluginDescription {
    /// Returns whether the plugin computes tables for reports.
    #[must_use]
    pub fn computes_tables(&self) -> bool {
        let mut exports = self.exports.iter();
        exports.any(|export| capabilities::is_reporter(&export.name))
    }

    /// Returns whether the plugin observes the JVM.
    #[must_use]
    pub fn observes(&self) -> bool {
        let mut exports = self.exports.iter();
        exports.any(|export| capabilities::is_observer(&export.name))
    }
}

/// An imported or exported interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The full name, for example `classhook:plugin/probes@0.1.0`.
    pub name: String,
    /// The functions, methods as `[method]resource.name`.
    pub functions: Vec<String>,
    /// The grants that it needs, each with its effect.
    pub grants: Vec<(&'static str, &'static str)>,
}

/// Loads a plugin with the usual limits and describes it; `compiler` compiles it if no cache holds
/// it.
///
/// # Errors
/// If the file cannot be read, is no component, or does not fit this agent (`H01xx`).
pub fn describe(
    config: &PluginConfig,
    compiler: &dyn Compiler,
) -> Result<PluginDescription, Error> {
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
        grants: capabilities::grants_for(name, &functions),
        functions,
    };
    let imports = world
        .imports(&engine)
        .map(|(name, item)| interface(name, capabilities::functions(&item.ty, &engine)))
        .collect();
    let exports = world
        .exports(&engine)
        .map(|(name, item)| interface(name, capabilities::functions(&item.ty, &engine)))
        .collect();
    let pre = component::prepare(&everything, &component, &engine)?;
    let selectors = Instance::new(&pre, "{}", &StoreSettings::new(&config.name, LogLevel::Off))
        .map(|(_, selectors)| selectors)
        .map_err(|failure| failure.cause);
    let (size, digest, version) = bytes_of(config)?;
    Ok(PluginDescription {
        name: config.name.clone(),
        size,
        digest,
        version,
        imports,
        exports,
        selectors,
    })
}

fn bytes_of(config: &PluginConfig) -> Result<(usize, String, Option<String>), Error> {
    match &config.source {
        PluginSource::Bundled(name) => {
            let of = |found: bundled::Bundled| (found.size, found.digest.to_owned(), None);
            Ok(bundled::find(name).map(of).unwrap_or_default())
        }
        PluginSource::File(path) => {
            let file = PluginFile::open(&config.name, path)?;
            let version = version(&file.wasm);
            Ok((file.wasm.len(), file.digest, version))
        }
    }
}

/// Returns the text of a component's custom section `version`, which `wasm-tools metadata add
/// --version` writes.
fn version(wasm: &[u8]) -> Option<String> {
    let mut rest = wasm.get(8..)?;
    while let [id, after @ ..] = rest {
        let (size, after) = number(after)?;
        let (section, next) = after.split_at_checked(size)?;
        rest = next;
        let Some((length, name)) = number(section).filter(|_| *id == 0) else {
            continue;
        };
        if let Some((b"version", text)) = name.split_at_checked(length) {
            let text = std::str::from_utf8(text).ok()?;
            return (text.len() <= MAX_VERSION).then(|| text.to_owned());
        }
    }
    None
}

/// Decodes an unsigned LEB128 number. Returns the number and the rest of the bytes.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(index + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_the_text_of_a_section_and_absent_if_damaged() {
        let mut wasm = b"\0asm\x0d\0\x01\0\x01\x80\x01".to_vec();
        wasm.extend([0; 128]);
        wasm.extend(b"\0\x0d\x07version1.2.3\0\x02\x01x");
        assert_eq!(version(&wasm), Some("1.2.3".to_owned()));
        wasm.truncate(wasm.len() - 5);
        assert_eq!(version(&wasm), None);
        for damaged in [
            &b""[..],
            b"\0asm\x0d\0\x01\0",
            b"\0asm\x0d\0\x01\0\0\xff\xff\xff\xff\xff",
        ] {
            assert_eq!(version(damaged), None);
        }
    }
}
