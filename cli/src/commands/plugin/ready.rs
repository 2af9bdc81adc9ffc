//! A plugin that is to run, with what it is given.

use std::ffi::OsString;

use host::PluginDescription;

use crate::args::Settings;
use crate::attached::Visitor;
use crate::reporters::Reporters;

/// A plugin that is to run.
pub(super) struct Ready {
    pub visitor: Visitor,
    pub reference: OsString,
    pub description: PluginDescription,
    pub settings: Settings,
    /// Whether a file of settings names the plugin, so that the agent has it from there.
    pub in_file: bool,
    /// The plugin, if it computes tables.
    pub reporters: Reporters,
}

impl Ready {
    /// What the agent is told of beside the file of settings.
    pub fn plugins(&self) -> Vec<OsString> {
        let own = (!self.in_file).then(|| self.reference.clone());
        own.into_iter().collect()
    }
}
