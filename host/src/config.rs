//! `classhook.toml` and the agent's option string.

mod file;
pub mod lock;
mod options;
mod settings;
pub(crate) mod suggest;
mod values;
mod watch;

pub use options::OPTIONS_HELP;
pub use settings::{
    Agent, BUNDLED, CAPABILITIES, Config, LogLevel, OnError, PluginConfig, PluginSource,
    SESSION_MARK, WhenFull,
};
