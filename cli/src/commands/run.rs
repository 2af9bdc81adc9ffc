//! `classhook run`: a command with the agent in its JVMs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Args;
use host::Config;

use crate::args::{Settings, Start};
use crate::launch::{self, AgentOptions};
use crate::problem::Problem;

const AFTER_HELP: &str = "\
`java` gets the agent as its first argument, other tools of a JDK behind -J.
Any other command gets it in JAVA_TOOL_OPTIONS, so that every JVM below it records; what is in that variable stays.
The exit code is the command's own, 128 + signal if it was killed.

Examples:
  classhook run -- java -jar app.jar
  classhook run --select 'com.acme.**' --on-error strict -- mvn test
  classhook run --plugin count-calls.wasm --grant probes --output out -- java -jar app.jar";

/// Starts a command with the agent in its JVMs.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Run {
    /// A bundled plugin (coverage, patch, trace) or a component file (.wasm); may be repeated [default: coverage]
    #[arg(long = "plugin", value_name = "NAME|FILE")]
    pub plugins: Vec<OsString>,
    /// What starting a command needs.
    #[command(flatten)]
    pub start: Start,
}

impl Run {
    /// Runs the command; the result is its exit code.
    ///
    /// # Errors
    /// If options, configuration, agent or command are wrong.
    pub fn run(&self) -> Result<u8, Problem> {
        let plan = Plan::new(&self.start.settings, &self.plugins, None)?;
        launch::run(&self.start.command, &plan.options)
    }
}

/// What the agent is told, checked before anything is started.
pub(crate) struct Plan {
    pub(crate) options: AgentOptions,
    /// Folder for snapshots, absolute.
    pub(crate) output: PathBuf,
}

impl Plan {
    pub(crate) fn new(
        settings: &Settings,
        plugins: &[OsString],
        run: Option<String>,
    ) -> Result<Self, Problem> {
        let (mut options, config) = checked(settings, plugins, run)?;
        let output = absolute(&config.agent.output)?;
        options.output = Some(output.clone()); // JVMs of a build may run in other folders
        Ok(Self { options, output })
    }

    /// What an agent is told that is at work already; it goes on recording where it does.
    pub(crate) fn change(settings: &Settings, plugins: &[OsString]) -> Result<String, Problem> {
        let (options, _) = checked(settings, plugins, None)?;
        Ok(options.to_text().to_string_lossy().into_owned())
    }
}

/// The options, and what the agent's own parser makes of them, so that mistakes are told at once.
pub(super) fn checked(
    settings: &Settings,
    plugins: &[OsString],
    run: Option<String>,
) -> Result<(AgentOptions, Config), Problem> {
    let options = AgentOptions {
        config: settings.config.as_deref().map(absolute).transpose()?,
        output: settings.output.as_deref().map(absolute).transpose()?,
        plugins: plugins
            .iter()
            .map(|plugin| plugin_reference(plugin))
            .collect::<Result<_, _>>()?,
        select: settings.select.clone(),
        grant: settings.grant.clone(),
        settings: settings.plugin_settings.clone(),
        on_error: settings.on_error.map(crate::args::OnError::as_str),
        log: settings.log.clone(),
        run,
    };
    let text = options.to_text();
    let text = text.to_str().ok_or_else(|| {
        Problem::user("H0604", "the agent's options hold a path that is not UTF-8")
            .with("found", text.display().to_string())
            .with("help", "rename the file or folder")
    })?;
    let config = Config::from_options(text)?;
    Ok((options, config))
}

/// A path with respect to this process's folder; the JVM's may be another.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Problem> {
    std::path::absolute(path).map_err(|error| Problem::unreadable(path, &error))
}

/// Files become absolute, names of bundled plugins stay.
pub(super) fn plugin_reference(plugin: &OsStr) -> Result<OsString, Problem> {
    let path = Path::new(plugin);
    let is_file = path
        .extension()
        .is_some_and(|extension| extension == "wasm")
        || path.components().count() > 1;
    if is_file {
        absolute(path).map(PathBuf::into_os_string)
    } else {
        Ok(plugin.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_become_absolute_and_names_stay() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(plugin_reference("coverage".as_ref()).unwrap(), "coverage");
        assert_eq!(
            plugin_reference("count.wasm".as_ref()).unwrap(),
            here.join("count.wasm").into_os_string()
        );
        assert_eq!(plugin_reference("/p/x.wasm".as_ref()).unwrap(), "/p/x.wasm");
    }

    #[test]
    fn mistakes_are_told_before_the_start() {
        let settings = Settings {
            log: Some("loud".into()),
            ..Settings::default()
        };
        assert_eq!(
            Plan::new(&settings, &[], None)
                .err()
                .map(|problem| problem.exit()),
            Some(2)
        );
    }

    #[test]
    fn output_is_absolute_even_if_it_is_the_default() {
        let plan = Plan::new(&Settings::default(), &[], Some("r1".into())).unwrap();
        assert_eq!(
            plan.output,
            std::env::current_dir().unwrap().join("classhook")
        );
        assert_eq!(plan.options.output.as_ref(), Some(&plan.output));
    }
}
