//! Chrome's trace format: single events on a time line, for <https://ui.perfetto.dev> and `chrome://tracing`.
//!
//! Waits and collections are complete events (`ph` = `X`) that end when they were reported or with the recording.
//! Samples, allocations and exceptions are instants (`ph` = `i`). Each thread has a track, collections have a
//! separate one, and the used heap has a counter.

use std::collections::BTreeMap;
use std::io::{self, Write};

use jvm_events::Recorded;
use jvm_events::recorded::{Moment, MomentKind};
use serde_json::{Value, json};

use super::names::{method, place};
use crate::names::{command, printable};

/// The track of collections; threads follow.
const COLLECTIONS: u64 = 0;
/// Maximum number of frames shown for an event.
const FRAMES: usize = 16;

/// Writes the events of each JVM. Start times align the clocks of several JVMs, to the millisecond.
///
/// # Errors
/// `out` cannot be written.
pub fn write(recordings: &[Recorded], out: &mut impl Write) -> io::Result<()> {
    let begin = recordings.iter().map(|one| one.start_ms).min().unwrap_or(0);
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut is_first = true;
    let mut put = |event: &Value| {
        let separator = if std::mem::take(&mut is_first) {
            "\n"
        } else {
            ",\n"
        };
        write!(out, "{separator}{event}")
    };
    for recorded in recordings {
        let offset = (recorded.start_ms - begin) * 1_000_000;
        describe(recorded).iter().try_for_each(&mut put)?;
        for moment in &recorded.moments {
            put(&event(recorded, moment, offset))?;
        }
        collections(recorded, offset)
            .iter()
            .try_for_each(&mut put)?;
    }
    out.write_all(b"\n]}\n")
}

/// Returns the names of the process and its tracks.
fn describe(recorded: &Recorded) -> Vec<Value> {
    let pid = recorded.jvm.pid;
    let name = |what: &str, track: u64, name: &str| json!({"name": what, "ph": "M", "pid": pid, "tid": track, "args": {"name": name}});
    let process = match recorded.jvm.command.as_str() {
        "" => "JVM".to_owned(),
        line => command(line),
    };
    let mut all = vec![name("process_name", COLLECTIONS, &process)];
    if !recorded.collections.is_empty() {
        all.push(name("thread_name", COLLECTIONS, "garbage collections"));
    }
    let threads: BTreeMap<u32, ()> = recorded
        .moments
        .iter()
        .map(|one| (one.thread, ()))
        .collect();
    let named = threads.keys().map(|thread| {
        name(
            "thread_name",
            track(*thread),
            &printable(recorded.thread(*thread)),
        )
    });
    all.extend(named);
    all
}

fn track(thread: u32) -> u64 {
    u64::from(thread) + 1
}

fn event(recorded: &Recorded, moment: &Moment, offset: u64) -> Value {
    let class = || printable(recorded.class(moment.class));
    let innermost = recorded.stacks.innermost(moment.node);
    let frames = recorded.stacks.path(moment.node).take(FRAMES);
    let stack = frames.map(place).collect::<Vec<_>>().join("\n");
    let method = || innermost.map_or_else(|| "(no Java code)".to_owned(), method);
    let (name, amount, is_long) = match moment.kind {
        MomentKind::Cpu => (method(), "cpu_ns", false),
        MomentKind::Wall(_) => (method(), "wall_ns", false),
        MomentKind::Allocation => (class(), "bytes", false),
        MomentKind::Exception => (class(), "", false),
        MomentKind::Contended => (format!("waits to enter {}", class()), "ns", true),
        MomentKind::Wait => (format!("waits in {}", class()), "ns", true),
        MomentKind::UnfinishedContended => (
            format!("waits to enter {}, to the end", class()),
            "ns",
            true,
        ),
        MomentKind::UnfinishedWait => (format!("waits in {}, to the end", class()), "ns", true),
        MomentKind::Lock => (format!("parked for {}", class()), "ns", true),
        MomentKind::UnfinishedLock => (format!("parked for {}, to the end", class()), "ns", true),
    };
    let mut args = json!({ "stack": stack });
    if !amount.is_empty() {
        args[amount] = moment.amount.into();
    }
    if let MomentKind::Wall(state) = moment.kind {
        args["state"] = state.title().into();
    }
    let category = match moment.kind {
        MomentKind::Wall(_) => "wall",
        MomentKind::Cpu => "cpu",
        MomentKind::Allocation => "allocation",
        MomentKind::Exception => "exception",
        MomentKind::Contended | MomentKind::UnfinishedContended => "monitor",
        MomentKind::Wait | MomentKind::UnfinishedWait => "wait",
        MomentKind::Lock | MomentKind::UnfinishedLock => "lock",
    };
    let (pid, tid) = (recorded.jvm.pid, track(moment.thread));
    if !is_long {
        return json!({"name": name, "cat": category, "ph": "i", "s": "t",
            "ts": micros(moment.at_ns + offset), "pid": pid, "tid": tid, "args": args});
    }
    let begun = moment.at_ns.saturating_sub(moment.amount) + offset;
    json!({"name": name, "cat": category, "ph": "X", "ts": micros(begun),
        "dur": micros(moment.amount), "pid": pid, "tid": tid, "args": args})
}

/// Returns collections, and the used heap after them.
fn collections(recorded: &Recorded, offset: u64) -> Vec<Value> {
    let pid = recorded.jvm.pid;
    let mut all = Vec::new();
    for one in &recorded.collections {
        all.push(json!({"name": "collection", "cat": "gc", "ph": "X", "ts": micros(one.start_ns + offset),
            "dur": micros(one.duration_ns), "pid": pid, "tid": COLLECTIONS, "args": {}}));
        let end = micros(one.start_ns + one.duration_ns + offset);
        all.extend(one.used_after.map(|used| {
            json!({"name": "heap in use", "ph": "C", "ts": end, "pid": pid, "args": {"bytes": used}})
        }));
    }
    all
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm_events::recorded::{Collection, Jvm};
    use jvm_events::stacks::{Frame, Node, Stacks};

    #[test]
    fn waits_end_when_they_were_reported_and_names_are_escaped() {
        let moment = |kind, amount| Moment {
            kind,
            at_ns: 5_000,
            amount,
            thread: 0,
            class: 0,
            node: Some(0),
        };
        let frame = Frame {
            class: "a/B".to_owned(),
            method: "run".to_owned(),
            line: 7,
            file: "B.java".to_owned(),
            ..Frame::default()
        };
        let recorded = Recorded {
            start_ms: 9,
            jvm: Jvm {
                pid: 4,
                ..Jvm::default()
            },
            stacks: Stacks {
                frames: vec![frame],
                nodes: vec![Node {
                    caller: None,
                    frame: 0,
                }],
                cut: 0,
            },
            threads: vec!["m\u{202e}".to_owned()],
            classes: vec!["a.Gate".to_owned()],
            moments: vec![
                moment(MomentKind::Contended, 3_000),
                moment(MomentKind::Cpu, 10),
            ],
            collections: vec![Collection {
                start_ns: 1_000,
                duration_ns: 2_000,
                used_after: Some(77),
                heap_after: None,
            }],
            ..Recorded::default()
        };
        let mut text = Vec::new();
        write(&[recorded], &mut text).unwrap();
        let found: Value = serde_json::from_slice(&text).unwrap();
        let events = found["traceEvents"].as_array().unwrap();
        let of = |name: &str| events.iter().find(|event| event["name"] == name).unwrap();
        let wait = of("waits to enter a.Gate");
        assert_eq!((&wait["ts"], &wait["dur"]), (&json!(2.0), &json!(3.0)));
        assert_eq!(wait["args"]["stack"], "a.B.run(B.java:7)");
        assert_eq!(of("a.B.run")["args"]["cpu_ns"], 10);
        assert_eq!(of("heap in use")["args"]["bytes"], 77);
        let name = &of("thread_name")["args"]["name"];
        assert_eq!(events.len(), 7);
        assert_eq!(name, "garbage collections");
        assert!(!String::from_utf8(text).unwrap().contains('\u{202e}'));
    }
}
