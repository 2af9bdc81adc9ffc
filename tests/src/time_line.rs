//! Reads a time line as its viewers do: Chrome's Trace Event Format, in the parts that Classhook writes.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A call on a time line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The method.
    pub name: String,
    /// Start in nanoseconds.
    pub start: u64,
    /// End in nanoseconds.
    pub end: u64,
    /// Number of enclosing calls.
    pub depth: usize,
}

/// Process and thread.
pub type Track = (u64, u64);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    display_time_unit: String,
    trace_events: Vec<Map<String, Value>>,
}

/// Returns the calls of each thread, in order. The text must have complete events (`X`) with name, category, time,
/// process and thread, in order and properly nested, and a name (`M`) for each process and thread.
pub fn read(text: &str) -> Result<BTreeMap<Track, Vec<Slice>>, String> {
    let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if !["ms", "ns"].contains(&file.display_time_unit.as_str()) {
        return Err(format!("displayTimeUnit is {}", file.display_time_unit));
    }
    let mut tracks: BTreeMap<Track, Calls> = BTreeMap::new();
    let (mut processes, mut threads) = (BTreeSet::new(), BTreeSet::new());
    for event in &file.trace_events {
        let fail = |what: &str| format!("{what} in {}", Value::Object(event.clone()));
        let word = |key: &str| event.get(key).and_then(Value::as_str);
        let number = |key: &str| event.get(key).and_then(Value::as_u64);
        let pid = number("pid").ok_or_else(|| fail("no pid"))?;
        let named = event.get("args").and_then(|args| args["name"].as_str());
        match (word("ph"), word("name")) {
            (Some("M"), Some("process_name")) if named.is_some() => {
                processes.insert(pid);
            }
            (Some("M"), Some("thread_name")) if named.is_some() => {
                threads.insert((pid, number("tid").ok_or_else(|| fail("no tid"))?));
            }
            (Some("X"), Some(name)) if word("cat").is_some() => {
                let tid = number("tid").ok_or_else(|| fail("no tid"))?;
                let start = nanos(event, "ts").ok_or_else(|| fail("no ts"))?;
                let length = nanos(event, "dur").ok_or_else(|| fail("no dur"))?;
                let track = tracks.entry((pid, tid)).or_default();
                let name = name.to_owned();
                let added = track.add(name, start, start + length);
                added.map_err(|what| fail(&what))?;
            }
            _ => return Err(fail("an event of no known kind")),
        }
    }
    match tracks
        .keys()
        .find(|track| !threads.contains(*track) || !processes.contains(&track.0))
    {
        Some(track) => Err(format!("process and thread {track:?} have no name")),
        None => Ok(tracks
            .into_iter()
            .map(|(track, calls)| (track, calls.all))
            .collect()),
    }
}

/// Converts microseconds with three digits to nanoseconds.
fn nanos(event: &Map<String, Value>, key: &str) -> Option<u64> {
    let micros = event.get(key)?.as_f64().filter(|micros| *micros >= 0.0)?;
    Some((micros * 1_000.0).round() as u64)
}

/// The calls of one thread so far.
#[derive(Default)]
struct Calls {
    all: Vec<Slice>,
    /// Ends of the open calls, innermost last.
    open: Vec<u64>,
}

impl Calls {
    fn add(&mut self, name: String, start: u64, end: u64) -> Result<(), String> {
        if self.all.last().is_some_and(|last| start < last.start) {
            return Err("an event that is earlier than the one before".to_owned());
        }
        while self.open.pop_if(|open| *open <= start).is_some() {}
        if self.open.last().is_some_and(|open| end > *open) {
            return Err("a call that is longer than the one around it".to_owned());
        }
        let depth = self.open.len();
        self.open.push(end);
        self.all.push(Slice {
            name,
            start,
            end,
            depth,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str = r#"{"name":"process_name","ph":"M","pid":1,"args":{"name":"java"}},
        {"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"main"}}"#;

    fn file(events: &str) -> String {
        format!(r#"{{"displayTimeUnit":"ns","traceEvents":[{NAMES}{events}]}}"#)
    }

    fn call(name: &str, ts: f64, dur: f64) -> String {
        format!(r#",{{"name":"{name}","cat":"a","ph":"X","ts":{ts},"dur":{dur},"pid":1,"tid":2}}"#)
    }

    #[test]
    fn calls_are_nested_in_open_calls() {
        let calls = [
            ("a", 1.0, 9.5),
            ("b", 2.0, 1.001),
            ("c", 3.001, 7.499),
            ("d", 20.0, 0.0),
        ];
        let text: String = calls.map(|(name, ts, dur)| call(name, ts, dur)).concat();
        let tracks = read(&file(&text)).unwrap();
        let depths: Vec<_> = tracks[&(1, 2)].iter().map(|slice| slice.depth).collect();
        assert_eq!(depths, [0, 1, 1, 0]);
    }

    #[test]
    fn time_lines_that_viewers_cannot_show_are_found() {
        let overlapping = call("a", 1.0, 5.0) + &call("b", 2.0, 4.001);
        let backwards = call("a", 5.0, 1.0) + &call("b", 2.0, 1.0);
        let unnamed = call("a", 1.0, 1.0).replace("\"tid\":2", "\"tid\":3");
        let wordless = call("a", 1.0, 1.0).replace("\"cat\"", "\"dog\"");
        for (text, said) in [
            (overlapping, "longer"),
            (backwards, "earlier"),
            (unnamed, "no name"),
            (wordless, "no known kind"),
            (call("a", -1.0, 1.0), "no ts"),
        ] {
            let error = read(&file(&text)).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
