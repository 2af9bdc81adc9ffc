//! Calls when they end, and events when a line is reached or a field is written: a few lines of text, or one JSON
//! object.

use std::fmt::Write as _;
use std::sync::LazyLock;

use probes::events::{Call, EventInfo, Moment, Outcome, SpanInfo, ThreadInfo, Trace, Value};
use serde_json::{Map, json};

use crate::names::{class, printable};
use crate::perfetto::thread_name;
use crate::values::{
    captured, parameter, parameters, shown, shown_json, stack, stack_of, to_json, values,
};

/// Formats a call as lines: time (UTC), thread, method, duration and outcome, then the requested values by their
/// expressions in `show` (`arg`, `this.size`, `stack(3)`), and the call stack.
#[must_use]
pub fn lines(trace: &Trace, call: &Call, is_virtual: bool, show: &[String]) -> String {
    let about = About::of(trace, call, is_virtual);
    let ended = match &call.outcome {
        Outcome::Returned => String::new(),
        Outcome::Threw(None) => "  threw".to_owned(),
        Outcome::Threw(Some(thrown)) => format!("  threw {}", class(thrown)),
        Outcome::Open => "  has not ended".to_owned(),
    };
    let mut text = format!(
        "{}  {}  {}.{}  {}{ended}\n",
        time_of_day(about.ended_ms),
        about.thread,
        about.class,
        about.method,
        duration(call.end.saturating_sub(call.start)),
    );
    let (arguments, returned) = captured(call);
    let read = shown(call, about.span);
    let mut put = |name: &str, value: &Value| {
        let value = printable(&value.to_string()); // class names may contain any character
        let _ = writeln!(text, "    {} = {value}", printable(name));
    };
    for name in show {
        match name.as_str() {
            "arg" => arguments
                .iter()
                .for_each(|(index, value)| put(&parameter(about.span, *index), value)),
            "returned" if returned.is_some() => returned.into_iter().for_each(|it| put(name, it)),
            _ => {
                // A call that threw, or of a `void` method, returned no value.
                let is_told = |value: &Value| name != "returned" || *value != Value::Missing;
                match read.iter().find(|(read, _)| read == name) {
                    Some((_, value)) if is_told(value) => put(name, value),
                    None if about.span.lacks(name) => put(name, &Value::Missing),
                    _ => {}
                }
            }
        }
    }
    if let Some(Value::Stack(frames)) = stack(call) {
        for frame in frames {
            let _ = writeln!(text, "    at {}", printable(&frame.to_string()));
        }
    }
    text
}

/// Converts a call to a JSON object.
#[must_use]
pub fn json(trace: &Trace, call: &Call, is_virtual: bool) -> serde_json::Value {
    let about = About::of(trace, call, is_virtual);
    let mut object = Map::new();
    let mut put = |key: &str, value: serde_json::Value| object.insert(key.to_owned(), value);
    put("event", json!("call"));
    put("ended_ms", json!(about.ended_ms));
    put("pid", json!(trace.meta.pid));
    put("thread", json!(call.thread));
    put("thread_name", json!(about.thread));
    put("class", json!(about.class));
    put("method", json!(about.method));
    put("descriptor", json!(printable(&about.span.descriptor)));
    put("duration", json!(call.end.saturating_sub(call.start)));
    if let Outcome::Threw(thrown) = &call.outcome {
        put(
            "thrown",
            json!(thrown.as_deref().map_or_else(|| "?".to_owned(), class)),
        );
    }
    let (arguments, returned) = captured(call);
    if let (false, Some(names)) = (arguments.is_empty(), parameters(about.span)) {
        put("parameters", names);
    }
    if !arguments.is_empty() {
        let arguments = arguments.into_iter();
        let arguments: Map<_, _> = arguments
            .map(|(index, value)| (index.to_string(), to_json(value)))
            .collect();
        put("arguments", arguments.into());
    }
    if let Some(value) = returned {
        put("returned", to_json(value));
    }
    put("shown", shown_json(call, about.span).into());
    if let Some(frames) = stack(call) {
        put("stack", to_json(frames));
    }
    object.into()
}

/// Formats an event as lines: time (UTC), thread and place, with the written field, then the requested values by
/// their expressions in `show` (`total`, `locals`), and the call stack.
#[must_use]
pub fn moment_lines(trace: &Trace, moment: &Moment, is_virtual: bool, show: &[String]) -> String {
    let at = At::of(trace, moment, is_virtual);
    let mut text = format!("{}  {}  {}", time_of_day(at.ms), at.thread, at.place());
    if let Some(field) = at.writes() {
        let _ = write!(text, "  writes {field}");
    }
    text.push('\n');
    let read = values(&moment.captures, at.span);
    let first_local = at.event().locals.map_or(usize::MAX, usize::from);
    let is_local = |name: &str| at.span.shown.iter().skip(first_local).any(|it| it == name);
    let mut put = |name: &str, value: &Value| {
        let value = printable(&value.to_string()); // class names may contain any character
        let _ = writeln!(text, "    {} = {value}", printable(name));
    };
    for name in show {
        match name.as_str() {
            "locals" => {
                let is_told = |name: &str| show.iter().any(|told| told == name) && name != "locals";
                let locals = read
                    .iter()
                    .filter(|(name, _)| is_local(name) && !is_told(name));
                let mut told = Vec::new();
                for (name, value) in locals {
                    if !told.contains(name) {
                        put(name, value);
                        told.push(name);
                    }
                }
            }
            _ => {
                let value = read.iter().find(|(read, _)| read == name);
                value.into_iter().for_each(|(_, value)| put(name, value));
            }
        }
    }
    if let Some(Value::Stack(frames)) = stack_of(&moment.captures) {
        for frame in frames {
            let _ = writeln!(text, "    at {}", printable(&frame.to_string()));
        }
    }
    text
}

/// Converts an event to a JSON object.
#[must_use]
pub fn moment_json(trace: &Trace, moment: &Moment, is_virtual: bool) -> serde_json::Value {
    let at = At::of(trace, moment, is_virtual);
    let mut object = Map::new();
    let mut put = |key: &str, value: serde_json::Value| object.insert(key.to_owned(), value);
    let writes = at.writes();
    put(
        "event",
        json!(if writes.is_some() { "write" } else { "line" }),
    );
    put("reached_ms", json!(at.ms));
    put("pid", json!(trace.meta.pid));
    put("thread", json!(moment.thread));
    put("thread_name", json!(at.thread));
    put("class", json!(class(&at.span.class)));
    put("method", json!(printable(&at.span.method)));
    put("descriptor", json!(printable(&at.span.descriptor)));
    if at.span.line > 0 {
        put("line", json!(at.span.line));
    }
    if let Some(field) = writes {
        put("field", json!(field));
    }
    let shown = values(&moment.captures, at.span).into_iter();
    let shown: Map<_, _> = shown
        .map(|(name, value)| (printable(name), to_json(value)))
        .collect();
    put("shown", shown.into());
    if let Some(frames) = stack_of(&moment.captures) {
        put("stack", to_json(frames));
    }
    object.into()
}

/// A thread at a place.
struct At<'t> {
    span: &'t SpanInfo,
    thread: String,
    /// Milliseconds since 1970.
    ms: u64,
}

impl<'t> At<'t> {
    fn of(trace: &'t Trace, moment: &Moment, is_virtual: bool) -> Self {
        let span = trace.places.get(&moment.place).unwrap_or(&UNKNOWN);
        Self {
            span,
            thread: thread_of(trace, moment.thread, is_virtual),
            ms: trace.meta.start_ms + moment.nanos / 1_000_000,
        }
    }

    fn event(&self) -> EventInfo {
        self.span.event.clone().unwrap_or_default()
    }

    /// Returns the written field, as the instruction names it.
    fn writes(&self) -> Option<String> {
        let field = self.event().writes?;
        let (owner, name) = field.rsplit_once('.')?;
        Some(format!("{}.{}", class(owner), printable(name)))
    }

    fn place(&self) -> String {
        let SpanInfo {
            class: owner,
            method,
            line,
            ..
        } = self.span;
        let line = match line {
            0 => String::new(),
            line => format!(":{line}"),
        };
        format!("{}.{}{line}", class(owner), printable(method))
    }
}

static UNKNOWN: LazyLock<SpanInfo> = LazyLock::new(SpanInfo::default);

pub(crate) fn thread_of(trace: &Trace, id: u64, is_virtual: bool) -> String {
    let unnamed = ThreadInfo {
        is_virtual,
        ..ThreadInfo::default()
    };
    let thread = trace.threads.get(&id).unwrap_or(&unnamed);
    thread_name(&thread.name, thread.is_virtual, id)
}

/// Thread, class and method of a call.
struct About<'t> {
    span: &'t SpanInfo,
    class: String,
    method: String,
    thread: String,
    /// Milliseconds since 1970.
    ended_ms: u64,
}

impl<'t> About<'t> {
    fn of(trace: &'t Trace, call: &Call, is_virtual: bool) -> Self {
        let span = trace.spans.get(&call.span).unwrap_or(&UNKNOWN);
        Self {
            span,
            class: class(&span.class),
            method: printable(&span.method),
            thread: thread_of(trace, call.thread, is_virtual),
            ended_ms: trace.meta.start_ms + call.end / 1_000_000,
        }
    }
}

/// Formats milliseconds since 1970 as `12:04:05.006Z`.
pub(crate) fn time_of_day(ms: u64) -> String {
    let (seconds, ms) = (ms / 1_000 % 86_400, ms % 1_000);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{ms:03}Z", seconds % 60)
}

/// Formats nanoseconds with three decimals, in the largest fitting unit.
fn duration(nanos: u64) -> String {
    let number = nanos as f64;
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.3} µs", number / 1e3),
        1_000_000..1_000_000_000 => format!("{:.3} ms", number / 1e6),
        _ => format!("{:.3} s", number / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::events::{Capture, CaptureSource, StackFrame};

    fn traced() -> (Trace, Call) {
        let mut trace = Trace::default();
        trace.meta.pid = 7;
        trace.meta.start_ms = 1_000 * (3_600 * 12 + 60 * 4 + 5);
        let span = SpanInfo {
            id: 3,
            class: "a/Store".to_owned(),
            method: "find".to_owned(),
            descriptor: "(I)V".to_owned(),
            shown: ["this.size", "arg[0].name", "returned"]
                .map(str::to_owned)
                .to_vec(),
            ..SpanInfo::default()
        };
        trace.spans.insert(3, span);
        let capture = |source, value| Capture { source, value };
        let text = Value::Text {
            text: "\u{1b}[31m\n".to_owned(),
            length: 9,
        };
        let frame = StackFrame {
            class: "a/Store".into(),
            method: "find".into(),
            line: 5,
        };
        let call = Call {
            thread: 9,
            span: 3,
            start: 5_000_000,
            end: 17_000_000,
            outcome: Outcome::Threw(Some("a/Thrown".into())),
            captures: vec![
                capture(CaptureSource::Argument(0), Value::Int(1)),
                capture(CaptureSource::Shown(1), text),
                capture(CaptureSource::Shown(0), Value::Missing),
                capture(CaptureSource::Shown(2), Value::Missing),
                capture(CaptureSource::Stack, Value::Stack(vec![frame])),
            ],
        };
        (trace, call)
    }

    #[test]
    fn values_follow_in_the_requested_order() {
        let (trace, call) = traced();
        let show = ["this.size", "arg", "returned", "arg[0].name", "stack(1)"];
        let show = show.map(str::to_owned);
        let expected = "12:04:05.017Z  virtual-9  a.Store.find  12.000 ms  threw a.Thrown\n    \
                        this.size = ?\n    arg[0] = 1\n    arg[0].name = \"\\u{1b}[31m\\n\"…\n    \
                        at a.Store.find:5\n";
        assert_eq!(lines(&trace, &call, true, &show), expected);
        assert_eq!(lines(&trace, &call, false, &[]).lines().count(), 2);
    }

    #[test]
    fn object_contains_all_known_data() {
        let (trace, call) = traced();
        let expected = json!({
            "event": "call",
            "ended_ms": 43_445_017,
            "pid": 7,
            "thread": 9,
            "thread_name": "thread-9",
            "class": "a.Store",
            "method": "find",
            "descriptor": "(I)V",
            "duration": 12_000_000,
            "thrown": "a.Thrown",
            "arguments": {"0": 1},
            "shown": {
                "this.size": {"missing": true},
                "returned": {"missing": true},
                "arg[0].name": {"text": "\u{1b}[31m\n", "length": 9},
            },
            "stack": [{"class": "a.Store", "method": "find", "line": 5}],
        });
        assert_eq!(json(&trace, &call, false), expected);
    }

    /// An event at a line of `a.Store.find`, with the requested value `total` and the local variable `id`.
    fn reached(writes: Option<&str>) -> (Trace, Moment) {
        let (mut trace, call) = traced();
        let place = SpanInfo {
            id: 4,
            line: 12,
            shown: ["total", "id"].map(str::to_owned).to_vec(),
            event: Some(EventInfo {
                locals: Some(1),
                writes: writes.map(str::to_owned),
                ..EventInfo::default()
            }),
            ..trace.spans[&3].clone()
        };
        trace.places.insert(4, place);
        let capture = |slot, value| Capture {
            source: CaptureSource::Shown(slot),
            value,
        };
        let stack = call.captures.last().expect("a stack").clone();
        let captures = vec![capture(0, Value::Int(3)), capture(1, Value::Null), stack];
        let moment = Moment {
            thread: 9,
            place: 4,
            nanos: 17_000_000,
            captures: captures.into(),
        };
        (trace, moment)
    }

    #[test]
    fn event_has_its_place_and_the_requested_variables() {
        let (trace, moment) = reached(None);
        let show = ["locals", "total", "stack(1)"].map(str::to_owned);
        let expected = "12:04:05.017Z  thread-9  a.Store.find:12\n    id = null\n    total = 3\n    \
                        at a.Store.find:5\n";
        assert_eq!(moment_lines(&trace, &moment, false, &show), expected);
        let (trace, moment) = reached(Some("a/Order.state"));
        let text = moment_lines(&trace, &moment, false, &[]);
        assert!(
            text.starts_with("12:04:05.017Z  thread-9  a.Store.find:12  writes a.Order.state\n")
        );
        let object = moment_json(&trace, &moment, false);
        assert_eq!(
            (&object["event"], &object["field"]),
            (&json!("write"), &json!("a.Order.state"))
        );
        assert_eq!(object["shown"], json!({"total": 3, "id": null}));
        assert_eq!(
            (&object["line"], &object["reached_ms"]),
            (&json!(12), &json!(43_445_017))
        );
    }

    #[test]
    fn durations_have_the_largest_fitting_unit() {
        let shown = [999, 1_500, 2_000_000, 61_000_000_000].map(duration);
        assert_eq!(shown, ["999 ns", "1.500 µs", "2.000 ms", "61.000 s"]);
    }
}
