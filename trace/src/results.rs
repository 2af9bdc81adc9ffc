//! The tables of plugins: rows with the counts and times of probes that belong to a row, and events.

mod computed;
mod events;
mod html;
mod rows;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use probes::events::{Aggregate, Column, SpanInfo, TableRow, Trace};
use serde_json::{Map, Value, json};

use crate::cells::{cell_json, heading, key_cells, key_titles, quoted};
use crate::names::printable;
use crate::recording::Recording;
use crate::sheet::{Cell, Sheet, Title};
use crate::table::duration;

pub use computed::ComputedTable;
pub use events::EventTable;
pub use html::write as write_html;
pub use rows::{EventRow, EventRows};

/// A table of one plugin, united over all JVMs.
#[derive(Debug, Clone)]
pub enum Table {
    /// Counts and times.
    Sums(SumTable),
    /// Events.
    Events(EventTable),
    /// Rows that the plugin computed from other tables.
    Computed(ComputedTable),
    /// A plugin that failed to compute its tables.
    NotComputed {
        /// Name of the plugin.
        plugin: String,
        /// The cause.
        cause: String,
    },
}

/// Counts and times of one table of a plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct SumTable {
    /// Name of the plugin.
    pub plugin: String,
    /// Name of the table.
    pub name: String,
    /// The columns of the key.
    pub columns: Vec<Column>,
    /// The rows, ordered by descending time and then count.
    pub rows: Vec<Row>,
}

/// A row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The key: one text for each column.
    pub cells: Vec<String>,
    /// Number of calls or counts.
    pub count: u64,
    /// Times and errors; `None` in count mode.
    pub sums: Option<Aggregate>,
}

/// A column that the agent fills.
struct Measure {
    title: &'static str,
    value: fn(&Aggregate) -> u64,
    is_time: bool,
}

const MEASURES: [Measure; 6] = [
    Measure {
        title: "errors",
        value: |sums| sums.errors,
        is_time: false,
    },
    Measure {
        title: "total",
        value: |sums| sums.total,
        is_time: true,
    },
    Measure {
        title: "mean",
        value: |sums| sums.total / sums.count.max(1),
        is_time: true,
    },
    Measure {
        title: "p50",
        value: |sums| sums.quantile(0.5).unwrap_or(0),
        is_time: true,
    },
    Measure {
        title: "p95",
        value: |sums| sums.quantile(0.95).unwrap_or(0),
        is_time: true,
    },
    Measure {
        title: "max",
        value: |sums| sums.max,
        is_time: true,
    },
];

/// Collects the tables of all plugins. A table whose columns changed during the recording becomes several.
///
/// # Errors
/// If events cannot be read or sorted.
pub fn of(recordings: &[Recording]) -> io::Result<Vec<Table>> {
    let mut tables = sums(recordings.iter().map(|recording| &recording.trace));
    tables.extend(events::of(recordings)?.into_iter().map(Table::Events));
    Ok(tables)
}

/// Collects the tables of counts and times.
fn sums<'t>(traces: impl IntoIterator<Item = &'t Trace>) -> Vec<Table> {
    type Key<'t> = (&'t str, &'t str, Vec<(&'t str, &'t str)>);
    let mut tables: BTreeMap<Key<'_>, BTreeMap<&[String], Row>> = BTreeMap::new();
    for trace in traces {
        for (span, row) in rows_of(trace) {
            let columns = row.columns.iter().map(|it| (&*it.name, &*it.kind));
            let key = (&*span.plugin, &*row.table, columns.collect());
            let rows = tables.entry(key).or_default();
            let found = rows.entry(&row.cells).or_insert_with(|| Row {
                cells: row.cells.clone(),
                ..Row::default()
            });
            found.add(trace, span.id);
        }
    }
    let table = |((plugin, name, columns), rows): (Key<'_>, BTreeMap<&[String], Row>)| {
        let column = |(name, kind): &(&str, &str)| Column {
            name: (*name).to_owned(),
            kind: (*kind).to_owned(),
        };
        SumTable {
            plugin: plugin.to_owned(),
            name: name.to_owned(),
            columns: columns.iter().map(column).collect(),
            rows: sorted(rows.into_values().filter(|row| row.count > 0).collect()),
        }
    };
    tables.into_iter().map(table).map(Table::Sums).collect()
}

impl Table {
    /// Returns `PLUGIN-TABLE`, without characters that are special in paths.
    #[must_use]
    pub fn file_name(&self) -> String {
        let (plugin, name) = (self.plugin(), self.name());
        let plain = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
        let name = format!("{plugin}-{name}");
        name.replace(|letter| !plain(letter), "_")
    }

    /// Returns the name of the plugin.
    #[must_use]
    pub fn plugin(&self) -> &str {
        match self {
            Self::Sums(table) => &table.plugin,
            Self::Events(table) => &table.plugin,
            Self::Computed(table) => &table.plugin,
            Self::NotComputed { plugin, .. } => plugin,
        }
    }

    /// Returns the name of the table.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Sums(table) => &table.name,
            Self::Events(table) => &table.name,
            Self::Computed(table) => &table.name,
            Self::NotComputed { .. } => "computed tables",
        }
    }

    /// Checks whether this is a table, possibly without rows.
    #[must_use]
    pub fn is_table(&self) -> bool {
        !matches!(self, Self::NotComputed { .. })
    }

    /// Checks whether the table only serves as input of other tables: its name begins with `_`.
    #[must_use]
    pub fn is_helper(&self) -> bool {
        self.is_table() && self.name().starts_with('_')
    }

    /// Writes a heading, titles, and at most `most` rows as text.
    ///
    /// # Errors
    /// If `out` cannot be written; so for all functions.
    pub fn write(&self, most: usize, out: &mut dyn Write) -> io::Result<()> {
        self.sheet(most)?.write(out)
    }

    /// Returns the displayed form, with at most `most` rows.
    fn sheet(&self, most: usize) -> io::Result<Sheet> {
        Ok(match self {
            Self::Sums(table) => table.sheet(most),
            Self::Events(table) => table.sheet(most)?,
            Self::Computed(table) => table.sheet(most),
            Self::NotComputed { cause, .. } => Sheet {
                heading: heading(self.plugin(), self.name()),
                titles: Vec::new(),
                rows: Vec::new(),
                more: 0,
                note: Some(format!("missing: {}", printable(cause))),
            },
        })
    }

    /// Writes all rows as CSV; times are nanoseconds.
    #[expect(
        clippy::missing_errors_doc,
        reason = "documented for all functions above"
    )]
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Sums(table) => table.write_csv(out),
            Self::Events(table) => table.write_csv(out),
            Self::Computed(table) => table.write_csv(out),
            Self::NotComputed { .. } => Ok(()),
        }
    }

    /// Writes each row as a JSON object on a line; times are nanoseconds.
    #[expect(
        clippy::missing_errors_doc,
        reason = "documented for all functions above"
    )]
    pub fn write_json_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Sums(table) => table.write_json_lines(out),
            Self::Events(table) => table.write_json_lines(out),
            Self::Computed(table) => table.write_json_lines(out),
            Self::NotComputed { plugin, cause } => {
                writeln!(out, "{}", json!({"plugin": plugin, "not_computed": cause}))
            }
        }
    }
}

fn rows_of(trace: &Trace) -> impl Iterator<Item = (&SpanInfo, &TableRow)> {
    let spans = trace.spans.values();
    spans.filter_map(|span| Some((span, span.row.as_ref()?)))
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_cached_key(|row| {
        let total = row.sums.as_ref().map_or(0, |sums| sums.total);
        (Reverse(total), Reverse(row.count), row.cells.clone())
    });
    rows
}

impl Row {
    fn add(&mut self, trace: &Trace, span: u32) {
        self.count += trace.counts.get(&span).copied().unwrap_or(0);
        if let Some(sums) = trace.aggregates.get(&span) {
            self.count += sums.count;
            self.sums.get_or_insert_default().merge(sums);
        }
    }

    /// Returns the value of a measured column, if the row has times.
    fn measured(&self, measure: &Measure) -> Option<u64> {
        self.sums.as_ref().map(measure.value)
    }
}

impl SumTable {
    /// Returns the columns that the agent fills.
    fn measures(&self) -> &'static [Measure] {
        let is_timed = self.rows.iter().any(|row| row.sums.is_some());
        if is_timed { &MEASURES } else { &[] }
    }

    /// Returns the displayed form, with at most `most` rows.
    fn sheet(&self, most: usize) -> Sheet {
        let measures = self.measures();
        let filled = measures.iter().map(|measure| measure.title);
        let filled = ["count"].into_iter().chain(filled);
        let filled = filled.map(|title| Title::new(title, true));
        let nothing = self.rows.is_empty().then_some("no counts and no times");
        Sheet {
            heading: heading(&self.plugin, &self.name),
            titles: key_titles(&self.columns).chain(filled).collect(),
            rows: (self.rows.iter().take(most))
                .map(|row| self.cells(row, measures))
                .collect(),
            more: self.rows.len().saturating_sub(most),
            note: nothing.map(str::to_owned),
        }
    }

    /// Formats a row as text.
    fn cells(&self, row: &Row, measures: &[Measure]) -> Vec<Cell> {
        let keys = key_cells(&row.cells, &self.columns);
        let count = Cell::number(row.count, row.count.to_string());
        let filled = measures.iter().map(|measure| match row.measured(measure) {
            None => Cell::text("-".to_owned()),
            Some(nanos) if measure.is_time => Cell::number(nanos, duration(nanos)),
            Some(number) => Cell::number(number, number.to_string()),
        });
        keys.chain([count]).chain(filled).collect()
    }

    /// Writes all rows as CSV; times are nanoseconds.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let measures = self.measures();
        let titles = self.columns.iter().map(|column| quoted(&column.name));
        let filled = measures.iter().map(|measure| measure.title.to_owned());
        let titles: Vec<_> = titles.chain(["count".to_owned()]).chain(filled).collect();
        writeln!(out, "{}", titles.join(","))?;
        for row in &self.rows {
            let filled = measures.iter().map(|measure| {
                let value = row.measured(measure);
                value.map_or_else(String::new, |value| value.to_string())
            });
            let cells = row.cells.iter().map(|cell| quoted(cell));
            let cells: Vec<_> = cells.chain([row.count.to_string()]).chain(filled).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }

    /// Writes each row as a JSON object on a line; times are nanoseconds.
    fn write_json_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in &self.rows {
            let mut key = Map::new();
            for (cell, column) in row.cells.iter().zip(&self.columns) {
                key.insert(column.name.clone(), cell_json(cell, &column.kind));
            }
            let mut line = json!({
                "plugin": self.plugin, "table": self.name, "key": key, "count": row.count,
            });
            if let Value::Object(line) = &mut line {
                for measure in &MEASURES {
                    if let Some(value) = row.measured(measure) {
                        line.insert(measure.title.to_owned(), json!(value));
                    }
                }
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::text;

    use probes::events::SpanMode;

    fn span(id: u32, table: &str, cells: &[&str]) -> SpanInfo {
        let column = |name: &str, kind: &str| Column {
            name: name.to_owned(),
            kind: kind.to_owned(),
        };
        SpanInfo {
            id,
            plugin: "timer".to_owned(),
            mode: SpanMode::Aggregate,
            row: Some(TableRow {
                table: table.to_owned(),
                columns: vec![column("statement", "text"), column("line", "line")],
                cells: cells.iter().map(|cell| (*cell).to_owned()).collect(),
            }),
            ..SpanInfo::default()
        }
    }

    fn trace(spans: Vec<SpanInfo>) -> Trace {
        Trace {
            spans: spans.into_iter().map(|span| (span.id, span)).collect(),
            ..Trace::default()
        }
    }

    #[test]
    fn rows_with_the_same_key_are_one() {
        let mut one = trace(vec![
            span(0, "calls", &["a, b", "3"]),
            span(1, "calls", &["c\u{1b}", "4"]),
        ]);
        one.counts = BTreeMap::from([(0, 5), (1, 7)]);
        let mut two = trace(vec![span(9, "calls", &["a, b", "3"])]);
        two.counts = BTreeMap::from([(9, 4)]);
        let [table] = <[Table; 1]>::try_from(sums(&[one, two])).unwrap();
        let shown = text(|out| table.write(9, out));
        let expected = "timer: calls\nstatement  line  count\na, b          3      9\n";
        assert!(
            shown.starts_with(expected) && !shown.contains('\u{1b}'),
            "{shown}"
        );
        assert_eq!(
            text(|out| table.write(1, out)).lines().last(),
            Some("… and 1 more row")
        );
        let csv = text(|out| table.write_csv(out));
        assert_eq!(csv, "statement,line,count\n\"a, b\",3,9\nc\u{1b},4,7\n");
        let first = text(|out| table.write_json_lines(out));
        let first: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
        let expected = json!({
            "plugin": "timer", "table": "calls", "key": {"statement": "a, b", "line": 3}, "count": 9,
        });
        assert_eq!(first, expected);
    }

    #[test]
    fn times_are_shown_with_their_units_and_written_in_nanoseconds() {
        let mut timed = trace(vec![
            span(0, "times", &["x", "1"]),
            span(1, "times", &["y", "2"]),
        ]);
        let times = Aggregate {
            count: 2,
            errors: 1,
            total: 3_000_000,
            max: 2_000_000,
            ..Aggregate::default()
        };
        timed.aggregates = BTreeMap::from([(0, times)]);
        timed.counts = BTreeMap::from([(1, 3)]);
        let tables = sums(&[timed]);
        let shown = text(|out| tables[0].write(9, out));
        let lines: Vec<_> = shown
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .collect();
        assert_eq!(
            lines[0][..5],
            ["statement", "line", "count", "errors", "total"]
        );
        assert_eq!(lines[1][..6], ["x", "1", "2", "1", "3.000", "ms"]);
        assert_eq!(lines[2][..5], ["y", "2", "3", "-", "-"]);
        let csv = text(|out| tables[0].write_csv(out));
        assert!(csv.contains("\nx,1,2,1,3000000,1500000,"), "{csv}");
        assert!(csv.contains("\ny,2,3,,,"), "{csv}");
    }

    #[test]
    fn hostile_names_neither_leave_the_folder_nor_control_the_terminal() {
        let mut hostile = span(0, "../x\u{1b}[2J", &["\u{1b}]0;x\u{7}\n", "not a number"]);
        hostile.plugin = "/etc/p\n".to_owned();
        let mut trace = trace(vec![hostile]);
        trace.counts = BTreeMap::from([(0, 1)]);
        let [table] = <[Table; 1]>::try_from(sums(&[trace])).unwrap();
        assert_eq!(table.file_name(), "_etc_p_-___x__2J");
        let shown = text(|out| table.write(9, out));
        assert_eq!(shown.lines().count(), 3, "{shown}");
        let controls = |letter: char| letter.is_control() && letter != '\n';
        assert!(!shown.contains(controls), "{shown:?}");
        let line = text(|out| table.write_json_lines(out));
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["key"]["line"], "not a number");
    }

    #[test]
    fn events_never_reached_are_mentioned() {
        let tables = sums(&[trace(vec![span(0, "calls", &["a", "1"])])]);
        let shown = text(|out| tables[0].write(9, out));
        assert_eq!(shown, "timer: calls\nno counts and no times\n");
        assert!(sums(&[trace(vec![SpanInfo::default()])]).is_empty());
    }
}
