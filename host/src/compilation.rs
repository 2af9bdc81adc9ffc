//! Provides the code of plugins outside this binary, from caches or a compiler.

use std::path::Path;
use std::sync::Arc;

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::cache::{self, Cache};
use crate::compiler::{COMMAND, Code, Compiler, beyond, lasting};
use crate::plugin_file::PluginFile;
use errors::{Error, codes};
use plugin_code::limits::Limits;

/// Caches for the code of plugins, and a compiler for code that no cache holds.
pub struct Compilation<'a> {
    caches: Arc<[Cache]>,
    compiler: &'a dyn Compiler,
    /// Compiles plugins again that exceeded a limit before.
    anew: bool,
}

impl std::fmt::Debug for Compilation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Compilation").field(&self.caches).finish()
    }
}

impl<'a> Compilation<'a> {
    /// Uses the cache of the compiler. If the folder `cache` exists and is private, it is consulted first.
    #[must_use]
    pub fn new(cache: Option<&Path>, compiler: &'a dyn Compiler) -> Self {
        let first = cache.and_then(|folder| Cache::existing(folder).ok());
        let caches = first.into_iter().chain(compiler.cache()).collect();
        Self {
            caches,
            compiler,
            anew: false,
        }
    }

    /// Uses only this cache.
    #[must_use]
    pub fn with(cache: Cache, compiler: &'a dyn Compiler) -> Self {
        Self {
            caches: Arc::new([cache]),
            compiler,
            anew: false,
        }
    }

    /// The caches, in the order of look-up.
    pub(crate) fn caches(&self) -> Arc<[Cache]> {
        Arc::clone(&self.caches)
    }

    /// Compiles plugins again that exceeded a limit before.
    #[must_use]
    pub fn anew(self) -> Self {
        Self { anew: true, ..self }
    }

    /// Compiles a plugin, unless a cache records that it exceeds a limit.
    fn compile(&self, plugin: &PluginFile) -> Result<Code, Error> {
        let limits = Limits::of(plugin.wasm.len()).all();
        let mut caches = self.caches.iter().filter(|_| !self.anew);
        let known = caches.find_map(|cache| cache.refusal(&plugin.digest, &limits));
        if let Some((found, expected)) = known {
            let help = format!(
                "an earlier attempt had this result; `{COMMAND} compile-plugin FILE` tries again"
            );
            return Err(beyond(plugin, &found, &expected).with("help", help));
        }
        let outcome = self.compiler.compile(plugin);
        if let Some(cause) = outcome.as_ref().err().and_then(lasting) {
            // If the disk is full, the next start compiles again.
            let mut caches = self.caches.iter();
            caches.any(|cache| cache.refuse(&plugin.digest, &limits, &cause).is_ok());
        }
        outcome
    }

    /// Returns the component from a cache, or compiles and stores it.
    ///
    /// # Errors
    /// Those of [`Compiler::compile`]. An error of a cache is not reported.
    pub(crate) fn component(
        &self,
        engine: &Engine,
        plugin: &PluginFile,
    ) -> Result<(Component, Kept), Error> {
        let mut cached = self.caches.iter();
        if let Some(found) = cached.find_map(|cache| cache.find(engine, &plugin.digest)) {
            return Ok((found, Kept::Before));
        }
        let code = self.compile(plugin)?;
        let component = cache::load_compiled(engine, &code).map_err(|error| {
            let message = format!("plugin `{}` was compiled for another version", plugin.name);
            let help =
                format!("install the command `{COMMAND}` and the agent's library of one version");
            Error::mistake(codes::H0116, message)
                .with("found", format!("{error:#}"))
                .with("help", help)
        })?;
        // If the disk is full or a race is lost, the next start compiles again.
        let kept = self
            .caches
            .iter()
            .any(|cache| cache.keep(&plugin.digest, &code).is_ok());
        Ok((component, if kept { Kept::Now } else { Kept::Nowhere }))
    }
}

/// The place of a plugin's code in the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// A cache held the code before.
    Before,
    /// The code was stored now.
    Now,
    /// The code is in no cache, because none exists or is writable.
    Nowhere,
}
