//! The plugins inside this binary: machine code precompiled by the same engine, and the digest and
//! size of each component. The components themselves are left out, because they would double the
//! space.
//!
//! `cargo xtask build` builds the plugins; `build.rs` compresses and embeds them.

use lz4_flex::block::{decompress, uncompressed_size};

/// One plugin that is part of the agent.
#[derive(Debug, Clone, Copy)]
pub struct Bundled {
    /// The name used in `use = "…"`.
    pub name: &'static str,
    /// SHA-256 of the component, lower-case hex.
    pub digest: &'static str,
    /// Length of the component in bytes.
    pub size: usize,
    /// The compressed machine code.
    code: &'static [u8],
}

impl Bundled {
    /// Decompresses the machine code. Returns `None` if this binary is damaged.
    #[must_use]
    pub fn code(&self) -> Option<Vec<u8>> {
        let (length, block) = uncompressed_size(self.code).ok()?;
        // A block that is cut between two sequences decompresses to fewer bytes.
        let code = decompress(block, length).ok();
        code.filter(|code| code.len() == length)
    }
}

include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// Finds the plugin with this name. Returns `None` if this binary was built without it.
#[must_use]
pub fn find(name: &str) -> Option<Bundled> {
    PLUGINS.iter().find(|plugin| plugin.name == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::CompilerProcess;
    use crate::config::PluginConfig;

    #[test]
    fn the_code_inside_this_binary_fits_its_engine() {
        let engine = crate::engine::new().unwrap();
        for name in crate::config::BUNDLED {
            let plugin = find(name).expect("run `cargo xtask build` first");
            let loaded = crate::cache::load_bundled(&engine, &plugin);
            assert!(loaded.is_some(), "{name} could not be loaded");
        }
    }

    #[test]
    fn bundled_plugin_imports_exactly_its_grants() {
        for name in crate::config::BUNDLED {
            let mut config = PluginConfig::bundled(name);
            config.grant.retain(|grant| grant != "natives"); // not an import
            let plugin =
                crate::plugin_description::describe(&config, &CompilerProcess::new(Vec::new()))
                    .unwrap();
            let asked = plugin.imports.iter().flat_map(|import| &import.grants);
            let mut asked: Vec<&str> = asked.map(|(grant, _)| *grant).collect();
            asked.sort_unstable();
            assert_eq!(asked, config.grant, "{name}");
        }
    }

    #[test]
    fn code_for_another_engine_is_not_loaded() {
        let mut settings = plugin_code::settings();
        settings.epoch_interruption(false);
        let other = wasmtime::Engine::new(&settings).unwrap();
        let plugin = find("coverage").expect("run `cargo xtask build` first");
        assert!(crate::cache::load_bundled(&other, &plugin).is_none());
    }

    #[test]
    fn invalid_code_is_not_loaded() {
        let engine = crate::engine::new().unwrap();
        for code in [&b"\x7fELF"[..], b""] {
            let code = lz4_flex::compress_prepend_size(code).leak();
            let plugin = Bundled {
                name: "foreign",
                digest: "",
                size: 0,
                code,
            };
            assert!(crate::cache::load_bundled(&engine, &plugin).is_none());
        }
    }

    #[test]
    fn damaged_code_is_not_unpacked() {
        let plugin = find("coverage").expect("run `cargo xtask build` first");
        assert!(plugin.code().is_some());
        for length in (0..plugin.code.len()).step_by(499) {
            let code = &plugin.code[..length];
            let cut = Bundled { code, ..plugin };
            assert!(cut.code().is_none(), "cut to {length} bytes");
        }
    }

    #[test]
    fn bundled_plugin_is_pinned_to_the_component_of_its_code() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bundled/trace.wasm");
        let wasm = std::fs::read(file).expect("run `cargo xtask build` first");
        let compiler = CompilerProcess::new(Vec::new());
        let describe = |digest: String| {
            let mut config = PluginConfig::bundled("trace");
            config.digest = Some(digest);
            crate::plugin_description::describe(&config, &compiler)
        };
        let plugin = describe(plugin_code::sha256_hex(&wasm)).unwrap();
        assert_eq!(plugin.size, wasm.len());
        assert_eq!(describe("0".repeat(64)).unwrap_err().code(), "H0109");
    }
}
