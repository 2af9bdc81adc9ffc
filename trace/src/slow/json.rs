//! Slow calls as JSON, one object for each; `docs/trace-files.md` describes the format.

use std::io::{self, Write};

use probes::events::{Call, Outcome, SpanInfo, Trace, Wait, WaitKind};
use serde_json::{Map, Value, json};

use super::SlowCall;
use super::node::{Event, Folded, Node};
use crate::json_lines::put;
use crate::names::{class, printable};
use crate::values::{captured, parameters, shown_json, stack, to_json};
use crate::watched::thread_of;

/// Writes a slow call as one line. Times are nanoseconds, and starts are relative to the start of the recording.
///
/// # Errors
/// `out` cannot be written.
pub fn write_json_line(trace: &Trace, slow: &SlowCall, out: &mut dyn Write) -> io::Result<()> {
    let mut line = json!({
        "pid": trace.meta.pid,
        "start_ms": trace.meta.start_ms,
        "thread": slow.thread,
        "thread_name": thread_of(trace, slow.thread, slow.is_virtual),
    });
    if let (Some(submitted), Some(line)) = (&slow.submitted, line.as_object_mut()) {
        let mut by = method(trace, submitted.by.span);
        let thread = thread_of(trace, submitted.thread, submitted.by.is_virtual);
        by.insert("nanos".to_owned(), submitted.nanos.into());
        by.insert("thread".to_owned(), submitted.thread.into());
        by.insert("thread_name".to_owned(), thread.into());
        line.insert("submitted".to_owned(), by.into());
    }
    if let Some(line) = line.as_object_mut() {
        if slow.lacks_collections {
            line.insert("lacks_collections".to_owned(), true.into());
        }
        if slow.lacks_calls {
            line.insert("lacks_calls".to_owned(), true.into());
        }
        line.insert("call".to_owned(), of_node(trace, &slow.root));
    }
    put(&line, out)
}

/// Describes a call or a wait, with the calls and waits in it by their starts.
fn of_node(trace: &Trace, node: &Node) -> Value {
    let mut object = match node.event() {
        Event::Call(call) => of_call(trace, call, node),
        Event::Wait(wait) => of_wait(wait),
        Event::Folded { .. } => Map::new(),
    };
    object.insert("start".to_owned(), start(node).into());
    object.insert("duration".to_owned(), node.nanos().into());
    if let Some(submitted) = &node.submitted {
        let name = thread_of(trace, submitted.thread, submitted.is_virtual);
        let by = json!({
            "nanos": submitted.nanos, "thread": submitted.thread, "thread_name": name,
        });
        object.insert("task".to_owned(), by);
    }
    let mut below: Vec<&Node> = node.within.iter().chain(&node.tasks).collect();
    below.sort_by_key(|node| (node.submitted.as_ref()).map_or(node.start(), |it| it.nanos));
    if !below.is_empty() {
        let below = below.into_iter().map(|below| of_node(trace, below));
        object.insert("within".to_owned(), below.collect());
    }
    if !node.folded.is_empty() {
        object.insert("left_out".to_owned(), left_out(&node.folded));
    }
    object.into()
}

/// Returns the start. A wait has its place among the calls by its middle, which is no start.
fn start(node: &Node) -> u64 {
    match node.event() {
        Event::Wait(wait) => wait.start,
        Event::Call(_) | Event::Folded { .. } => node.start(),
    }
}

fn of_call(trace: &Trace, call: &Call, node: &Node) -> Map<String, Value> {
    let unknown = SpanInfo::default();
    let span = trace.spans.get(&call.span).unwrap_or(&unknown);
    let mut object = method(trace, call.span);
    object.insert("self".to_owned(), node.own().into());
    let (arguments, returned) = captured(call);
    if !arguments.is_empty() {
        let arguments = arguments.into_iter();
        let arguments: Map<_, _> = arguments
            .map(|(index, value)| (index.to_string(), to_json(value)))
            .collect();
        object.insert("arguments".to_owned(), arguments.into());
        if let Some(names) = parameters(span) {
            object.insert("parameters".to_owned(), names);
        }
    }
    if let Some(returned) = returned {
        object.insert("returned".to_owned(), to_json(returned));
    }
    let shown = shown_json(call, span);
    if !shown.is_empty() {
        object.insert("shown".to_owned(), shown.into());
    }
    if let Some(stack) = stack(call) {
        object.insert("stack".to_owned(), to_json(stack));
    }
    match &call.outcome {
        Outcome::Threw(name) => {
            let thrown = name.as_deref().map_or_else(|| "?".to_owned(), class);
            object.insert("thrown".to_owned(), thrown.into());
        }
        Outcome::Open => {
            object.insert("open".to_owned(), true.into());
        }
        Outcome::Returned => {}
    }
    object
}

fn of_wait(wait: &Wait) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("wait".to_owned(), json!(wait.kind));
    if wait.kind != WaitKind::Collection {
        object.insert("class".to_owned(), class(&wait.class).into());
    }
    if !wait.holders.is_empty() {
        object.insert("holders".to_owned(), printable(&wait.holders).into());
    }
    // The start of a platform thread's park is only known approximately.
    if wait.kind == WaitKind::Park && !wait.is_virtual {
        object.insert("approximate".to_owned(), true.into());
    }
    object
}

/// Counts the calls and waits without an object of their own.
fn left_out(folded: &Folded) -> Value {
    json!({
        "calls": folded.calls,
        "nanos": folded.nanos,
        "waits": folded.waits,
        "waited": folded.waited,
        "tasks": folded.tasks,
        "levels": folded.levels,
    })
}

fn method(trace: &Trace, span: u32) -> Map<String, Value> {
    let unknown = SpanInfo::default();
    let span = trace.spans.get(&span).unwrap_or(&unknown);
    let names = [
        ("class", class(&span.class)),
        ("method", printable(&span.method)),
        ("descriptor", printable(&span.descriptor)),
    ];
    let names = names.map(|(name, text)| (name.to_owned(), text.into()));
    names.into_iter().collect()
}
