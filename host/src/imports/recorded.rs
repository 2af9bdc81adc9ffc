//! The interface `recorded`: recorded data, and tables computed from it.

use plan_rules::RefusedRequest;
use wasmtime::Result;

use super::convert::{Answer, all, answer};
use crate::bindings::classhook::plugin::recorded::{Event, Host, Sum, Table, Times};
use crate::bindings::classhook::plugin::types::{Column, ColumnKind, TableKind};
use crate::recorded::{PAGE, RecordedEvent, RecordedSum, RecordedTable};
use crate::store_data::StoreData;

/// Maximum number of quantiles in one query.
const MAX_QUANTILES: usize = 100;

impl Host for StoreData {
    fn tables(&mut self) -> Result<Vec<Table>> {
        let tables = self.report()?.recorded.tables();
        Ok(tables.into_iter().map(Table::from).collect())
    }

    fn sums(&mut self, table: u32, start: u32) -> Result<Vec<Sum>> {
        let recorded = &self.report()?.recorded;
        let rows = (start as usize..).map_while(|row| recorded.sum(table as usize, row));
        Ok(rows.take(PAGE).map(Sum::from).collect())
    }

    fn events(&mut self, table: u32, start: u32) -> Result<Vec<Event>> {
        let recorded = &self.report()?.recorded;
        let rows = (start as usize..).map_while(|row| recorded.event(table as usize, row));
        Ok(rows.take(PAGE).map(Event::from).collect())
    }

    fn quantiles(&mut self, table: u32, rows: Vec<u32>, of: Vec<f64>) -> Answer<Vec<u64>> {
        let recorded = &self.report()?.recorded;
        answer(quantiles(&**recorded, table, &rows, &of))
    }

    fn add_rows(
        &mut self,
        table: String,
        columns: Vec<Column>,
        rows: Vec<Vec<String>>,
    ) -> Answer<()> {
        let columns = plan_rules::columns(all(columns));
        let added = self.report()?.computed.add(table, columns, rows);
        self.expect_memory()?;
        answer(added)
    }
}

fn quantiles(
    recorded: &dyn crate::recorded::Recorded,
    table: u32,
    rows: &[u32],
    of: &[f64],
) -> std::result::Result<Vec<u64>, RefusedRequest> {
    let known = recorded.tables();
    let count = known.get(table as usize).map_or(0, |table| table.rows);
    if rows.len() > count || of.len() > MAX_QUANTILES {
        let message = format!(
            "expected each of the {count} rows at most once and at most {MAX_QUANTILES} quantiles, found {} and {}",
            rows.len(),
            of.len()
        );
        return Err(RefusedRequest::limit(message, None));
    }
    if let Some(wrong) = of.iter().find(|it| !(0.0..=1.0).contains(*it)) {
        let cause = format!("expected quantiles between 0 and 1, found {wrong}");
        return Err(RefusedRequest::unsuitable(None, &cause));
    }
    let found = recorded.quantiles(table as usize, rows, of);
    found.ok_or_else(|| {
        let cause = format!("expected the number of a table of the kind `sums` and of its rows, found the table {table}");
        RefusedRequest::unsuitable(None, &cause)
    })
}

fn column((name, kind): (String, String)) -> Column {
    let kind = match edits::ColumnKind::named(&kind) {
        Some(edits::ColumnKind::Integer) => ColumnKind::Integer,
        Some(edits::ColumnKind::Duration) => ColumnKind::Duration,
        Some(edits::ColumnKind::Bytes) => ColumnKind::Bytes,
        Some(edits::ColumnKind::Class) => ColumnKind::Class,
        Some(edits::ColumnKind::Method) => ColumnKind::Method,
        Some(edits::ColumnKind::Line) => ColumnKind::Line,
        Some(edits::ColumnKind::Text) | None => ColumnKind::Text,
    };
    Column { name, kind }
}

impl From<RecordedTable> for Table {
    fn from(table: RecordedTable) -> Self {
        let columns = table.columns.into_iter();
        Self {
            name: table.name,
            kind: match table.is_events {
                true => TableKind::Events,
                false => TableKind::Sums,
            },
            columns: columns.map(column).collect(),
            values: table.values,
            rows: u32::try_from(table.rows).unwrap_or(u32::MAX),
            reached: table.reached,
        }
    }
}

impl From<RecordedSum> for Sum {
    fn from(row: RecordedSum) -> Self {
        let times = |(errors, total, max)| Times { errors, total, max };
        Self {
            cells: row.cells,
            count: row.count,
            times: row.times.map(times),
        }
    }
}

impl From<RecordedEvent> for Event {
    fn from(row: RecordedEvent) -> Self {
        Self {
            cells: row.cells,
            values: row.values,
            thread: row.thread,
            nanos: row.nanos,
            process: row.process,
        }
    }
}
