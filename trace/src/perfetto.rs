//! Chrome's trace format: a time line of every call, for <https://ui.perfetto.dev> and `chrome://tracing`.
//!
//! The file has a complete event (`ph` = `X`) for each call, with `ts` and `dur` in microseconds, and an instant
//! (`ph` = `i`) for each event. It has an arrow (`ph` = `s` and `f`) for each outermost call of a task. Processes and
//! threads have names.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};

use probes::events::{Call, FIRST_COROUTINE, Moment, Outcome, SpanInfo, Trace};
use serde::Serialize;
use serde_json::{Map, json};

use crate::names::{Names, class, command, printable};
use crate::recording::{Recording, TimelineItem};
use crate::summary::Gap;
use crate::tasks::{Caller, Callers};
use crate::values::{captured, parameter, shown, stack, values};

/// Maximum number of unnamed threads remembered as described.
const MAX_DESCRIBED: usize = 1 << 20;

#[derive(Serialize)]
struct Complete<'a> {
    name: &'a str,
    cat: &'a str,
    ph: &'static str,
    ts: f64,
    dur: f64,
    pid: u32,
    tid: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cname: Option<&'static str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct Instant<'a> {
    name: &'a str,
    cat: &'a str,
    ph: &'static str,
    /// The scope: the thread.
    s: &'static str,
    ts: f64,
    pid: u32,
    tid: u64,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: Map<String, serde_json::Value>,
}

/// An arrow from the call that submitted a task to a call of that task, or its head.
#[derive(Serialize)]
struct Flow {
    name: &'static str,
    cat: &'static str,
    /// `s` at the start, `f` at the end.
    ph: &'static str,
    /// The arrow ends at the enclosing call.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    id: u64,
    ts: f64,
    pid: u32,
    tid: u64,
}

/// Writes the traces. Start times align the clocks of several JVMs, to the millisecond.
///
/// # Errors
/// `out` cannot be written.
pub fn write(recordings: &[Recording], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let traces = || recordings.iter().map(|recording| &recording.trace);
    let names = Names::of(traces());
    let begin = traces().map(|trace| trace.meta.start_ms).min().unwrap_or(0);
    let mut events = Events { out, first: true };
    let mut arrows = 0;
    events
        .out
        .write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    for recording in recordings {
        let trace = &recording.trace;
        let offset = (trace.meta.start_ms - begin) * 1_000_000;
        describe(trace, &mut events)?;
        let by_span: BTreeMap<u32, (String, String)> = (trace.spans.values())
            .map(|span| (span.id, (names.get(span), class(&span.class))))
            .collect();
        let mut unnamed = Unnamed::default();
        recording.each_call(&mut |placed| {
            let call = placed.call;
            unnamed.describe(trace, (call.thread, placed.is_virtual), &mut events)?;
            let (name, class) = by_span
                .get(&call.span)
                .map_or(("(unknown)", ""), |(name, class)| (name, class));
            events.put(&Complete {
                name,
                cat: class,
                ph: "X",
                ts: micros(call.start + offset),
                dur: micros(call.end - call.start),
                pid: trace.meta.pid,
                tid: call.thread,
                cname: matches!(call.outcome, Outcome::Threw(_)).then_some("terrible"),
                args: arguments(call, trace.spans.get(&call.span)),
            })
        })?;
        recording.each_moment(&mut |moment, is_virtual| {
            unnamed.describe(trace, (moment.thread, is_virtual), &mut events)?;
            instant(trace, moment, offset, &mut events)
        })?;
        arrows = flows(recording, offset, arrows, &mut events)?;
    }
    events.out.write_all(b"\n]}\n")
}

/// Writes arrows from submissions of tasks to their outermost calls, with ascending numbers. Returns the next number.
fn flows<W: Write + ?Sized>(
    recording: &Recording,
    offset: u64,
    mut arrows: u64,
    events: &mut Events<'_, W>,
) -> io::Result<u64> {
    if recording.trace.tasks.is_empty() {
        return Ok(arrows);
    }
    let mut callers: Callers<()> = Callers::default();
    recording.each_happening(false, &mut |happening| {
        let mut submitted = None;
        match happening {
            TimelineItem::Entry(placed) => callers.enter(placed.call, |caller| {
                if let Some(Caller::Task(place)) = caller {
                    let call = placed.call;
                    submitted = Some([(place.thread, place.nanos), (call.thread, call.start)]);
                }
            }),
            TimelineItem::Step(step) => callers.step(step),
            TimelineItem::End(_) | TimelineItem::Moment(..) => {}
        }
        let Some(ends) = submitted else {
            return Ok(());
        };
        arrows += 1;
        for (ph, (tid, nanos)) in ["s", "f"].into_iter().zip(ends) {
            events.put(&Flow {
                name: "task",
                cat: "task",
                ph,
                bp: (ph == "f").then_some("e"),
                id: arrows,
                ts: micros(nanos + offset),
                pid: recording.trace.meta.pid,
                tid,
            })?;
        }
        Ok(())
    })?;
    recording.lose_tasks(callers.take_dropped());
    Ok(arrows)
}

struct Events<'w, W: ?Sized> {
    out: &'w mut W,
    first: bool,
}

impl<W: Write + ?Sized> Events<'_, W> {
    /// Writes one event as a line.
    fn put(&mut self, event: &impl Serialize) -> io::Result<()> {
        let separator: &[u8] = if std::mem::take(&mut self.first) {
            b"\n"
        } else {
            b",\n"
        };
        self.out.write_all(separator)?;
        serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)
    }
}

/// Writes an event, named by its table or else by its method and line.
fn instant<W: Write + ?Sized>(
    trace: &Trace,
    moment: &Moment,
    offset: u64,
    events: &mut Events<'_, W>,
) -> io::Result<()> {
    let unknown = SpanInfo::default();
    let place = trace.places.get(&moment.place).unwrap_or(&unknown);
    let class = class(&place.class);
    let name = match &place.row {
        Some(row) => printable(&row.table),
        None => format!("{class}.{}:{}", printable(&place.method), place.line),
    };
    let cells = place.row.iter().flat_map(|row| {
        let cells = row.columns.iter().zip(&row.cells);
        cells.map(|(column, cell)| (printable(&column.name), printable(cell)))
    });
    let values = values(&moment.captures, place).into_iter();
    let values = values.map(|(name, value)| (printable(name), value.to_string()));
    events.put(&Instant {
        name: &name,
        cat: &class,
        ph: "i",
        s: "t",
        ts: micros(moment.nanos + offset),
        pid: trace.meta.pid,
        tid: moment.thread,
        args: cells
            .chain(values)
            .map(|(name, text)| (name, text.into()))
            .collect(),
    })
}

/// Writes the names of process and threads.
fn describe<W: Write + ?Sized>(trace: &Trace, events: &mut Events<'_, W>) -> io::Result<()> {
    let pid = trace.meta.pid;
    let name = match trace.meta.command.as_str() {
        "" => "JVM".to_owned(),
        line => command(line),
    };
    events.put(&json!({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}))?;
    if let Some(gap) = Gap::of(trace) {
        let labels = format!("incomplete: {gap}");
        events.put(
            &json!({"name": "process_labels", "ph": "M", "pid": pid, "args": {"labels": labels}}),
        )?;
    }
    for thread in trace.threads.values() {
        let name = thread_name(&thread.name, thread.is_virtual, thread.id);
        events.put(&json!({"name": "thread_name", "ph": "M", "pid": pid, "tid": thread.id, "args": {"name": name}}))?;
    }
    Ok(())
}

/// Threads without a name, such as most virtual threads.
#[derive(Debug, Default)]
struct Unnamed {
    /// The latest described ones; a program may have millions.
    described: HashSet<u64>,
}

impl Unnamed {
    /// Names a thread without a name in the trace, once, or a few times if there are very many.
    fn describe<W: Write + ?Sized>(
        &mut self,
        trace: &Trace,
        (thread, is_virtual): (u64, bool),
        events: &mut Events<'_, W>,
    ) -> io::Result<()> {
        if trace.threads.contains_key(&thread) || self.described.contains(&thread) {
            return Ok(());
        }
        if self.described.len() >= MAX_DESCRIBED {
            self.described.clear();
        }
        self.described.insert(thread);
        let name = thread_name("", is_virtual, thread);
        let pid = trace.meta.pid;
        events.put(&json!({"name": "thread_name", "ph": "M", "pid": pid, "tid": thread, "args": {"name": name}}))
    }
}

/// Names a thread; coroutines and most virtual threads have no name of their own.
pub(crate) fn thread_name(name: &str, is_virtual: bool, id: u64) -> String {
    if let Some(number) = id.checked_sub(FIRST_COROUTINE) {
        return format!("coroutine-{number}");
    }
    match (name, is_virtual) {
        ("", true) => format!("virtual-{id}"),
        ("", false) => format!("thread-{id}"),
        (name, _) => printable(name),
    }
}

fn arguments(call: &Call, span: Option<&SpanInfo>) -> Map<String, serde_json::Value> {
    let (arguments, returned) = captured(call);
    let mut map = Map::new();
    for (index, value) in arguments {
        let name = span.map(|span| parameter(span, index));
        let name = name.filter(|name| !name.ends_with(']'));
        let name = name.map_or_else(|| format!("argument {index}"), |name| printable(&name));
        map.insert(name, value.to_string().into());
    }
    if let Some(value) = returned {
        map.insert("returned".to_owned(), value.to_string().into());
    }
    for (name, value) in span.into_iter().flat_map(|span| shown(call, span)) {
        map.insert(printable(name), value.to_string().into());
    }
    if let Some(value) = stack(call) {
        map.insert("stack".to_owned(), printable(&value.to_string()).into());
    }
    match &call.outcome {
        Outcome::Threw(name) => {
            let thrown = name
                .as_deref()
                .map_or_else(|| "an exception".to_owned(), class);
            map.insert("thrown".to_owned(), thrown.into());
        }
        Outcome::Open => {
            map.insert("open".to_owned(), true.into());
        }
        Outcome::Returned => {}
    }
    map
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1_000.0
}
