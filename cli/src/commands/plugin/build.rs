//! `classhook plugin build`: compiles a project to a component.

use std::path::{Path, PathBuf};

use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use errors::Error;
use host::PluginDescription;
use plugin_projects::{PluginSource, build, needed};
use standard_streams::show::{self, show};

const AFTER_HELP: &str = "\
The component is the file NAME.wasm in the project's folder `target`. It is loaded once, to report errors at once.

Examples:
  classhook plugin build
  classhook plugin build call-counter";

/// Compiles a project to a component.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Build {
    /// Build the project in this folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

impl Build {
    /// Builds the component and prints its description.
    ///
    /// # Errors
    /// As [`build::build`], and if the component does not load (`H01xx`).
    pub fn run(&self) -> Result<u8, Error> {
        let component = build::build(&self.folder)?;
        let description = PluginSource::Built(component.clone()).describe(&PluginCompiler)?;
        show(&summary(&component, &description))?;
        Ok(0)
    }
}

/// Returns the lines about a component: file, size, version, imports and capabilities.
pub(super) fn summary(component: &Path, plugin: &PluginDescription) -> String {
    let interfaces: Vec<_> = plugin
        .imports
        .iter()
        .map(|import| show::name(short(&import.name)).into_owned())
        .collect();
    let grants = match needed(plugin).as_slice() {
        [] => "nothing".to_owned(),
        grants => grants.join(", "),
    };
    let version = plugin.version.as_deref().map(show::name);
    let version = version.map(|version| format!("  version: {version}\n"));
    format!(
        "built {} ({} bytes)\n{}  imports: {}\n  has to be granted: {grants}\n",
        show::path(component),
        plugin.size,
        version.unwrap_or_default(),
        interfaces.join(", "),
    )
}

/// Returns the short name of an interface: `probes` of `classhook:plugin/probes@0.1.0`.
fn short(interface: &str) -> &str {
    let name = interface.rsplit('/').next().unwrap_or(interface);
    name.split('@').next().unwrap_or(name)
}
