//! Where the code of plugins comes from that are no part of this binary: caches, and a compiler for the rest.

use std::path::Path;
use std::sync::Arc;

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::cache::{self, Cache};
use crate::compiler::{COMMAND, Code, Compiler, beyond, lasting};
use crate::error::HostError;
use crate::plugin_file::PluginFile;
use plugin_code::limits::Limits;

/// Caches, and a compiler for what is in none of them.
pub struct Compilation<'a> {
    caches: Arc<[Cache]>,
    compiler: &'a dyn Compiler,
    /// Plugins that were beyond a limit before are tried again.
    anew: bool,
}

impl std::fmt::Debug for Compilation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Compilation").field(&self.caches).finish()
    }
}

impl<'a> Compilation<'a> {
    /// With the user's cache, and another one in front of it if it is there and private.
    #[must_use]
    pub fn new(cache: Option<&Path>, compiler: &'a dyn Compiler) -> Self {
        let first = cache.and_then(|folder| Cache::existing(folder).ok());
        let caches = first.into_iter().chain(Cache::of_user()).collect();
        Self {
            caches,
            compiler,
            anew: false,
        }
    }

    /// With this cache alone.
    #[must_use]
    pub fn with(cache: Cache, compiler: &'a dyn Compiler) -> Self {
        Self {
            caches: Arc::new([cache]),
            compiler,
            anew: false,
        }
    }

    /// The caches, that to be asked first in front.
    pub(crate) fn caches(&self) -> Arc<[Cache]> {
        Arc::clone(&self.caches)
    }

    /// The same, where plugins that were beyond a limit before are tried again.
    #[must_use]
    pub fn anew(self) -> Self {
        Self { anew: true, ..self }
    }

    /// Compiles a plugin, unless it is known to be beyond a limit.
    fn compile(&self, plugin: &PluginFile) -> Result<Code, HostError> {
        let limits = Limits::of(plugin.wasm.len()).all();
        let mut caches = self.caches.iter().filter(|_| !self.anew);
        let known = caches.find_map(|cache| cache.refusal(&plugin.digest, &limits));
        if let Some((found, expected)) = known {
            let help = format!(
                "this is known from an earlier try; `{COMMAND} compile-plugin FILE` tries again"
            );
            return Err(beyond(plugin, &found, &expected).with("help", help));
        }
        let outcome = self.compiler.compile(plugin);
        if let Some(cause) = outcome.as_ref().err().and_then(lasting) {
            // A full disk costs only the next start another try.
            let mut caches = self.caches.iter();
            caches.any(|cache| cache.refuse(&plugin.digest, &limits, &cause).is_ok());
        }
        outcome
    }

    /// The component, from a cache if it is there, else compiled and put there.
    ///
    /// # Errors
    /// As [`Compiler::compile`]; trouble with a cache is no error.
    pub(crate) fn component(
        &self,
        engine: &Engine,
        plugin: &PluginFile,
    ) -> Result<(Component, Kept), HostError> {
        let mut cached = self.caches.iter();
        if let Some(found) = cached.find_map(|cache| cache.find(engine, &plugin.digest)) {
            return Ok((found, Kept::Before));
        }
        let code = self.compile(plugin)?;
        let component = cache::load_compiled(engine, &code).map_err(|error| {
            let message = format!("plugin `{}` was compiled for another version", plugin.name);
            let help =
                format!("install the command `{COMMAND}` and the agent's library of one version");
            HostError::new("H0116", message)
                .with("found", format!("{error:#}"))
                .with("help", help)
        })?;
        // A full disk or a lost race costs only the next start its compilation.
        let kept = self
            .caches
            .iter()
            .any(|cache| cache.keep(&plugin.digest, &code).is_ok());
        Ok((component, if kept { Kept::Now } else { Kept::Nowhere }))
    }
}

/// Whether a cache holds a plugin's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It held it before.
    Before,
    /// It holds it since now.
    Now,
    /// There is no cache, or it takes nothing.
    Nowhere,
}
