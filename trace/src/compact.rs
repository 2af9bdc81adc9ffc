//! One call per line, in the order of their begin, with numbers for names; `docs/trace.md` has the schema.

use std::collections::HashSet;
use std::io::{self, Write};

use probes::events::{Call, EventKind, Moment, Outcome, SpanInfo, ThreadInfo, Trace};
use serde::Serialize;
use serde_json::{Map, json};

use crate::json_lines::{Jvm, moment_line, put};
use crate::names::{class, printable};
use crate::perfetto::thread_name;
use crate::values::{captured, shown_json, stack, to_json};

/// A line of a call.
#[derive(Serialize)]
pub(crate) struct Line {
    /// Span, thread, calls around it if that is known, begin, duration.
    c: (u32, u64, Option<usize>, u64, u64),
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

/// Writes the traces one after the other.
///
/// # Errors
/// `out` cannot be written.
pub fn write(traces: &[Trace], out: &mut impl Write) -> io::Result<()> {
    for trace in traces {
        put(&Jvm::of(trace), out)?;
        let mut calls: Vec<(&Call, usize)> =
            (trace.calls.chunk_by(|one, next| one.thread == next.thread))
                .flat_map(|calls| trace.events(calls[0].thread))
                .filter(|event| event.kind == EventKind::Enter)
                .map(|event| (event.call, event.depth))
                .collect();
        calls.sort_by_key(|(call, _)| (call.start, call.thread));
        let mut moments: Vec<&Moment> = trace.moments.iter().collect();
        moments.sort_by_key(|moment| moment.nanos);
        let mut moments = moments.into_iter().peekable();
        let (mut spans, mut threads) = (HashSet::new(), HashSet::new());
        for (call, depth) in calls {
            if spans.insert(call.span) {
                put(&span(trace, call.span), out)?;
            }
            if threads.insert(call.thread) {
                put(&thread(trace, call.thread), out)?;
            }
            while let Some(moment) = moments.next_if(|moment| moment.nanos < call.start) {
                moment_line(trace, moment, false, out)?;
            }
            put(&line(trace, call, Some(depth)), out)?;
        }
        moments.try_for_each(|moment| moment_line(trace, moment, false, out))?;
    }
    Ok(())
}

pub(crate) fn span(trace: &Trace, id: u32) -> serde_json::Value {
    let unknown = SpanInfo::default();
    let span = trace.spans.get(&id).unwrap_or(&unknown);
    json!({
        "span": id,
        "class": class(&span.class),
        "method": printable(&span.method),
        "descriptor": printable(&span.descriptor),
    })
}

pub(crate) fn thread(trace: &Trace, id: u64) -> serde_json::Value {
    let unnamed = ThreadInfo::default();
    let thread = trace.threads.get(&id).unwrap_or(&unnamed);
    json!({"thread": id, "name": thread_name(&thread.name, thread.is_virtual, id)})
}

pub(crate) fn line(trace: &Trace, call: &Call, depth: Option<usize>) -> Line {
    let (arguments, returned) = captured(call);
    let thrown = match &call.outcome {
        Outcome::Threw(name) => Some(name.as_deref().map_or_else(|| "?".to_owned(), class)),
        Outcome::Returned | Outcome::Open => None,
    };
    let duration = call.end - call.start;
    Line {
        c: (call.span, call.thread, depth, call.start, duration),
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
