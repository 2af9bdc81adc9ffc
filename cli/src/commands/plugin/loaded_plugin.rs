//! A loaded plugin with the settings for its run.

use std::ffi::OsString;

use agent_connection::attached::Visitor;
use agent_launch::settings::Settings;
use host::PluginDescription;
use trace_reports::reporters::Reporters;

/// A loaded plugin with the settings for its run.
pub(super) struct LoadedPlugin {
    pub visitor: Visitor,
    pub reference: OsString,
    pub description: PluginDescription,
    pub settings: Settings,
    /// A settings file names the plugin, so the agent loads it from there.
    pub in_file: bool,
    /// The plugin, if it computes tables.
    pub reporters: Reporters,
}

impl LoadedPlugin {
    /// Returns the plugins to name beside the settings file.
    pub fn plugins(&self) -> Vec<OsString> {
        let own = (!self.in_file).then(|| self.reference.clone());
        own.into_iter().collect()
    }
}
