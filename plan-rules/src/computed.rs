//! Tables that a plugin computes from recorded data for a report.

use crate::refusal::RefusedRequest;
use crate::row::{expect_columns, fit, unsuitable};

/// Maximum number of tables of one report.
const MAX_TABLES: usize = 64;
/// Maximum bytes of the tables of one report. The agent holds the tables of an observer while it receives the next
/// ones, and as JSON while it writes them.
const MAX_BYTES: usize = 32 << 20;
/// Bytes counted for a row and for a cell, in addition to their text as JSON.
const ROW_BYTES: usize = 24;
const CELL_BYTES: usize = 32;

/// A table computed by a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComputedTable {
    /// Its name.
    pub name: String,
    /// Its columns: names and types.
    pub columns: Vec<(String, String)>,
    /// Its rows in the plugin's order, one text for each column.
    pub rows: Vec<Vec<String>>,
}

/// The tables of one report.
#[derive(Debug, Default)]
pub struct ComputedTables {
    tables: Vec<ComputedTable>,
    bytes: usize,
}

impl ComputedTables {
    /// Adds rows to a table, all or none. The first call for a table declares it. Longer cells are cut.
    ///
    /// # Errors
    /// A name is invalid, a column type is unknown, or cells do not match columns.
    /// The table was declared with other columns, or there are too many tables or bytes.
    pub fn add(
        &mut self,
        name: String,
        columns: Vec<(String, String)>,
        mut rows: Vec<Vec<String>>,
    ) -> Result<(), RefusedRequest> {
        expect_columns(&name, &columns)?;
        for cells in &mut rows {
            fit(&name, &columns, cells)?;
        }
        let cell = |cell: &String| CELL_BYTES + escape::json_length(cell);
        let row = |cells: &Vec<String>| ROW_BYTES + cells.iter().map(cell).sum::<usize>();
        let bytes = self.bytes + rows.iter().map(row).sum::<usize>();
        if bytes > MAX_BYTES {
            let most = MAX_BYTES >> 20;
            let message = format!("expected at most {most} MiB of tables of one report");
            return Err(RefusedRequest::limit(message, None));
        }
        let is_full = self.tables.len() == MAX_TABLES;
        let found = self.tables.iter_mut().find(|table| table.name == name);
        match found {
            Some(table) if table.columns != columns => {
                let cause = "the columns that it was declared with";
                return Err(unsuitable(&name, cause, "others"));
            }
            Some(table) => table.rows.append(&mut rows),
            None if is_full => {
                let message = format!("expected at most {MAX_TABLES} tables of one report");
                return Err(RefusedRequest::limit(message, None));
            }
            None => self.tables.push(ComputedTable {
                name,
                columns,
                rows,
            }),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Returns the bytes that the tables take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the tables in the order of their declaration.
    #[must_use]
    pub fn into_tables(self) -> Vec<ComputedTable> {
        self.tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(kind: &str) -> Vec<(String, String)> {
        vec![("a".to_owned(), kind.to_owned())]
    }

    fn rows(cells: &[&str]) -> Vec<Vec<String>> {
        cells.iter().map(|cell| vec![(*cell).to_owned()]).collect()
    }

    #[test]
    fn rows_of_one_table_are_collected() {
        let mut tables = ComputedTables::default();
        let mut add = |name: &str, kind, cells| tables.add(name.into(), columns(kind), rows(cells));
        add("t", "text", &["x"]).unwrap();
        add("other", "line", &["7"]).unwrap();
        add("t", "text", &["y", "z"]).unwrap();
        let long = "é".repeat(2_000);
        add("t", "text", &[&long]).unwrap();
        assert!(tables.bytes() > 1_000);
        let tables = tables.into_tables();
        assert_eq!(tables[0].rows[..3], rows(&["x", "y", "z"]));
        assert_eq!(tables[0].rows[3][0].len(), 1_024);
        assert_eq!(tables[1].name, "other");
    }

    #[test]
    fn tables_are_limited_by_their_length_as_json() {
        let mut tables = ComputedTables::default();
        let cells = vec!["\u{1b}".repeat(1_024); 5_000];
        let rows: Vec<_> = cells.into_iter().map(|cell| vec![cell]).collect();
        tables
            .add("t".into(), columns("text"), rows.clone())
            .unwrap();
        let refused = tables.add("t".into(), columns("text"), rows).unwrap_err();
        assert_eq!(refused.code, "H0315");
        assert!(refused.message.contains("32 MiB"), "{}", refused.message);
        assert_eq!(tables.into_tables()[0].rows.len(), 5_000);
    }

    #[test]
    fn cut_cells_keep_no_more_memory_than_their_text() {
        let mut tables = ComputedTables::default();
        let rows = vec![vec!["x".repeat(1 << 20)]];
        tables.add("t".into(), columns("text"), rows).unwrap();
        let tables = tables.into_tables();
        assert!(tables[0].rows[0][0].capacity() < 2_048);
    }

    #[test]
    fn mismatched_rows_are_refused_as_a_whole() {
        let mut tables = ComputedTables::default();
        let mut add = |name: &str, kind, cells| tables.add(name.into(), columns(kind), rows(cells));
        add("t", "line", &["1"]).unwrap();
        for (name, kind, cells, part) in [
            (
                "t",
                "text",
                &["x"][..],
                "the columns that it was declared with",
            ),
            ("t", "line", &["2", "x"], "a decimal number in `a`"),
            ("u", "colour", &[], "one of text, integer"),
            ("../u", "text", &[], "found `../u`"),
        ] {
            let refused = add(name, kind, cells).unwrap_err();
            assert!(refused.message.contains(part), "{}", refused.message);
        }
        for number in 1..MAX_TABLES {
            add(&format!("t{number}"), "text", &[]).unwrap();
        }
        assert_eq!(add("more", "text", &[]).unwrap_err().code, "H0315");
        let tables = tables.into_tables();
        assert_eq!(tables.len(), MAX_TABLES);
        assert_eq!(tables[0].rows, rows(&["1"]));
    }
}
