//! `classhook plugin run`: a program with a plugin, and what the plugin found.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;
use host::Config;
use host::config::PluginConfig;
use observations::tables::PluginTables;
use trace::recording::Recording;

use super::ready::Ready;
use super::reloading::Reloading;
use crate::args::{EventFiles, Settings};
use crate::attached::{AttachedPlugin, Visitor};
use crate::checked_options::{self, CheckedOptions, plugin_reference, run_id};
use crate::metaspace::Metaspace;
use crate::plugin_project::watched::Watched;
use crate::plugin_project::{PluginSource, needed};
use crate::plugin_tables;
use crate::problem::{PARTIAL, Problem};
use crate::reporters::Reporters;
use crate::show::{all_but_last, complain, say};
use crate::traces::{self, StreamedLines, TraceOutputs};
use crate::until;
use crate::warnings::{Warning, Warnings};

const AFTER_HELP: &str = "\
What is built of a project's folder is granted what it asks for, and what --grant adds, such as boot; a component file only
what --grant says. Prints what the plugin counted and timed, and the tables that it computes; `classhook report DIR` prints it again later.
With a PID the JVM is visited for the time of --for, or until Ctrl-C or its end, and then left as it was before.
With --watch it is built again when its files change, and takes the former one's place in the JVMs; what is wrong with it is
said, and the former one stays. What the former one recorded is forgotten.
Settings of the plugin are given as JSON (--plugin-settings), or stand in a classhook.toml (--config).

Examples:
  classhook plugin run call-counter -- java -jar app.jar
  classhook plugin run call-counter --plugin-settings '{\"methods\": [\"com.acme.**\"]}' -- java -jar app.jar
  classhook plugin run timer.wasm --grant probes 4711 --for 30s
  classhook plugin run call-counter --watch 4711";

/// Runs a command, or visits a running JVM, with a plugin.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Run {
    /// A project's folder, which is built, a component file (.wasm), or a bundled plugin (coverage, patch, trace)
    #[arg(value_name = "PLUGIN")]
    pub plugin: String,
    /// What is made of times and counts.
    #[command(flatten)]
    pub outputs: TraceOutputs,
    /// How long event files may become.
    #[command(flatten)]
    pub event_files: EventFiles,
    /// The options of the agent.
    #[command(flatten)]
    pub settings: Settings,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: Metaspace,
    /// Build the plugin again when its files change, or take its component again, and reload it in the JVMs
    #[arg(long)]
    pub watch: bool,
    /// How long a running JVM is visited: 500ms, 30s, 5m, 2h [default: until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", requires = "pid", conflicts_with = "command", value_parser = until::duration)]
    pub time: Option<Duration>,
    /// A running JVM's process id; `classhook ps` lists them
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "command")]
    pub pid: Option<i32>,
    /// The command and its arguments, behind `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "pid")]
    pub command: Vec<OsString>,
}

impl Run {
    /// Runs the command, or visits the JVM; the result is the command's exit code.
    ///
    /// # Errors
    /// If plugin, options, command or JVM are wrong, or what was found cannot be shown.
    pub fn run(&self) -> Result<u8, Problem> {
        self.outputs.check()?;
        let watched = self.watch.then(|| Watched::new(&self.plugin)).transpose()?;
        let ready = self.built()?;
        let build = || self.built();
        let reloading = watched.map(|watched| Reloading::new(&build, watched, &ready));
        match self.pid {
            Some(pid) => self.visit(pid, &ready, reloading),
            None => self.start(&ready, reloading),
        }
    }

    /// The plugin as its files are now.
    fn built(&self) -> Result<Ready, Problem> {
        self.ready(&PluginSource::find(&self.plugin)?)
    }

    fn ready(&self, source: &PluginSource) -> Result<Ready, Problem> {
        let description = source.describe()?;
        let reference = plugin_reference(source.reference().as_os_str())?;
        self.metaspace.check(self.pid)?;
        let mut settings = self.event_files.added(self.settings.clone());
        settings.metaspace = self.metaspace;
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
        let mut ready = Ready {
            visitor: Visitor::new(reference.clone(), description.name.clone()),
            reference,
            description,
            settings,
            in_file,
            reporters: Reporters::default(),
        };
        if ready.description.computes_tables() {
            let (_, config) = checked_options::check(&ready.settings, &ready.plugins(), None)?;
            let mut plugins = config.plugins.into_iter();
            let it = plugins.find(|plugin| plugin.name == ready.description.name);
            ready.reporters = it.map(Reporters::one).unwrap_or_default();
        }
        Ok(ready)
    }

    fn start(&self, ready: &Ready, reloading: Option<Reloading<'_>>) -> Result<u8, Problem> {
        let run = run_id();
        let checked = CheckedOptions::new(&ready.settings, &ready.plugins(), Some(run.clone()))?;
        let ended = AtomicBool::new(false);
        let code = thread::scope(|scope| {
            if let Some(mut reloading) = reloading {
                let (run, output, ended) = (&run, &checked.output, &ended);
                scope.spawn(move || reloading.follow(run, output, ended));
            }
            let code = checked.launch(&self.command);
            ended.store(true, Ordering::Release);
            code
        })?;
        let mut warnings = Warnings::default();
        let name = &ready.description.name;
        let observed = plugin_tables::of_run((&run, name), &checked.output, &mut warnings);
        let shown = observed.and_then(|observed| {
            let recordings = traces::of_run(
                &run,
                &checked.output,
                &self.outputs.scratch(),
                &mut warnings,
            )?;
            self.show((recordings, observed), warnings, ready)
        });
        match shown {
            Err(problem) if code == 0 => Err(problem),
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                Ok(code)
            }
            Ok(shown) if code == 0 => Ok(shown),
            Ok(_) => Ok(code),
        }
    }

    fn visit(
        &self,
        pid: i32,
        ready: &Ready,
        reloading: Option<Reloading<'_>>,
    ) -> Result<u8, Problem> {
        let mut visit = AttachedPlugin::begin(pid, &ready.visitor, &ready.settings, &run_id())?;
        let observes = ready.description.observes();
        if visit.instrumented() == 0 && !observes {
            let help = "classes that are loaded from now on are, if they are selected";
            complain(
                Warning::new("H0650", "no class that is loaded is changed").with("help", help),
            );
        }
        match reloading {
            Some(mut reloading) => reloading.stay(&mut visit, self.time)?,
            None => visit.wait("visiting", self.time, &|| false)?,
        }
        let mut ended = visit.end();
        if ended.instrumented == Some(0) && !observes {
            return Err(Problem::user("H0650", "no class was changed")
                .with(
                    "expected",
                    "at least one class that is loaded, or was meanwhile, to be selected",
                )
                .with(
                    "help",
                    format!(
                        "`classhook attach {pid}`, then `classhook classes {pid}`: it lists the loaded classes with their loaders"
                    ),
                ));
        }
        let mut warnings = Warnings::default();
        let name = &ready.description.name;
        let observed = plugin_tables::beside(&ended.snapshot, name, &mut warnings)?;
        let recordings = traces::of_visit(&ended, &self.outputs.scratch(), &mut warnings)?;
        let shown = self.show((recordings, observed), warnings, ready);
        let unanswered = ended.unanswered.take();
        let code = match (shown, unanswered) {
            (Ok(code), None) => code,
            (shown, unanswered) => {
                all_but_last(shown.err().into_iter().chain(unanswered))?;
                PARTIAL
            }
        };
        Ok(if ended.is_partial { PARTIAL } else { code })
    }

    /// What the plugin recorded; other plugins may have been at work, too. The exit code.
    fn show(
        &self,
        (mut recordings, observed): (Vec<Recording>, Vec<PluginTables>),
        warnings: Warnings,
        ready: &Ready,
    ) -> Result<u8, Problem> {
        let plugin = &ready.description;
        warnings.print();
        let code = match warnings.of_missing() {
            true => PARTIAL,
            false => 0,
        };
        for recording in &mut recordings {
            recording.retain(|span| span.plugin == plugin.name);
        }
        recordings.retain(|one| !one.trace.spans.is_empty() || !one.trace.places.is_empty());
        if !recordings.is_empty() || !observed.is_empty() {
            let outputs = TraceOutputs {
                observed,
                reporters: ready.reporters.clone(),
                ..self.outputs.clone()
            };
            return outputs.make(&recordings, StreamedLines::No).map(|()| code);
        }
        let name = &plugin.name;
        if !needed(plugin).contains(&"probes") {
            return Ok(code); // it records nothing
        }
        say(format_args!(
            "the plugin `{name}` recorded nothing: no class that was loaded has a count, a span or an event of it"
        ));
        Ok(code)
    }
}
