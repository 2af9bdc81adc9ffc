//! Prints single calls as they end.
//!
//! A thread of this command reads the records that the agents append to their event files. The
//! agents are not involved.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use agent_connection::agent::Agent;
use control::Request;
use control::message::{Change, Status};
use errors::{Error, codes};
use probes::events::{Lost, Moment, Outcome, Trace};
use standard_streams::show::say;
use trace::absent::Absent;
use trace::summary::Gap;
use trace::watched;
use trace_reports::value_check;

use crate::jvms::{EventFileSource, FollowedJvms, LiveEvent};

/// Poll interval for the files.
const TURN: Duration = Duration::from_millis(50);

/// Output format of calls.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Prints one JSON object per call.
    pub json: bool,
    /// The values in lines below each call, in the syntax of `--show`.
    pub show: Vec<String>,
    /// Maximum number of printed calls.
    pub calls: Option<u64>,
    /// Prints reached lines or field writes instead of calls.
    pub of_places: bool,
    /// For calls of a command, which continues after the last printed call, then without this
    /// plugin.
    pub command: Option<CommandPlugin>,
}

/// The plugin in the JVMs of a command.
#[derive(Debug, Clone)]
pub struct CommandPlugin {
    /// Id of the run, which only these JVMs have.
    pub run: String,
    /// The plugin that records the calls.
    pub plugin: &'static str,
}

/// The thread that prints calls. Dropping the value ends it.
#[derive(Debug)]
pub struct WatchPrinter {
    flags: Arc<Flags>,
    thread: Option<JoinHandle<Result<PrintedCalls, Error>>>,
}

/// Flags shared by the thread and the rest of the command.
#[derive(Debug, Default)]
struct Flags {
    /// The recording has ended.
    ends: AtomicBool,
    /// No more calls are printed.
    enough: AtomicBool,
}

/// Counts of the printed calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrintedCalls {
    /// Printed calls.
    pub shown: u64,
    /// Number of recorded methods, called or not, and of watched locations.
    pub methods: usize,
    /// Records that were left out or lost.
    pub lost: Lost,
    /// Start and cause for each JVM that could not write everything.
    pub gaps: Vec<String>,
    /// The JVMs that have not written the end of their files.
    pub unfinished: Vec<u32>,
    /// Values that were in no call.
    pub absent: Absent,
}

impl WatchPrinter {
    /// Starts to print the calls in the event files of a folder, which may not exist yet.
    #[must_use]
    pub fn start(which: EventFileSource, folder: &Path, layout: Layout) -> Self {
        let flags = Arc::new(Flags::default());
        let theirs = Arc::clone(&flags);
        let mut printer = Printer {
            layout,
            shown: 0,
            beyond: 0,
            closed: false,
            told: false,
            without_probes: HashSet::new(),
            waiting: Vec::new(),
        };
        let mut jvms = FollowedJvms::new(which, folder);
        let thread = thread::spawn(move || {
            let outcome = printer.run(&mut jvms, &theirs);
            theirs.enough.store(true, Ordering::Relaxed);
            outcome?;
            let mut seen = PrintedCalls {
                shown: printer.shown,
                ..PrintedCalls::default()
            };
            let traces: Vec<&Trace> = jvms.all().map(|jvm| (*jvm).trace()).collect();
            seen.absent = value_check::absent(&traces);
            for trace in traces {
                seen.methods += trace.spans.len() + trace.places.len();
                seen.lost = seen.lost.and(&trace.lost);
                let gap = Gap::of(trace);
                if gap.is_none() && !trace.complete {
                    seen.unfinished.push(trace.meta.pid);
                }
                seen.gaps.extend(gap.map(|gap| gap.to_string()));
            }
            seen.lost.beyond_limit += printer.beyond;
            Ok(seen)
        });
        Self {
            flags,
            thread: Some(thread),
        }
    }

    /// Checks whether no more calls are printed: the limit is reached, the reader has gone, or a
    /// file is damaged.
    #[must_use]
    pub fn has_enough(&self) -> bool {
        self.flags.enough.load(Ordering::Relaxed)
    }

    /// Prints the rest after the recording.
    ///
    /// # Errors
    /// If a file could not be read, or the output not be written.
    pub fn finish(mut self) -> Result<PrintedCalls, Error> {
        self.flags.ends.store(true, Ordering::Release);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(outcome)) => outcome,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(PrintedCalls::default()),
        }
    }
}

impl Drop for WatchPrinter {
    fn drop(&mut self) {
        self.flags.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the command has failed already, and reports the cause
        }
    }
}

/// State of the thread.
struct Printer {
    layout: Layout,
    shown: u64,
    /// Calls beyond the limit: each JVM records up to the limit.
    beyond: u64,
    /// The reader of the output has gone.
    closed: bool,
    /// True once the note about the limit is printed.
    told: bool,
    /// JVMs without probes.
    without_probes: HashSet<u32>,
    /// Text to be written.
    waiting: Vec<u8>,
}

impl Printer {
    /// Prints calls until the recording has ended and is read. Calls beyond the limit are read as
    /// well, because the records hold the counts of lost calls.
    fn run(&mut self, jvms: &mut FollowedJvms, flags: &Flags) -> Result<(), Error> {
        loop {
            let is_last = flags.ends.load(Ordering::Acquire);
            let more = jvms.read(&mut |_, trace, event| {
                self.take(trace, event);
            })?;
            self.write()?;
            if self.is_full() {
                flags.enough.store(true, Ordering::Relaxed);
                if !is_last {
                    self.note_limit();
                    self.take_probes_out(jvms);
                }
            }
            if is_last && !more {
                return Ok(());
            }
            if !more {
                thread::sleep(TURN);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.closed || self.layout.calls.is_some_and(|most| self.shown >= most)
    }

    /// Prints once that a command continues after the last printed call.
    fn note_limit(&mut self) {
        if self.layout.command.is_none() || std::mem::replace(&mut self.told, true) {
            return;
        }
        match self.closed {
            true => say("the reader of the calls has gone; the command continues without probes"),
            false => {
                say("the limit of --limit is reached; the command continues without probes");
            }
        }
    }

    /// Disables the plugin in each JVM of a command, once.
    fn take_probes_out(&mut self, jvms: &mut FollowedJvms) {
        let Some(command) = &self.layout.command else {
            return;
        };
        for jvm in jvms.all() {
            let pid = jvm.trace().meta.pid;
            if pid > 0 && self.without_probes.insert(pid) {
                disable(pid, command);
            }
        }
    }

    fn take(&mut self, trace: &Trace, event: LiveEvent<'_>) {
        let is_shown = match event {
            LiveEvent::Call(call, _) => call.outcome != Outcome::Open,
            // Other plugins have separate events.
            LiveEvent::Moment(moment, _) => self.layout.of_places && is_of_watch(trace, moment),
            LiveEvent::Begun | LiveEvent::Wait(_) | LiveEvent::Step(_) | LiveEvent::Reset => false,
        };
        if self.closed || !is_shown {
            return;
        }
        if self.is_full() {
            self.beyond += 1;
            return;
        }
        self.shown += 1;
        let text = if self.layout.json {
            let object = match event {
                LiveEvent::Call(call, is_virtual) => watched::json(trace, call, is_virtual),
                LiveEvent::Moment(moment, is_virtual) => {
                    watched::moment_json(trace, moment, is_virtual)
                }
                _ => return,
            };
            escape::json(&format!("{object}\n")).into_owned()
        } else {
            let show = &self.layout.show;
            let lines = match event {
                LiveEvent::Call(call, is_virtual) => watched::lines(trace, call, is_virtual, show),
                LiveEvent::Moment(moment, is_virtual) => {
                    watched::moment_lines(trace, moment, is_virtual, show)
                }
                _ => return,
            };
            escape::lines(&lines).into_owned()
        };
        self.waiting.extend_from_slice(text.as_bytes());
    }

    fn write(&mut self) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let written = out.write_all(&self.waiting).and_then(|()| out.flush());
        self.waiting.clear();
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.closed = true,
            Err(error) => {
                return Err(
                    Error::fault(codes::H0624, "cannot write to standard output")
                        .with("found", error.to_string()),
                );
            }
            Ok(()) => {}
        }
        Ok(())
    }
}

/// Checks whether an event belongs to `classhook watch`: it defines no row of a table.
fn is_of_watch(trace: &Trace, moment: &Moment) -> bool {
    let place = trace.places.get(&moment.place);
    place.is_some_and(|place| place.row.is_none())
}

/// Disables the plugin in a JVM of a command. Ignores a JVM that has ended, and an agent without a
/// control channel.
fn disable(pid: u32, command: &CommandPlugin) {
    let Ok(Ok(mut agent)) = Agent::find(pid.cast_signed()) else {
        return;
    };
    // In a container another process may have that number here.
    let is_ours = |status: Status| status.run == command.run;
    if !agent.ask_for(&Request::Status).is_ok_and(is_ours) {
        return;
    }
    let plugin = command.plugin.to_owned();
    if let Err(problem) = agent.ask_for::<Change>(&Request::Disable { plugin })
        && !agent.has_left()
    {
        say(format_args!("probes stay in {pid}: {}", problem.summary()));
    }
}
