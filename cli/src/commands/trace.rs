//! `classhook trace`: the calls of methods, in a command or in a running JVM.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use host::{Config, Pipeline};
use serde_json::{Map, Value, json};
use trace::recording::Recording;

use crate::args::{EventFiles, Settings, place};
use crate::attached::{AttachedPlugin, Visitor};
use crate::checked_options::{CheckedOptions, run_id};
use crate::following::Following;
use crate::inputs::run_files;
use crate::live::{Live, Show, Streamed, Which};
use crate::metaspace::Metaspace;
use crate::otlp::{Delivery, OtlpOptions, Target};
use crate::plugin_compiler::PluginCompiler;
use crate::problem::{PARTIAL, Problem};
use crate::relay::{self, RelayOptions, Sending};
use crate::show::{self, all_but_last, complain, say};
use crate::slow::SlowOptions;
use crate::traces::{self, TraceOutputs};
use crate::unmatched;
use crate::until;
use crate::warnings::{Warning, Warnings};
use crate::when::When;
use crate::withheld::Withheld;

pub(super) const PLUGIN: &str = "trace";

const AFTER_HELP: &str = "\
Without --methods and --annotated every method of the application is traced that a programmer wrote.
A method is CLASS.METHOD or CLASS.METHOD(DESCRIPTOR): in classes `**` is any text and `*` any within one package,
in methods and descriptors `*` is any text. `com.acme.**` is every method below com.acme; `!` in front excludes.
Prints a table of all calls; --flame-graph, --folded, --perfetto and --json-lines show single calls.
The event file stays in the output folder: `classhook report` makes the same of it later.
With a PID the JVM is traced for the time of --for, or until Ctrl-C or its end, and then left as it was before.
--slow prints the tree of each slow call, with its waits for locks and the collections in it.
--follow shows the calls of a task below the call that submitted it, whichever thread runs it.
--json-lines, --interval and --prometheus show what is traced while the program runs.
--otlp sends calls as spans, and sums as metrics, to an OpenTelemetry collector; the variables OTEL_… are obeyed.

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

/// Traces the calls of methods and reports them.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Trace {
    /// What is traced.
    #[command(flatten)]
    pub what: What,
    /// Which single calls are kept.
    #[command(flatten)]
    pub when: When,
    /// The tasks that are followed.
    #[command(flatten)]
    pub following: Following,
    /// The trees of slow calls.
    #[command(flatten)]
    pub slow: SlowOptions,
    /// What is made of it.
    #[command(flatten)]
    pub outputs: TraceOutputs,
    /// What is shown while the program runs.
    #[command(flatten)]
    pub meanwhile: Meanwhile,
    /// How long event files may become.
    #[command(flatten)]
    pub event_files: EventFiles,
    /// Where they are sent as well.
    #[command(flatten)]
    pub relay: RelayOptions,
    /// The options of the agent.
    #[command(flatten)]
    pub settings: Settings,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: Metaspace,
    /// How long a running JVM is traced: 500ms, 30s, 5m, 2h [default: until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", requires = "pid", conflicts_with = "command", value_parser = until::duration)]
    pub time: Option<Duration>,
    /// A running JVM's process id; `classhook ps` lists them
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "command")]
    pub pid: Option<i32>,
    /// The command and its arguments, behind `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "pid")]
    pub command: Vec<OsString>,
}

/// What is shown of a trace while it goes on.
#[derive(Debug, Clone, Default, Args)]
pub struct Meanwhile {
    /// Print the table of each interval of this length: 5s, 1m; at least 1s
    #[arg(long, value_name = "DURATION", value_parser = until::interval)]
    pub interval: Option<Duration>,
    /// Write the sums in Prometheus' text format to this file, anew in each interval [default: 5s]
    #[arg(long, value_name = "FILE", value_parser = place())]
    pub prometheus: Option<PathBuf>,
    /// Where spans and metrics are sent.
    #[command(flatten)]
    pub otlp: OtlpOptions,
}

/// Which methods are traced, and what is kept of their calls.
#[derive(Debug, Clone, Default, Args)]
pub struct What {
    /// Methods to trace: com.acme.**, com.acme.Store.find*, com.acme.Store.get(I*; `!` in front excludes; may be repeated
    #[arg(long, value_name = "PATTERN", conflicts_with = "config")]
    pub methods: Vec<String>,
    /// Methods with this annotation, or of classes with it: com.acme.Traced, **.GetMapping; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub annotated: Vec<String>,
    /// What is kept of each call [default: thrown]
    #[arg(
        long,
        value_name = "WHAT",
        value_delimiter = ',',
        conflicts_with = "config"
    )]
    pub capture: Vec<Captured>,
    /// Longest text kept of one value, in bytes [default: 80]
    #[arg(long, value_name = "BYTES", conflicts_with = "config")]
    pub limit: Option<u32>,
    /// Sum up the calls of each method and keep no single ones
    #[arg(long, conflicts_with_all = ["config", "capture", "limit", "when", "min_duration", "show", "depth"])]
    pub aggregate: bool,
    /// Only count the calls, which costs the least; threads that enter a method at the same moment may count once
    #[arg(long, conflicts_with_all = ["config", "capture", "limit", "aggregate", "when", "min_duration", "show", "depth"])]
    pub count: bool,
    /// Methods to leave out [default: synthetic,bridges]
    #[arg(
        long,
        value_name = "KIND",
        value_delimiter = ',',
        conflicts_with = "config"
    )]
    pub skip: Vec<Skip>,
}

/// What can be kept of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Captured {
    /// The values of the arguments
    Arguments,
    /// The value returned
    Returned,
    /// The class of what is thrown
    Thrown,
}

/// Methods that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Skip {
    /// Constructors
    Constructors,
    /// Static initialisers
    StaticInitialisers,
    /// Methods made by the compiler, but for bridges and lambdas
    Synthetic,
    /// Methods that the compiler made to call one with other types
    Bridges,
    /// Bodies of lambdas
    Lambdas,
    /// Methods that only read or write a field
    Accessors,
}

impl What {
    /// The plugin's settings, on top of those given as JSON.
    fn settings(&self, given: Option<&str>) -> Result<String, Problem> {
        let mut table: Map<String, Value> = match given {
            None => Map::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Problem::user("H0105", "--plugin-settings is no JSON object")
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
        if let Some(limit) = self.limit {
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

    /// The agent's settings with these among them, unless a file has them.
    pub(super) fn configured(&self, settings: &Settings) -> Result<Settings, Problem> {
        let mut settings = settings.clone();
        let configuration = &mut settings.change.configuration;
        if configuration.file.is_none() {
            let json = &mut configuration.plugins.plugin_settings;
            *json = Some(self.settings(json.as_deref())?);
        }
        Ok(settings)
    }

    /// Says at once if no loaded method is traced: why classes that are loaded are not, or which are like those asked for.
    pub(super) fn warn_of_nothing(
        &self,
        visit: &mut AttachedPlugin,
        settings: &Settings,
    ) -> Result<Vec<Withheld>, Problem> {
        if visit.instrumented() > 0 {
            return Ok(Vec::new());
        }
        let classes = visit.classes()?;
        let mut warning = Warning::new("H0650", "no method of a loaded class is traced");
        let mut withheld = Vec::new();
        for pattern in &self.methods {
            let globs = [class_of(pattern), pattern];
            let mut found = globs
                .iter()
                .filter_map(|glob| visit.withheld(glob, settings.plugins()));
            if let Some(found) = found.next() {
                warning = warning
                    .with("found", found.found())
                    .with("help", found.help());
                withheld.push(found);
            } else if let Some(name) = unmatched::nearest(class_of(pattern), &classes) {
                let method = pattern.strip_prefix(class_of(pattern)).unwrap_or_default();
                warning = warning.with("nearest", format!("{name}{method}"));
            }
        }
        let help = "methods of classes that are loaded from now on are, if they are asked for";
        complain(warning.with("help", help));
        Ok(withheld)
    }
}

/// The problem that no method was traced while a JVM was visited.
pub(super) fn nothing_traced(pid: i32, methods: &[String], withheld: &[Withheld]) -> Problem {
    let problem = Problem::user("H0650", "no method was traced").with(
        "expected",
        "at least one method of a class that is loaded, or was meanwhile",
    );
    let problem = match methods {
        [] => problem,
        methods => problem.with("found", none_of(methods)),
    };
    with_causes(problem, withheld).with(
        "help",
        format!("`classhook attach {pid}`, then `classhook classes {pid}`: it lists the loaded classes with their loaders"),
    )
}

/// Adds why classes that are loaded are not changed.
pub(super) fn with_causes(problem: Problem, withheld: &[Withheld]) -> Problem {
    withheld.iter().fold(problem, |problem, found| {
        problem
            .with("found", found.found())
            .with("help", found.help())
    })
}

/// Says that no method was found for these patterns, which several options give.
fn none_of(methods: &[String]) -> String {
    format!("no method of {}", methods.join(" "))
}

/// The problem that no JVM of a command recorded anything: none began, or no method matched. The latter have written
/// their snapshots all the same.
pub(super) fn nothing_of_command(run: &str, output: &Path, methods: &[String]) -> Problem {
    match run_files::snapshots_of(run, output) {
        Err(problem) => problem,
        Ok(snapshots) if snapshots.is_empty() => Problem::user("H0610", "nothing was recorded")
            .with("expected", format!("at least one event file of this run in {}", output.display()))
            .with("help", "does the command start a JVM? a daemon that was running before (Gradle, sbt) does not get the agent: start it anew"),
        Ok(snapshots) => {
            let jvms = match snapshots.len() {
                1 => "one JVM".to_owned(),
                count => format!("{count} JVMs"),
            };
            let found = match methods {
                [] => jvms,
                methods => format!("{jvms}, and {}", none_of(methods)),
            };
            Problem::user("H0650", "no method was traced")
                .with("expected", "at least one method of a class that the command loads")
                .with("found", found)
                .with("help", "a pattern is CLASS.METHOD, the class with its package: com.acme.Store.find*, com.acme.**")
                .with("help", "classes of the JDK need --grant boot; those without a source location, such as proxies, --select location:any")
        }
    }
}

/// The values' names on the command line, which are the plugin's own.
fn names<T: ValueEnum>(values: &[T]) -> Value {
    let possible = values.iter().filter_map(ValueEnum::to_possible_value);
    possible.map(|value| value.get_name().to_owned()).collect()
}

impl Trace {
    /// Runs the command, or visits the JVM, and reports; the result is the command's exit code.
    ///
    /// # Errors
    /// If options, configuration, agent, command or JVM are wrong, or no report can be made of a run that went well.
    pub fn run(&self) -> Result<u8, Problem> {
        self.outputs.check()?;
        self.relay.check()?;
        self.check_depth()?;
        let run = run_id();
        let when = self.when.showing(self.meanwhile.otlp.named_values());
        let settings = when.added(self.what.configured(&self.settings)?);
        let settings = self.following.added(settings)?;
        if !keeps_calls(&settings) {
            self.outputs.refuse_calls()?;
            self.meanwhile.otlp.refuse_names()?;
            self.slow.refuse_calls()?;
        }
        let target = self.meanwhile.otlp.target()?;
        self.metaspace.check(self.pid)?;
        let settings = self.event_files.added(settings);
        let mut settings = self.slow.added(settings, self.when.condition.as_deref())?;
        settings.metaspace = self.metaspace;
        match self.pid {
            Some(pid) => self.visit(pid, &settings, &run, target),
            None => self.start(&settings, &run, target),
        }
    }

    /// Refuses a depth where no value is kept that could have one.
    fn check_depth(&self) -> Result<(), Problem> {
        let holds_values = |kept: &Captured| *kept != Captured::Thrown;
        let values = self.when.show.is_some() || self.what.capture.iter().any(holds_values);
        let depth = self.when.depth.filter(|_| !values);
        depth.map_or(Ok(()), |depth| {
            let message = "--depth is about values, and none is kept";
            Err(Problem::user("H0663", message)
                .with("found", format!("--depth {depth}"))
                .with("help", "add --show arg, or --capture arguments,returned"))
        })
    }

    fn start(&self, settings: &Settings, run: &str, target: Option<Target>) -> Result<u8, Problem> {
        let checked = options_of(settings, run)?;
        let live = self.live(Which::Run(run.to_owned()), &checked.output, target)?;
        let sending = self.relay.start(&checked.output, relay::Which::Run(run))?;
        let code = checked.launch(&self.command)?;
        match self.report(run, &checked.output, finish(live, sending)) {
            Err(problem) if code == 0 => Err(problem),
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                Ok(code)
            }
            Ok(PARTIAL) if code == 0 => Ok(PARTIAL),
            Ok(_) => Ok(code),
        }
    }

    fn visit(
        &self,
        pid: i32,
        settings: &Settings,
        run: &str,
        target: Option<Target>,
    ) -> Result<u8, Problem> {
        options_of(settings, run)?;
        let mut visit = AttachedPlugin::begin(pid, &Visitor::in_session(PLUGIN), settings, run)?;
        let withheld = self.what.warn_of_nothing(&mut visit, settings)?;
        if let Err(problem) = self.when.check_values(&mut visit) {
            drop(visit.end());
            return Err(problem);
        }
        let (which, folder) = Which::recorded_in(visit.snapshot(), visit.since());
        let live = self.live(which, folder, target)?;
        let jvm = run_files::jvm_of(visit.snapshot());
        let jvm = jvm.map_or((0, 0), |jvm| (jvm.pid, jvm.start_ms));
        let sending = self
            .relay
            .start(folder, relay::Which::Process(jvm.0, jvm.1))?;
        let enough = || live.as_ref().is_some_and(Live::has_enough);
        visit.wait("tracing", self.time, &enough)?;
        let mut ended = visit.end();
        let mut streamed = finish(live, sending);
        if ended.instrumented == Some(0) {
            return Err(nothing_traced(pid, &self.what.methods, &withheld));
        }
        streamed.failed.extend(ended.unanswered.take());
        let mut warnings = Warnings::default();
        let recordings = traces::of_visit(&ended, &self.outputs.scratch(), &mut warnings)?;
        let code = self.show(&recordings, warnings, streamed)?;
        for file in traces::event_files(&ended.snapshot)? {
            let file = show::path(&file);
            say(format_args!(
                "{file} stays; `classhook report {file}` shows it again"
            ));
        }
        Ok(if ended.is_partial { PARTIAL } else { code })
    }

    /// Reports the event files of this run.
    fn report(&self, run: &str, output: &Path, streamed: Streamed) -> Result<u8, Problem> {
        let mut warnings = Warnings::default();
        let recordings = traces::of_run(run, output, &self.outputs.scratch(), &mut warnings)?;
        if recordings.is_empty() {
            let nothing = nothing_of_command(run, output, &self.what.methods);
            let problems = streamed.failed.into_iter().chain([nothing]);
            return all_but_last(problems).map(|()| PARTIAL);
        }
        self.show(&recordings, warnings, streamed)
    }

    /// Makes everything that is asked for of what was recorded, whatever fails of it; the exit code.
    fn show(
        &self,
        recordings: &[Recording],
        warnings: Warnings,
        streamed: Streamed,
    ) -> Result<u8, Problem> {
        warnings.print();
        let lines = streamed.lines;
        let made = self.outputs.make(recordings, lines);
        let made = made.and_then(|()| traces::is_streamed(recordings, lines));
        let followed = match self.following.follow {
            true => traces::is_following(recordings),
            false => Ok(()),
        };
        let followed = followed.and_then(|()| match made.is_ok() {
            true => traces::follows_all(streamed.lost_tasks),
            false => Ok(()),
        });
        let delivery = streamed.delivery.as_ref();
        let delivered = delivery.map_or(Ok(()), Delivery::report);
        let failed = streamed.failed.into_iter();
        let problems = failed.chain(made.err()).chain(followed.err());
        all_but_last(problems.chain(delivered.err()))?;
        Ok(match warnings.of_missing() {
            true => PARTIAL,
            false => 0,
        })
    }

    /// Begins to show what is asked for while the trace goes on, if anything is.
    fn live(
        &self,
        which: Which,
        folder: &Path,
        otlp: Option<Target>,
    ) -> Result<Option<Live>, Problem> {
        let show = Show {
            json_lines: self.outputs.json_lines.clone(),
            compact: self.outputs.compact,
            interval: self.meanwhile.interval,
            prometheus: self.meanwhile.prometheus.clone(),
            otlp,
            slow: self.slow.clone(),
            order: self.outputs.order(),
            rows: self.outputs.top,
            beside: self.outputs.takes_stdout(),
        };
        if !show.any() {
            return Ok(None);
        }
        Live::start(which, folder, show).map(Some)
    }
}

/// Ends what is shown and sent meanwhile.
fn finish(live: Option<Live>, sending: Option<Sending>) -> Streamed {
    let mut streamed = live.map_or_else(Streamed::default, Live::finish);
    let sent = sending.map_or(Ok(()), Sending::finish);
    streamed.failed.extend(sent.err());
    streamed
}

/// Whether single calls are recorded, as far as the settings say.
fn keeps_calls(settings: &Settings) -> bool {
    let json = settings.plugins().plugin_settings.as_deref();
    let json: Option<Value> = json.and_then(|json| serde_json::from_str(json).ok());
    json.is_none_or(|json| json["mode"] != "aggregate" && json["mode"] != "count")
}

/// The class of a pattern `com.acme.Store.find*(I`.
fn class_of(pattern: &str) -> &str {
    let name = pattern.split('(').next().unwrap_or(pattern);
    name.rsplit_once('.').map_or(name, |(class, _)| class)
}

/// The options of the agent; mistakes in them are reported before anything is started.
pub(super) fn options_of(settings: &Settings, run: &str) -> Result<CheckedOptions, Problem> {
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
        let what = What {
            methods: vec!["a.**".into(), "!a.B.f".into()],
            capture: vec![Captured::Arguments, Captured::Thrown],
            skip: vec![Skip::StaticInitialisers],
            limit: Some(9),
            ..What::default()
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
        let sums = What {
            aggregate: true,
            ..What::default()
        };
        assert_eq!(sums.settings(None).unwrap(), r#"{"mode":"aggregate"}"#);
        assert_eq!(sums.settings(Some("[]")).unwrap_err().exit(), 2);
    }
}
