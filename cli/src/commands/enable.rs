//! `classhook enable`: loads or enables a plugin in a running JVM.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::slice;

use agent_connection::agent::Agent;
use agent_connection::answers;
use agent_connection::application;
use agent_launch::checked_options::{self, check};
use agent_launch::precompiled::Precompiled;
use agent_launch::settings::Settings;
use clap::Args;
use control::Request;
use control::message::Status;
use errors::Error;
use loaded_classes::unmatched;

use crate::args::{PluginArguments, Target};
use crate::metaspace::MetaspaceArgument;

const AFTER_HELP: &str = "\
A disabled plugin receives classes again, with its former configuration.
--select, --grant and --plugin-settings change it; what you leave out stays, its component and grants included.
The agent loads a plugin that it does not have. Loaded classes are retransformed.

Examples:
  classhook enable 4711 coverage
  classhook enable 4711 count-calls --select 'com.acme.orders.**'
  classhook enable 4711 count-calls.wasm --grant probes --select 'com.acme.**'";

/// Loads a plugin into a running JVM, or enables it again.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Enable {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
    /// Enable this plugin: one of the agent, a bundled one (coverage, patch, trace) or a component file (.wasm)
    #[arg(value_name = "NAME|FILE")]
    pub plugin: OsString,
    /// The options of the plugin.
    #[command(flatten)]
    pub settings: PluginArguments,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: MetaspaceArgument,
}

impl Enable {
    /// Enables the plugin and prints the change.
    ///
    /// # Errors
    /// If the JVM has no agent, or the plugin cannot be configured.
    pub fn run(&self) -> Result<u8, Error> {
        let request = match has(self.target.pid, &self.plugin)? {
            true => self.request(
                &self.plugin,
                self.settings.value().into(),
                &Precompiled::default(),
            ),
            false => self.request_of_new(),
        }?;
        let code = self.target.answer_of_change(&request, answers::change)?;
        unmatched::warn(self.target.pid, &self.settings.value())?;
        Ok(code)
    }

    /// The request for a plugin that the agent may not have under this name.
    fn request_of_new(&self) -> Result<Request, Error> {
        let pid = self.target.pid;
        let plugin = checked_options::plugin_reference(&self.plugin)?;
        let compiled = Precompiled::for_plugin(&plugin, pid)?;
        let settings = self.settings.value().into();
        let settings = application::restricted(pid, slice::from_ref(&plugin), &settings)?;
        self.request(&plugin, settings, &compiled)
    }

    fn request(
        &self,
        plugin: &OsStr,
        settings: Settings,
        compiled: &Precompiled,
    ) -> Result<Request, Error> {
        let pid = self.target.pid;
        let options = if settings.plugins().any() {
            let (options, _) = check(&settings, &[], None)?;
            Some(options.to_text().to_string_lossy().into_owned())
        } else {
            None
        };
        Ok(Request::Enable {
            session: None,
            plugin: plugin.to_string_lossy().into_owned(),
            options,
            cache: compiled.cache().map(Path::to_owned),
            metaspace: self.metaspace.value().of_process(pid),
        })
    }
}

/// Checks whether the agent has a plugin of this name.
fn has(pid: i32, plugin: &OsStr) -> Result<bool, Error> {
    let status: Status = Agent::connect(pid)?.ask_for(&Request::Status)?;
    Ok(status
        .plugins
        .iter()
        .any(|found| plugin == found.name.as_str()))
}
