//! `classhook plugin inspect`: what a plugin imports, needs and is.

use clap::Args;

use crate::commands::inspect::plugin_text;
use crate::plugin_project::PluginSource;
use crate::problem::Problem;
use crate::show::show;

const AFTER_HELP: &str = "\
The plugin is loaded and configured with nothing, and shown no class.

Examples:
  classhook plugin inspect call-counter
  classhook plugin inspect target/call-counter.wasm
  classhook plugin inspect coverage";

/// Shows what a plugin imports, needs and is.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Inspect {
    /// A project's folder, a component file (.wasm), or a bundled plugin (coverage, patch, trace)
    #[arg(value_name = "PLUGIN", default_value = ".")]
    pub plugin: String,
}

impl Inspect {
    /// Shows.
    ///
    /// # Errors
    /// As [`PluginSource::find`] and [`PluginSource::describe`].
    pub fn run(&self) -> Result<u8, Problem> {
        let plugin = PluginSource::find(&self.plugin)?.describe()?;
        show(&plugin_text(&plugin))?;
        Ok(0)
    }
}
