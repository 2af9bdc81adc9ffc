//! JSON lines of calls as they end, while the trace goes on; `docs/trace-files.md` has the schema.
//!
//! The lines of a call are next to one another, and calls come roughly in the order of their ends: what called them is
//! not known yet, so lines have no depth. A call that is open for a second has its entry written, and its end when it
//! comes.

use std::collections::HashSet;
use std::io::{self, Write};

use probes::events::{Call, EventKind, Lost, Moment, Outcome, TaskStep, ThreadInfo, Trace};
use serde::Serialize;
use serde_json::json;

use crate::compact::{self, Explained};
use crate::json_lines::{Jvm, Side, Submission, line_of, moment_line, put};
use crate::perfetto::thread_name;
use crate::summary::Gap;
use crate::tasks::{Change, Steps, Submitted, Tasks};

/// The lines of one JVM.
#[derive(Debug, Default)]
pub struct Stream {
    compact: bool,
    /// Compact: the numbers whose names are written.
    explained: Explained,
    /// Thread and begin of each call whose entry is written and whose end is not.
    open: HashSet<(u64, u64)>,
    /// Steps of tasks, until all that happened before them is known.
    steps: Steps,
    tasks: Tasks<()>,
    /// Calls and events that have lines.
    calls: u64,
}

/// The line of a run of a task.
#[derive(Serialize)]
struct TaskLine<'a> {
    event: &'static str,
    /// The time of its begin.
    nanos: u64,
    pid: u32,
    thread: u64,
    thread_name: &'a str,
    submitted: Submission,
}

/// The last line.
#[derive(Serialize)]
struct End<'a> {
    event: &'static str,
    pid: u32,
    /// Whether the JVM, or the agent in it, ended in good order.
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<&'a Lost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
}

impl Stream {
    /// One line for each entry and end, or one for each call and numbers for names.
    #[must_use]
    pub fn new(compact: bool) -> Self {
        Self {
            compact,
            ..Self::default()
        }
    }

    /// Calls and events that have lines.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Writes the first line: `trace` has its [`Trace::meta`].
    ///
    /// # Errors
    /// `out` cannot be written; so for all functions.
    pub fn begin(&mut self, trace: &Trace, out: &mut impl Write) -> io::Result<()> {
        put(&Jvm::of(trace), out)
    }

    /// Writes the lines of a call, whose span is among those of `trace`; none if they are there.
    pub fn call(
        &mut self,
        trace: &Trace,
        call: &Call,
        is_virtual: bool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let key = (call.thread, call.start);
        let has_ended = call.outcome != Outcome::Open;
        let was_open = if has_ended {
            self.open.remove(&key)
        } else {
            !self.open.insert(key)
        };
        if was_open && !has_ended {
            return Ok(());
        }
        self.calls += u64::from(!was_open);
        if self.compact {
            self.explained.span(trace, call, out)?;
            // Threads without a name have no line.
            if trace.threads.contains_key(&call.thread) {
                self.explained.thread(trace, call, is_virtual, out)?;
            }
            return put(&compact::line(trace, call, None, None), out);
        }
        let side = |kind| Side {
            kind,
            depth: None,
            submitted: None,
            is_virtual,
        };
        if !was_open {
            line_of(trace, call, side(EventKind::Enter), out)?;
        }
        if has_ended {
            line_of(trace, call, side(EventKind::Exit), out)?;
        }
        Ok(())
    }

    /// Writes the line of an event, whose place is among those of `trace`.
    pub fn moment(
        &mut self,
        trace: &Trace,
        moment: &Moment,
        is_virtual: bool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.calls += 1;
        moment_line(trace, moment, is_virtual, out)
    }

    /// Takes a step of a task.
    pub fn step(&mut self, step: &TaskStep) {
        self.steps.take(step);
    }

    /// Writes a line for each run of a task that began before a time, up to which everything was taken: where the task
    /// was submitted.
    pub fn settle(&mut self, trace: &Trace, nanos: u64, out: &mut impl Write) -> io::Result<()> {
        for step in self.steps.before(nanos) {
            let (thread, nanos) = (step.thread, step.nanos);
            let by = ();
            let submitted = Submitted { thread, nanos, by };
            let Some(Change::Begun(run)) = self.tasks.take(&step, |_| Some(submitted)) else {
                continue;
            };
            if let Some(submitted) = &run.submitted {
                let unnamed = ThreadInfo {
                    is_virtual: step.is_virtual,
                    ..ThreadInfo::default()
                };
                let info = trace.threads.get(&thread).unwrap_or(&unnamed);
                let line = TaskLine {
                    event: "task",
                    nanos,
                    pid: trace.meta.pid,
                    thread,
                    thread_name: &thread_name(&info.name, info.is_virtual, thread),
                    submitted: Submission::at(submitted.thread, submitted.nanos),
                };
                put(&line, out)?;
            }
        }
        Ok(())
    }

    /// Returns the number of tasks that could not be followed since the last time, because too many waited.
    pub fn take_lost_tasks(&mut self) -> u64 {
        self.steps.take_dropped() + self.tasks.take_dropped()
    }

    /// Writes that all lines so far are to be forgotten.
    pub fn reset(&mut self, trace: &Trace, out: &mut impl Write) -> io::Result<()> {
        self.open.clear();
        (self.steps, self.tasks) = (Steps::default(), Tasks::default());
        put(&json!({"event": "reset", "pid": trace.meta.pid}), out)
    }

    /// Writes the last line: what is missing, if something is.
    pub fn end(&self, trace: &Trace, out: &mut impl Write) -> io::Result<()> {
        let end = End {
            event: "end",
            pid: trace.meta.pid,
            complete: trace.complete,
            lost: Some(&trace.lost).filter(|lost| **lost != Lost::default()),
            incomplete: Gap::of(trace).map(|gap| gap.to_string()),
        };
        put(&end, out)
    }
}
