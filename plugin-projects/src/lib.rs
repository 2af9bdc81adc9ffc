//! Projects of plugins: creates sources, builds components from them, and stores those of others.
//!
//! | module | holds |
//! |---|---|
//! | this one | the plugin that a user names: bundled, a file, or a project |
//! | [`language`], [`template`] | the languages, and the files of a new project |
//! | [`build`], [`watched_files`] | components from sources, and changes of sources |
//! | [`plans`], [`plan_text`] | expected plans for classes, as tests |
//! | [`store`], [`added_plugins`] | the plugins that a project has added, by digest |
//! | [`configured`] | plugins that transform classes outside any JVM |
//!
//! Each fails with a coded [`errors::Error`].
//!
//! ```
//! use plugin_projects::language::Language;
//! use plugin_projects::template;
//!
//! let folder = tempfile::tempdir()?;
//! let project = folder.path().join("call-counter");
//! template::make(&project, Language::C)?;
//! assert_eq!(Language::of(&project)?, Language::C);
//! assert!(project.join("src/plugin.c").is_file());
//!
//! // An existing project is never replaced.
//! assert_eq!(template::make(&project, Language::C).unwrap_err().exit(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod added_plugins;
pub mod build;
pub mod configured;
pub mod language;
pub mod plan_text;
pub mod plans;
mod sdk;
pub mod store;
pub mod template;
pub mod watched_files;

use std::path::{Path, PathBuf};

use errors::{Error, codes};
use host::PluginDescription;
use host::compiler::Compiler;
use host::config::{BUNDLED, PluginConfig};
use host::plugin_description;

/// The user's argument PLUGIN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// A bundled plugin's name.
    Bundled(String),
    /// A component's file, possibly built by others.
    File(PathBuf),
    /// The component just built from the project in a folder.
    Built(PathBuf),
}

impl PluginSource {
    /// Resolves the argument. The project in a folder is built.
    ///
    /// # Errors
    /// If the argument is no bundled name, component file or project (`H0682`), or cannot be built
    /// (`H0683`, `H0684`).
    pub fn find(plugin: &str) -> Result<Self, Error> {
        let path = Path::new(plugin);
        if path.is_dir() {
            return build::build(path).map(Self::Built);
        }
        if plugin.ends_with(".wasm") {
            return Ok(Self::File(path.to_owned()));
        }
        if BUNDLED.contains(&plugin) {
            return Ok(Self::Bundled(plugin.to_owned()));
        }
        if let Some(added) = added_plugins::find(plugin)? {
            return Ok(Self::File(added));
        }
        Err(Error::mistake(codes::H0682, format!("`{plugin}` is no plugin"))
            .with(
                "expected",
                format!(
                    "a project's folder, a file that ends in .wasm, a plugin that was added, or {}",
                    BUNDLED.join(", ")
                ),
            )
            .with("help", "`classhook plugin new NAME` makes a project"))
    }

    /// Returns the configuration for the host.
    #[must_use]
    pub fn configuration(&self) -> PluginConfig {
        match self {
            Self::Bundled(name) => PluginConfig::bundled(name),
            Self::File(path) | Self::Built(path) => PluginConfig::file(path.clone()),
        }
    }

    /// Returns the plugin's name in the agent's options.
    #[must_use]
    pub fn reference(&self) -> PathBuf {
        match self {
            Self::Bundled(name) => name.into(),
            Self::File(path) | Self::Built(path) => path.clone(),
        }
    }

    /// Describes the plugin without showing it a class.
    ///
    /// # Errors
    /// If it does not load (`H01xx`).
    pub fn describe(&self, compiler: &dyn Compiler) -> Result<PluginDescription, Error> {
        plugin_description::describe(&self.configuration(), compiler)
    }
}

/// Builds the project in a folder and returns its component. Any other name is returned unchanged.
///
/// # Errors
/// If the folder holds no project (`H0682`), or it cannot be built (`H0683`, `H0684`).
pub fn component_of(plugin: &str) -> Result<String, Error> {
    let path = Path::new(plugin);
    // A known plugin of this name takes precedence over a folder.
    let is_named =
        || Ok::<_, Error>(BUNDLED.contains(&plugin) || added_plugins::find(plugin)?.is_some());
    if !path.is_dir() || is_named()? {
        return Ok(plugin.to_owned());
    }
    let component = build::build(path)?;
    Ok(component.to_string_lossy().into_owned())
}

/// Returns the grants that a plugin needs.
#[must_use]
pub fn needed(plugin: &PluginDescription) -> Vec<&'static str> {
    let imports = plugin.imports.iter();
    imports
        .flat_map(|import| import.grants.iter().map(|(grant, _)| *grant))
        .collect()
}
