//! `classhook reload`: another configuration for the agent in a running JVM.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use control::Request;
use control::message::Change;

use super::run::Plan;
use super::status;
use crate::args::{OnError, Settings, Target};
use crate::problem::Problem;

const AFTER_HELP: &str = "\
The new configuration takes the place of the former one as a whole: classes with edits of the former are
retransformed, and so are loaded classes that are selected now. Where it records to stays as it is.

Examples:
  classhook reload 4711 --config classhook.toml
  classhook reload 4711 --plugin coverage --select 'com.acme.orders.**'";

/// Gives the agent in a running JVM another configuration.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Reload {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
    /// Settings of agent and plugins, a classhook.toml; other options come on top of it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A bundled plugin (coverage) or a component file (.wasm); may be repeated [default: coverage]
    #[arg(long = "plugin", value_name = "NAME|FILE")]
    pub plugins: Vec<OsString>,
    /// Classes to instrument: com.acme.**, @annotation, <:supertype, loader:app; `!` in front excludes; may be repeated
    #[arg(long, value_name = "SELECTOR")]
    pub select: Vec<String>,
    /// Capability granted to the plugins (probes, boot); may be repeated
    #[arg(long, value_name = "CAPABILITY")]
    pub grant: Vec<String>,
    /// What the plugins are configured with, as a JSON object in place of a [plugin.config] table
    #[arg(long, value_name = "JSON")]
    pub plugin_settings: Option<String>,
    /// What a failure does [default: warn]
    #[arg(long, value_name = "MODE")]
    pub on_error: Option<OnError>,
    /// How much the agent says: off, error, warn, info, debug, trace
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<String>,
}

impl Reload {
    /// Asks and prints what came of it.
    ///
    /// # Errors
    /// If there is no agent to ask, or the configuration is wrong; the former then stays.
    pub fn run(&self) -> Result<u8, Problem> {
        let settings = Settings {
            config: self.config.clone(),
            output: None,
            select: self.select.clone(),
            grant: self.grant.clone(),
            plugin_settings: self.plugin_settings.clone(),
            on_error: self.on_error,
            log: self.log.clone(),
        };
        let options = Plan::change(&settings, &self.plugins)?;
        self.target.answer(&Request::Reload { options }, told)
    }
}

/// What a change did.
pub(super) fn told(change: &Change) -> String {
    format!(
        "{} classes retransformed\n{}{}",
        change.retransformed,
        status::failures(&change.failed),
        status::plugins(&change.plugins)
    )
}
