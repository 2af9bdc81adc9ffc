//! Compiles plugins before an agent needs them, so that no JVM waits for it.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use attach::Process;
use errors::Error;
use host::cache::Cache;
use host::compilation::Compilation;
use host::config::{PluginConfig, PluginSource};
use host::{Config, compile_ahead};
use local_files::jvm_files;
use local_files::jvm_tmp::JvmTmp;
use local_files::temporary;
use rustix::process::geteuid;
use tempfile::TempDir;

use crate::agent_options::AgentOptions;
use crate::plugin_compiler::PluginCompiler;

/// The folder with compiled plugins for an agent: this user's cache, or a folder that lives as long
/// as this value.
///
/// Without either, the agent compiles the plugins itself.
#[derive(Debug, Default)]
pub struct Precompiled {
    /// The folder as the JVM sees it.
    cache: Option<PathBuf>,
    /// Folder that is removed at the end.
    _folder: Option<TempDir>,
    /// Keeps the parent open: the folder's path leads through it.
    _tmp: Option<JvmTmp>,
}

impl Precompiled {
    /// Compiles for JVMs that this command starts.
    ///
    /// # Errors
    /// If a plugin cannot be read or compiled (`H0106`, `H0109`, `H0117`, `H0116`).
    pub fn for_children(config: &Config) -> Result<Self, Error> {
        if !has_files(config) {
            return Ok(Self::default());
        }
        if let Some(cache) = Cache::of_user() {
            return in_cache(config, cache);
        }
        let Ok((folder, cache)) = private_cache(&std::env::temp_dir()) else {
            return Ok(Self::default());
        };
        in_cache(config, cache).map(|compiled| compiled.until_dropped(folder))
    }

    /// Compiles one plugin for the JVM `pid`, a bundled name or an absolute path.
    ///
    /// # Errors
    /// As [`Precompiled::for_children`].
    pub fn for_plugin(plugin: &OsStr, pid: i32) -> Result<Self, Error> {
        let path = Path::new(plugin);
        let file = path
            .is_absolute()
            .then(|| PluginConfig::file(path.to_owned()));
        let alone = Config {
            plugins: file.into_iter().collect(),
            ..Config::default()
        };
        Self::for_jvm(&alone, pid)
    }

    /// Compiles for the JVM `pid`, whose user and file system may be others.
    ///
    /// # Errors
    /// As [`Precompiled::for_children`], or if the JVM cannot read a plugin's file (`H0607`).
    pub fn for_jvm(config: &Config, pid: i32) -> Result<Self, Error> {
        if !has_files(config) {
            return Ok(Self::default());
        }
        let Ok(process) = Process::read(pid) else {
            return Ok(Self::default()); // the next request to the JVM reports the error
        };
        for plugin in &config.plugins {
            if let PluginSource::File(file) = &plugin.source {
                jvm_files::check(&process, file)?;
            }
        }
        let is_ours = geteuid().as_raw() == process.effective_uid();
        let visible = |cache: &Cache| is_ours && process.sees(cache.folder());
        if let Some(cache) = Cache::of_user().filter(visible) {
            return in_cache(config, cache);
        }
        let Ok(tmp) = JvmTmp::open(&process) else {
            return Ok(Self::default());
        };
        let Ok((folder, cache)) = private_cache(&tmp.path()) else {
            return Ok(Self::default());
        };
        in_cache(config, cache)?;
        let given = tmp.give(folder.path()).is_ok();
        Ok(Self {
            cache: given.then(|| tmp.seen(folder.path())),
            _folder: Some(folder),
            _tmp: Some(tmp),
        })
    }

    /// Returns the folder, as the JVM sees it.
    #[must_use]
    pub fn cache(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// Adds the folder to an agent's options.
    pub fn add_to(&self, options: &mut AgentOptions) {
        options.cache.clone_from(&self.cache);
    }

    fn until_dropped(self, folder: TempDir) -> Self {
        Self {
            _folder: Some(folder),
            ..self
        }
    }
}

/// Checks for plugins from files. Bundled plugins contain their code.
fn has_files(config: &Config) -> bool {
    let mut sources = config.plugins.iter().map(|plugin| &plugin.source);
    sources.any(|source| matches!(source, PluginSource::File(_)))
}

fn in_cache(config: &Config, cache: Cache) -> Result<Precompiled, Error> {
    let folder = cache.folder().to_owned();
    let compilation = Compilation::with(cache, &PluginCompiler);
    for plugin in &config.plugins {
        compile_ahead(plugin, &compilation)?;
    }
    Ok(Precompiled {
        cache: Some(folder),
        ..Precompiled::default()
    })
}

/// Creates a separate cache below `parent`, private to this user.
fn private_cache(parent: &Path) -> io::Result<(TempDir, Cache)> {
    let folder = temporary::folder(parent)?;
    let cache = Cache::open(folder.path())?;
    Ok((folder, cache))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_plugins_need_no_folder() {
        let compiled = Precompiled::for_children(&Config::default()).unwrap();
        assert_eq!(compiled.cache(), None);
    }

    #[test]
    fn separate_folder_is_private_and_removed() {
        let (folder, cache) = private_cache(&std::env::temp_dir()).unwrap();
        let path = cache.folder().to_owned();
        Cache::existing(&path).unwrap();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn unreadable_plugin_is_reported_before_a_start() {
        let config = Config::from_options("plugin=/nowhere/x.wasm").unwrap();
        let problem = Precompiled::for_children(&config).unwrap_err();
        assert!(problem.to_string().starts_with("error[H0106]"), "{problem}");
        assert_eq!(problem.exit(), 2);
        let own = std::process::id().cast_signed();
        Precompiled::for_jvm(&config, own).unwrap_err();
    }
}
