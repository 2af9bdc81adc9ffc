//! Settings of an agent and its plugins.

use std::path::PathBuf;

use crate::metaspace::Metaspace;

/// Reaction to a failure in a plugin or in the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// Loads the class unchanged, and prints a warning.
    Warn,
    /// Does the same, and ends the run with exit code 3.
    Strict,
}

impl OnError {
    /// Returns the value of the agent's option.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Strict => "strict",
        }
    }
}

/// Classes, capabilities and configuration of the plugins.
#[derive(Debug, Clone, Default)]
pub struct PluginSettings {
    /// Selectors of classes. An empty list is the default of each plugin.
    pub select: Vec<String>,
    /// Capabilities granted to the plugins.
    pub grant: Vec<String>,
    /// Configuration of the plugins, as a JSON object.
    pub plugin_settings: Option<String>,
    /// Filter and values of single calls.
    pub watch: Watch,
}

/// Filter and values of single calls, as the agent's options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    /// The condition that a call must match.
    pub when: Option<String>,
    /// The values to record of each call.
    pub show: Option<String>,
    /// Limit of recorded calls.
    pub calls: Option<u64>,
    /// Limit of recorded calls per second.
    pub per_second: Option<u32>,
    /// The subject of condition and values, if it is not calls.
    pub about: Option<String>,
    /// Levels of nested objects that are recorded with their fields, elements and entries.
    pub depth: Option<u8>,
}

impl PluginSettings {
    /// Checks whether a setting differs from its default.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.select.is_empty()
            || !self.grant.is_empty()
            || self.plugin_settings.is_some()
            || self.watch != Watch::default()
    }
}

/// Settings of agent and plugins that decide the edits of classes, in a JVM or outside.
#[derive(Debug, Clone, Default)]
pub struct Configuration {
    /// A `classhook.toml`, which the other settings override.
    pub file: Option<PathBuf>,
    /// Reaction to failures of plugins and agent. `None` is the file's choice, or else a warning.
    pub on_error: Option<OnError>,
    /// Settings of the plugins.
    pub plugins: PluginSettings,
    /// The configuration of the plugin `advice`, a JSON file.
    pub advice: Option<PathBuf>,
}

/// Settings of the agent that can change while it runs.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The agent's log level: `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub log: Option<String>,
    /// Settings that decide the edits.
    pub configuration: Configuration,
}

/// Settings of an agent, started with the JVM or attached.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Folder for recordings.
    pub output: Option<PathBuf>,
    /// The folder was created for one job and is removed at its end.
    pub is_output_passing: bool,
    /// Template for the names of recorded files: `%p` process id, `%h` host, `%t` start time, `%u`
    /// user.
    pub file_name: Option<String>,
    /// Limit of event files.
    pub event_files: EventFiles,
    /// Records waits beside calls.
    pub waits: bool,
    /// The check of the metaspace.
    pub metaspace: Metaspace,
    /// Settings that can change while the agent runs.
    pub change: Change,
}

impl Settings {
    /// Checks whether the user named the folder for recordings.
    #[must_use]
    pub fn names_output(&self) -> bool {
        self.output.is_some() && !self.is_output_passing
    }

    /// Returns the settings that decide the edits.
    #[must_use]
    pub fn configuration(&self) -> &Configuration {
        &self.change.configuration
    }

    /// Returns the settings of the plugins.
    #[must_use]
    pub fn plugins(&self) -> &PluginSettings {
        &self.configuration().plugins
    }
}

impl From<Change> for Settings {
    fn from(change: Change) -> Self {
        Self {
            change,
            ..Self::default()
        }
    }
}

impl From<Configuration> for Settings {
    fn from(configuration: Configuration) -> Self {
        Self::from(Change {
            configuration,
            log: None,
        })
    }
}

impl From<PluginSettings> for Settings {
    fn from(plugins: PluginSettings) -> Self {
        Self::from(Configuration {
            plugins,
            ..Configuration::default()
        })
    }
}

/// Limit of event files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFiles {
    /// Limit of the size: `500M`, `2G`; at least `8M`.
    pub max_size: Option<String>,
    /// Single calls that a full file drops. `None` is the oldest.
    pub when_full: Option<WhenFull>,
}

/// Single calls that a full event file drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// Drops the oldest calls.
    DropOldest,
    /// Drops new calls.
    Stop,
}

impl WhenFull {
    /// Returns the value of the agent's option.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DropOldest => "drop-oldest",
            Self::Stop => "stop",
        }
    }
}
