//! Options that select plugins for tables of recordings.

use std::path::PathBuf;

use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use errors::{Error, codes};
use host::config::PluginConfig;
use plugin_projects::PluginSource;
use plugin_projects::configured;
use trace_reports::reporters::Reporters;

use crate::heading;

/// Options that select plugins for tables.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::OUTPUTS)]
pub struct ReportPlugins {
    /// Load this plugin: a component file (.wasm) or a project's folder, which is built; it computes tables; repeatable
    #[arg(long = "plugin", value_name = "PLUGIN")]
    pub plugins: Vec<String>,
    /// Read settings from this classhook.toml; the table `[[plugin]]` of the plugin
    #[arg(long, value_name = "FILE", requires = "plugins")]
    pub config: Option<PathBuf>,
}

impl ReportPlugins {
    /// Loads the plugins, and checks that they compute tables.
    ///
    /// # Errors
    /// If one does not load (`H01xx`, `H068x`), or computes no tables (`H0697`).
    pub fn find(&self) -> Result<Reporters, Error> {
        let found = self.plugins.iter().map(|plugin| self.one(plugin));
        Ok(Reporters(found.collect::<Result<_, _>>()?))
    }

    fn one(&self, plugin: &str) -> Result<PluginConfig, Error> {
        let source = PluginSource::find(plugin)?;
        let reference = source.reference();
        let config = configured::one(&reference.to_string_lossy(), self.config.as_deref())?;
        if source.describe(&PluginCompiler)?.computes_tables() {
            return Ok(config);
        }
        let message = format!("the plugin `{}` computes no tables", config.name);
        Err(Error::mistake(codes::H0697, message)
            .with("expected", "a component that exports classhook:plugin/reporter")
            .with("help", "leave it out to show its recorded data; in Rust `classhook_sdk::export!(…, reporter)` exports a `Reporter`"))
    }
}
