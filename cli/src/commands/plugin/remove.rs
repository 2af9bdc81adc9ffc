//! `classhook plugin remove`: removes added plugins from a project.

use std::path::PathBuf;

use clap::Args;
use errors::{Error, codes};
use host::config::lock::Lock;
use plugin_projects::store::Store;
use plugin_projects::store::settings_file::SettingsFile;
use standard_streams::show::{name, show};

use crate::args::PROJECT;

const AFTER_HELP: &str = "\
Removes the plugins and their settings from classhook.toml and classhook.lock, and deletes their components.

Examples:
  classhook plugin remove call-counter
  classhook plugin remove call-counter sql-timer";

/// Removes added plugins from a project.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Remove {
    /// Remove these plugins; `classhook plugin list` lists their names
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// The folder of the project.
    #[arg(long, value_name = "DIR", default_value = ".", help = PROJECT)]
    pub project: PathBuf,
}

impl Remove {
    /// Removes all of them, or none.
    ///
    /// # Errors
    /// If a plugin was not added (`H0682`), or a file cannot be written (`H0620`, `H0694`).
    pub fn run(&self) -> Result<u8, Error> {
        let store = Store::open(&self.project)?;
        let mut held = store.hold()?;
        let mut settings = SettingsFile::open(&self.project)?;
        for name in &self.names {
            if held.lock.find(name).is_none() {
                return Err(not_added(name, &held.lock));
            }
            settings = settings.without(name)?;
        }
        settings.write()?;
        held.unlock(&self.names)?;
        held.sweep();
        for removed in &self.names {
            show(&format!("removed: {}\n", name(removed)))?;
        }
        Ok(0)
    }
}

fn not_added(wanted: &str, lock: &Lock) -> Error {
    let names = lock.plugins.iter().map(|plugin| plugin.name.as_str());
    let names = names.collect::<Vec<_>>().join(", ");
    let message = format!("no plugin `{}` was added", name(wanted));
    Error::mistake(codes::H0682, message).with(
        "found",
        match names.as_str() {
            "" => "no plugins at all".to_owned(),
            names => names.to_owned(),
        },
    )
}
