//! `classhook enable`: a plugin in a running JVM.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Args;
use control::Request;

use crate::answers;
use crate::args::{PluginSettings, Target};
use crate::checked_options::{self, check};
use crate::precompiled::Precompiled;
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
        let plugin = checked_options::plugin_reference(&self.plugin)?;
        let compiled = Precompiled::for_plugin(&plugin, self.target.pid)?;
        let request = self.request(&plugin, &compiled)?;
        let code = progress::answer(&self.target, &request, answers::change)?;
        unmatched::warn(self.target.pid)?;
        Ok(code)
    }

    fn request(&self, plugin: &OsStr, compiled: &Precompiled) -> Result<Request, Problem> {
        let options = if self.settings.any() {
            let (options, _) = check(&self.settings.clone().into(), &[], None)?;
            Some(options.to_text().to_string_lossy().into_owned())
        } else {
            None
        };
        Ok(Request::Enable {
            session: None,
            plugin: plugin.to_string_lossy().into_owned(),
            options,
            cache: compiled.cache().map(Path::to_owned),
        })
    }
}
