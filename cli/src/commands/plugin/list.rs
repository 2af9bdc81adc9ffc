//! `classhook plugin list`: the plugins that are at hand.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use host::Config;
use host::config::{BUNDLED, PluginSource as Configured};

use crate::plugin_project::{PluginSource, needed};
use crate::problem::Problem;
use crate::show::{self, show};
use crate::warnings::{Warning, Warnings};

const AFTER_HELP: &str = "\
Lists the bundled plugins, the component files (.wasm) in the folder and its folder `target`, and those that its
classhook.toml names, with size, what each has to be granted, and its place.
One that does not load is a warning, and the exit code is then 3.

Example:
  classhook plugin list call-counter";

/// Lists plugins.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct List {
    /// Where to look for component files and a classhook.toml
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

impl List {
    /// Lists.
    ///
    /// # Errors
    /// If the folder or its classhook.toml cannot be read.
    pub fn run(&self) -> Result<u8, Problem> {
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
        print(&sources)
    }
}

fn print(sources: &[PluginSource]) -> Result<u8, Problem> {
    let mut warnings = Warnings::default();
    let mut text = format!(
        "{:<24} {:>9}  {:<28} place\n",
        "plugin", "bytes", "to be granted"
    );
    for source in sources {
        let place = match source {
            PluginSource::Bundled(_) => "bundled".to_owned(),
            PluginSource::File(file) | PluginSource::Built(file) => show::path(file),
        };
        match source.describe() {
            Ok(plugin) => {
                let name = show::name(&plugin.name).into_owned();
                let grants = needed(&plugin).join(" ");
                text += &format!("{name:<24} {:>9}  {grants:<28} {place}\n", plugin.size);
            }
            Err(problem) => {
                let warning = Warning::new("H0687", format!("{place} is no plugin that loads"));
                warnings.add(warning.with("cause", problem.cause()));
            }
        }
    }
    let code = if warnings.is_empty() {
        0
    } else {
        crate::problem::PARTIAL
    };
    warnings.print();
    show(&text)?;
    Ok(code)
}

fn components(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let entries = fs::read_dir(folder).map_err(|error| Problem::unreadable(folder, &error))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "wasm")
    });
    files.sort();
    Ok(files)
}

fn configured(file: &Path) -> Result<Vec<PathBuf>, Problem> {
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let plugins = Config::load(file)?.plugins.into_iter();
    let path = |source| match source {
        Configured::File(path) => Some(path),
        Configured::Bundled(_) => None,
    };
    Ok(plugins.filter_map(|plugin| path(plugin.source)).collect())
}
