//! `classhook plugin remove`: a plugin that was added goes again.

use std::path::PathBuf;

use clap::Args;

use crate::plugin_store::Store;
use crate::plugin_store::settings_file::SettingsFile;
use crate::problem::Problem;
use crate::show::{name, show};

const AFTER_HELP: &str = "\
Takes the plugin out of classhook.toml, with its settings, and out of classhook.lock, and removes its component.

Example:
  classhook plugin remove call-counter";

/// Takes a plugin out of a project.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Remove {
    /// The plugin's name, as `classhook plugin list` shows it
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The project's folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub project: PathBuf,
}

impl Remove {
    /// Removes it.
    ///
    /// # Errors
    /// If it was not added (`H0682`), or a file cannot be changed (`H0620`, `H0694`).
    pub fn run(&self) -> Result<u8, Problem> {
        let store = Store::open(&self.project)?;
        let mut held = store.hold()?;
        if held.lock.find(&self.name).is_none() {
            let names = held.lock.plugins.iter().map(|plugin| plugin.name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            let message = format!("no plugin `{}` was added", name(&self.name));
            return Err(Problem::user("H0682", message).with(
                "found",
                match names.as_str() {
                    "" => "no plugins at all".to_owned(),
                    names => names.to_owned(),
                },
            ));
        }
        let settings = SettingsFile::open(&self.project)?;
        settings.without(&self.name)?.write()?;
        held.unlock(&self.name)?;
        held.sweep();
        show(&format!("removed: {}\n", name(&self.name)))?;
        Ok(0)
    }
}
