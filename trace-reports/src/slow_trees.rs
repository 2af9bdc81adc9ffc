//! Trees of slow calls, from a live trace or a recording.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agent_launch::settings::Settings;
use errors::{Error, codes};
use local_files::atomic;
use local_files::stdout::is_stdout;
use probes::events::{Call, TaskStep, Trace, Wait};
use standard_streams::show::{say, show_beside};
use tempfile::NamedTempFile;
use trace::names::Names;
use trace::recording::{EndedItem, Recording};
use trace::rolling::Rolling;
use trace::settling::SettlingJvms;
use trace::slow::{self, LostCalls, SlowCall, SlowCalls};
use trace::table::duration;

use crate::completeness::without_calls;

/// Number of calls of a recording between two searches for settled calls.
const STEP: u64 = 1 << 16;

/// Options for trees of slow calls.
#[derive(Debug, Clone, Default)]
pub struct SlowOptions {
    /// Shortest duration of an outermost call with a tree, in nanoseconds. `None` shows no trees.
    pub slow: Option<u64>,
    /// Maximum number of trees.
    pub slow_limit: Option<u64>,
    /// File for each tree as a JSON object on a line. `-` is standard output, and trees then go to standard error.
    pub slow_json_lines: Option<PathBuf>,
}

impl SlowOptions {
    /// Returns the requested file, with its option.
    #[must_use]
    pub fn file(&self) -> (&'static str, &Option<PathBuf>) {
        ("--slow-json-lines", &self.slow_json_lines)
    }

    /// Checks whether JSON lines go to standard output.
    #[must_use]
    pub fn takes_stdout(&self) -> bool {
        self.slow_json_lines.as_deref().is_some_and(is_stdout)
    }

    /// Returns the agent's settings for a trace with trees.
    ///
    /// # Errors
    /// `H0663` if a condition selects calls: their callers and callees would be unknown.
    pub fn added(&self, mut settings: Settings, when: Option<&str>) -> Result<Settings, Error> {
        settings.waits = self.slow.is_some();
        match when.filter(|_| self.slow.is_some()) {
            None => Ok(settings),
            Some(when) => Err(Error::mistake(
                codes::H0663,
                "--slow needs the calls that --when leaves out",
            )
            .with("found", format!("--when {}", escape::line(when)))
            .with("help", "--min-duration and --show can be combined with it")),
        }
    }

    /// Refuses trees, because no single calls will be recorded.
    ///
    /// # Errors
    /// `H0636`.
    pub fn refuse_calls(&self) -> Result<(), Error> {
        self.slow
            .map_or(Ok(()), |_| Err(without_calls(Path::new("--slow"))))
    }

    /// Prints the trees of recordings, and writes their JSON lines.
    ///
    /// # Errors
    /// If calls cannot be read or sorted, standard output cannot be written (`H0624`), or the file cannot (`H0620`).
    pub fn print(&self, recordings: &[Recording], beside: bool) -> Result<(), Error> {
        let Some(mut printer) = Printer::of(self, beside, false)? else {
            return Ok(());
        };
        for recording in recordings {
            let mut calls = SlowCalls::new(printer.at_least);
            let mut failed = Ok(());
            let mut count = 0_u64;
            let read = recording.each_end(&mut |now, ended| {
                match ended {
                    EndedItem::Call(call, is_virtual) => calls.call(call, is_virtual),
                    EndedItem::Wait(wait) => calls.wait(wait),
                    EndedItem::Step(step) => calls.step(&step),
                }
                count += 1;
                if count.is_multiple_of(STEP) {
                    calls.settle(now);
                }
                failed = printer.print(&recording.trace, calls.take());
                match failed {
                    Ok(()) => Ok(()),
                    Err(_) => Err(io::Error::other("an output cannot be written")),
                }
            });
            failed?;
            read.map_err(|error| Error::fault(codes::H0624, error.to_string()))?;
            calls.finish();
            printer.print(&recording.trace, calls.take())?;
            recording.lose_tasks(calls.take_lost_tasks());
            recording.lose_calls(calls.take_lost_calls());
        }
        printer.print_note();
        printer.lines.map_or(Ok(()), TreeLines::publish)
    }
}

/// Prints trees up to the limit.
#[derive(Debug)]
struct Printer {
    at_least: u64,
    most: Option<u64>,
    printed: u64,
    beyond: u64,
    /// The JSON lines of the trees.
    lines: Option<TreeLines>,
    /// True if standard output is taken.
    beside: bool,
}

/// The JSON lines of trees, each written as a whole when its tree is complete.
struct TreeLines {
    path: PathBuf,
    out: Box<dyn Write + Send>,
    /// The file that takes the name `path` at the end. A live trace writes to `path` itself, for readers that follow it.
    temporary: Option<NamedTempFile>,
    /// The reader of standard output has gone.
    closed: bool,
}

impl fmt::Debug for TreeLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}

impl TreeLines {
    fn open(path: &Path, is_live: bool) -> Result<Self, Error> {
        let unwritable = |error: io::Error| Error::unwritable(path, &error);
        let mut temporary = None;
        let out: Box<dyn Write + Send> = match is_stdout(path) {
            true => Box::new(io::stdout()),
            false if is_live => Box::new(atomic::create(path).map_err(unwritable)?),
            false => {
                let file = temporary.insert(atomic::temporary(path).map_err(unwritable)?);
                Box::new(file.reopen().map_err(unwritable)?)
            }
        };
        Ok(Self {
            path: path.to_owned(),
            out,
            temporary,
            closed: false,
        })
    }

    /// Gives a complete file its name.
    fn publish(self) -> Result<(), Error> {
        let Some(temporary) = self.temporary else {
            return Ok(());
        };
        let published = atomic::publish(temporary, &self.path);
        published.map_err(|error| Error::unwritable(&self.path, &error))
    }

    fn put(&mut self, trace: &Trace, call: &SlowCall) -> Result<(), Error> {
        if self.closed {
            return Ok(());
        }
        let mut line = Vec::new();
        let written = slow::write_json_line(trace, call, &mut line)
            .and_then(|()| self.out.write_all(&line))
            .and_then(|()| self.out.flush());
        match written {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) if is_stdout(&self.path) => {
                let problem = Error::fault(codes::H0624, "cannot write to standard output");
                Err(problem.with("found", error.to_string()))
            }
            Err(error) => Err(Error::cut_short(&self.path, &error)),
        }
    }
}

impl Printer {
    /// Creates a printer, or nothing without `--slow`.
    ///
    /// # Errors
    /// `H0620` if the file for JSON lines cannot be created.
    fn of(options: &SlowOptions, beside: bool, is_live: bool) -> Result<Option<Self>, Error> {
        let lines = options.slow_json_lines.as_deref();
        let Some(at_least) = options.slow else {
            return Ok(None);
        };
        Ok(Some(Self {
            at_least,
            most: options.slow_limit,
            printed: 0,
            beyond: 0,
            lines: lines
                .map(|path| TreeLines::open(path, is_live))
                .transpose()?,
            beside,
        }))
    }

    fn is_full(&self) -> bool {
        self.most.is_some_and(|most| self.printed >= most)
    }

    fn print(&mut self, trace: &Trace, calls: Vec<SlowCall>) -> Result<(), Error> {
        if calls.is_empty() {
            return Ok(());
        }
        let names = Names::of([trace]);
        for call in calls {
            if self.is_full() {
                self.beyond += 1;
                continue;
            }
            self.printed += 1;
            if let Some(lines) = &mut self.lines {
                lines.put(trace, &call)?;
            }
            let text = slow::lines(trace, &names, &call);
            show_beside(self.beside, &format!("{text}\n"))?;
        }
        Ok(())
    }

    /// Prints a note if no tree was found, or more than the limit.
    fn print_note(&self) {
        let least = duration(self.at_least);
        match (self.printed, self.beyond) {
            (0, _) => say(format_args!("no outermost call took {least} or longer")),
            (_, 0) => {}
            (printed, beyond) => say(format_args!(
                "{} of {} calls that took {least} or longer are shown (--slow-limit)",
                printed,
                printed + beyond
            )),
        }
    }
}

/// The slow calls of a running trace.
#[derive(Debug)]
pub struct SlowTrees {
    printer: Printer,
    jvms: SettlingJvms<SlowCalls>,
    lost_tasks: u64,
    lost_calls: LostCalls,
}

impl SlowTrees {
    /// Creates the collector, or nothing without `--slow`.
    ///
    /// # Errors
    /// `H0620` if the file for JSON lines cannot be created.
    pub fn of(options: &SlowOptions, beside: bool) -> Result<Option<Self>, Error> {
        let printer = Printer::of(options, beside, true)?;
        Ok(printer.map(|printer| Self {
            printer,
            jvms: SettlingJvms::default(),
            lost_tasks: 0,
            lost_calls: LostCalls::default(),
        }))
    }

    /// Checks whether the limit of trees is reached.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.printer.is_full()
    }

    /// Adds a call that ended or was seen open. `is_virtual` is true for a virtual thread.
    pub fn call(&mut self, number: usize, call: &Call, is_virtual: bool) {
        self.calls(number).call(call, is_virtual);
    }

    /// Adds a wait or a collection.
    pub fn wait(&mut self, number: usize, wait: &Wait) {
        self.calls(number).wait(wait.clone());
    }

    /// Adds a step of a task.
    pub fn step(&mut self, number: usize, step: &TaskStep) {
        self.calls(number).step(step);
    }

    /// Returns the number of tasks that could not be followed.
    #[must_use]
    pub fn lost_tasks(&self) -> u64 {
        self.lost_tasks
    }

    /// Returns the numbers of calls that are missing in the trees.
    #[must_use]
    pub fn lost_calls(&self) -> LostCalls {
        self.lost_calls
    }

    /// Handles a reset of a JVM's recording.
    pub fn reset(&mut self, number: usize) {
        self.calls(number).reset();
    }

    /// Returns the calls of a traced JVM; `number` is its index.
    fn calls(&mut self, number: usize) -> &mut SlowCalls {
        let at_least = self.printer.at_least;
        self.jvms.calls_of(number, || SlowCalls::new(at_least))
    }

    /// Prints the complete trees. The caller repeats this.
    ///
    /// # Errors
    /// `H0624`.
    pub fn turn<'r>(&mut self, all: impl Iterator<Item = &'r mut Rolling>) -> Result<(), Error> {
        for (calls, trace, settled) in self.jvms.turn(all) {
            calls.settle(settled);
            self.lost_tasks += calls.take_lost_tasks();
            self.lost_calls = self.lost_calls.and(calls.take_lost_calls());
            self.printer.print(trace, calls.take())?;
        }
        Ok(())
    }

    /// Prints the rest, after the recording.
    ///
    /// # Errors
    /// `H0624`.
    pub fn end<'r>(&mut self, all: impl Iterator<Item = &'r mut Rolling>) -> Result<(), Error> {
        for (calls, rolling) in self.jvms.iter_mut().zip(all) {
            calls.finish();
            self.lost_tasks += calls.take_lost_tasks();
            self.lost_calls = self.lost_calls.and(calls.take_lost_calls());
            self.printer.print(rolling.trace(), calls.take())?;
        }
        self.printer.print_note();
        Ok(())
    }
}
