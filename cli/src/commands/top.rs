//! `classhook top`: methods by calls, time and errors per second, while they are called.

use std::ffi::OsString;
use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use probes::events::Trace;
use rustix::process::{Signal, getpid, kill_process};
use tempfile::NamedTempFile;
use trace::names::printable;
use trace::summary::{Order, Summary};

use crate::args::{EventFiles, Settings};
use crate::attached::{AttachedPlugin, Visitor};
use crate::checked_options::{CheckedOptions, run_id};
use crate::commands::trace::{What, nothing_of_command, nothing_traced, options_of};
use crate::live::{Jvms, Which};
use crate::metaspace::Metaspace;
use crate::passing_folder::{PassingFolder, no_folder};
use crate::problem::{PARTIAL, Problem};
use crate::show::{self, all_but_last, complain, say, show};
use crate::top::columns::Column;
use crate::top::sampler::Sampler;
use crate::top::state::{By, State};
use crate::top::{screen, text};
use crate::traces;
use crate::until;

/// How often the screen changes.
const ON_SCREEN: Duration = Duration::from_secs(2);
/// How often a table is printed.
const PRINTED: Duration = Duration::from_secs(5);
/// How often the rest is looked at while tables are printed.
const TURN: Duration = Duration::from_millis(100);

const AFTER_HELP: &str = "\
Which methods are called, how often, how long and how often in vain, now: in a terminal a screen that changes with
the program, else a table for each --interval. A method is chosen as with `classhook trace`.
The program sums up its calls, which costs the least. --calls has it write each single call as well: then there are
rows by thread (key `g`), and Enter on a method shows who calls it.
With a PID the JVM is left as it was before. A command that is started ends when you quit.

Examples:
  classhook top 4711 --methods 'com.acme.**'
  classhook top 4711 --methods 'com.acme.Store.*' --calls
  classhook top --interval 10s --by class --sort errors -- java -jar app.jar | tee top.txt";

/// Shows methods by calls, time and errors per second.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Top {
    /// Methods to look at: com.acme.**, com.acme.Store.find*; `!` in front excludes; may be repeated
    #[arg(long, value_name = "PATTERN", conflicts_with = "config")]
    pub methods: Vec<String>,
    /// Methods with this annotation, or of classes with it; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub annotated: Vec<String>,
    /// Record single calls, for rows by thread and for callers
    #[arg(long, conflicts_with = "config")]
    pub calls: bool,
    /// What a row is
    #[arg(long, value_name = "GROUP", default_value = "method")]
    pub by: By,
    /// What rows are sorted by
    #[arg(long, value_name = "COLUMN", default_value = "self")]
    pub sort: Column,
    /// Length of an interval, at least 1s [default: 2s on a screen, else 5s]
    #[arg(long, value_name = "DURATION", value_parser = until::interval)]
    pub interval: Option<Duration>,
    /// How many rows a table has that is printed
    #[arg(long, value_name = "NUMBER", default_value_t = 40)]
    pub rows: usize,
    /// How long event files may become.
    #[command(flatten)]
    pub event_files: EventFiles,
    /// The options of the agent; without --output nothing is left on disk.
    #[command(flatten)]
    pub settings: Settings,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: Metaspace,
    /// How long it goes on: 500ms, 30s, 5m, 2h [default: until you quit]
    #[arg(long = "for", value_name = "DURATION", requires = "pid", conflicts_with = "command", value_parser = until::duration)]
    pub time: Option<Duration>,
    /// A running JVM's process id; `classhook ps` lists them
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "command")]
    pub pid: Option<i32>,
    /// The command and its arguments, behind `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "pid")]
    pub command: Vec<OsString>,
}

impl Top {
    /// Shows the JVM, or the JVMs of the command; the result is the command's exit code.
    ///
    /// # Errors
    /// If options, configuration, agent, command or JVM are wrong, the terminal cannot be used, or what was recorded
    /// cannot be read or is incomplete (`H0651`).
    pub fn run(&self) -> Result<u8, Problem> {
        if self.by == By::Thread && !self.calls && self.settings.configuration().file.is_none() {
            return Err(Problem::user("H0636", "rows by thread need single calls")
                .with("help", "add --calls"));
        }
        let what = What {
            methods: self.methods.clone(),
            annotated: self.annotated.clone(),
            aggregate: !self.calls,
            ..What::default()
        };
        self.metaspace.check(self.pid)?;
        let mut settings = self.event_files.added(what.configured(&self.settings)?);
        settings.metaspace = self.metaspace;
        match self.pid {
            Some(pid) => self.visit(pid, settings, what),
            None => self.start(settings),
        }
    }

    fn visit(&self, pid: i32, mut settings: Settings, what: What) -> Result<u8, Problem> {
        let run = run_id();
        options_of(&settings, &run)?;
        let passing = PassingFolder::in_any_jvm(pid, &mut settings)?;
        let mut visit = AttachedPlugin::begin(
            pid,
            &Visitor::in_session(super::trace::PLUGIN),
            &settings,
            &run,
        )?;
        let withheld = what.warn_of_nothing(&mut visit, &settings)?;
        let (which, beside) = Which::recorded_in(visit.snapshot(), visit.since());
        let sampler = self.sampler(which, beside);
        let end = self.time.and_then(|time| Instant::now().checked_add(time));
        visit.lease_for(self.time)?;
        let mut goes_on = || end.is_none_or(|end| end > Instant::now()) && !visit.is_over();
        let looked = self.look(&sampler, &title(pid), &mut goes_on);
        let mut ended = visit.end();
        let finished = sampler.finish();
        looked?;
        if let (Some(passing), true) = (passing, ended.is_recorded_on()) {
            passing.keep();
        }
        if ended.instrumented == Some(0) {
            return Err(nothing_traced(pid, &self.methods, &withheld));
        }
        let ending = self.end(finished?, ended.has_jvm_ended());
        all_but_last(ending.err().into_iter().chain(ended.unanswered.take()))?;
        Ok(if ended.is_partial { PARTIAL } else { 0 })
    }

    fn start(&self, mut settings: Settings) -> Result<u8, Problem> {
        let run = run_id();
        let _folder = PassingFolder::of_command(&mut settings)?;
        let checked = options_of(&settings, &run)?;
        let sampler = self.sampler(Which::Run(run.clone()), &checked.output);
        let said = match on_screen() {
            false => None,
            true => Some(NamedTempFile::with_prefix("classhook-top-").map_err(no_folder)?),
        };
        let output = match &said {
            Some(file) => Some(file.reopen().map_err(no_folder)?),
            None => None,
        };
        let code = self.run_beside(&sampler, &checked, output);
        if let Some(path) = said.and_then(kept) {
            let path = show::path(&path);
            say(format_args!("what the program printed is in {path}"));
        }
        let code = code?;
        let told = sampler
            .finish()
            .and_then(|finished| match has_methods(&finished.1) {
                true => self.end(finished, true),
                false => Err(nothing_of_command(&run, &checked.output, &self.methods)),
            });
        match told {
            Err(problem) if code == 0 => Err(problem),
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                Ok(code)
            }
            Ok(()) => Ok(code),
        }
    }

    /// Runs the command to its end, or ends it when the user quits.
    fn run_beside(
        &self,
        sampler: &Sampler,
        checked: &CheckedOptions,
        output: Option<File>,
    ) -> Result<u8, Problem> {
        thread::scope(|scope| {
            let running = scope.spawn(|| checked.launch_into(&self.command, output));
            let name = self.command.iter().map(|word| word.to_string_lossy());
            let name = printable(&name.collect::<Vec<_>>().join(" "));
            let mut goes_on = || !running.is_finished();
            let looked = self.look(sampler, &format!("classhook top  {name}"), &mut goes_on);
            if !running.is_finished() {
                let _ = kill_process(getpid(), Signal::TERM); // which is passed on to the command
            }
            let code = running
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            looked.and(code.map(|launched| launched.told()))
        })
    }

    fn sampler(&self, which: Which, folder: &Path) -> Sampler {
        let usual = if on_screen() { ON_SCREEN } else { PRINTED };
        let length = self.interval.unwrap_or(usual);
        Sampler::start(Jvms::new(which, folder), length, self.calls)
    }

    /// Shows what happens until `goes_on` says no, or the user quits.
    fn look(
        &self,
        sampler: &Sampler,
        title: &str,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), Problem> {
        if on_screen() {
            return screen::run(sampler, title, &mut self.state(), goes_on);
        }
        while goes_on() && !sampler.has_failed() {
            if let Some(interval) = sampler.next(TURN) {
                show(&format!(
                    "{}\n",
                    text::table(&interval, &self.state(), self.rows)
                ))?;
            }
        }
        Ok(())
    }

    fn state(&self) -> State {
        State::new(self.by.into(), self.sort, self.calls)
    }

    /// Prints what came last, and fails if something is missing: also the end of a JVM, if that `has_ended`.
    fn end(
        &self,
        (intervals, traces): (Vec<trace::rates::Interval>, Vec<Trace>),
        has_ended: bool,
    ) -> Result<(), Problem> {
        if !on_screen() {
            for interval in intervals {
                show(&format!(
                    "{}\n",
                    text::table(&interval, &self.state(), self.rows)
                ))?;
            }
        }
        traces::is_complete(&Summary::of(&traces, Order::Calls))?;
        match has_ended {
            true => traces::are_finished(&traces),
            false => Ok(()),
        }
    }
}

/// Whether a method was looked at, called or not.
fn has_methods(traces: &[Trace]) -> bool {
    traces.iter().any(|trace| !trace.spans.is_empty())
}

/// Whether keys can be pressed and a screen be drawn.
fn on_screen() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

fn title(pid: i32) -> String {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = command
        .split(|byte| *byte == 0)
        .map(String::from_utf8_lossy);
    let command = words.collect::<Vec<_>>().join(" ");
    format!(
        "classhook top  {pid}  {}",
        trace::names::command(command.trim())
    )
}

/// Where a file that holds something stays; one that is empty goes.
fn kept(file: NamedTempFile) -> Option<PathBuf> {
    let is_empty = file
        .as_file()
        .metadata()
        .map_or(0, |metadata| metadata.len())
        == 0;
    if is_empty {
        return None;
    }
    file.into_temp_path().keep().ok()
}
