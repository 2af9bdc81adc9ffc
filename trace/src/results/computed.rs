//! Tables that plugins computed.

use std::io::{self, Write};

use probes::events::Column;
use serde_json::{Map, json};

use crate::cells::{cell_json, heading, key_cells, key_titles, quoted};
use crate::sheet::Sheet;

/// A table that a plugin computed from recorded data.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputedTable {
    /// Name of the plugin.
    pub plugin: String,
    /// Name of the table.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows in the plugin's order, one text for each column.
    pub rows: Vec<Vec<String>>,
}

impl ComputedTable {
    /// Returns the displayed form, with at most `most` rows.
    pub(super) fn sheet(&self, most: usize) -> Sheet {
        let nothing = self.rows.is_empty().then(|| "no rows".to_owned());
        let rows = self.rows.iter().take(most);
        Sheet {
            heading: heading(&self.plugin, &self.name),
            titles: key_titles(&self.columns).collect(),
            rows: rows
                .map(|cells| key_cells(cells, &self.columns).collect())
                .collect(),
            more: self.rows.len().saturating_sub(most),
            note: nothing,
        }
    }

    /// Writes all rows as CSV; times are nanoseconds.
    pub(super) fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let titles = self.columns.iter().map(|column| quoted(&column.name));
        writeln!(out, "{}", titles.collect::<Vec<_>>().join(","))?;
        for cells in &self.rows {
            let cells = cells.iter().map(|cell| quoted(cell));
            writeln!(out, "{}", cells.collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }

    /// Writes each row as a JSON object on a line; times are nanoseconds.
    pub(super) fn write_json_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        for cells in &self.rows {
            let cells = cells.iter().zip(&self.columns);
            let row: Map<_, _> = cells
                .map(|(cell, column)| (column.name.clone(), cell_json(cell, &column.kind)))
                .collect();
            let line = json!({"plugin": self.plugin, "table": self.name, "row": row});
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::text;
    use crate::results::Table;

    fn table(rows: &[[&str; 2]]) -> Table {
        let column = |name: &str, kind: &str| Column {
            name: name.to_owned(),
            kind: kind.to_owned(),
        };
        let row = |cells: &[&str; 2]| cells.map(str::to_owned).to_vec();
        Table::Computed(ComputedTable {
            plugin: "p".to_owned(),
            name: "slowest".to_owned(),
            columns: vec![column("what", "text"), column("p99", "duration")],
            rows: rows.iter().map(row).collect(),
        })
    }

    #[test]
    fn rows_are_in_all_outputs_in_the_plugins_order() {
        let table = table(&[["b,\u{1b}", "3000000"], ["=a", "1"]]);
        let shown = text(|out| table.write(1, out));
        let expected = "p: slowest\nwhat           p99\nb,\\u001b  3.000 ms\n… and 1 more row\n";
        assert_eq!(shown, expected);
        let csv = text(|out| table.write_csv(out));
        assert_eq!(csv, "what,p99\n\"b,\u{1b}\",3000000\n\"=a\",1\n");
        let lines = text(|out| table.write_json_lines(out));
        let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        let row = json!({"what": "b,\u{1b}", "p99": 3_000_000});
        assert_eq!(
            first,
            json!({"plugin": "p", "table": "slowest", "row": row})
        );
    }

    #[test]
    fn empty_and_failed_tables_are_mentioned() {
        let empty = text(|out| table(&[]).write(9, out));
        assert_eq!(empty, "p: slowest\nno rows\n");
        let missing = Table::NotComputed {
            plugin: "p".to_owned(),
            cause: "it trapped\u{1b}".to_owned(),
        };
        let shown = text(|out| missing.write(9, out));
        assert_eq!(shown, "p: computed tables\nmissing: it trapped\\u001b\n");
        let line = text(|out| missing.write_json_lines(out));
        let expected = "{\"not_computed\":\"it trapped\\u001b\",\"plugin\":\"p\"}\n";
        assert_eq!(line, expected);
        assert!(!missing.is_table() && table(&[]).is_table());
    }
}
