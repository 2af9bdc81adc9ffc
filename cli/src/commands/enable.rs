//! `classhook enable`: a plugin in a running JVM.

use std::ffi::OsString;

use clap::Args;
use control::Request;

use super::reload::told;
use super::run::Plan;
use crate::args::{Settings, Target};
use crate::problem::Problem;

const AFTER_HELP: &str = "\
A plugin that was disabled sees classes again, as it was configured; with --select, --grant or --plugin-settings it is configured anew.
One that the agent does not have is brought in. Classes that are loaded already are retransformed.

Examples:
  classhook enable 4711 coverage
  classhook enable 4711 count-calls.wasm --grant probes --select 'com.acme.**'";

/// Brings a plugin into a running JVM, or switches it on again.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Enable {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
    /// A plugin that is there, a bundled one (coverage), or a component file (.wasm)
    #[arg(value_name = "NAME|FILE")]
    pub plugin: OsString,
    /// Classes to instrument: com.acme.**, @annotation, <:supertype, loader:app; `!` in front excludes; may be repeated
    #[arg(long, value_name = "SELECTOR")]
    pub select: Vec<String>,
    /// Capability granted to the plugin (probes, boot); may be repeated
    #[arg(long, value_name = "CAPABILITY")]
    pub grant: Vec<String>,
    /// What the plugin is configured with, as a JSON object in place of a [plugin.config] table
    #[arg(long, value_name = "JSON")]
    pub plugin_settings: Option<String>,
}

impl Enable {
    /// Asks and prints what came of it.
    ///
    /// # Errors
    /// If there is no agent to ask, or the plugin cannot be configured.
    pub fn run(&self) -> Result<u8, Problem> {
        self.target.answer(&self.request()?, told)
    }

    fn request(&self) -> Result<Request, Problem> {
        let plugin = super::run::plugin_reference(&self.plugin)?;
        let plugin = plugin.to_string_lossy().into_owned();
        if self.select.is_empty() && self.grant.is_empty() && self.plugin_settings.is_none() {
            let options = None;
            return Ok(Request::Enable { plugin, options });
        }
        let settings = Settings {
            select: self.select.clone(),
            grant: self.grant.clone(),
            plugin_settings: self.plugin_settings.clone(),
            ..Settings::default()
        };
        let options = Some(Plan::change(&settings, &[])?);
        Ok(Request::Enable { plugin, options })
    }
}
