//! JSON lines of calls when they end, during the trace; `docs/trace-files.md` describes the format.
//!
//! The lines of a call are adjacent, and calls are roughly in the order of their ends. Their callers are not known
//! yet, so lines have no depth. The entry of a call that is open for a second is written at once, and its end later.

use std::collections::HashSet;
use std::io::{self, Write};

use probes::events::{BoundaryKind, Call, Lost, Moment, Outcome, TaskStep, ThreadInfo, Trace};
use serde::Serialize;
use serde_json::json;

use crate::compact::{self, Explained};
use crate::json_lines::{BoundaryLine, Jvm, Submission, line_of, moment_line, put};
use crate::perfetto::thread_name;
use crate::summary::Gap;
use crate::tasks::{Change, Steps, Submitted, Tasks};

/// The lines of one JVM.
#[derive(Debug, Default)]
pub struct Stream {
    compact: bool,
    /// For the compact form: the numbers whose names were written.
    explained: Explained,
    /// Thread and start of each call whose entry is written and whose end is not.
    open: HashSet<(u64, u64)>,
    /// Task steps whose preceding calls are not all known yet.
    steps: Steps,
    tasks: Tasks<()>,
    /// Number of calls and events with lines.
    calls: u64,
}

/// The line of a task run.
#[derive(Serialize)]
struct TaskLine<'a> {
    event: &'static str,
    /// Start time.
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
    /// `true` if the JVM, or the agent in it, ended in good order.
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<&'a Lost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
}

impl Stream {
    /// Creates a stream with a line for each entry and end, or with one line for each call and numbers for names.
    #[must_use]
    pub fn new(compact: bool) -> Self {
        Self {
            compact,
            ..Self::default()
        }
    }

    /// Returns the number of calls and events with lines.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Writes the first line; `trace` has its [`Trace::meta`].
    ///
    /// # Errors
    /// `out` cannot be written; so for all functions.
    pub fn begin(&mut self, trace: &Trace, out: &mut impl Write) -> io::Result<()> {
        put(&Jvm::of(trace), out)
    }

    /// Writes the missing lines of a call, whose span is in `trace`.
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
            // Unnamed threads have no line.
            if trace.threads.contains_key(&call.thread) {
                self.explained.thread(trace, call, is_virtual, out)?;
            }
            return put(&compact::line(trace, call, None, None), out);
        }
        let side = |kind| BoundaryLine {
            kind,
            depth: None,
            submitted: None,
            is_virtual,
        };
        if !was_open {
            line_of(trace, call, side(BoundaryKind::Enter), out)?;
        }
        if has_ended {
            line_of(trace, call, side(BoundaryKind::Exit), out)?;
        }
        Ok(())
    }

    /// Writes the line of an event, whose place is in `trace`.
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

    /// Adds a step of a task.
    pub fn step(&mut self, step: &TaskStep) {
        self.steps.take(step);
    }

    /// Writes a line with the submission for each task run that began before a time. All entries up to that time were
    /// added.
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

    /// Returns the number of tasks lost since the last call, because too many waited.
    pub fn take_lost_tasks(&mut self) -> u64 {
        self.steps.take_dropped() + self.tasks.take_dropped()
    }

    /// Writes a line that voids all lines so far.
    pub fn reset(&mut self, trace: &Trace, out: &mut impl Write) -> io::Result<()> {
        self.open.clear();
        (self.steps, self.tasks) = (Steps::default(), Tasks::default());
        put(&json!({"event": "reset", "pid": trace.meta.pid}), out)
    }

    /// Writes the last line, with the missing data if there is any.
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
