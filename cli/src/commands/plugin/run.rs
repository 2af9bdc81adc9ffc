//! `classhook plugin run`: runs a plugin in a command or a running JVM, and shows its tables.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use agent_connection::attached::{AttachedPlugin, Visitor};
use agent_launch::checked_options::{self, CheckedOptions, plugin_reference, run_id};
use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use errors::{Error, PARTIAL, Warning, Warnings, codes};
use host::Config;
use host::config::PluginConfig;
use jvm_events::tables::PluginTables;
use plugin_projects::watched_files::WatchedFiles;
use plugin_projects::{PluginSource, needed};
use standard_streams::show::{complain, say, with_exit_of_program};
use trace::recording::Recording;
use trace_reports::completeness::StreamedLines;
use trace_reports::outputs::TraceOutputs;
use trace_reports::plugin_tables;
use trace_reports::recorded;
use trace_reports::reporters::Reporters;

use super::loaded_plugin::LoadedPlugin;
use super::reloading::Reloading;
use crate::args::{AgentArguments, EventFileArguments, JvmOrCommand, PLUGIN};
use crate::metaspace::MetaspaceArgument;
use crate::trace_arguments::TraceArguments;

const AFTER_HELP: &str = "\
A plugin from a project's folder gets the capabilities that it needs, and those of --grant, such as boot. A component
file gets only those of --grant.
The command prints the counts, times and tables of the plugin. `classhook report DIR` prints them again later.
With a PID, the JVM is visited until --for, Ctrl-C or its end. Its classes are restored afterwards.
With --watch, the plugin is rebuilt when its files change, and replaced in the JVMs. Its former data is reset. If the
build fails, the error is printed and the former plugin stays.
Configure the plugin with JSON (--plugin-settings) or a classhook.toml (--config).

Examples:
  classhook plugin run call-counter -- java -jar app.jar
  classhook plugin run call-counter --plugin-settings '{\"methods\": [\"com.acme.**\"]}' -- java -jar app.jar
  classhook plugin run timer.wasm --grant probes 4711 --for 30s
  classhook plugin run call-counter --watch 4711";

/// Runs a plugin in a command or a running JVM, and shows its tables.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Run {
    /// The plugin.
    #[arg(value_name = "PLUGIN", help = PLUGIN)]
    pub plugin: String,
    /// Rebuild and reload the plugin when its files change
    #[arg(long)]
    pub watch: bool,
    /// Tables and files.
    #[command(flatten)]
    pub outputs: TraceArguments,
    /// The limit of event files.
    #[command(flatten)]
    pub event_files: EventFileArguments,
    /// The options of the agent.
    #[command(flatten)]
    pub settings: AgentArguments,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: MetaspaceArgument,
    /// The running JVM or the command.
    #[command(flatten)]
    pub program: JvmOrCommand,
}

impl Run {
    /// Runs the command or visits the JVM, and returns the exit code.
    ///
    /// # Errors
    /// If plugin, options, command or JVM are wrong, or the recorded data cannot be shown.
    pub fn run(&self) -> Result<u8, Error> {
        self.outputs.value().check(None)?;
        let watched = self
            .watch
            .then(|| WatchedFiles::new(&self.plugin))
            .transpose()?;
        let loaded = self.built()?;
        let build = || self.built();
        let reloading = watched.map(|watched| Reloading::new(&build, watched, &loaded));
        match self.program.pid {
            Some(pid) => self.visit(pid, &loaded, reloading),
            None => self.start(&loaded, reloading),
        }
    }

    /// Builds the plugin from its present files.
    fn built(&self) -> Result<LoadedPlugin, Error> {
        self.loaded(&PluginSource::find(&self.plugin)?)
    }

    fn loaded(&self, source: &PluginSource) -> Result<LoadedPlugin, Error> {
        let description = source.describe(&PluginCompiler)?;
        let reference = plugin_reference(source.reference().as_os_str())?;
        self.metaspace.check(self.program.pid)?;
        let mut settings = self.event_files.added(self.settings.value());
        settings.metaspace = self.metaspace.value();
        let plugins = &mut settings.change.configuration.plugins;
        let is_built = matches!(source, PluginSource::Built(_));
        if is_built {
            let needed = needed(&description).into_iter().map(str::to_owned);
            let given = std::mem::take(&mut plugins.grant);
            plugins.grant = needed.filter(|grant| !given.contains(grant)).collect();
            plugins.grant.extend(given);
            if !plugins.grant.is_empty() {
                let name = &description.name;
                say(format_args!(
                    "the plugin `{name}` is granted {}",
                    plugins.grant.join(", ")
                ));
            }
        }
        let in_file = match &settings.configuration().file {
            Some(file) => {
                let is_it = |plugin: &PluginConfig| plugin.name == description.name;
                Config::load(file)?.plugins.iter().any(is_it)
            }
            None => false,
        };
        let mut loaded = LoadedPlugin {
            visitor: Visitor::new(reference.clone(), description.name.clone()),
            reference,
            description,
            settings,
            in_file,
            reporters: Reporters::default(),
        };
        if loaded.description.computes_tables() {
            let (_, config) = checked_options::check(&loaded.settings, &loaded.plugins(), None)?;
            let mut plugins = config.plugins.into_iter();
            let it = plugins.find(|plugin| plugin.name == loaded.description.name);
            loaded.reporters = it.map(Reporters::one).unwrap_or_default();
        }
        Ok(loaded)
    }

    fn start(&self, loaded: &LoadedPlugin, reloading: Option<Reloading<'_>>) -> Result<u8, Error> {
        let run = run_id();
        let checked = CheckedOptions::new(&loaded.settings, &loaded.plugins(), Some(run.clone()))?;
        let ended = AtomicBool::new(false);
        let code = thread::scope(|scope| {
            if let Some(mut reloading) = reloading {
                let (run, output, ended) = (&run, &checked.output, &ended);
                scope.spawn(move || reloading.follow(run, output, ended));
            }
            let code = checked.launch(&self.program.command);
            ended.store(true, Ordering::Release);
            code
        })?;
        let mut warnings = Warnings::default();
        let name = &loaded.description.name;
        let tables = plugin_tables::of_run((&run, name), &checked.output, &mut warnings);
        let shown = tables.and_then(|tables| {
            let recordings = recorded::of_run(
                &run,
                &checked.output,
                &self.outputs.value().scratch(),
                &mut warnings,
            )?;
            self.show((recordings, tables), warnings, loaded)
        });
        with_exit_of_program(code, shown)
    }

    fn visit(
        &self,
        pid: i32,
        loaded: &LoadedPlugin,
        reloading: Option<Reloading<'_>>,
    ) -> Result<u8, Error> {
        let mut visit = AttachedPlugin::begin(pid, &loaded.visitor, &loaded.settings, &run_id())?;
        let observes = loaded.description.observes();
        if visit.instrumented() == 0 && !observes {
            let help = "selected classes are changed when they load";
            complain(Warning::new(codes::H0650, "no loaded class is changed").with("help", help));
        }
        match reloading {
            Some(mut reloading) => reloading.stay(&mut visit, self.program.time)?,
            None => visit.wait("visiting", self.program.time, &|| false)?,
        }
        let ended = visit.end();
        if ended.instrumented == Some(0) && !observes {
            return Err(Error::mistake(codes::H0650, "no class was changed")
                .with(
                    "expected",
                    "a selected class among those loaded while the command was attached",
                )
                .with(
                    "help",
                    format!(
                        "`classhook attach {pid}`, then `classhook classes {pid}` lists the loaded classes with their loaders"
                    ),
                ));
        }
        let mut warnings = Warnings::default();
        let name = &loaded.description.name;
        let tables = plugin_tables::beside(&ended.snapshot, name, &mut warnings)?;
        let recordings =
            recorded::of_visit(&ended, &self.outputs.value().scratch(), &mut warnings)?;
        ended.conclude(self.show((recordings, tables), warnings, loaded))
    }

    /// Prints the plugin's data, without that of other plugins, and returns the exit code.
    fn show(
        &self,
        (mut recordings, tables): (Vec<Recording>, Vec<PluginTables>),
        warnings: Warnings,
        loaded: &LoadedPlugin,
    ) -> Result<u8, Error> {
        let plugin = &loaded.description;
        complain(&warnings);
        let code = match warnings.of_missing() {
            true => PARTIAL,
            false => 0,
        };
        for recording in &mut recordings {
            recording.retain(|span| span.plugin == plugin.name);
        }
        recordings.retain(|one| !one.trace.spans.is_empty() || !one.trace.places.is_empty());
        if !recordings.is_empty() || !tables.is_empty() {
            let outputs = TraceOutputs {
                plugin_tables: tables,
                reporters: loaded.reporters.clone(),
                ..self.outputs.value()
            };
            return outputs.make(&recordings, StreamedLines::No).map(|()| code);
        }
        let name = &plugin.name;
        if !needed(plugin).contains(&"probes") {
            return Ok(code); // without probes there is no data
        }
        say(format_args!(
            "the plugin `{name}` recorded nothing: no loaded class has one of its counts, spans or events"
        ));
        Ok(code)
    }
}
