//! `classhook watch`: shows single calls, lines or field writes as they happen.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use agent_connection::attached::{AttachedPlugin, Visitor};
use agent_connection::temp_output::TempOutput;
use agent_launch::checked_options::run_id;
use agent_launch::settings::Settings;
use clap::Args;
use coverage_inputs::run_files;
use errors::{Error, codes};
use live_traces::jvms::EventFileSource;
use live_traces::watch_printer::{CommandPlugin, Layout, PrintedCalls, WatchPrinter};
use probes::Snapshot;
use probes::events::Lost;
use standard_streams::show::{all_but_last, say, with_exit_of_program};
use trace::losses;
use trace::numbers::counted;
use trace_reports::completeness;
use trace_reports::value_check::never_found;

use super::trace::{PLUGIN, TracedCalls, Untraced, options_of, with_causes};
use crate::args::{AgentArguments, COMMAND, EventFileArguments, FOR, TEXT};
use crate::call_options::CallOptions;
use crate::durations;
use crate::metaspace::MetaspaceArgument;
use crate::watch_points::WatchPoints;

const USAGE: &str = "\
classhook watch [OPTIONS] PID METHOD...
       classhook watch [OPTIONS] METHOD... -- COMMAND...
       classhook watch [OPTIONS] [PID] --at FILE:LINE [-- COMMAND...]
       classhook watch [OPTIONS] [PID] --field CLASS.FIELD [-- COMMAND...]";

const AFTER_HELP: &str = "\
A METHOD is CLASS.METHOD or CLASS.METHOD(DESCRIPTOR), with the wildcards of `classhook trace --methods`.
The agent evaluates the condition at the end of a call. docs/trace.md describes conditions.
The agent calls no method of the program: it reads values from fields.
At a line, --show and --when use local variables: `total`, `order.items[0].price`, or `locals` for all (default).
At a field write, they use `old`, `new`, `object` and `this`. Writes by reflection, VarHandle, Unsafe and JNI are not
seen.
With a PID, the JVM is watched until --for, --limit calls, Ctrl-C or its end. Its classes are restored afterwards.
A started command continues after --limit calls, without probes.

Examples:
  classhook watch 4711 'com.acme.Store.find*' --when 'duration > 100ms && arg[0] == \"x\" || threw'
  classhook watch 4711 'com.acme.Store.find*' --show 'arg, returned, this.size, stack(10)' --limit 5
  classhook watch 4711 --at Orders.java:120 --show 'total, order.id, stack(3)' --when 'total > 1000'
  classhook watch 4711 --field com.acme.Order.status --show 'old, new, stack(5)'
  classhook watch 'com.acme.**' --min-duration 200ms --json-lines -- java -jar app.jar";

/// Default of `--depth`.
const DEPTH: u8 = 1;

/// Shows single calls, lines or field writes as they happen.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_long_help = AFTER_HELP)]
pub struct Watch {
    /// Select the running JVM by process id, and the methods to watch
    #[arg(value_name = "PID|METHOD", required_unless_present_any = ["at", "field"], conflicts_with = "config")]
    pub operands: Vec<String>,
    /// Stop after this number of calls
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// Show this number of calls per second at most [default: all]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_second: Option<u32>,
    /// The limit of texts.
    #[arg(long, value_name = "BYTES", help = TEXT)]
    pub text: Option<u32>,
    /// Print one JSON object a line for each call
    #[arg(long)]
    pub json_lines: bool,
    /// The length of a visit.
    #[arg(long = "for", value_name = "DURATION", value_parser = durations::duration, help = FOR)]
    pub time: Option<Duration>,
    /// The command and its arguments.
    #[arg(last = true, value_name = "COMMAND", help = COMMAND)]
    pub command: Vec<OsString>,
    /// The lines or fields to watch.
    #[command(flatten)]
    pub places: WatchPoints,
    /// The filter of single calls.
    #[command(flatten)]
    pub when: CallOptions,
    /// The limit of event files.
    #[command(flatten)]
    pub event_files: EventFileArguments,
    /// The options of the agent.
    #[command(flatten)]
    pub settings: AgentArguments,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: MetaspaceArgument,
}

impl Watch {
    /// Shows the calls of the command or the running JVM, and returns the exit code.
    ///
    /// # Errors
    /// If options, agent, command or JVM are wrong, or no method, line or field matches.
    pub fn run(&self) -> Result<u8, Error> {
        let (pid, methods) = self.target()?;
        let run = run_id();
        self.metaspace.check(pid)?;
        let mut settings = self.configured(methods)?;
        settings.metaspace = self.metaspace.value();
        match pid {
            Some(pid) => self.visit(pid, methods, settings, &run),
            None => self.start(settings, &run),
        }
    }

    /// Returns the process id, if no command is given, and the methods.
    fn target(&self) -> Result<(Option<i32>, &[String]), Error> {
        let wrong = |found: String| {
            Error::mistake(codes::H0655, "the JVM, or the methods to watch, are missing")
                .with("expected", "a process id and methods, or methods and a command behind `--`; --at or --field in place of methods")
                .with("found", found)
                .with("help", "type for example: classhook watch 4711 'com.acme.Store.find*', or classhook watch 'com.acme.Store.find*' -- java -jar app.jar")
        };
        let first = self.operands.first().map_or("", String::as_str);
        let pid = first.parse().ok().filter(|pid| *pid > 0);
        let methods = self
            .operands
            .get(usize::from(pid.is_some())..)
            .unwrap_or_default();
        match (pid, self.command.is_empty()) {
            (Some(_), false) => Err(wrong("both a process id and a command".to_owned())),
            (None, true) if first.is_empty() => {
                Err(wrong("neither a process id nor a command".to_owned()))
            }
            (None, true) => Err(wrong(format!("`{}`, and no command", first.escape_debug()))),
            _ if self.places.any() && !methods.is_empty() => {
                let option = if self.places.at.is_empty() {
                    "--field"
                } else {
                    "--at"
                };
                Err(wrong(format!("both {option} and methods")))
            }
            _ if methods.is_empty() && !self.places.any() => Err(wrong("no methods".to_owned())),
            (None, false) if self.time.is_some() => Err(wrong("--for with a command".to_owned())),
            _ => Ok((pid, methods)),
        }
    }

    fn configured(&self, methods: &[String]) -> Result<Settings, Error> {
        let calls = TracedCalls {
            methods: methods.to_vec(),
            text: self.text,
            ..TracedCalls::default()
        };
        let settings = self.when.added(calls.configured(&self.settings.value())?);
        let mut settings = self.event_files.added(settings);
        self.places.add_to(&mut settings)?;
        let watch = &mut settings.change.configuration.plugins.watch;
        watch
            .show
            .get_or_insert_with(|| self.places.shown().to_owned());
        watch.calls = Some(self.limit);
        watch.per_second = self.per_second;
        watch.depth = Some(self.when.depth.unwrap_or(DEPTH));
        Ok(settings)
    }

    fn layout(&self, run: &str) -> Layout {
        Layout {
            json: self.json_lines,
            show: self.places.show(self.when.show.as_deref()),
            of_places: self.places.any(),
            calls: Some(self.limit),
            command: (!self.command.is_empty()).then(|| CommandPlugin {
                run: run.to_owned(),
                plugin: PLUGIN,
            }),
        }
    }

    fn start(&self, mut settings: Settings, run: &str) -> Result<u8, Error> {
        let _folder = TempOutput::of_command(&mut settings)?;
        let checked = options_of(&settings, run)?;
        self.places.note_unseen_writes();
        let which = EventFileSource::Run(run.to_owned());
        let watching = WatchPrinter::start(which, &checked.output, self.layout(run));
        let code = checked.launch(&self.command)?;
        let told = watching
            .finish()
            .and_then(|seen| self.report_command(&seen));
        with_exit_of_program(code, told.map(|()| 0))
    }

    /// Reports the calls of a command's JVMs. A JVM without a method to watch has no event file.
    fn report_command(&self, seen: &PrintedCalls) -> Result<(), Error> {
        self.tell(seen);
        if seen.methods == 0 {
            let help = "check that the command starts a JVM that loads the class; a daemon from before, as of Gradle or sbt, has no agent: restart it";
            let problem = match self.places.any() {
                true => self.places.nothing(&[]),
                false => nothing_watched(&self.operands),
            };
            return Err(problem.with("help", help));
        }
        self.check_complete(seen)
    }

    /// Checks that no matching call was lost, and that each value occurred in a call.
    fn check_complete(&self, seen: &PrintedCalls) -> Result<(), Error> {
        all_but_last(
            is_complete(seen)
                .err()
                .into_iter()
                .chain(never_found(&seen.absent).err()),
        )
    }

    fn visit(
        &self,
        pid: i32,
        methods: &[String],
        mut settings: Settings,
        run: &str,
    ) -> Result<u8, Error> {
        options_of(&settings, run)?;
        let passing = TempOutput::in_any_jvm(pid, &mut settings)?;
        let mut visit = AttachedPlugin::begin(pid, &Visitor::in_session(PLUGIN), &settings, run)?;
        let untraced = match self.warn_of_nothing(&mut visit, methods, &settings) {
            Ok(untraced) => untraced,
            Err(problem) => {
                drop(visit.end()); // the agent writes to the folder until then
                return Err(problem);
            }
        };
        let notes = self.places.found(&visit);
        self.places.note_unseen_writes();
        let (which, folder) = EventFileSource::recorded_in(visit.snapshot(), visit.since());
        let watching = WatchPrinter::start(which, folder, self.layout(run));
        visit.wait("watching", self.time, &|| watching.has_enough())?;
        let ended = visit.end();
        let mut seen = watching.finish()?;
        if let (Some(passing), true) = (passing, ended.is_recorded_on()) {
            passing.keep();
        }
        self.tell(&seen);
        if ended.instrumented == Some(0) {
            let help = format!("`classhook classes {pid}` lists the loaded classes");
            let problem = match self.places.any() {
                true => self.places.nothing(&notes),
                false => with_causes(nothing_watched(methods), &untraced),
            };
            return Err(problem.with("help", help));
        }
        if !ended.has_jvm_ended() {
            seen.unfinished.clear();
        } else if seen.unfinished.is_empty() && was_killed(&ended.snapshot) {
            // A JVM killed before its first event has no event file.
            seen.unfinished.push(pid.cast_unsigned());
        }
        ended.conclude(self.check_complete(&seen).map(|()| 0))
    }

    /// Warns if no loaded class has a watched method, line or field, or no method a requested parameter.
    fn warn_of_nothing(
        &self,
        visit: &mut AttachedPlugin,
        methods: &[String],
        settings: &Settings,
    ) -> Result<Untraced, Error> {
        if self.places.any() {
            self.places.warn_of_nothing(visit)?;
            return Ok(Untraced::default());
        }
        let calls = TracedCalls {
            methods: methods.to_vec(),
            ..TracedCalls::default()
        };
        let untraced = calls.warn_of_nothing(visit, settings)?;
        self.when.check_values(visit)?;
        Ok(untraced)
    }

    /// Prints to standard error the number of shown calls, and of calls excluded by options.
    fn tell(&self, seen: &PrintedCalls) {
        let Lost {
            filtered,
            undecided,
            beyond_limit,
            over_size,
            ..
        } = seen.lost;
        let what = self.places.counted();
        let calls = |number: u64| counted(number, what);
        say(format_args!("{} shown", calls(seen.shown)));
        if filtered > 0 {
            say(format_args!(
                "{} did not match the condition",
                calls(filtered)
            ));
        }
        if undecided > 0 {
            say(format_args!(
                "{undecided} of them lacked a value of the condition, or had one of another type"
            ));
        }
        if beyond_limit > 0 {
            let beyond = match self.per_second {
                None => format!("--limit {}", self.limit),
                Some(most) => format!("--limit {} or --per-second {most}", self.limit),
            };
            say(format_args!(
                "{} more matched, beyond {beyond}",
                calls(beyond_limit)
            ));
        }
        if over_size > 0 {
            say(format_args!(
                "{} more are not shown: the event file reached its limit (--max-size)",
                calls(over_size)
            ));
        }
    }
}

/// Checks whether a JVM was killed. Its snapshot exists from the begin of the visit.
fn was_killed(snapshot: &Path) -> bool {
    let read = Snapshot::read(snapshot);
    read.is_ok_and(|read| run_files::was_killed(snapshot, &read))
}

fn nothing_watched(methods: &[String]) -> Error {
    Error::mistake(codes::H0650, "no method was watched")
        .with(
            "expected",
            "a method of a class that was loaded while the command was attached",
        )
        .with("found", methods.join(" "))
}

/// Checks that no matching call and no value was lost.
///
/// # Errors
/// `H0651` names the losses.
fn is_complete(seen: &PrintedCalls) -> Result<(), Error> {
    // This command shows no sums.
    let lost = losses::present(&seen.lost).filter(|loss| loss.reason != "sums");
    let lost = lost.map(|loss| loss.to_string());
    let lost: Vec<String> = seen.gaps.iter().cloned().chain(lost).collect();
    let cut = seen
        .unfinished
        .iter()
        .map(|pid| completeness::not_finished(*pid));
    let missing = lost.iter().cloned().chain(cut);
    let problem = Error::partial(codes::H0651, "calls or values were lost");
    let problem = missing.fold(problem, |problem, found| problem.with("found", found));
    match (lost.is_empty(), seen.unfinished.is_empty()) {
        (true, true) => Ok(()),
        // The kill of a JVM has no remedy here.
        (true, false) => Err(problem),
        (false, _) => Err(problem.with(
            "help",
            "watch fewer methods, or free space in the agent's folder (--output)",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_by_a_killed_jvm_has_no_advice() {
        let told = |seen: &PrintedCalls| is_complete(seen).map_err(|problem| problem.to_string());
        assert!(told(&PrintedCalls::default()).is_ok());
        let killed = PrintedCalls {
            unfinished: vec![7],
            ..PrintedCalls::default()
        };
        let text = told(&killed).expect_err("something is missing");
        assert!(
            text.contains("the JVM 7 was killed") && !text.contains("help"),
            "{text}"
        );
        let lost = Lost {
            full: 1,
            ..Lost::default()
        };
        let text = told(&PrintedCalls { lost, ..killed }).expect_err("something is missing");
        assert!(text.contains("free space"), "{text}");
    }
}
