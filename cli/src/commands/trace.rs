//! `classhook trace`: traces method calls in a command or a running JVM.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_connection::attached::{AttachedPlugin, Visitor};
use agent_launch::checked_options::{CheckedOptions, run_id};
use agent_launch::plugin_compiler::PluginCompiler;
use agent_launch::settings::Settings;
use clap::{Args, ValueEnum};
use class_selection::nearest;
use coverage_inputs::run_files;
use errors::{Error, PARTIAL, Warning, Warnings, codes};
use host::{Config, Pipeline};
use live_traces::jvms::EventFileSource;
use live_traces::outputs::{Live, LiveOptions, LiveOutcome};
use loaded_classes::unchanged_classes::UnchangedClasses;
use local_files::recording_jvm;
use otlp::{Delivery, Target};
use relay::sending::{Sending, SentFiles};
use serde_json::{Map, Value, json};
use standard_streams::show::{self, all_but_last, complain, say, with_exit_of_program};
use trace::recording::Recording;
use trace_reports::completeness;
use trace_reports::outputs::TraceOutputs;
use trace_reports::recorded;

use crate::args::{
    ANNOTATED, AgentArguments, EventFileArguments, INTERVAL, JvmOrCommand, METHODS, TEXT,
    output_path,
};
use crate::call_options::CallOptions;
use crate::durations;
use crate::follow_options::FollowOptions;
use crate::heading;
use crate::metaspace::MetaspaceArgument;
use crate::otlp_arguments::OtlpArguments;
use crate::relay_arguments::RelayArguments;
use crate::trace_arguments::SlowArguments;
use crate::trace_arguments::TraceArguments;

pub(super) const PLUGIN: &str = "trace";

const AFTER_HELP: &str = "\
Without --methods and --annotated, all methods in the application's sources are traced.
A pattern is CLASS.METHOD or CLASS.METHOD(DESCRIPTOR). In classes, `**` is any text and `*` any text within a package.
In methods and descriptors, `*` is any text. `com.acme.**` matches every method below com.acme. `!` in front excludes.
The command prints a table of all calls. --flame-graph, --folded, --perfetto and --json-lines show single calls.
The event file stays in the output folder. `classhook report` writes the same outputs from it later.
With a PID, the JVM is traced until --for, Ctrl-C or its end. Its classes are restored afterwards.
--slow prints each slow call as a tree, with its waits for locks and garbage collections.
--follow shows the calls of a task below the call that submitted it, on any thread.
--json-lines, --interval and --prometheus report calls while the program runs.
--otlp sends calls as spans, and sums as metrics, to an OpenTelemetry collector. It reads the variables OTEL_….

Examples:
  classhook trace --methods 'com.acme.**' --flame-graph flame.svg -- java -jar app.jar
  classhook trace --methods 'com.acme.Store.find*' --capture arguments,returned --json-lines calls.jsonl -- java -jar app.jar
  classhook trace 4711 --methods 'com.acme.Store.*' --for 30s --perfetto trace.json
  classhook trace 4711 --methods 'com.acme.Store.*' --json-lines - | jq 'select(.duration > 1000000)'
  classhook trace 4711 --methods 'com.acme.**' --when 'duration > 100ms || threw' --perfetto slow.json
  classhook trace 4711 --methods 'com.acme.**' --min-duration 5ms --otlp http://localhost:4318
  classhook trace 4711 --methods 'com.acme.**' --slow 200ms --slow-limit 3
  classhook trace 4711 --methods 'com.acme.**' --follow --grant boot --slow 200ms
  classhook trace --annotated '**.GetMapping' --aggregate --interval 5s -- java -jar app.jar";

/// Traces method calls and reports them.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Trace {
    /// The methods to trace.
    #[command(flatten)]
    pub calls: TracedCalls,
    /// The filter of single calls.
    #[command(flatten)]
    pub when: CallOptions,
    /// The tasks to follow.
    #[command(flatten)]
    pub following: FollowOptions,
    /// The trees of slow calls.
    #[command(flatten)]
    pub slow: SlowArguments,
    /// Tables and files.
    #[command(flatten)]
    pub outputs: TraceArguments,
    /// Outputs while the program runs.
    #[command(flatten)]
    pub live_outputs: LiveOutputs,
    /// The limit of event files.
    #[command(flatten)]
    pub event_files: EventFileArguments,
    /// The receiver of the recording.
    #[command(flatten)]
    pub relay: RelayArguments,
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

/// Outputs of a trace while the program runs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::LIVE)]
pub struct LiveOutputs {
    /// The interval of tables.
    #[arg(long, value_name = "DURATION", value_parser = durations::interval, help = INTERVAL)]
    pub interval: Option<Duration>,
    /// Write the sums in Prometheus' text format to this file; at each interval [default: 5s]
    #[arg(long, value_name = "FILE", value_parser = output_path())]
    pub prometheus: Option<PathBuf>,
    /// The OpenTelemetry collector.
    #[command(flatten)]
    pub otlp: OtlpArguments,
}

/// Methods to trace, and the recorded values of their calls.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::CALLS)]
pub struct TracedCalls {
    /// Patterns of methods.
    #[arg(long, value_name = "PATTERN", conflicts_with = "config", help = METHODS)]
    pub methods: Vec<String>,
    /// Names of annotations.
    #[arg(long, value_name = "NAME", conflicts_with = "config", help = ANNOTATED)]
    pub annotated: Vec<String>,
    /// Record these parts of each call [default: thrown]
    #[arg(
        long,
        value_name = "WHAT",
        value_delimiter = ',',
        conflicts_with = "config"
    )]
    pub capture: Vec<Captured>,
    /// The limit of texts.
    #[arg(
        long,
        alias = "limit",
        value_name = "BYTES",
        conflicts_with = "config",
        help = TEXT
    )]
    pub text: Option<u32>,
    /// Sum up the calls of each method, without single calls
    #[arg(long, conflicts_with_all = ["config", "capture", "text", "when", "min_duration", "show", "depth"])]
    pub aggregate: bool,
    /// Count the calls only, at the least cost; simultaneous calls of threads may count once
    #[arg(long, conflicts_with_all = ["config", "capture", "text", "aggregate", "when", "min_duration", "show", "depth"])]
    pub count: bool,
    /// Leave out these kinds of methods [default: synthetic,bridges]
    #[arg(
        long,
        value_name = "KIND",
        value_delimiter = ',',
        conflicts_with = "config"
    )]
    pub skip: Vec<Skip>,
}

/// A part of a call that a trace can record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Captured {
    /// Values of the arguments
    Arguments,
    /// Return value
    Returned,
    /// Class of the thrown exception
    Thrown,
}

/// A kind of methods that a trace can leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Skip {
    /// Constructors
    Constructors,
    /// Static initialisers
    StaticInitialisers,
    /// Compiler-generated methods, except bridges and lambdas
    Synthetic,
    /// Bridge methods (JVMS 4.6, `ACC_BRIDGE`)
    Bridges,
    /// Bodies of lambdas
    Lambdas,
    /// Getters and setters that only read or write a field
    Accessors,
}

impl TracedCalls {
    /// Returns the plugin's settings, merged into given JSON.
    fn settings(&self, given: Option<&str>) -> Result<String, Error> {
        let mut table: Map<String, Value> = match given {
            None => Map::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Error::mistake(codes::H0105, "--plugin-settings is not a JSON object")
                    .with("found", error.to_string())
            })?,
        };
        let mut put = |key: &str, value: Value| table.insert(key.to_owned(), value);
        for (key, list) in [("methods", &self.methods), ("annotated", &self.annotated)] {
            if !list.is_empty() {
                put(key, json!(list));
            }
        }
        if !self.capture.is_empty() {
            put("capture", names(&self.capture));
        }
        if !self.skip.is_empty() {
            put("skip", names(&self.skip));
        }
        if let Some(limit) = self.text {
            put("limit", json!(limit));
        }
        if self.aggregate {
            put("mode", json!("aggregate"));
        }
        if self.count {
            put("mode", json!("count"));
        }
        Ok(Value::Object(table).to_string())
    }

    /// Returns the agent's settings with these options, unless a file configures the plugin.
    pub(super) fn configured(&self, settings: &Settings) -> Result<Settings, Error> {
        let mut settings = settings.clone();
        let configuration = &mut settings.change.configuration;
        if configuration.file.is_none() {
            let json = &mut configuration.plugins.plugin_settings;
            *json = Some(self.settings(json.as_deref())?);
        }
        Ok(settings)
    }

    /// Warns if no loaded method is traced, with the cause or the nearest class name.
    pub(super) fn warn_of_nothing(
        &self,
        visit: &mut AttachedPlugin,
        settings: &Settings,
    ) -> Result<Untraced, Error> {
        let mut untraced = Untraced::default();
        if visit.instrumented() > 0 {
            return Ok(untraced);
        }
        let classes = visit.classes()?;
        let mut warning = Warning::new(codes::H0650, "no method of a loaded class is traced");
        for pattern in &self.methods {
            let globs = [class_of(pattern), pattern];
            let mut found = globs
                .iter()
                .filter_map(|glob| UnchangedClasses::find(visit.agent(), glob, settings.plugins()));
            if let Some(found) = found.next() {
                warning = warning
                    .with("found", found.found())
                    .with("help", found.help());
                untraced.withheld.push(found);
            } else if let Some(name) = nearest::nearest(class_of(pattern), &classes) {
                let method = pattern.strip_prefix(class_of(pattern)).unwrap_or_default();
                let name = format!("{name}{method}");
                warning = warning.with("nearest", &name);
                untraced.nearest.push(name);
            }
        }
        let help = "selected methods are traced when their classes load";
        complain(warning.with("help", help));
        Ok(untraced)
    }
}

/// The causes for which no method of a loaded class is traced.
#[derive(Debug, Default)]
pub(super) struct Untraced {
    /// Loaded classes that plugins do not change.
    withheld: Vec<UnchangedClasses>,
    /// The nearest method patterns.
    nearest: Vec<String>,
}

/// Returns the problem of a visit without a traced method.
pub(super) fn nothing_traced(pid: i32, methods: &[String], untraced: &Untraced) -> Error {
    let problem = Error::mistake(codes::H0650, "no method was traced").with(
        "expected",
        "a method of a class that was loaded while the command was attached",
    );
    let problem = match methods {
        [] => problem,
        methods => problem.with("found", none_of(methods)),
    };
    with_causes(problem, untraced).with(
        "help",
        format!("`classhook attach {pid}`, then `classhook classes {pid}` lists the loaded classes with their loaders"),
    )
}

/// Adds the causes for which loaded classes are not instrumented, and the nearest patterns.
pub(super) fn with_causes(problem: Error, untraced: &Untraced) -> Error {
    let withheld = untraced.withheld.iter();
    let problem = withheld.fold(problem, |problem, found| {
        problem
            .with("found", found.found())
            .with("help", found.help())
    });
    let nearest = untraced.nearest.iter();
    nearest.fold(problem, |problem, name| problem.with("nearest", name))
}

/// Returns the finding that no method matches the patterns of several options.
fn none_of(methods: &[String]) -> String {
    format!("no method of {}", methods.join(" "))
}

/// Returns the problem of a command without recorded calls: it started no JVM, or no method matched. JVMs without a
/// matching method have still written their snapshots.
pub(super) fn nothing_of_command(run: &str, output: &Path, methods: &[String]) -> Error {
    match run_files::snapshots_of(run, output) {
        Err(problem) => problem,
        Ok(snapshots) if snapshots.is_empty() => Error::mistake(codes::H0610, "nothing was recorded")
            .with("expected", format!("at least one event file of this run in {}", output.display()))
            .with("help", "check that the command starts a JVM; a daemon from before, as of Gradle or sbt, has no agent: restart it"),
        Ok(snapshots) => {
            let jvms = match snapshots.len() {
                1 => "one JVM".to_owned(),
                count => format!("{count} JVMs"),
            };
            let found = match methods {
                [] => jvms,
                methods => format!("{jvms}, and {}", none_of(methods)),
            };
            Error::mistake(codes::H0650, "no method was traced")
                .with("expected", "a method of a class that the command loads")
                .with("found", found)
                .with("help", "write patterns as CLASS.METHOD, with the package: com.acme.Store.find*, com.acme.**")
                .with("help", "add --grant boot for JDK classes, and --select location:any for classes without a source location, such as proxies")
        }
    }
}

/// Returns the names of values, which are the same in the plugin's configuration.
fn names<T: ValueEnum>(values: &[T]) -> Value {
    let possible = values.iter().filter_map(ValueEnum::to_possible_value);
    possible.map(|value| value.get_name().to_owned()).collect()
}

impl Trace {
    /// Traces the command or the running JVM, reports the calls, and returns the exit code.
    ///
    /// # Errors
    /// If options, configuration, agent, command or JVM are wrong, or the report of a successful run fails.
    pub fn run(&self) -> Result<u8, Error> {
        self.outputs.value().check(Some(self.slow.value().file()))?;
        self.relay.value().check()?;
        self.check_depth()?;
        let run = run_id();
        let otlp = self.live_outputs.otlp.options();
        let when = self.when.showing(otlp.named_values());
        let settings = when.added(self.calls.configured(&self.settings.value())?);
        let settings = self.following.added(settings)?;
        if !keeps_calls(&settings) {
            self.outputs.value().refuse_calls()?;
            otlp.refuse_names()?;
            self.slow.value().refuse_calls()?;
        }
        let target = otlp.target()?;
        self.metaspace.check(self.program.pid)?;
        let settings = self.event_files.added(settings);
        let mut settings = self
            .slow
            .value()
            .added(settings, self.when.condition.as_deref())?;
        settings.metaspace = self.metaspace.value();
        match self.program.pid {
            Some(pid) => self.visit(pid, &settings, &run, target),
            None => self.start(&settings, &run, target),
        }
    }

    /// Refuses --depth without recorded values.
    fn check_depth(&self) -> Result<(), Error> {
        let holds_values = |kept: &Captured| *kept != Captured::Thrown;
        let values = self.when.show.is_some() || self.calls.capture.iter().any(holds_values);
        let depth = self.when.depth.filter(|_| !values);
        depth.map_or(Ok(()), |depth| {
            let message = "--depth needs recorded values";
            Err(Error::mistake(codes::H0663, message)
                .with("found", format!("--depth {depth}"))
                .with("help", "add --show arg, or --capture arguments,returned"))
        })
    }

    fn start(&self, settings: &Settings, run: &str, target: Option<Target>) -> Result<u8, Error> {
        let checked = options_of(settings, run)?;
        let live = self.live(
            EventFileSource::Run(run.to_owned()),
            &checked.output,
            target,
        )?;
        let sending = self
            .relay
            .value()
            .start(&checked.output, SentFiles::Run(run))?;
        let code = checked.launch(&self.program.command)?;
        with_exit_of_program(
            code,
            self.report(run, &checked.output, finish(live, sending)),
        )
    }

    fn visit(
        &self,
        pid: i32,
        settings: &Settings,
        run: &str,
        target: Option<Target>,
    ) -> Result<u8, Error> {
        options_of(settings, run)?;
        let mut visit = AttachedPlugin::begin(pid, &Visitor::in_session(PLUGIN), settings, run)?;
        let untraced = self.calls.warn_of_nothing(&mut visit, settings)?;
        if let Err(problem) = self.when.check_values(&mut visit) {
            drop(visit.end());
            return Err(problem);
        }
        let (which, folder) = EventFileSource::recorded_in(visit.snapshot(), visit.since());
        let live = self.live(which, folder, target)?;
        let jvm = recording_jvm::jvm_of(visit.snapshot());
        let jvm = jvm.map_or((0, 0), |jvm| (jvm.pid, jvm.start_ms));
        let sending = self
            .relay
            .value()
            .start(folder, SentFiles::Process(jvm.0, jvm.1))?;
        let enough = || live.as_ref().is_some_and(Live::has_enough);
        visit.wait("tracing", self.program.time, &enough)?;
        let mut ended = visit.end();
        let mut streamed = finish(live, sending);
        if ended.instrumented == Some(0) {
            return Err(nothing_traced(pid, &self.calls.methods, &untraced));
        }
        streamed.failed.extend(ended.unanswered.take());
        let mut warnings = Warnings::default();
        let recordings =
            recorded::of_visit(&ended, &self.outputs.value().scratch(), &mut warnings)?;
        let code = self.show(&recordings, warnings, streamed)?;
        for file in recorded::event_files(&ended.snapshot)? {
            let file = show::path(&file);
            say(format_args!(
                "{file} is kept; `classhook report {file}` shows it again"
            ));
        }
        Ok(if ended.is_partial { PARTIAL } else { code })
    }

    /// Reports the event files of the run.
    fn report(&self, run: &str, output: &Path, streamed: LiveOutcome) -> Result<u8, Error> {
        let mut warnings = Warnings::default();
        let recordings =
            recorded::of_run(run, output, &self.outputs.value().scratch(), &mut warnings)?;
        if recordings.is_empty() {
            let nothing = nothing_of_command(run, output, &self.calls.methods);
            let problems = streamed.failed.into_iter().chain([nothing]);
            return all_but_last(problems).map(|()| PARTIAL);
        }
        self.show(&recordings, warnings, streamed)
    }

    /// Writes all outputs, even if one fails, and returns the exit code.
    fn show(
        &self,
        recordings: &[Recording],
        warnings: Warnings,
        streamed: LiveOutcome,
    ) -> Result<u8, Error> {
        complain(&warnings);
        let lines = streamed.lines;
        let outputs = TraceOutputs {
            beside: self.slow.value().takes_stdout(),
            ..self.outputs.value()
        };
        let made = outputs.make(recordings, lines);
        let made = made.and_then(|()| completeness::is_streamed(recordings, lines));
        let followed = match self.following.follow {
            true => completeness::is_following(recordings),
            false => Ok(()),
        };
        let followed = followed.and_then(|()| match made.is_ok() {
            true => completeness::follows_all(streamed.lost_tasks),
            false => Ok(()),
        });
        let trees = completeness::has_whole_trees(streamed.lost_calls);
        let delivery = streamed.delivery.as_ref();
        delivery.into_iter().flat_map(Delivery::lines).for_each(say);
        let delivered = delivery.map_or(Ok(()), Delivery::check);
        let failed = streamed.failed.into_iter();
        let problems = failed.chain(made.err()).chain(followed.err());
        let problems = problems.chain(trees.err());
        all_but_last(problems.chain(delivered.err()))?;
        Ok(match warnings.of_missing() {
            true => PARTIAL,
            false => 0,
        })
    }

    /// Starts the outputs during the trace, if one is selected.
    fn live(
        &self,
        which: EventFileSource,
        folder: &Path,
        otlp: Option<Target>,
    ) -> Result<Option<Live>, Error> {
        let options = LiveOptions {
            json_lines: self.outputs.json_lines.clone(),
            compact: self.outputs.compact,
            interval: self.live_outputs.interval,
            prometheus: self.live_outputs.prometheus.clone(),
            otlp,
            slow: self.slow.value(),
            order: self.outputs.value().order,
            rows: self.outputs.top,
            beside: self.outputs.value().takes_stdout() || self.slow.value().takes_stdout(),
        };
        if !options.any() {
            return Ok(None);
        }
        Live::start(which, folder, options).map(Some)
    }
}

/// Ends the outputs during the trace and the transfer to a receiver.
fn finish(live: Option<Live>, sending: Option<Sending>) -> LiveOutcome {
    let mut streamed = live.map_or_else(LiveOutcome::default, Live::finish);
    let sent = sending.map_or(Ok(()), Sending::finish);
    streamed.failed.extend(sent.err());
    streamed
}

/// Checks whether the settings record single calls.
fn keeps_calls(settings: &Settings) -> bool {
    let json = settings.plugins().plugin_settings.as_deref();
    let json: Option<Value> = json.and_then(|json| serde_json::from_str(json).ok());
    json.is_none_or(|json| json["mode"] != "aggregate" && json["mode"] != "count")
}

/// Returns the class of a pattern: `com.acme.Store` of `com.acme.Store.find*(I`.
fn class_of(pattern: &str) -> &str {
    let name = pattern.split('(').next().unwrap_or(pattern);
    name.rsplit_once('.').map_or(name, |(class, _)| class)
}

/// Checks and returns the options of the agent, before a process starts.
pub(super) fn options_of(settings: &Settings, run: &str) -> Result<CheckedOptions, Error> {
    let plugins = match settings.configuration().file {
        None => vec![PLUGIN.into()],
        Some(_) => vec![],
    };
    let checked = CheckedOptions::new(settings, &plugins, Some(run.to_owned()))?;
    let options = checked.options.to_text();
    let config = Config::from_options(&options.to_string_lossy())?;
    Pipeline::new(&config, &PluginCompiler)?;
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_the_plugins_settings() {
        let what = TracedCalls {
            methods: vec!["a.**".into(), "!a.B.f".into()],
            capture: vec![Captured::Arguments, Captured::Thrown],
            skip: vec![Skip::StaticInitialisers],
            text: Some(9),
            ..TracedCalls::default()
        };
        let settings = what
            .settings(Some(r#"{"limit": 1, "annotated": ["a.A"]}"#))
            .unwrap();
        let expected = json!({
            "methods": ["a.**", "!a.B.f"],
            "annotated": ["a.A"],
            "capture": ["arguments", "thrown"],
            "skip": ["static-initialisers"],
            "limit": 9,
        });
        assert_eq!(serde_json::from_str::<Value>(&settings).unwrap(), expected);
        let sums = TracedCalls {
            aggregate: true,
            ..TracedCalls::default()
        };
        assert_eq!(sums.settings(None).unwrap(), r#"{"mode":"aggregate"}"#);
        assert_eq!(sums.settings(Some("[]")).unwrap_err().exit(), 2);
    }
}
