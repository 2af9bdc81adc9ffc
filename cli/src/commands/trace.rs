//! `classhook trace`: the calls of methods, in a command or in a running JVM.

mod live;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};
use host::{Config, Pipeline};
use serde_json::{Map, Value, json};

use super::coverage::run_id;
use super::run::Plan;
use crate::args::Settings;
use crate::inputs::recordings::{self, Kind};
use crate::launch;
use crate::problem::Problem;
use crate::select::Filter;
use crate::traces::{self, TraceOutputs};
use crate::warnings::Warnings;

const AFTER_HELP: &str = "\
Without --methods and --annotated every method of the application is traced that a programmer wrote.
A method is CLASS.METHOD or CLASS.METHOD(DESCRIPTOR): in classes `**` is any text and `*` any within one package,
in methods and descriptors `*` is any text. `com.acme.**` is every method below com.acme; `!` in front excludes.
Prints a table of all calls; --flame-graph, --folded, --perfetto and --json-lines show single calls.
The event file stays in the output folder: `classhook report` makes the same of it later.
With a PID the JVM is traced for the time of --for, or until Ctrl-C or its end, and then left as it was before.

Examples:
  classhook trace --methods 'com.acme.**' --flame-graph flame.svg -- java -jar app.jar
  classhook trace --methods 'com.acme.Store.find*' --capture arguments,returned --json-lines calls.jsonl -- java -jar app.jar
  classhook trace 4711 --methods 'com.acme.Store.*' --for 30s --perfetto trace.json
  classhook trace --annotated '**.GetMapping' --aggregate -- java -jar app.jar";

/// Traces the calls of methods and reports them.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Trace {
    /// What is traced.
    #[command(flatten)]
    pub what: What,
    /// What is made of it.
    #[command(flatten)]
    pub outputs: TraceOutputs,
    /// What the agent is told.
    #[command(flatten)]
    pub settings: Settings,
    /// How long to trace a running JVM: 30s, 5m, 200ms [default: until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration, conflicts_with = "command")]
    pub time: Option<Duration>,
    /// A running JVM's process id; `classhook ps` lists them
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "command", required_unless_present = "command")]
    pub pid: Option<i32>,
    /// The command and its arguments, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
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
    #[arg(long, conflicts_with_all = ["config", "capture", "limit"])]
    pub aggregate: bool,
    /// Only count the calls
    #[arg(long, conflicts_with_all = ["config", "capture", "limit", "aggregate"])]
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
}

/// The values' names on the command line, which are the plugin's own.
fn names<T: ValueEnum>(values: &[T]) -> Value {
    let possible = values.iter().filter_map(ValueEnum::to_possible_value);
    possible.map(|value| value.get_name().to_owned()).collect()
}

impl Trace {
    /// Runs the command and reports; the result is the command's exit code.
    ///
    /// # Errors
    /// If options, configuration, agent or command are wrong, or no report can be made of a run that went well.
    pub fn run(&self) -> Result<u8, Problem> {
        let run = run_id();
        if let Some(pid) = self.pid {
            let mut warnings = Warnings::default();
            let traces = live::trace(self, pid, &run, &mut warnings)?;
            return self.show(traces, warnings).map(|()| 0);
        }
        let plan = self.plan(&run)?;
        let code = launch::run(&self.command, &plan.options)?;
        match self.report(&run, &plan.output) {
            Err(problem) if code == 0 => Err(problem),
            Err(problem) => {
                eprintln!("{problem}");
                Ok(code)
            }
            Ok(()) => Ok(code),
        }
    }

    /// What the agent is told; mistakes in it are told before anything is started.
    fn plan(&self, run: &str) -> Result<Plan, Problem> {
        let plan = if self.settings.config.is_some() {
            Plan::new(&self.settings, &[], Some(run.to_owned()))?
        } else {
            Plan::new(&self.configured()?, &["trace".into()], Some(run.to_owned()))?
        };
        let options = plan.options.to_text();
        Pipeline::new(&Config::from_options(&options.to_string_lossy())?)?;
        Ok(plan)
    }

    /// The settings with those of the plugin among them.
    fn configured(&self) -> Result<Settings, Problem> {
        let given = self.settings.plugin_settings.as_deref();
        Ok(Settings {
            plugin_settings: Some(self.what.settings(given)?),
            ..self.settings.clone()
        })
    }

    /// Reports the event files of this run.
    fn report(&self, run: &str, output: &Path) -> Result<(), Problem> {
        let mut warnings = Warnings::default();
        let traces = of_run(run, output, &mut warnings)?;
        if traces.is_empty() {
            return Err(Problem::user("H0610", "nothing was recorded")
                .with("expected", format!("at least one event file of this run in {}", output.display()))
                .with("help", "does the command start a JVM? a daemon that was running before (Gradle, sbt) does not get the agent: start it anew"));
        }
        self.show(traces, warnings)
    }

    fn show(
        &self,
        mut traces: Vec<probes::events::Trace>,
        warnings: Warnings,
    ) -> Result<(), Problem> {
        traces::select(&mut traces, &Filter::new(&self.settings.select)?);
        warnings.tell();
        self.outputs.make(&traces)
    }
}

/// `30s`, `5m`, `200ms`, or seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number such as 30s".to_owned())?;
    match &text[digits.len()..] {
        "ms" => Ok(Duration::from_millis(number)),
        "" | "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        unit => Err(format!("expected ms, s or m, found `{unit}`")),
    }
}

/// What was traced in the JVMs of one run.
fn of_run(
    run: &str,
    folder: &Path,
    warnings: &mut Warnings,
) -> Result<Vec<probes::events::Trace>, Problem> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut traces = Vec::new();
    for path in recordings::in_folder(folder)? {
        if recordings::kind(&path)? == Kind::Events {
            let mut warned = Warnings::default();
            if let Some(trace) = recordings::read_events(&path, &mut warned)?
                && trace.meta.run == run
            {
                warnings.merge(warned);
                traces.push(trace);
            }
        }
    }
    Ok(traces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        assert!(duration("s").is_err() && duration("5h").is_err() && duration("-1s").is_err());
    }

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
