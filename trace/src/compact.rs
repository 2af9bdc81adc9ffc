//! One call per line, in the order of starts, with numbers for names; `docs/trace-files.md` describes the format.

use std::collections::HashSet;
use std::io::{self, Write};

use probes::events::{Call, Outcome, SpanInfo, ThreadInfo, Trace};
use serde::Serialize;
use serde_json::{Map, json};

use crate::json_lines::{Jvm, Submission, moment_line, put, submission};
use crate::names::{class, printable};
use crate::perfetto::thread_name;
use crate::recording::{Recording, TimelineItem};
use crate::tasks::Callers;
use crate::values::{captured, parameters, shown_json, stack, to_json};

/// The line of a call.
#[derive(Serialize)]
pub(crate) struct Line {
    /// Span, thread, number of enclosing calls if known, start, duration.
    c: (u32, u64, Option<usize>, u64, u64),
    /// The submission of the task, for the task's outermost call.
    #[serde(skip_serializing_if = "Option::is_none")]
    submitted: Option<Submission>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    arguments: Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    returned: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thrown: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    shown: Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    open: bool,
}

/// Maximum number of threads remembered as explained.
const MAX_EXPLAINED: usize = 1 << 20;

/// Writes the recordings one after the other.
///
/// # Errors
/// Calls cannot be read, or `out` cannot be written.
pub fn write(recordings: &[Recording], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    for recording in recordings {
        let trace = &recording.trace;
        put(&Jvm::of(trace), out)?;
        let (mut explained, mut callers) = (Explained::default(), Callers::default());
        recording.each_happening(false, &mut |happening| match happening {
            TimelineItem::Entry(placed) => {
                let (call, depth) = (placed.call, placed.depth);
                explained.span(trace, call, out)?;
                explained.thread(trace, call, placed.is_virtual, out)?;
                let submitted = submission(&mut callers, call);
                put(&line(trace, call, Some(depth), submitted), out)
            }
            TimelineItem::End(_) => Ok(()),
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

/// The numbers of spans and threads whose names were written.
#[derive(Debug, Default)]
pub(crate) struct Explained {
    spans: HashSet<u32>,
    /// Only the latest ones: with millions of threads, some are explained again.
    threads: HashSet<u64>,
}

impl Explained {
    /// Writes the method of a span once.
    pub(crate) fn span(
        &mut self,
        trace: &Trace,
        call: &Call,
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        match self.spans.insert(call.span) {
            true => put(&span(trace, call.span), out),
            false => Ok(()),
        }
    }

    /// Writes the name of a thread once.
    pub(crate) fn thread(
        &mut self,
        trace: &Trace,
        call: &Call,
        is_virtual: bool,
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        if self.threads.len() >= MAX_EXPLAINED {
            self.threads.clear();
        }
        match self.threads.insert(call.thread) {
            true => put(&thread(trace, call.thread, is_virtual), out),
            false => Ok(()),
        }
    }
}

fn span(trace: &Trace, id: u32) -> serde_json::Value {
    let unknown = SpanInfo::default();
    let span = trace.spans.get(&id).unwrap_or(&unknown);
    let mut line = json!({
        "span": id,
        "class": class(&span.class),
        "method": printable(&span.method),
        "descriptor": printable(&span.descriptor),
    });
    if let (Some(names), Some(line)) = (parameters(span), line.as_object_mut()) {
        line.insert("parameters".to_owned(), names);
    }
    line
}

fn thread(trace: &Trace, id: u64, is_virtual: bool) -> serde_json::Value {
    let unnamed = ThreadInfo {
        is_virtual,
        ..ThreadInfo::default()
    };
    let thread = trace.threads.get(&id).unwrap_or(&unnamed);
    json!({"thread": id, "name": thread_name(&thread.name, thread.is_virtual, id)})
}

pub(crate) fn line(
    trace: &Trace,
    call: &Call,
    depth: Option<usize>,
    submitted: Option<Submission>,
) -> Line {
    let (arguments, returned) = captured(call);
    let thrown = match &call.outcome {
        Outcome::Threw(name) => Some(name.as_deref().map_or_else(|| "?".to_owned(), class)),
        Outcome::Returned | Outcome::Open => None,
    };
    let duration = call.end - call.start;
    Line {
        c: (call.span, call.thread, depth, call.start, duration),
        submitted,
        arguments: (arguments.into_iter())
            .map(|(index, value)| (index.to_string(), to_json(value)))
            .collect(),
        returned: returned.map(to_json),
        thrown,
        shown: (trace.spans.get(&call.span))
            .map(|span| shown_json(call, span))
            .unwrap_or_default(),
        stack: stack(call).map(to_json),
        open: call.outcome == Outcome::Open,
    }
}
