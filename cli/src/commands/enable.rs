//! `classhook enable`: a plugin in a running JVM.

use std::ffi::OsString;

use clap::Args;
use control::Request;

use crate::answers;
use crate::args::{PluginSettings, Target};
use crate::checked_options::{self, CheckedOptions};
use crate::problem::Problem;
use crate::progress;
use crate::unmatched;

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
    /// A plugin that is there, a bundled one (coverage, patch, trace), or a component file (.wasm)
    #[arg(value_name = "NAME|FILE")]
    pub plugin: OsString,
    /// The options of the plugin.
    #[command(flatten)]
    pub settings: PluginSettings,
}

impl Enable {
    /// Asks and prints what came of it.
    ///
    /// # Errors
    /// If there is no agent to ask, or the plugin cannot be configured.
    pub fn run(&self) -> Result<u8, Problem> {
        let code = progress::answer(&self.target, &self.request()?, answers::change)?;
        unmatched::warn(self.target.pid)?;
        Ok(code)
    }

    fn request(&self) -> Result<Request, Problem> {
        let plugin = checked_options::plugin_reference(&self.plugin)?;
        let plugin = plugin.to_string_lossy().into_owned();
        let options = if self.settings.any() {
            Some(CheckedOptions::change(&self.settings.clone().into(), &[])?)
        } else {
            None
        };
        Ok(Request::Enable { plugin, options })
    }
}
