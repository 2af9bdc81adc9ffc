//! `classhook plugin inspect`: shows the imports, exports and capabilities of a plugin.

use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use errors::Error;
use plugin_projects::PluginSource;
use standard_streams::show::show;

use crate::args::PLUGIN;
use crate::commands::inspect::plugin_text;

const AFTER_HELP: &str = "\
The plugin is loaded with an empty configuration and receives no class.

Examples:
  classhook plugin inspect call-counter
  classhook plugin inspect target/call-counter.wasm
  classhook plugin inspect coverage";

/// Shows the imports, exports and capabilities of a plugin.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Inspect {
    /// The plugin.
    #[arg(value_name = "PLUGIN", default_value = ".", help = PLUGIN)]
    pub plugin: String,
}

impl Inspect {
    /// Prints the description.
    ///
    /// # Errors
    /// As [`PluginSource::find`] and [`PluginSource::describe`].
    pub fn run(&self) -> Result<u8, Error> {
        let plugin = PluginSource::find(&self.plugin)?.describe(&PluginCompiler)?;
        show(&plugin_text(&plugin))?;
        Ok(0)
    }
}
