//! Ends work in a running JVM after a time, at a signal, or with the JVM.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use attach::Process;
use errors::{Cause, Error, codes};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::{SigId, flag, low_level};
use standard_streams::show::say;

/// Poll interval for the JVM's end.
const TURN: Duration = Duration::from_millis(50);

/// The handled signals.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A period in which a second signal ends the command at once, because the JVM may take minutes to
/// answer.
#[derive(Debug)]
pub struct SecondSignalExit(Vec<SigId>);

impl Drop for SecondSignalExit {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|action| {
            low_level::unregister(action);
        });
    }
}

/// Signals that request a stop instead of ending the command.
#[derive(Debug)]
pub struct Interrupt {
    signals: Signals,
    came: bool,
    stopped: bool,
}

impl Interrupt {
    /// Installs handlers, so that Ctrl-C, SIGTERM and SIGHUP do not end this command.
    ///
    /// # Errors
    /// If handlers cannot be installed.
    pub fn new() -> Result<Self, Error> {
        let signals = Signals::new(SIGNALS).map_err(|error| refused(&error))?;
        Ok(Self {
            signals,
            came: false,
            stopped: false,
        })
    }

    /// Lets a second signal end the command at once, with exit code 128 plus its number, until the
    /// result is dropped.
    ///
    /// # Errors
    /// If handlers cannot be installed.
    pub fn exit_on_second_signal() -> Result<SecondSignalExit, Error> {
        let came = Arc::new(AtomicBool::new(false));
        let mut exits = SecondSignalExit(Vec::new());
        for signal in SIGNALS {
            // The order matters: the first signal must find the flag unset.
            let ends = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&came));
            exits.0.push(ends.map_err(|error| refused(&error))?);
            let notes = flag::register(signal, Arc::clone(&came));
            exits.0.push(notes.map_err(|error| refused(&error))?);
        }
        Ok(exits)
    }

    /// Checks whether a signal has arrived.
    pub fn came(&mut self) -> bool {
        self.came |= self.signals.pending().next().is_some();
        self.came
    }

    /// Records that a signal has stopped a change of classes.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Checks whether a signal has stopped a change of classes.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Fails if a signal has arrived while classes were changed.
    ///
    /// # Errors
    /// `H0645`.
    pub fn check(&mut self) -> Result<(), Error> {
        if self.came() {
            return Err(stopped_halfway());
        }
        Ok(())
    }
}

/// Returns the error for a command interrupted while the classes of a JVM were changed.
fn stopped_halfway() -> Error {
    Error::new(Cause::Interrupted, codes::H0645, "interrupted between two batches of classes")
        .with("found", "later classes are unchanged")
        .with("help", "`classhook status` counts the changed classes; repeat the command, or undo it with `classhook off`")
}

fn refused(error: &std::io::Error) -> Error {
    Error::fault(codes::H0626, "cannot wait for signals").with("found", error.to_string())
}

/// Waits for a time to pass, for Ctrl-C, or for the end of a JVM, whichever is first.
#[derive(Debug)]
pub struct TimedWait<'a> {
    time: Option<Duration>,
    interrupt: &'a mut Interrupt,
}

impl<'a> TimedWait<'a> {
    /// Creates a wait. Without a time, only a signal or the JVM's end ends it.
    pub fn new(time: Option<Duration>, interrupt: &'a mut Interrupt) -> Self {
        Self { time, interrupt }
    }

    /// Waits, and prints the activity `doing`, such as `tracing`. The time begins now. The wait
    /// ends early once `enough` returns true.
    pub fn wait(&mut self, doing: &str, pid: i32, enough: &dyn Fn() -> bool) {
        match self.time {
            Some(time) => say(format_args!(
                "{doing} {pid} for {time:?}; Ctrl-C ends it earlier"
            )),
            None => say(format_args!("{doing} {pid}; Ctrl-C ends it")),
        }
        let end = self.time.and_then(|time| Instant::now().checked_add(time));
        while end.is_none_or(|end| end > Instant::now())
            && !self.interrupt.came()
            && !enough()
            && Process::read(pid).is_ok_and(|process| process.is_alive())
        {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            std::thread::sleep(left.map_or(TURN, |left| left.min(TURN)));
        }
    }
}
