//! Checks the agent's options before any program starts.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use control::Request;
use errors::{Error, PARTIAL, Warnings, codes};
use host::config::{PluginConfig, PluginSource};
use host::{Config, Pipeline};
use local_files::absolute_path::absolute;
use local_files::preflight;
use plugin_projects::added_plugins;
use standard_streams::show::complain;

use crate::agent_options::AgentOptions;
use crate::failed_agents::FailedAgents;
use crate::failed_plugins;
use crate::metaspace::Metaspace;
use crate::plugin_compiler::PluginCompiler;
use crate::precompiled::Precompiled;
use crate::settings::{OnError, Settings};
use crate::start;

/// The agent's options, checked before any program starts.
#[derive(Debug)]
pub struct CheckedOptions {
    /// Options for the agent.
    pub options: AgentOptions,
    /// Folder for snapshots, absolute.
    pub output: PathBuf,
    /// The configuration that the agent will read from the options.
    pub config: Config,
    /// True if neither an option nor a configuration names the output folder.
    pub is_default_output: bool,
    /// The check of the metaspace before an agent is loaded into a running JVM.
    pub metaspace: Metaspace,
}

impl CheckedOptions {
    /// Checks the options of an agent that is about to start.
    ///
    /// # Errors
    /// If the options or the configuration are wrong (`H01xx`, `H0604`).
    pub fn new(
        settings: &Settings,
        plugins: &[OsString],
        run: Option<String>,
    ) -> Result<Self, Error> {
        let (mut options, config) = check(settings, plugins, run)?;
        let is_default_output = options.output.is_none() && options.config.is_none();
        let output = absolute(&config.agent.output)?;
        options.output = Some(output.clone()); // JVMs of a build may run in other folders
        Ok(Self {
            options,
            output,
            config,
            is_default_output,
            metaspace: settings.metaspace,
        })
    }

    /// Runs a command with the agent in its JVMs, as [`start::run`]. Before that, this process
    /// compiles, loads and configures the plugins as the JVMs will. Reports the plugins that failed
    /// in the program. The exit code is the command's, or 3 if that is 0 and a plugin failed.
    ///
    /// # Errors
    /// As [`start::run`] and [`Precompiled::for_children`], or if a plugin does not load or
    /// refuses its configuration.
    pub fn launch(&self, command: &[OsString]) -> Result<u8, Error> {
        self.launch_into(command, None)
            .map(|launched| launched.report_failures())
    }

    /// As [`CheckedOptions::launch`], with standard output redirected to `output`.
    ///
    /// # Errors
    /// As [`CheckedOptions::launch`].
    pub fn launch_into(
        &self,
        command: &[OsString],
        output: Option<File>,
    ) -> Result<Launched, Error> {
        let compiled = Precompiled::for_children(&self.config)?;
        let mut config = self.config.clone();
        config.agent.cache = compiled.cache().map(Path::to_owned);
        config.plugins.retain(may_refuse);
        if !config.plugins.is_empty() {
            Pipeline::new(&config, &PluginCompiler)?;
        }
        let mut options = self.options.clone();
        compiled.add_to(&mut options);
        let run = config.agent.run.unwrap_or_else(run_id);
        options.run = Some(run.clone());
        // The run continues without the folder: other failures need that.
        let agents = FailedAgents::expect().ok();
        let failures = agents.as_ref().map(|agents| agents.folder().to_owned());
        options.failures = failures;
        let since = SystemTime::now();
        let is_new = self.is_default_output && !self.output.exists();
        let code = start::run(command, &options, output)?;
        if is_new && self.output.is_dir() {
            preflight::keep_from_git(&self.output);
        }
        let failed = failed_plugins::of_run(&run, &self.output, since).map(|mut failed| {
            failed.merge(agents.map(|agents| agents.warnings()).unwrap_or_default());
            failed
        });
        Ok(Launched {
            code,
            failed,
            run,
            since,
            output: self.output.clone(),
        })
    }

    /// Returns a new configuration for the agent that is in the JVM `pid` already, which keeps its
    /// output folder. The compiled code must live until the agent has answered.
    ///
    /// # Errors
    /// As [`CheckedOptions::new`] and [`Precompiled::for_jvm`].
    pub fn change(
        settings: &Settings,
        plugins: &[OsString],
        pid: i32,
    ) -> Result<(Request, Precompiled), Error> {
        let (mut options, config) = check(settings, plugins, None)?;
        let compiled = Precompiled::for_jvm(&config, pid)?;
        compiled.add_to(&mut options);
        let request = Request::Reload {
            options: options.to_text().to_string_lossy().into_owned(),
            metaspace: settings.metaspace.of_process(pid),
        };
        Ok((request, compiled))
    }
}

/// The result of a command.
#[derive(Debug)]
#[must_use]
pub struct Launched {
    /// Its exit code.
    code: u8,
    /// Warnings about plugins that failed in the program.
    failed: Result<Warnings, Error>,
    /// The id of the run.
    pub run: String,
    /// The start of the run.
    pub since: SystemTime,
    /// The folder for recordings.
    pub output: PathBuf,
}

impl Launched {
    /// Reports the plugins that failed in the program, without observers, and returns the exit
    /// code.
    pub fn report_failures(&self) -> u8 {
        self.after(&self.failed)
    }

    /// Reports the plugins that failed in the program, then further warnings of the run, and returns
    /// the exit code.
    pub fn report_failures_and(&self, others: &Result<Warnings, Error>) -> u8 {
        let code = self.after(&self.failed);
        match self.after(others) {
            0 => code,
            other => other,
        }
    }

    /// Prints the failures, and returns the exit code.
    fn after(&self, missing: &Result<Warnings, Error>) -> u8 {
        match missing {
            Ok(warnings) => complain(warnings),
            Err(problem) => complain(format_args!("{problem}\n")),
        }
        match self.code {
            0 if missing.as_ref().is_ok_and(Warnings::is_empty) => 0,
            0 => PARTIAL,
            code => code,
        }
    }
}

/// Checks whether a plugin may fail to load or refuse its configuration. A bundled one with its
/// defaults cannot.
fn may_refuse(plugin: &PluginConfig) -> bool {
    let PluginSource::Bundled(name) = &plugin.source else {
        return true;
    };
    let usual = PluginConfig::bundled(name);
    let granted = |grant| plugin.grant.contains(grant);
    plugin.config != usual.config || !usual.grant.iter().all(granted)
}

/// Returns the options, and the configuration that the agent's own parser reads from them, so that
/// mistakes are reported at once.
///
/// # Errors
/// As [`CheckedOptions::new`].
pub fn check(
    settings: &Settings,
    plugins: &[OsString],
    run: Option<String>,
) -> Result<(AgentOptions, Config), Error> {
    let configuration = settings.configuration();
    let options = AgentOptions {
        config: configuration.file.as_deref().map(absolute).transpose()?,
        output: settings.output.as_deref().map(absolute).transpose()?,
        file_name: settings.file_name.clone(),
        plugins: plugins
            .iter()
            .map(|plugin| plugin_reference(plugin))
            .collect::<Result<_, _>>()?,
        select: configuration.plugins.select.clone(),
        grant: configuration.plugins.grant.clone(),
        advice: configuration.advice.as_deref().map(absolute).transpose()?,
        settings: configuration.plugins.plugin_settings.clone(),
        watch: configuration.plugins.watch.clone(),
        event_files: settings.event_files.clone(),
        waits: settings.waits,
        on_error: configuration.on_error.map(OnError::as_str),
        log: settings.change.log.clone(),
        run,
        ..AgentOptions::default()
    };
    let text = options.to_text();
    let text = text.to_str().ok_or_else(|| {
        Error::mistake(
            codes::H0604,
            "the agent's options hold a path that is not UTF-8",
        )
        .with("found", text.display().to_string())
        .with("help", "rename the file or folder")
    })?;
    let config = Config::from_options(text)?;
    Ok((options, config))
}

/// Resolves a plugin argument. Files, and those of added plugins, become absolute. A project's
/// folder is built and becomes its component. Names of bundled plugins stay.
///
/// # Errors
/// As [`absolute`], [`added_plugins::find`] and [`plugin_projects::component_of`].
pub fn plugin_reference(plugin: &OsStr) -> Result<OsString, Error> {
    let built;
    let plugin = match plugin.to_str() {
        Some(named) => {
            built = OsString::from(plugin_projects::component_of(named)?);
            &built
        }
        None => plugin,
    };
    let path = Path::new(plugin);
    let is_file = path
        .extension()
        .is_some_and(|extension| extension == "wasm")
        || path.components().count() > 1;
    let added;
    let file = if is_file {
        path
    } else if let Some(found) = added_plugins::find(&plugin.to_string_lossy())? {
        added = found;
        &added
    } else {
        return Ok(plugin.to_owned());
    };
    absolute(file).map(PathBuf::into_os_string)
}

/// Returns a unique id for a run.
#[must_use]
pub fn run_id() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}-{}", std::process::id(), now.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Change;

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
    fn mistakes_are_reported_before_the_start() {
        let settings = Settings::from(Change {
            log: Some("loud".into()),
            ..Change::default()
        });
        assert_eq!(
            CheckedOptions::new(&settings, &[], None)
                .err()
                .map(|problem| problem.exit()),
            Some(2)
        );
    }

    #[test]
    fn only_plugins_that_may_fail_are_loaded_before_a_start() {
        assert!(!may_refuse(&PluginConfig::bundled("coverage")));
        let mut selected = PluginConfig::bundled("trace");
        selected.select.push("com.acme.**".to_owned());
        selected.grant.push("boot".to_owned());
        assert!(!may_refuse(&selected));
        let set = PluginConfig::bundled_of("coverage-lines").unwrap();
        assert!(may_refuse(&set));
        let mut withheld = PluginConfig::bundled("coverage");
        withheld.grant.clear();
        assert!(may_refuse(&withheld));
        assert!(may_refuse(&PluginConfig::file("a.wasm".into())));
    }

    #[test]
    fn default_output_is_absolute() {
        let plan = CheckedOptions::new(&Settings::default(), &[], Some("r1".into())).unwrap();
        assert_eq!(
            plan.output,
            std::env::current_dir().unwrap().join("classhook")
        );
        assert_eq!(plan.options.output.as_ref(), Some(&plan.output));
    }
}
