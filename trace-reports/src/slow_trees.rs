//! Trees of slow calls, from a live trace or a recording.

use std::io;
use std::path::Path;

use agent_launch::settings::Settings;
use errors::Error;
use probes::events::{Call, TaskStep, Trace, Wait};
use standard_streams::show::{say, show_beside};
use trace::names::Names;
use trace::recording::{EndedItem, Recording};
use trace::rolling::Rolling;
use trace::settling::SettlingJvms;
use trace::slow::{self, SlowCall, SlowCalls};
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
}

impl SlowOptions {
    /// Returns the agent's settings for a trace with trees.
    ///
    /// # Errors
    /// `H0663` if a condition selects calls: their callers and callees would be unknown.
    pub fn added(&self, mut settings: Settings, when: Option<&str>) -> Result<Settings, Error> {
        settings.waits = self.slow.is_some();
        match when.filter(|_| self.slow.is_some()) {
            None => Ok(settings),
            Some(when) => Err(Error::mistake(
                "H0663",
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

    /// Prints the trees of recordings.
    ///
    /// # Errors
    /// If calls cannot be read or sorted, or standard output cannot be written (`H0624`).
    pub fn print(&self, recordings: &[Recording], beside: bool) -> Result<(), Error> {
        let Some(mut printer) = Printer::of(self, beside) else {
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
                    Err(_) => Err(io::Error::other("standard output cannot be written")),
                }
            });
            failed?;
            read.map_err(|error| Error::fault("H0624", error.to_string()))?;
            calls.finish();
            printer.print(&recording.trace, calls.take())?;
            recording.lose_tasks(calls.take_lost_tasks());
        }
        printer.print_note();
        Ok(())
    }
}

/// Prints trees up to the limit.
#[derive(Debug)]
struct Printer {
    at_least: u64,
    most: Option<u64>,
    printed: u64,
    beyond: u64,
    /// True if standard output is taken.
    beside: bool,
}

impl Printer {
    /// Creates a printer, or nothing without `--slow`.
    fn of(options: &SlowOptions, beside: bool) -> Option<Self> {
        Some(Self {
            at_least: options.slow?,
            most: options.slow_limit,
            printed: 0,
            beyond: 0,
            beside,
        })
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
}

impl SlowTrees {
    /// Creates the collector, or nothing without `--slow`.
    #[must_use]
    pub fn of(options: &SlowOptions, beside: bool) -> Option<Self> {
        Some(Self {
            printer: Printer::of(options, beside)?,
            jvms: SettlingJvms::default(),
            lost_tasks: 0,
        })
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
            self.printer.print(rolling.trace(), calls.take())?;
        }
        self.printer.print_note();
        Ok(())
    }
}
