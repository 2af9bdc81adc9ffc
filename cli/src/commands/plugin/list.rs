//! `classhook plugin list`: lists the available plugins.

use std::fs;
use std::path::{Path, PathBuf};

use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use errors::{Error, PARTIAL, Warning, Warnings, codes};
use host::Config;
use host::config::lock::{Lock, STORE};
use host::config::{BUNDLED, PluginSource as Configured};
use plugin_projects::added_plugins::{ComponentState, component_state};
use plugin_projects::{PluginSource, needed};
use standard_streams::show::{self, complain, show};

use super::add::{list as capabilities, title};

const AFTER_HELP: &str = "\
Lists bundled plugins, component files (.wasm) in the folder and its `target`, and plugins of its classhook.toml: with
size, needed capabilities and path. Then lists the plugins of its classhook.lock, with version, source, digest,
capabilities, and the state of the component.
A component that does not load, is missing or has another digest is a warning, and the exit code is 3.

Example:
  classhook plugin list call-counter";

/// Lists the available plugins.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct List {
    /// Search component files and a classhook.toml in this folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

impl List {
    /// Prints the list.
    ///
    /// # Errors
    /// If the folder or its classhook.toml cannot be read.
    pub fn run(&self) -> Result<u8, Error> {
        let mut sources: Vec<_> = BUNDLED
            .iter()
            .map(|name| PluginSource::Bundled((*name).to_owned()))
            .collect();
        let mut files = components(&self.folder)?;
        if let Ok(target) = components(&self.folder.join("target")) {
            files.extend(target); // not every folder has one
        }
        files.extend(configured(&self.folder.join("classhook.toml"))?);
        let mut seen = Vec::new();
        for file in files {
            let place = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
            if !seen.contains(&place) {
                seen.push(place);
                sources.push(PluginSource::File(file));
            }
        }
        let mut warnings = Warnings::default();
        let text = table(&sources, &mut warnings) + &locked(&self.folder, &mut warnings)?;
        let code = match warnings.is_empty() {
            true => 0,
            false => PARTIAL,
        };
        complain(&warnings);
        show(&text)?;
        Ok(code)
    }
}

/// Returns the lines about added plugins, with the state of their components.
fn locked(folder: &Path, warnings: &mut Warnings) -> Result<String, Error> {
    let mut text = String::new();
    for plugin in &Lock::load(folder)?.plugins {
        let cause = match component_state(folder, plugin) {
            ComponentState::AsLocked => None,
            ComponentState::Missing => Some("missing".to_owned()),
            ComponentState::Other(found) => Some(format!("another one: {found}")),
        };
        text += &format!(
            "\n{}\n  source: {}\n  digest: sha256:{}\n  asks for: {}\n  file: {}\n",
            title(plugin),
            show::name(&plugin.source),
            plugin.digest,
            capabilities(&plugin.capabilities),
            show::name(cause.as_deref().unwrap_or("present, as locked")),
        );
        if let Some(cause) = cause {
            let message = format!(
                "the component of `{}` differs from the added one",
                plugin.name
            );
            let warning = Warning::new(codes::H0699, message).with("found", cause);
            warnings.add(warning.with("help", "`classhook plugin add` fetches it again"));
        }
    }
    Ok(text)
}

fn table(sources: &[PluginSource], warnings: &mut Warnings) -> String {
    let mut text = format!(
        "{:<24} {:>9}  {:<28} place\n",
        "plugin", "bytes", "to be granted"
    );
    for source in sources {
        let place = match source {
            PluginSource::Bundled(_) => "bundled".to_owned(),
            PluginSource::File(file) | PluginSource::Built(file) => show::path(file),
        };
        match source.describe(&PluginCompiler) {
            Ok(plugin) => {
                let version = plugin.version.as_deref().map(show::name);
                let version = version.map(|version| format!(" {version}"));
                let name = show::name(&plugin.name).into_owned() + &version.unwrap_or_default();
                let grants = needed(&plugin).join(" ");
                text += &format!("{name:<24} {:>9}  {grants:<28} {place}\n", plugin.size);
            }
            Err(problem) => {
                let warning =
                    Warning::new(codes::H0687, format!("the plugin {place} does not load"));
                warnings.add(warning.with("cause", problem.summary()));
            }
        }
    }
    text
}

fn components(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| Error::unreadable(folder, &error))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "wasm")
    });
    files.sort();
    Ok(files)
}

fn configured(file: &Path) -> Result<Vec<PathBuf>, Error> {
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let plugins = Config::load(file)?.plugins.into_iter();
    let path = |source| match source {
        Configured::File(path) => Some(path),
        Configured::Bundled(_) => None,
    };
    let files = plugins.filter_map(|plugin| path(plugin.source));
    // Added plugins have lines of their own.
    let store = file.with_file_name(STORE);
    Ok(files.filter(|file| !file.starts_with(&store)).collect())
}
