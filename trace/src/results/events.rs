//! Tables of events: a row for each, with its values.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use probes::events::{
    Capture, Column, Moment, SpanInfo, ThreadInfo, Trace, Value as Captured, Which,
};
use serde_json::{Map, json};

use crate::cells::{cell_json, heading, key_cells, key_titles, quoted};
use crate::names::{class, printable};
use crate::numbers::{counted, thousands};
use crate::perfetto::thread_name;
use crate::sheet::{Cell, Sheet, Title};
use crate::table::duration;
use crate::values::{plain, recorded, to_json};

/// The name of the table of events that have none.
const UNNAMED: &str = "events";

/// The events of one table of a plugin, of all JVMs together.
#[derive(Debug, Clone, PartialEq)]
pub struct EventTable {
    /// The plugin.
    pub plugin: String,
    /// The table's own name.
    pub name: String,
    /// The columns of the key.
    pub columns: Vec<Column>,
    /// What the values are called.
    pub values: Vec<String>,
    /// The events, by JVM and time.
    pub rows: Vec<EventRow>,
    /// How often the places of the events were reached.
    pub reached: u64,
    /// The lowest limit of a place, if one has a limit.
    pub per_second: Option<u32>,
    /// Whether events of these JVMs are missing for other reasons than the limit.
    pub others_missing: bool,
}

/// An event. What events of one place or thread have in common is shared, and texts are made when they are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    /// The key: one text for each column.
    pub cells: Arc<[String]>,
    /// The process.
    pub pid: u32,
    /// Nanoseconds since the JVM's trace began.
    pub nanos: u64,
    /// The thread.
    pub thread: Arc<str>,
    /// Its values, by their places in [`EventTable::values`].
    pub captures: Arc<[Capture]>,
}

type Key = (String, String, Vec<(String, String)>, Vec<String>);

/// The tables of all events.
pub(super) fn of(traces: &[Trace]) -> Vec<EventTable> {
    let mut tables: BTreeMap<Key, EventTable> = BTreeMap::new();
    for trace in traces {
        for place in trace.places.values() {
            let key = key(place);
            let table = tables.entry(key.clone()).or_insert_with(|| empty(&key));
            table.reached += trace.reached.get(&place.id).copied().unwrap_or(0);
            let limit = place.event.and_then(|event| event.per_second);
            table.per_second = table.per_second.into_iter().chain(limit).min();
            let lost = &trace.lost;
            table.others_missing |=
                lost.full + lost.unwritten + lost.oldest + lost.over_size + lost.untracked > 0;
        }
        for (key, mut more) in rows_of(trace) {
            if let Some(table) = tables.get_mut(&key) {
                table.rows.append(&mut more);
            }
        }
    }
    tables.into_values().collect()
}

/// The events of a trace in the order of time, by the keys of their tables, which are few.
fn rows_of(trace: &Trace) -> Vec<(Key, Vec<EventRow>)> {
    let mut rows: Vec<(Key, Vec<EventRow>)> = Vec::new();
    let mut places = Vec::new(); // by their ids, which rise
    for place in trace.places.values() {
        let key = key(place);
        let known = rows.iter().position(|(other, _)| *other == key);
        let table = known.unwrap_or(rows.len());
        if known.is_none() {
            rows.push((key, Vec::new()));
        }
        places.push((place.id, table, cells(place)));
    }
    let thread = |thread: &ThreadInfo| {
        let name = thread_name(&thread.name, thread.is_virtual, thread.id);
        (thread.id, Arc::<str>::from(name))
    };
    let threads: Vec<_> = trace.threads.values().map(thread).collect();
    let nobody: Arc<str> = "".into();
    let mut moments: Vec<&Moment> = trace.moments.iter().collect();
    moments.sort_by_key(|moment| moment.nanos);
    for moment in moments {
        let Ok(place) = places.binary_search_by_key(&moment.place, |(id, ..)| *id) else {
            continue;
        };
        let (_, table, cells) = &places[place];
        let thread = threads.binary_search_by_key(&moment.thread, |(id, _)| *id);
        let thread = thread.map_or(&nobody, |found| &threads[found].1);
        rows[*table].1.push(EventRow {
            cells: Arc::clone(cells),
            pid: trace.meta.pid,
            nanos: moment.nanos,
            thread: Arc::clone(thread),
            captures: Arc::clone(&moment.captures),
        });
    }
    rows
}

/// The key of the events of a place.
fn cells(place: &SpanInfo) -> Arc<[String]> {
    match &place.row {
        Some(row) => row.cells.clone().into(),
        None => {
            let method = format!("{}.{}", class(&place.class), place.method);
            [method, place.line.to_string()].into()
        }
    }
}

fn key(place: &SpanInfo) -> Key {
    let (name, columns) = match &place.row {
        Some(row) => (row.table.clone(), row.columns.clone()),
        None => (UNNAMED.to_owned(), columns_of_place()),
    };
    let columns = columns.into_iter().map(|it| (it.name, it.kind)).collect();
    (place.plugin.clone(), name, columns, place.shown.clone())
}

fn columns_of_place() -> Vec<Column> {
    let column = |name: &str| Column {
        name: name.to_owned(),
        kind: name.to_owned(),
    };
    vec![column("method"), column("line")]
}

fn empty((plugin, name, columns, values): &Key) -> EventTable {
    let column = |(name, kind): &(String, String)| Column {
        name: name.clone(),
        kind: kind.clone(),
    };
    EventTable {
        plugin: plugin.clone(),
        name: name.clone(),
        columns: columns.iter().map(column).collect(),
        values: values.clone(),
        rows: Vec::new(),
        reached: 0,
        per_second: None,
        others_missing: false,
    }
}

impl EventRow {
    /// A value by its place in [`EventTable::values`].
    #[must_use]
    pub fn value(&self, place: usize) -> Option<&Captured> {
        let is_it = |capture: &&Capture| matches!(capture.which, Which::Shown(slot) if usize::from(slot) == place);
        self.captures.iter().find(is_it).map(|found| &found.value)
    }

    /// A value as a plugin is given it that computes tables.
    #[must_use]
    pub fn recorded(&self, place: usize) -> Option<String> {
        self.value(place).map(recorded)
    }
}

impl EventTable {
    /// At most `most` rows and what is left out, for people.
    pub(super) fn sheet(&self, most: usize) -> Sheet {
        let values = self.values.iter();
        let values = values.map(|name| Title::new(printable(name), false));
        let last = [Title::new("thread", false), Title::new("time", true)];
        let nothing = self.rows.is_empty() && self.reached == 0;
        let nothing = nothing.then(|| "no event happened".to_owned());
        Sheet {
            heading: heading(&self.plugin, &self.name),
            titles: key_titles(&self.columns)
                .chain(values)
                .chain(last)
                .collect(),
            rows: (self.rows.iter().take(most))
                .map(|row| self.cells(row))
                .collect(),
            more: self.rows.len().saturating_sub(most),
            note: nothing.or_else(|| self.left_out()),
        }
    }

    /// A row for people.
    fn cells(&self, row: &EventRow) -> Vec<Cell> {
        let keys = key_cells(&row.cells, &self.columns);
        let values = (0..self.values.len()).map(|place| match row.value(place) {
            None => Cell::text("-".to_owned()),
            Some(value) => Cell {
                text: printable(&value.to_string()),
                number: to_json(value).as_i64(),
            },
        });
        let last = [
            Cell::text(row.thread.to_string()),
            Cell::number(row.nanos, duration(row.nanos)),
        ];
        keys.chain(values).chain(last).collect()
    }

    /// What is said of events that are in no row.
    fn left_out(&self) -> Option<String> {
        let kept = self.rows.len() as u64;
        let missing = self.reached.checked_sub(kept).filter(|it| *it > 0)?;
        let number = thousands(missing);
        let all = counted(self.reached, "event");
        let limit = self.per_second.map(|most| {
            format!(
                "at most {} a second of one place are kept",
                thousands(most.into())
            )
        });
        let other = self
            .others_missing
            .then(|| "some were lost or went with the oldest calls".to_owned());
        let mut causes: Vec<String> = limit.into_iter().chain(other).collect();
        if causes.is_empty() {
            causes.push("they were only counted, or the JVM ended before they were written".into());
        }
        Some(format!(
            "left out: {number} of {all}: {}",
            causes.join("; ")
        ))
    }

    /// Writes all rows as CSV; times are nanoseconds.
    pub(super) fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let keys = self.columns.iter().map(|column| quoted(&column.name));
        let values = self.values.iter().map(|name| quoted(name));
        let last = ["thread", "time", "pid"].map(str::to_owned);
        let titles: Vec<_> = keys.chain(values).chain(last).collect();
        writeln!(out, "{}", titles.join(","))?;
        for row in &self.rows {
            let cells = row.cells.iter().map(|cell| quoted(cell));
            let values = (0..self.values.len()).map(|place| row.value(place));
            let values =
                values.map(|value| value.map_or_else(String::new, |it| quoted(&plain(it))));
            let last = [
                quoted(&row.thread),
                row.nanos.to_string(),
                row.pid.to_string(),
            ];
            let cells: Vec<_> = cells.chain(values).chain(last).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }

    /// Writes each row as a JSON object in a line, and one of what is left out; times are nanoseconds.
    pub(super) fn write_json_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in &self.rows {
            let cells = row.cells.iter().zip(&self.columns);
            let key: Map<_, _> = cells
                .map(|(cell, column)| (column.name.clone(), cell_json(cell, &column.kind)))
                .collect();
            let values = self.values.iter().enumerate();
            let values: Map<_, _> = values
                .filter_map(|(place, name)| Some((name.clone(), to_json(row.value(place)?))))
                .collect();
            let line = json!({
                "plugin": self.plugin, "table": self.name, "key": key, "pid": row.pid,
                "nanos": row.nanos, "thread": &*row.thread, "values": values,
            });
            writeln!(out, "{line}")?;
        }
        let missing = self.reached.saturating_sub(self.rows.len() as u64);
        if missing > 0 {
            let line = json!({
                "plugin": self.plugin, "table": self.name, "events": self.reached,
                "left_out": missing,
            });
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::text;
    use probes::events::{EventInfo, TableRow};
    use serde_json::Value;

    fn trace(row: Option<TableRow>) -> Trace {
        let place = SpanInfo {
            id: 4,
            class: "a/A".to_owned(),
            method: "f".to_owned(),
            line: 7,
            plugin: "log".to_owned(),
            shown: vec!["statement".to_owned(), "this".to_owned()],
            event: Some(EventInfo {
                per_second: Some(100),
            }),
            row,
            ..SpanInfo::default()
        };
        let capture = |slot, value| Capture {
            which: Which::Shown(slot),
            value,
        };
        let moment = |nanos, sql: &str| Moment {
            thread: 1,
            place: 4,
            nanos,
            captures: [
                capture(
                    0,
                    Captured::Text {
                        text: sql.to_owned(),
                        length: sql.encode_utf16().count() as u32,
                    },
                ),
                capture(1, Captured::Int(3)),
            ]
            .into(),
        };
        Trace {
            places: BTreeMap::from([(4, place)]),
            threads: BTreeMap::from([(
                1,
                ThreadInfo {
                    id: 1,
                    name: "main".to_owned(),
                    is_virtual: false,
                },
            )]),
            moments: vec![moment(2_000_000, "=b,\u{1b}"), moment(1_000_000, "a")],
            reached: BTreeMap::from([(4, 5)]),
            ..Trace::default()
        }
    }

    #[test]
    fn events_are_rows_in_the_order_of_time_and_what_is_left_out_is_said() {
        let [table] = <[EventTable; 1]>::try_from(of(&[trace(None)])).unwrap();
        let shown = text(|out| table.sheet(9).write(out));
        let lines: Vec<Vec<&str>> = shown
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(lines[0], ["log:", "events"]);
        assert_eq!(
            lines[1],
            ["method", "line", "statement", "this", "thread", "time"]
        );
        assert_eq!(
            lines[2],
            ["a.A.f", "7", "\"a\"", "3", "main", "1.000", "ms"]
        );
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        assert_eq!(
            shown.lines().last(),
            Some("left out: 3 of 5 events: at most 100 a second of one place are kept")
        );
        assert!(text(|out| table.sheet(1).write(out)).contains("… and 1 more row\nleft out"));
    }

    #[test]
    fn files_hold_every_event_with_plain_values() {
        let row = TableRow {
            table: "statements".to_owned(),
            columns: vec![Column {
                name: "line".to_owned(),
                kind: "line".to_owned(),
            }],
            cells: vec!["7".to_owned()],
        };
        let [table] = <[EventTable; 1]>::try_from(of(&[trace(Some(row))])).unwrap();
        let csv = text(|out| table.write_csv(out));
        assert_eq!(
            csv,
            "line,statement,this,thread,time,pid\n7,a,3,main,1000000,0\n7,\"=b,\u{1b}\",3,main,2000000,0\n"
        );
        let lines = text(|out| table.write_json_lines(out));
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            lines[0],
            json!({
                "plugin": "log", "table": "statements", "key": {"line": 7}, "pid": 0,
                "nanos": 1_000_000, "thread": "main", "values": {"statement": "a", "this": 3},
            })
        );
        assert_eq!(
            lines[2],
            json!({"plugin": "log", "table": "statements", "events": 5, "left_out": 3})
        );
    }

    #[test]
    fn causes_are_those_that_there_are() {
        let mut one = trace(None);
        one.lost.full = 1;
        let both = text(|out| of(std::slice::from_ref(&one))[0].sheet(9).write(out));
        let expected = "at most 100 a second of one place are kept; some were lost or went with the oldest calls\n";
        assert!(both.ends_with(expected), "{both}");
        one.moments.clear();
        one.reached.clear();
        let none = text(|out| of(std::slice::from_ref(&one))[0].sheet(9).write(out));
        assert_eq!(none, "log: events\nno event happened\n");
    }
}
