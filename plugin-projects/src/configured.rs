//! Configures plugins that transform classes outside any JVM.

use std::path::{Path, PathBuf};

use errors::{Error, codes};
use host::compiler::Compiler;
use host::config::{BUNDLED, CAPABILITIES, LogLevel, PluginConfig};
use host::{Config, Pipeline};

use crate::added_plugins;

/// Resolves a bundled name, the name of an added plugin, or a `.wasm` file. Everything is granted,
/// because none of its code runs in a JVM.
///
/// # Errors
/// If the argument is none of these (`H0105`).
pub fn configuration(plugin: &str) -> Result<PluginConfig, Error> {
    let is_path = plugin.ends_with(".wasm") || plugin.contains('/');
    let is_folder = Path::new(plugin).is_dir();
    let config = if is_path && !is_folder {
        PluginConfig::file(PathBuf::from(plugin))
    } else if let Some(bundled) = PluginConfig::bundled_of(plugin) {
        bundled
    } else if !is_path && let Some(added) = added_plugins::find(plugin)? {
        PluginConfig::file(added)
    } else if is_folder {
        let what = format!("`{plugin}` is a folder");
        let build = format!(
            "classhook plugin build {plugin}   # then give the component in {plugin}/target"
        );
        return Err(Error::mistake(codes::H0105, what)
            .with("expected", "a component, a file that ends in .wasm")
            .with("help", build));
    } else {
        let expected = format!(
            "{}, a plugin that was added, or a file that ends in .wasm",
            BUNDLED.join(", ")
        );
        let message = format!("there is no bundled plugin `{plugin}`");
        return Err(Error::mistake(codes::H0105, message).with("expected", expected));
    };
    Ok(PluginConfig {
        grant: CAPABILITIES.map(str::to_owned).to_vec(),
        ..config
    })
}

/// As [`configuration`], with the plugin's settings from a `classhook.toml`, found by its name.
fn configured(plugin: &str, file: &Path) -> Result<PluginConfig, Error> {
    let wanted = configuration(plugin)?;
    let mut all = Config::load(file)?.plugins;
    let Some(index) = all.iter().position(|found| found.name == wanted.name) else {
        let names: Vec<_> = all.iter().map(|found| found.name.as_str()).collect();
        let message = format!("{} configures no plugin `{}`", file.display(), wanted.name);
        return Err(Error::mistake(codes::H0105, message).with("found", names.join(", ")));
    };
    let found = all.swap_remove(index);
    Ok(PluginConfig {
        digest: found.digest.or(wanted.digest),
        select: found.select,
        order: found.order,
        config: found.config,
        config_lines: found.config_lines,
        ..wanted
    })
}

/// Creates a pipeline of this one plugin, with settings from a `classhook.toml` if given.
///
/// # Errors
/// As [`configuration`], and if the settings or the plugin cannot be loaded.
pub fn pipeline(
    plugin: &str,
    settings: Option<&Path>,
    compiler: &dyn Compiler,
) -> Result<Pipeline, Error> {
    Pipeline::new(&alone(plugin, settings)?, compiler)
}

/// Creates a pipeline of several plugins, with settings from a `classhook.toml` if given.
///
/// # Errors
/// As [`pipeline`].
pub fn pipeline_of(
    plugins: &[&str],
    settings: Option<&Path>,
    compiler: &dyn Compiler,
) -> Result<Pipeline, Error> {
    let plugins = plugins.iter().map(|plugin| one(plugin, settings));
    let mut config = Config {
        plugins: plugins.collect::<Result<_, _>>()?,
        ..Config::default()
    };
    config.agent.log = LogLevel::Warn;
    Pipeline::new(&config, compiler)
}

/// As [`configuration`], with settings from a `classhook.toml` if given.
///
/// # Errors
/// As [`configuration`], and if the settings cannot be loaded.
pub fn one(plugin: &str, settings: Option<&Path>) -> Result<PluginConfig, Error> {
    match settings {
        Some(file) => configured(plugin, file),
        None => configuration(plugin),
    }
}

/// Returns a configuration of this one plugin, with settings from a `classhook.toml` if given.
///
/// # Errors
/// As [`configuration`], and if the settings cannot be loaded.
pub fn alone(plugin: &str, settings: Option<&Path>) -> Result<Config, Error> {
    let mut config = Config {
        plugins: vec![one(plugin, settings)?],
        ..Config::default()
    };
    config.agent.log = LogLevel::Warn;
    Ok(config)
}
