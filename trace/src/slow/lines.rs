//! Formats the tree of a slow call as lines.

use std::fmt::Write as _;

use probes::events::{Call, Outcome, SpanInfo, Trace, Value, Wait, WaitKind};

use super::SlowCall;
use super::node::{Event, Folded, Node};
use crate::names::{Names, class, printable};
use crate::numbers::counted;
use crate::table::duration;
use crate::values::{captured, parameter, shown};
use crate::watched::{thread_of, time_of_day};

/// Width of a column with times.
const WIDTH: usize = 10;
/// Maximum number of characters of a value: a line describes one call.
const VALUE: usize = 120;

/// Formats a slow call: time of its end (UTC), thread, duration and method. Then follows a line for each call and
/// wait in it, with total and self time. A last line counts the others and their time.
#[must_use]
pub fn lines(trace: &Trace, names: &Names, slow: &SlowCall) -> String {
    let ended_ms = trace.meta.start_ms + slow.root.end() / 1_000_000;
    let thread = thread_of(trace, slow.thread, slow.is_virtual);
    let shown = Shown { trace, names };
    let submitted = slow.submitted.map_or_else(String::new, |submitted| {
        let unknown = SpanInfo::default();
        let span = trace.spans.get(&submitted.by.span).unwrap_or(&unknown);
        let thread = thread_of(trace, submitted.thread, submitted.by.is_virtual);
        format!("  submitted by {} on {thread}", names.get(span))
    });
    let mut text = format!(
        "{}  {thread}  {}{}{submitted}\n{:>WIDTH$}  {:>WIDTH$}\n",
        time_of_day(ended_ms),
        duration(slow.root.nanos()),
        if slow.root.is_open() {
            "  has not ended"
        } else {
            ""
        },
        "total",
        "self",
    );
    shown.put(&slow.root, "", "", &mut text);
    for (is_missing, kind) in [
        (slow.lacks_collections, "collections"),
        (slow.lacks_calls, "calls of this thread"),
    ] {
        if is_missing {
            let columns = format!("{:>WIDTH$}  {:>WIDTH$}", "", "");
            let _ = writeln!(text, "{columns}  … earlier {kind} are unknown");
        }
    }
    text
}

struct Shown<'t> {
    trace: &'t Trace,
    names: &'t Names,
}

impl Shown<'_> {
    /// Writes the line of a node, and its descendants. `lead` precedes it, `indent` precedes the descendants.
    fn put(&self, node: &Node, lead: &str, indent: &str, text: &mut String) {
        let own = match node.event() {
            Event::Call(_) => duration(node.own()),
            _ => String::new(),
        };
        let total = match node.event() {
            // The start of a platform thread's park is only known approximately.
            Event::Wait(wait) if wait.kind == WaitKind::Park && !wait.is_virtual => {
                format!("~{}", duration(node.nanos()))
            }
            _ => duration(node.nanos()),
        };
        let _ = writeln!(
            text,
            "{total:>WIDTH$}  {own:>WIDTH$}  {lead}{}",
            self.described(node)
        );
        let folded = folded_text(&node.folded);
        let mut below: Vec<&Node> = node.within.iter().chain(&node.tasks).collect();
        below.sort_by_key(|node| (node.submitted.as_ref()).map_or(node.start(), |it| it.nanos));
        let last = below.len().checked_sub(1).filter(|_| folded.is_none());
        for (at, within) in below.into_iter().enumerate() {
            let [branch, below] = match Some(at) == last {
                true => ["└ ", "  "],
                false => ["├ ", "│ "],
            };
            let lead = format!("{indent}{branch}");
            self.put(within, &lead, &format!("{indent}{below}"), text);
        }
        if let Some(folded) = folded {
            let total = (node.folded.nanos + node.folded.waited).min(node.nanos());
            // Tasks took no time of this thread.
            let total = match node.folded.calls + node.folded.waits {
                0 => String::new(),
                _ => duration(total),
            };
            let _ = writeln!(text, "{total:>WIDTH$}  {:>WIDTH$}  {indent}└ {folded}", "");
        }
    }

    fn described(&self, node: &Node) -> String {
        match node.event() {
            Event::Call(call) => format!("{}{}", self.call(call), self.submission(node)),
            Event::Wait(wait) => wait_text(wait),
            Event::Folded { .. } => String::new(),
        }
    }

    /// Describes the thread that ran a task, and the time that the task waited for it.
    fn submission(&self, node: &Node) -> String {
        node.submitted
            .as_ref()
            .map_or_else(String::new, |submitted| {
                let thread = thread_of(self.trace, submitted.thread, submitted.is_virtual);
                let waited = duration(node.start().saturating_sub(submitted.nanos));
                format!("  [on {thread}, {waited} after it was submitted]")
            })
    }

    fn call(&self, call: &Call) -> String {
        let unknown = SpanInfo::default();
        let span = self.trace.spans.get(&call.span).unwrap_or(&unknown);
        let mut text = self.names.get(span);
        let (arguments, returned) = captured(call);
        let by_number = |index: &u8| format!("arg[{index}]");
        let mut told: Vec<String> = arguments
            .iter()
            .map(|(index, _)| by_number(index))
            .collect();
        let arguments = arguments.iter();
        let arguments = arguments.map(|(index, value)| (parameter(span, *index), *value));
        let returned = returned.map(|value| ("returned".to_owned(), value));
        let shown = shown(call, span).into_iter();
        let shown = shown.map(|(name, value)| (name.to_owned(), value));
        let mut put = |name: &str, value: &Value| {
            let value = printable(&value.to_string());
            let _ = write!(text, "  {} = {}", printable(name), cut(&value));
        };
        for (name, value) in arguments {
            put(&name, value);
            told.push(name);
        }
        for (name, value) in returned.into_iter().chain(shown) {
            if !told.contains(&name) {
                put(&name, value);
                told.push(name);
            }
        }
        match &call.outcome {
            Outcome::Threw(None) => text.push_str("  threw"),
            Outcome::Threw(Some(thrown)) => {
                let _ = write!(text, "  threw {}", class(thrown));
            }
            Outcome::Returned | Outcome::Open => {}
        }
        text
    }
}

/// Returns the start of a long value.
fn cut(value: &str) -> String {
    match value.char_indices().nth(VALUE) {
        Some((at, _)) => format!("{}…", value.get(..at).unwrap_or_default()),
        None => value.to_owned(),
    }
}

fn wait_text(wait: &Wait) -> String {
    let object = class(&wait.class);
    let holders = match wait.holders.as_str() {
        "" => String::new(),
        holders => format!(", held by {}", printable(holders)),
    };
    match wait.kind {
        WaitKind::Monitor => format!("[waited for the monitor of {object}{holders}]"),
        WaitKind::ObjectWait => format!("[Object.wait of {object}]"),
        WaitKind::Park if object.starts_with('(') => "[parked]".to_owned(),
        WaitKind::Park => format!("[parked for {object}{holders}]"),
        WaitKind::Collection => "[garbage collection]".to_owned(),
    }
}

/// Describes the calls and waits without lines; `None` if there are none.
fn folded_text(folded: &Folded) -> Option<String> {
    if folded.is_empty() {
        return None;
    }
    let calls = (folded.calls > 0).then(|| counted(folded.calls, "more call"));
    let waits = (folded.waits > 0).then(|| match folded.calls {
        0 => counted(folded.waits, "more wait"),
        _ => counted(folded.waits, "wait"),
    });
    let tasks = (folded.tasks > 0).then(|| counted(folded.tasks, "task"));
    let mut all: Vec<String> = calls.into_iter().chain(waits).chain(tasks).collect();
    if all.is_empty() {
        all.push("calls that have not ended".to_owned());
    }
    let levels = match folded.levels {
        0 => String::new(),
        levels => format!(", up to {} deeper", counted(levels as u64, "level")),
    };
    Some(format!("… {}{levels}", all.join(" and ")))
}
