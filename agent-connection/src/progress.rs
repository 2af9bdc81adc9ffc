//! Follows a change of the classes of a running JVM.

use std::io::IsTerminal;
use std::thread;
use std::time::{Duration, Instant};

use control::Request;
use control::message::{Progress, Status};
use errors::Error;
use indicatif::{ProgressBar, ProgressStyle};
use serde::de::DeserializeOwned;
use standard_streams::show::say;
use trace::numbers::{counted, thousands};

use crate::agent::Agent;
use crate::interrupt::Interrupt;

/// From this many classes on, users learn the cost of the change for their program.
const MANY: usize = 2_000;
/// Poll interval for the agent's progress.
const TURN: Duration = Duration::from_millis(50);
/// Interval of progress lines without a terminal.
const LINE: Duration = Duration::from_secs(3);

/// Requests a change, and shows its progress until the answer comes. A signal stops the change
/// between two batches of classes; the answer then names the changed classes.
///
/// # Errors
/// As [`Agent::ask`].
pub fn ask<T: DeserializeOwned + Send>(
    agent: &mut Agent,
    request: &Request,
    interrupt: &mut Interrupt,
) -> Result<T, Error> {
    let mut second = Agent::connect(agent.pid())?;
    thread::scope(|scope| {
        let answer = scope.spawn(|| agent.ask_patiently(request));
        let mut change = Followed::new(request.can_be_cancelled());
        while !answer.is_finished() {
            thread::sleep(TURN);
            // Once the agent is about to leave, only the other connection reports that.
            if change.turn(&mut second, interrupt).is_err() {
                break;
            }
        }
        answer
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Waits until the agent has instrumented the classes that were loaded before it. A signal stops it
/// between two batches of classes. Returns the agent's state.
///
/// # Errors
/// As [`Agent::ask`].
pub fn follow(agent: &mut Agent, interrupt: &mut Interrupt) -> Result<Status, Error> {
    let mut change = Followed::new(true);
    loop {
        let status = change.turn(agent, interrupt)?;
        if status.progress.is_none() {
            return Ok(status);
        }
        thread::sleep(TURN);
    }
}

/// A running change.
struct Followed {
    bar: Bar,
    cancelled: bool,
}

impl Followed {
    fn new(warns: bool) -> Self {
        Self {
            bar: Bar::new(warns),
            cancelled: false,
        }
    }

    /// Shows the progress, and cancels the change once after a signal.
    fn turn(&mut self, agent: &mut Agent, interrupt: &mut Interrupt) -> Result<Status, Error> {
        let status: Status = agent.ask_for(&Request::Status)?;
        self.bar.show(status.progress);
        let stops = status.progress.is_some() && interrupt.came();
        if stops && !std::mem::replace(&mut self.cancelled, true) {
            agent.ask(&Request::Cancel)?;
            interrupt.stop();
        }
        Ok(status)
    }
}

/// Progress display: a bar on a terminal, lines elsewhere, and a note about the cost of many
/// classes.
struct Bar {
    bar: Option<ProgressBar>,
    lines: Lines,
    /// True until the note about many classes is printed; false for restored classes.
    warns: bool,
}

impl Bar {
    fn new(warns: bool) -> Self {
        Self {
            bar: None,
            lines: Lines {
                what: if warns { "changed" } else { "restored" },
                last: Instant::now(),
            },
            warns,
        }
    }

    fn show(&mut self, progress: Option<Progress>) {
        let Some(progress) = progress else {
            return;
        };
        let Progress { done, total } = progress;
        if total >= MANY && std::mem::take(&mut self.warns) {
            say(format_args!(
                "{} are changed; the JVM compiles their methods again, so the program is slower for up to some minutes; --select (and --methods) take fewer",
                counted(total, "class")
            ));
        }
        if total == 0 {
            return;
        }
        if !std::io::stderr().is_terminal() {
            if let Some(line) = self.lines.next(progress, Instant::now()) {
                say(line);
            }
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let template = "{bar:30} {pos} of {len} classes, {eta} left; Ctrl-C stops";
            let style = ProgressStyle::with_template(template);
            ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_length(total.try_into().unwrap_or(u64::MAX));
        bar.set_position(done.try_into().unwrap_or(u64::MAX));
    }
}

/// Progress lines, one every few seconds.
struct Lines {
    what: &'static str,
    last: Instant,
}

impl Lines {
    fn next(&mut self, progress: Progress, now: Instant) -> Option<String> {
        if now.saturating_duration_since(self.last) < LINE {
            return None;
        }
        self.last = now;
        let Progress { done, total } = progress;
        let done = thousands(done.try_into().unwrap_or(u64::MAX));
        Some(format!(
            "{done} of {} are {} so far",
            counted(total, "class"),
            self.what
        ))
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_without_a_terminal_is_a_line_every_few_seconds() {
        let begun = Instant::now();
        let mut lines = Lines {
            what: "changed",
            last: begun,
        };
        let mut next = |done, seconds| {
            let progress = Progress { done, total: 6_500 };
            lines.next(progress, begun + Duration::from_secs(seconds))
        };
        assert_eq!(next(64, 1), None);
        let line = next(1_024, 3).expect("it is time");
        assert_eq!(line, "1,024 of 6,500 classes are changed so far");
        assert_eq!(next(2_048, 5), None);
        assert!(next(4_096, 6).is_some());
    }
}
