//! `classhook top`: shows calls, time and errors of methods, live.

use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use agent_connection::attached::{AttachedPlugin, Visitor};
use agent_connection::temp_output::{TempOutput, no_folder};
use agent_launch::checked_options::{CheckedOptions, run_id};
use agent_launch::settings::Settings;
use clap::Args;
use errors::{Error, codes};
use live_traces::jvms::{EventFileSource, FollowedJvms};
use live_traces::top::sampler::Sampler;
use live_traces::top::state::State;
use live_traces::top::{screen, text};
use probes::events::Trace;
use rustix::process::{Signal, getpid, kill_process};
use standard_streams::show::{self, say, show, with_exit_of_program};
use tempfile::NamedTempFile;
use trace::names::printable;
use trace::summary::{Order, Summary};
use trace_reports::completeness;

use crate::args::{ANNOTATED, AgentArguments, EventFileArguments, INTERVAL, JvmOrCommand, METHODS};
use crate::commands::trace::{TracedCalls, nothing_of_command, nothing_traced, options_of};
use crate::durations;
use crate::heading;
use crate::metaspace::MetaspaceArgument;
use crate::top_arguments::{Column, RowGroup};

/// Default interval on a screen.
const ON_SCREEN: Duration = Duration::from_secs(2);
/// Default interval of printed tables.
const PRINTED: Duration = Duration::from_secs(5);
/// Poll interval for the end of command and JVM while tables are printed.
const TURN: Duration = Duration::from_millis(100);

const AFTER_HELP: &str = "\
Shows the calls, times and errors of methods: a screen in a terminal, else a table for each --interval.
Methods are selected as for `classhook trace`.
By default the agent sums up calls, which costs the least. With --calls it records single calls: key `g` then groups
rows by thread, and Enter shows the callers of a method.
With a PID, the JVM is restored at the end. A started command ends when you quit.

Examples:
  classhook top 4711 --methods 'com.acme.**'
  classhook top 4711 --methods 'com.acme.Store.*' --calls
  classhook top --interval 10s --by class --sort errors -- java -jar app.jar | tee top.txt";

/// Shows calls, time and errors of methods per second.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Top {
    /// Patterns of methods.
    #[arg(long, value_name = "PATTERN", conflicts_with = "config", help = METHODS, help_heading = heading::CALLS)]
    pub methods: Vec<String>,
    /// Names of annotations.
    #[arg(long, value_name = "NAME", conflicts_with = "config", help = ANNOTATED, help_heading = heading::CALLS)]
    pub annotated: Vec<String>,
    /// Record single calls, for rows by thread and for callers
    #[arg(long, conflicts_with = "config", help_heading = heading::CALLS)]
    pub calls: bool,
    /// Group rows by this element
    #[arg(long, value_name = "GROUP", default_value = "method")]
    pub by: RowGroup,
    /// Sort rows by this column
    #[arg(long, value_name = "COLUMN", default_value = "self")]
    pub sort: Column,
    /// The interval of tables.
    #[arg(long, value_name = "DURATION", value_parser = durations::interval, help = INTERVAL)]
    pub interval: Option<Duration>,
    /// Show this number of rows in a table
    #[arg(long, value_name = "NUMBER", default_value_t = 40)]
    pub rows: usize,
    /// The limit of event files.
    #[command(flatten)]
    pub event_files: EventFileArguments,
    /// The options of the agent. Without --output no recording is kept.
    #[command(flatten)]
    pub settings: AgentArguments,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: MetaspaceArgument,
    /// The running JVM or the command.
    #[command(flatten)]
    pub program: JvmOrCommand,
}

impl Top {
    /// Shows the methods of the command or the running JVM, and returns the exit code.
    ///
    /// # Errors
    /// If options, configuration, agent, command or JVM are wrong, the terminal cannot be used, or the recording cannot
    /// be read or is incomplete (`H0651`).
    pub fn run(&self) -> Result<u8, Error> {
        if self.by == RowGroup::Thread
            && !self.calls
            && self.settings.configuration().file.is_none()
        {
            return Err(
                Error::mistake(codes::H0636, "rows by thread need single calls")
                    .with("help", "add --calls"),
            );
        }
        let calls = TracedCalls {
            methods: self.methods.clone(),
            annotated: self.annotated.clone(),
            aggregate: !self.calls,
            ..TracedCalls::default()
        };
        self.metaspace.check(self.program.pid)?;
        let mut settings = self
            .event_files
            .added(calls.configured(&self.settings.value())?);
        settings.metaspace = self.metaspace.value();
        match self.program.pid {
            Some(pid) => self.visit(pid, settings, calls),
            None => self.start(settings),
        }
    }

    fn visit(&self, pid: i32, mut settings: Settings, calls: TracedCalls) -> Result<u8, Error> {
        let run = run_id();
        options_of(&settings, &run)?;
        let passing = TempOutput::in_any_jvm(pid, &mut settings)?;
        let mut visit = AttachedPlugin::begin(
            pid,
            &Visitor::in_session(super::trace::PLUGIN),
            &settings,
            &run,
        )?;
        let untraced = calls.warn_of_nothing(&mut visit, &settings)?;
        let (which, beside) = EventFileSource::recorded_in(visit.snapshot(), visit.since());
        let sampler = self.sampler(which, beside);
        let end = self
            .program
            .time
            .and_then(|time| Instant::now().checked_add(time));
        visit.lease_for(self.program.time)?;
        let mut continues = || end.is_none_or(|end| end > Instant::now()) && !visit.is_over();
        let shown = self.show_intervals(&sampler, &title(pid), &mut continues);
        let ended = visit.end();
        let finished = sampler.finish();
        shown?;
        if let (Some(passing), true) = (passing, ended.is_recorded_on()) {
            passing.keep();
        }
        if ended.instrumented == Some(0) {
            return Err(nothing_traced(pid, &self.methods, &untraced));
        }
        let ending = self.end(finished?, ended.has_jvm_ended());
        ended.conclude(ending.map(|()| 0))
    }

    fn start(&self, mut settings: Settings) -> Result<u8, Error> {
        let run = run_id();
        let _folder = TempOutput::of_command(&mut settings)?;
        let checked = options_of(&settings, &run)?;
        let sampler = self.sampler(EventFileSource::Run(run.clone()), &checked.output);
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
            say(format_args!("the output of the program is in {path}"));
        }
        let code = code?;
        let told = sampler
            .finish()
            .and_then(|finished| match has_methods(&finished.1) {
                true => self.end(finished, true),
                false => Err(nothing_of_command(&run, &checked.output, &self.methods)),
            });
        with_exit_of_program(code, told.map(|()| 0))
    }

    /// Runs the command until its end, or ends it when the user quits.
    fn run_beside(
        &self,
        sampler: &Sampler,
        checked: &CheckedOptions,
        output: Option<File>,
    ) -> Result<u8, Error> {
        thread::scope(|scope| {
            let running = scope.spawn(|| checked.launch_into(&self.program.command, output));
            let name = self
                .program
                .command
                .iter()
                .map(|word| word.to_string_lossy());
            let name = printable(&name.collect::<Vec<_>>().join(" "));
            let mut continues = || !running.is_finished();
            let shown =
                self.show_intervals(sampler, &format!("classhook top  {name}"), &mut continues);
            if !running.is_finished() {
                let _ = kill_process(getpid(), Signal::TERM); // the launcher passes it on to the command
            }
            let code = running
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            shown.and(code.map(|launched| launched.report_failures()))
        })
    }

    fn sampler(&self, which: EventFileSource, folder: &Path) -> Sampler {
        let usual = if on_screen() { ON_SCREEN } else { PRINTED };
        let length = self.interval.unwrap_or(usual);
        Sampler::start(FollowedJvms::new(which, folder), length, self.calls)
    }

    /// Shows the intervals until `continues` returns false or the user quits.
    fn show_intervals(
        &self,
        sampler: &Sampler,
        title: &str,
        continues: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        if on_screen() {
            return screen::run(sampler, title, &mut self.state(), continues);
        }
        while continues() && !sampler.has_failed() {
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
        State::new(self.by.into(), self.sort.into(), self.calls)
    }

    /// Prints the last intervals. Fails if the recording is incomplete, or, for a JVM that `has_ended`, has no end.
    fn end(
        &self,
        (intervals, traces): (Vec<trace::rates::Interval>, Vec<Trace>),
        has_ended: bool,
    ) -> Result<(), Error> {
        if !on_screen() {
            for interval in intervals {
                show(&format!(
                    "{}\n",
                    text::table(&interval, &self.state(), self.rows)
                ))?;
            }
        }
        completeness::is_complete(&Summary::of(&traces, Order::Calls))?;
        match has_ended {
            true => completeness::are_finished(&traces),
            false => Ok(()),
        }
    }
}

/// Checks whether a method was instrumented, called or not.
fn has_methods(traces: &[Trace]) -> bool {
    traces.iter().any(|trace| !trace.spans.is_empty())
}

/// Checks whether standard input and output are a terminal.
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

/// Keeps a file with contents and returns its path. Removes an empty file.
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
