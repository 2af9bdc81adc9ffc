//! The tables of plugins as a self-contained HTML page.

use std::io::{self, Write};

use crate::numbers::counted;
use crate::results::Table;
use crate::sheet::{Cell, Sheet};

/// Maximum number of rows of a table on the page; browsers have trouble with many more.
const MAX_ROWS: usize = 10_000;

const STYLE: &str = include_str!("results.css");
const SCRIPT: &str = include_str!("results.js");

/// Writes a page with these tables, each with up to 10,000 rows. `missing` describes missing data, in lines.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(tables: &[Table], missing: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width\">\n\
         <meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>Tables of plugins</title>\n<style>\n{STYLE}</style>\n\
         <header><h1>Tables of plugins</h1><input type=search placeholder=\"Rows with …\" aria-label=\"Show rows with this text\"></header>"
    )?;
    if !missing.is_empty() {
        writeln!(out, "<p class=missing>{}", text(missing.trim_end()))?;
    }
    for table in tables {
        section(&table.sheet(MAX_ROWS)?, out)?;
    }
    writeln!(out, "<script>\n{SCRIPT}</script>")
}

fn section(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let rows = counted((sheet.rows.len() + sheet.more) as u64, "row");
    let heading = text(&sheet.heading);
    writeln!(out, "<section>\n<h2>{heading} <small>{rows}</small></h2>")?;
    if !sheet.rows.is_empty() {
        writeln!(out, "<table>\n<thead><tr>")?;
        for title in &sheet.titles {
            let class = if title.is_right { " class=right" } else { "" };
            writeln!(out, "<th{class}><button>{}</button>", text(&title.text))?;
        }
        writeln!(out, "<tbody>")?;
        sheet
            .rows
            .iter()
            .try_for_each(|cells| row(sheet, cells, out))?;
        writeln!(out, "</table>")?;
    }
    for line in sheet.below() {
        writeln!(out, "<p>{}", text(&line))?;
    }
    writeln!(out, "</section>")
}

/// Writes a row; `data-number` holds a number that is displayed in another form.
fn row(sheet: &Sheet, cells: &[Cell], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<tr>")?;
    for (cell, title) in cells.iter().zip(&sheet.titles) {
        let class = if title.is_right { " class=right" } else { "" };
        write!(out, "<td{class}")?;
        if let Some(number) = cell.number.filter(|number| number.to_string() != cell.text) {
            write!(out, " data-number={number}")?;
        }
        write!(out, ">{}", text(&cell.text))?;
    }
    writeln!(out)
}

/// Escapes a text for the page.
fn text(plain: &str) -> String {
    let escaped = plain.replace('&', "&amp;").replace('<', "&lt;");
    escaped.replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;
    use crate::results::{Row, SumTable};
    use probes::events::{Aggregate, Column};

    fn table(rows: Vec<Row>) -> Table {
        let column = |name: &str, kind: &str| Column {
            name: name.to_owned(),
            kind: kind.to_owned(),
        };
        Table::Sums(SumTable {
            plugin: "timer".to_owned(),
            name: "<calls>".to_owned(),
            columns: vec![column("statement", "text"), column("line", "line")],
            rows,
        })
    }

    fn page(tables: &[Table], missing: &str) -> String {
        cells::text(|out| write(tables, missing, out))
    }

    #[test]
    fn numbers_are_sorted_by_value_and_texts_are_escaped() {
        let row = Row {
            cells: vec!["a < b && \u{1b}c".to_owned(), "3".to_owned()],
            count: 2,
            sums: Some(Aggregate {
                count: 2,
                total: 3_000_000,
                ..Aggregate::default()
            }),
        };
        let page = page(&[table(vec![row])], "lost: 3 <calls>\n");
        let expected = "<tr><td>a &lt; b &amp;&amp; \\u001bc<td class=right>3<td class=right>2<td class=right>0<td class=right data-number=3000000>3.000 ms";
        assert!(page.contains(expected), "{page}");
        assert!(page.contains("<h2>timer: &lt;calls&gt; <small>1 row</small></h2>"));
        assert!(page.contains("<p class=missing>lost: 3 &lt;calls&gt;\n"));
    }

    #[test]
    fn omitted_rows_and_empty_tables_are_mentioned() {
        let rows = vec![
            Row {
                cells: vec![String::new(), "1".to_owned()],
                count: 1,
                sums: None,
            };
            MAX_ROWS + 2
        ];
        let page = page(&[table(rows), table(Vec::new())], "");
        assert_eq!(page.matches("<tr><td>").count(), MAX_ROWS);
        assert!(page.contains("<small>10,002 rows</small>"));
        assert!(page.contains("<p>… and 2 more rows\n"));
        assert!(page.contains("<small>0 rows</small></h2>\n<p>no counts and no times\n"));
        assert!(!page.contains("class=missing"));
    }
}
