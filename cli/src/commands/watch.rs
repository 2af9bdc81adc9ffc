//! `classhook watch`: single calls that match a condition, as they end; lines that are reached; fields that are written.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use probes::Snapshot;
use probes::events::Lost;
use trace::losses;
use trace::numbers::counted;

use super::trace::{PLUGIN, What, options_of, with_causes};
use crate::args::{EventFiles, Settings};
use crate::attached::{AttachedPlugin, Visitor};
use crate::checked_options::run_id;
use crate::inputs::run_files;
use crate::live::Which;
use crate::metaspace::Metaspace;
use crate::passing_folder::PassingFolder;
use crate::problem::{PARTIAL, Problem};
use crate::show::{all_but_last, complain, say};
use crate::sought::never_found;
use crate::traces;
use crate::until;
use crate::watched_places::Places;
use crate::watching::{Layout, OfCommand, Seen, Watching};
use crate::when::When;
use crate::withheld::Withheld;

const USAGE: &str = "\
classhook watch [OPTIONS] PID METHOD...
       classhook watch [OPTIONS] METHOD... -- COMMAND...
       classhook watch [OPTIONS] [PID] --at FILE:LINE [-- COMMAND...]
       classhook watch [OPTIONS] [PID] --field CLASS.FIELD [-- COMMAND...]";

const AFTER_HELP: &str = "\
A method is CLASS.METHOD or CLASS.METHOD(DESCRIPTOR), with wildcards, as of `classhook trace --methods`.
The condition is evaluated by the agent, when a call ends; docs/trace.md lists what conditions may hold.
No method of the program is called: values are read from their fields.
At a line, --show and --when name local variables: `total`, `order.items[0].price`, or `locals` for all (default).
Of a write they name `old`, `new`, `object` and `this`. Reflection, VarHandle, Unsafe and JNI write without such code.
With a PID the JVM is watched for the time of --for, until --limit calls were shown, or until Ctrl-C or its end, and then
left as it was before. A command that is started goes on when --limit calls were shown, without probes.

Examples:
  classhook watch 4711 'com.acme.Store.find*' --when 'duration > 100ms && arg[0] == \"x\" || threw'
  classhook watch 4711 'com.acme.Store.find*' --show 'arg, returned, this.size, stack(10)' --limit 5
  classhook watch 4711 --at Orders.java:120 --show 'total, order.id, stack(3)' --when 'total > 1000'
  classhook watch 4711 --field com.acme.Order.status --show 'old, new, stack(5)'
  classhook watch 'com.acme.**' --min-duration 200ms --json-lines -- java -jar app.jar";

/// Objects within one another that are shown with what they hold, unless `--depth` says how many.
const DEPTH: u8 = 1;

/// Shows single calls as they end, lines as they are reached, or fields as they are written.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_long_help = AFTER_HELP)]
pub struct Watch {
    /// A running JVM's process id, unless a command is started; and the methods to watch
    #[arg(value_name = "PID|METHOD", required_unless_present_any = ["at", "field"], conflicts_with = "config")]
    pub what: Vec<String>,
    /// Lines and fields.
    #[command(flatten)]
    pub places: Places,
    /// Which calls.
    #[command(flatten)]
    pub when: When,
    /// How many calls are shown at most
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// How many calls are shown within one second at most [default: all]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_second: Option<u32>,
    /// Longest text kept of one value, in bytes [default: 80]
    #[arg(long, value_name = "BYTES")]
    pub text: Option<u32>,
    /// Print one JSON object per call
    #[arg(long)]
    pub json_lines: bool,
    /// How long event files may become.
    #[command(flatten)]
    pub event_files: EventFiles,
    /// The options of the agent.
    #[command(flatten)]
    pub settings: Settings,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: Metaspace,
    /// How long a running JVM is watched: 500ms, 30s, 5m, 2h [default: until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", value_parser = until::duration)]
    pub time: Option<Duration>,
    /// The command and its arguments, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl Watch {
    /// Runs the command, or visits the JVM, and shows calls; the result is the command's exit code.
    ///
    /// # Errors
    /// If options, agent, command or JVM are wrong, or nothing can be watched.
    pub fn run(&self) -> Result<u8, Problem> {
        let (pid, methods) = self.target()?;
        let run = run_id();
        self.metaspace.check(pid)?;
        let mut settings = self.configured(methods)?;
        settings.metaspace = self.metaspace;
        match pid {
            Some(pid) => self.visit(pid, methods, settings, &run),
            None => self.start(settings, &run),
        }
    }

    /// The process id, unless there is a command, and the methods.
    fn target(&self) -> Result<(Option<i32>, &[String]), Problem> {
        let wrong = |found: String| {
            Problem::user("H0655", "it is not clear what is to be watched")
                .with("expected", "a process id and methods, or methods and a command behind `--`; --at or --field in place of methods")
                .with("found", found)
                .with("help", "classhook watch 4711 'com.acme.Store.find*', or classhook watch 'com.acme.Store.find*' -- java -jar app.jar")
        };
        let first = self.what.first().map_or("", String::as_str);
        let pid = first.parse().ok().filter(|pid| *pid > 0);
        let methods = self
            .what
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

    fn configured(&self, methods: &[String]) -> Result<Settings, Problem> {
        let what = What {
            methods: methods.to_vec(),
            limit: self.text,
            ..What::default()
        };
        let settings = self.when.added(what.configured(&self.settings)?);
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
            of_command: (!self.command.is_empty()).then(|| OfCommand {
                run: run.to_owned(),
                plugin: PLUGIN,
            }),
        }
    }

    fn start(&self, mut settings: Settings, run: &str) -> Result<u8, Problem> {
        let _folder = PassingFolder::of_command(&mut settings)?;
        let checked = options_of(&settings, run)?;
        self.places.tell_what_is_not_seen();
        let which = Which::Run(run.to_owned());
        let watching = Watching::start(which, &checked.output, self.layout(run));
        let code = checked.launch(&self.command)?;
        let told = watching.finish().and_then(|seen| self.of_command(&seen));
        match told {
            Err(problem) if code == 0 => Err(problem),
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                Ok(code)
            }
            Ok(()) => Ok(code),
        }
    }

    /// Says what was seen of a command's JVMs. One without a method to watch has no event file.
    fn of_command(&self, seen: &Seen) -> Result<(), Problem> {
        self.tell(seen);
        if seen.methods == 0 {
            let help = "does the command start a JVM, and load such a class? a daemon that was running before (Gradle, sbt) does not get the agent: start it anew";
            let problem = match self.places.any() {
                true => self.places.nothing(&[]),
                false => nothing_watched(&self.what),
            };
            return Err(problem.with("help", help));
        }
        self.are_all(seen)
    }

    /// Checks that every call is shown that was to be, and that each value was there in some call.
    fn are_all(&self, seen: &Seen) -> Result<(), Problem> {
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
    ) -> Result<u8, Problem> {
        options_of(&settings, run)?;
        let passing = PassingFolder::in_any_jvm(pid, &mut settings)?;
        let mut visit = AttachedPlugin::begin(pid, &Visitor::in_session(PLUGIN), &settings, run)?;
        let withheld = match self.warn_of_nothing(&mut visit, methods, &settings) {
            Ok(withheld) => withheld,
            Err(problem) => {
                drop(visit.end()); // the agent writes to the folder until then
                return Err(problem);
            }
        };
        let notes = self.places.found(&visit);
        self.places.tell_what_is_not_seen();
        let (which, folder) = Which::recorded_in(visit.snapshot(), visit.since());
        let watching = Watching::start(which, folder, self.layout(run));
        visit.wait("watching", self.time, &|| watching.has_enough())?;
        let mut ended = visit.end();
        let mut seen = watching.finish()?;
        if let (Some(passing), true) = (passing, ended.is_recorded_on()) {
            passing.keep();
        }
        self.tell(&seen);
        if ended.instrumented == Some(0) {
            let help = format!("`classhook classes {pid}` lists the loaded classes");
            let problem = match self.places.any() {
                true => self.places.nothing(&notes),
                false => with_causes(nothing_watched(methods), &withheld),
            };
            return Err(problem.with("help", help));
        }
        if !ended.has_jvm_ended() {
            seen.unfinished.clear();
        } else if seen.unfinished.is_empty() && was_killed(&ended.snapshot) {
            // Before anything was recorded there is no event file.
            seen.unfinished.push(pid.cast_unsigned());
        }
        all_but_last(
            self.are_all(&seen)
                .err()
                .into_iter()
                .chain(ended.unanswered.take()),
        )?;
        Ok(if ended.is_partial { PARTIAL } else { 0 })
    }

    /// Says at once if nothing of a loaded class is watched, or nothing has a parameter that is asked for.
    fn warn_of_nothing(
        &self,
        visit: &mut AttachedPlugin,
        methods: &[String],
        settings: &Settings,
    ) -> Result<Vec<Withheld>, Problem> {
        if self.places.any() {
            self.places.warn_of_nothing(visit)?;
            return Ok(Vec::new());
        }
        let what = What {
            methods: methods.to_vec(),
            ..What::default()
        };
        let withheld = what.warn_of_nothing(visit, settings)?;
        self.when.check_values(visit)?;
        Ok(withheld)
    }

    /// Says on standard error how many calls were shown, and how many were left out on request.
    fn tell(&self, seen: &Seen) {
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

/// Whether a JVM was killed, by its snapshot, which is there from the begin of a visit on.
fn was_killed(snapshot: &Path) -> bool {
    let read = Snapshot::read(snapshot);
    read.is_ok_and(|read| run_files::was_killed(snapshot, &read))
}

fn nothing_watched(methods: &[String]) -> Problem {
    Problem::user("H0650", "no method was watched")
        .with(
            "expected",
            "at least one method of a class that is loaded, or was meanwhile",
        )
        .with("found", methods.join(" "))
}

/// Whether every call that was to be shown is, with all of its values.
///
/// # Errors
/// `H0651` if something is missing.
fn is_complete(seen: &Seen) -> Result<(), Problem> {
    // Sums are not shown.
    let lost = losses::present(&seen.lost).filter(|loss| loss.reason != "sums");
    let lost = lost.map(|loss| loss.to_string());
    let lost: Vec<String> = seen.gaps.iter().cloned().chain(lost).collect();
    let cut = seen.unfinished.iter().map(|pid| traces::not_finished(*pid));
    let missing = lost.iter().cloned().chain(cut);
    let problem = Problem::partial("H0651", "calls or values that should be shown were lost");
    let problem = missing.fold(problem, |problem, found| problem.with("found", found));
    match (lost.is_empty(), seen.unfinished.is_empty()) {
        (true, true) => Ok(()),
        // There was nothing that could have been done.
        (true, false) => Err(problem),
        (false, _) => Err(problem.with(
            "help",
            "watch fewer methods, or make room where the agent writes (--output)",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_jvm_took_with_it_is_told_without_advice_that_does_not_help() {
        let told = |seen: &Seen| is_complete(seen).map_err(|problem| problem.to_string());
        assert!(told(&Seen::default()).is_ok());
        let killed = Seen {
            unfinished: vec![7],
            ..Seen::default()
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
        let text = told(&Seen { lost, ..killed }).expect_err("something is missing");
        assert!(text.contains("make room"), "{text}");
    }
}
