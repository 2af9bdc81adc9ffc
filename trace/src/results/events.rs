//! Tables of events: a row for each event, with its values.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use probes::events::{Column, SpanInfo};
use serde_json::{Map, json};

use super::rows::{EventRow, EventRows, RowJvm, ThreadNames};

use crate::cells::{cell_json, heading, key_cells, key_titles, quoted};
use crate::names::{class, printable};
use crate::numbers::{counted, thousands};
use crate::perfetto::thread_name;
use crate::recording::Recording;
use crate::recording::sort::Sorter;
use crate::sheet::{Cell, Sheet, Title};
use crate::table::duration;
use crate::values::{plain, to_json};

/// The table name of events without a table.
const UNNAMED: &str = "events";

/// The events of one table of a plugin, united over all JVMs.
#[derive(Debug, Clone)]
pub struct EventTable {
    /// Name of the plugin.
    pub plugin: String,
    /// Name of the table.
    pub name: String,
    /// The columns of the key.
    pub columns: Vec<Column>,
    /// The names of the values.
    pub values: Vec<String>,
    /// The events, by JVM and time.
    pub rows: EventRows,
    /// Number of times that the places of the events were reached.
    pub reached: u64,
    /// The lowest limit of a place, if one has a limit.
    pub per_second: Option<u32>,
    /// `true` if events of these JVMs are missing for other reasons than the limit.
    pub others_missing: bool,
}

type Key = (String, String, Vec<(String, String)>, Vec<String>);

/// Collects the tables of all events, and stores their rows.
///
/// # Errors
/// If the events cannot be read or sorted.
pub(super) fn of(recordings: &[Recording]) -> io::Result<Vec<EventTable>> {
    let mut tables: BTreeMap<Key, EventTable> = BTreeMap::new();
    for trace in recordings.iter().map(|recording| &recording.trace) {
        for place in trace.places.values() {
            let key = key(place);
            let table = tables.entry(key.clone()).or_insert_with(|| empty(&key));
            table.reached += trace.reached.get(&place.id).copied().unwrap_or(0);
            let limit = place.event.as_ref().and_then(|event| event.per_second);
            table.per_second = table.per_second.into_iter().chain(limit).min();
            let lost = &trace.lost;
            table.others_missing |=
                lost.full + lost.unwritten + lost.oldest + lost.over_size + lost.untracked > 0;
        }
    }
    if !tables.is_empty() {
        let threads: Vec<ThreadNames> = recordings.iter().map(names_of_threads).collect();
        for (key, table) in &mut tables {
            table.rows = rows_of(recordings, &threads, key)?;
        }
    }
    Ok(tables.into_values().collect())
}

/// Returns the names of the known threads of a JVM. All tables share them.
fn names_of_threads(recording: &Recording) -> ThreadNames {
    let threads = recording.trace.threads.values();
    let named = threads.map(|thread| {
        let name = thread_name(&thread.name, thread.is_virtual, thread.id);
        (thread.id, Arc::<str>::from(name))
    });
    Arc::new(named.collect())
}

/// Returns the events of the table with this key, by JVM and time.
fn rows_of(
    recordings: &[Recording],
    threads: &[ThreadNames],
    wanted: &Key,
) -> io::Result<EventRows> {
    let Some(first) = recordings.first() else {
        return Ok(EventRows::from(Vec::new()));
    };
    let mut sorter = Sorter::new(first.scratch());
    let mut jvms = Vec::new();
    for (number, (recording, threads)) in (0..).zip(recordings.iter().zip(threads)) {
        let trace = &recording.trace;
        let places = trace.places.values().filter(|place| key(place) == *wanted);
        let cells: BTreeMap<u32, Arc<[String]>> =
            places.map(|place| (place.id, cells(place))).collect();
        if !cells.is_empty() {
            recording.each_stored_moment(&mut |nanos, thread, place, stored| match cells
                .contains_key(&place)
            {
                true => sorter.push([number, nanos, thread], |out| {
                    out.extend_from_slice(stored);
                }),
                false => Ok(()),
            })?;
        }
        jvms.push(RowJvm {
            pid: trace.meta.pid,
            file: Arc::clone(recording.file()),
            cells,
            threads: Arc::clone(threads),
        });
    }
    Ok(EventRows::of(jvms, sorter.finish()?))
}

/// Returns the key of the events of a place.
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
        rows: EventRows::from(Vec::new()),
        reached: 0,
        per_second: None,
        others_missing: false,
    }
}

impl EventTable {
    /// Returns the displayed form, with at most `most` rows and the numbers of omitted events.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(super) fn sheet(&self, most: usize) -> io::Result<Sheet> {
        let mut rows = Vec::new();
        self.rows.each(most, &mut |row| {
            rows.push(self.cells(&row));
            Ok(())
        })?;
        let values = self.values.iter();
        let values = values.map(|name| Title::new(printable(name), false));
        let last = [Title::new("thread", false), Title::new("time", true)];
        let nothing = self.rows.is_empty() && self.reached == 0;
        let nothing = nothing.then(|| "no event happened".to_owned());
        Ok(Sheet {
            heading: heading(&self.plugin, &self.name),
            titles: key_titles(&self.columns)
                .chain(values)
                .chain(last)
                .collect(),
            rows,
            more: self.rows.len().saturating_sub(most),
            note: nothing.or_else(|| self.left_out()),
        })
    }

    /// Formats a row as text.
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

    /// Describes the events without a row.
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
            .then(|| "some were lost or removed with the oldest calls".to_owned());
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
        self.rows.each(usize::MAX, &mut |row| {
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
            writeln!(out, "{}", cells.join(","))
        })
    }

    /// Writes each row as a JSON object on a line, and one with the number of omitted events; times are nanoseconds.
    pub(super) fn write_json_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        self.rows.each(usize::MAX, &mut |row| {
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
            writeln!(out, "{line}")
        })?;
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
