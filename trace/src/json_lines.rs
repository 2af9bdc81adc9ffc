//! One event per line, in chronological order, for programs; `docs/trace-files.md` describes the format.

use std::io::{self, Write};

use probes::events::{
    BoundaryKind, Call, Lost, Moment, Outcome, SpanInfo, TableRow, ThreadInfo, Trace,
};
use serde::Serialize;
use serde_json::Map;

use crate::names::class;
use crate::perfetto::thread_name;
use crate::recording::{NestedCall, Recording, TimelineItem};
use crate::summary::Gap;
use crate::tasks::{CallId, Caller, Callers, Submitted};
use crate::values::{captured, parameters, shown_json, stack, to_json, values};

/// The first line of each JVM.
#[derive(Serialize)]
pub(crate) struct Jvm<'a> {
    event: &'static str,
    pid: u32,
    start_ms: u64,
    command: &'a str,
    jvm: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<&'a Lost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
}

impl<'a> Jvm<'a> {
    pub fn of(trace: &'a Trace) -> Self {
        let meta = &trace.meta;
        Self {
            event: "jvm",
            pid: meta.pid,
            start_ms: meta.start_ms,
            command: &meta.command,
            jvm: &meta.jvm,
            lost: Some(&trace.lost).filter(|lost| **lost != Lost::default()),
            incomplete: Gap::of(trace).map(|gap| gap.to_string()),
        }
    }
}

/// The line of an entry or exit.
#[derive(Serialize)]
struct Line<'a> {
    event: &'static str,
    nanos: u64,
    pid: u32,
    thread: u64,
    thread_name: &'a str,
    class: &'a str,
    method: &'a str,
    descriptor: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    submitted: Option<Submission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Map<String, serde_json::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    returned: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thrown: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    shown: Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<serde_json::Value>,
}

/// The submission of the task that a call or event belongs to.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Submission {
    nanos: u64,
    thread: u64,
    /// Entry time of the innermost call at the submission, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<u64>,
    /// The caller's thread, if it differs: a task without calls submitted the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    caller_thread: Option<u64>,
}

impl Submission {
    /// Creates the line of a submission by a known call.
    pub fn of(submitted: &Submitted<CallId>) -> Self {
        let by = submitted.by;
        Self {
            caller: Some(by.start),
            caller_thread: Some(by.thread).filter(|thread| *thread != submitted.thread),
            ..Self::at(submitted.thread, submitted.nanos)
        }
    }

    /// Creates the line of a submission without a known call.
    pub fn at(thread: u64, nanos: u64) -> Self {
        Self {
            nanos,
            thread,
            caller: None,
            caller_thread: None,
        }
    }
}

/// Finds the submission of the call that is entered, if its caller is a task.
pub(crate) fn submission(callers: &mut Callers<CallId>, call: &Call) -> Option<Submission> {
    let mut found = None;
    callers.enter(call, |caller| {
        if let Some(Caller::Task(submitted)) = caller {
            found = Some(Submission::of(submitted));
        }
        CallId::of(call)
    });
    found
}

/// The line of an event that a plugin requested.
#[derive(Serialize)]
struct MomentLine<'a> {
    event: &'static str,
    nanos: u64,
    pid: u32,
    thread: u64,
    thread_name: &'a str,
    plugin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<&'a str>,
    class: &'a str,
    method: &'a str,
    descriptor: &'a str,
    line: u32,
    values: Map<String, serde_json::Value>,
}

/// Writes the recordings one after the other.
///
/// # Errors
/// Calls cannot be read, or `out` cannot be written.
pub fn write(recordings: &[Recording], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    for recording in recordings {
        let trace = &recording.trace;
        put(&Jvm::of(trace), out)?;
        let mut callers = Callers::default();
        recording.each_happening(true, &mut |happening| match happening {
            TimelineItem::Entry(placed) => {
                let submitted = submission(&mut callers, placed.call);
                line(trace, placed, BoundaryKind::Enter, submitted, out)
            }
            TimelineItem::End(placed) => line(trace, placed, BoundaryKind::Exit, None, out),
            TimelineItem::Moment(moment, is_virtual) => moment_line(trace, moment, is_virtual, out),
            TimelineItem::Step(step) => {
                callers.step(step);
                Ok(())
            }
        })?;
        recording.lose_tasks(callers.take_dropped());
    }
    Ok(())
}

fn line(
    trace: &Trace,
    placed: NestedCall<'_>,
    kind: BoundaryKind,
    submitted: Option<Submission>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let side = BoundaryLine {
        kind,
        submitted,
        depth: Some(placed.depth),
        is_virtual: placed.is_virtual,
    };
    line_of(trace, placed.call, side, out)
}

/// The entry or the exit of a call.
pub(crate) struct BoundaryLine {
    pub kind: BoundaryKind,
    /// Number of enclosing traced calls, if known.
    pub depth: Option<usize>,
    /// The submission of the task, for the task's outermost call.
    pub submitted: Option<Submission>,
    /// Set for a virtual thread, if the trace has no data about the thread.
    pub is_virtual: bool,
}

pub(crate) fn line_of(
    trace: &Trace,
    call: &Call,
    side: BoundaryLine,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let unknown = SpanInfo::default();
    let span = trace.spans.get(&call.span).unwrap_or(&unknown);
    let unnamed = ThreadInfo {
        is_virtual: side.is_virtual,
        ..ThreadInfo::default()
    };
    let thread = trace.threads.get(&call.thread).unwrap_or(&unnamed);
    let (arguments, returned) = captured(call);
    let enter = side.kind == BoundaryKind::Enter;
    let thrown = match &call.outcome {
        Outcome::Threw(name) if !enter => {
            Some(name.as_deref().map_or_else(|| "?".to_owned(), class))
        }
        _ => None,
    };
    let arguments: Option<Map<_, _>> = (enter && !arguments.is_empty()).then(|| {
        let pairs = arguments
            .into_iter()
            .map(|(index, value)| (index.to_string(), to_json(value)));
        pairs.collect()
    });
    put(
        &Line {
            event: match (enter, &thrown) {
                (true, _) => "enter",
                (false, None) => "return",
                (false, Some(_)) => "throw",
            },
            nanos: if enter { call.start } else { call.end },
            pid: trace.meta.pid,
            thread: call.thread,
            thread_name: &thread_name(&thread.name, thread.is_virtual, call.thread),
            class: &class(&span.class),
            method: &span.method,
            descriptor: &span.descriptor,
            depth: side.depth,
            submitted: side.submitted,
            parameters: arguments.as_ref().and_then(|_| parameters(span)),
            arguments,
            duration: (!enter).then(|| call.end - call.start),
            returned: returned.filter(|_| !enter).map(to_json),
            thrown,
            shown: if enter {
                Map::new()
            } else {
                shown_json(call, span)
            },
            stack: stack(call).filter(|_| !enter).map(to_json),
        },
        out,
    )
}

/// Creates the line of an event. `is_virtual` is set for a virtual thread and used if the trace has no data about the
/// thread.
pub(crate) fn moment_line(
    trace: &Trace,
    moment: &Moment,
    is_virtual: bool,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let unknown = SpanInfo::default();
    let place = trace.places.get(&moment.place).unwrap_or(&unknown);
    let unnamed = ThreadInfo {
        is_virtual,
        ..ThreadInfo::default()
    };
    let thread = trace.threads.get(&moment.thread).unwrap_or(&unnamed);
    let values = values(&moment.captures, place).into_iter();
    let line = MomentLine {
        event: "event",
        nanos: moment.nanos,
        pid: trace.meta.pid,
        thread: moment.thread,
        thread_name: &thread_name(&thread.name, thread.is_virtual, moment.thread),
        plugin: &place.plugin,
        table: place.row.as_ref().map(|row: &TableRow| row.table.as_str()),
        class: &class(&place.class),
        method: &place.method,
        descriptor: &place.descriptor,
        line: place.line,
        values: values
            .map(|(name, value)| (name.to_owned(), to_json(value)))
            .collect(),
    };
    put(&line, out)
}

pub(crate) fn put(value: &impl Serialize, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
