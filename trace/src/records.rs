//! The rows of the summary for programs, as CSV and JSON. Times are nanoseconds.

use std::io::{self, Write};

use probes::events::{Aggregate, Lost};
use serde::Serialize;

use crate::summary::{Row, Summary};

/// The whole summary.
#[derive(Serialize)]
struct Table<'a> {
    methods: Vec<Method<'a>>,
    /// Number of traced methods, called or not.
    traced: usize,
    /// Number of calls that had not ended; in no row.
    open: u64,
    /// Number of calls that ended after the last sums; in no row.
    unsummed: u64,
    lost: &'a Lost,
    incomplete: Vec<Missing<'a>>,
}

/// One method; without times in count mode.
#[derive(Serialize)]
struct Method<'a> {
    class: &'a str,
    method: &'a str,
    descriptor: &'a str,
    calls: u64,
    errors: Option<u64>,
    #[serde(rename = "self")]
    own: Option<u64>,
    total: Option<u64>,
    min: Option<u64>,
    p50: Option<u64>,
    p95: Option<u64>,
    p99: Option<u64>,
    max: Option<u64>,
}

#[derive(Serialize)]
struct Missing<'a> {
    pid: u32,
    after_ms: u64,
    cause: &'a str,
}

impl<'a> Method<'a> {
    fn of(row: &'a Row) -> Self {
        let sums = row.sums.as_ref();
        let of = |field: fn(&Aggregate) -> u64| sums.map(field);
        let quantile = |share| sums.and_then(|sums| sums.quantile(share));
        Self {
            class: &row.class,
            method: &row.name.method,
            descriptor: &row.descriptor,
            calls: row.calls,
            errors: of(|sums| sums.errors),
            own: of(|sums| sums.own),
            total: of(|sums| sums.total),
            min: of(|sums| sums.min),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: of(|sums| sums.max),
        }
    }
}

/// Writes every row, and the data outside rows, as one JSON object.
///
/// # Errors
/// `out` cannot be written.
pub fn write_json(summary: &Summary, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let table = Table {
        methods: summary.rows.iter().map(Method::of).collect(),
        traced: summary.methods,
        open: summary.open,
        unsummed: summary.unsummed,
        lost: &summary.lost,
        incomplete: (summary.incomplete.iter())
            .map(|gap| Missing {
                pid: gap.pid,
                after_ms: gap.after_ms,
                cause: &gap.cause,
            })
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &table)?;
    out.write_all(b"\n")
}

/// Writes every row as CSV, with a heading.
///
/// # Errors
/// `out` cannot be written.
pub fn write_csv(summary: &Summary, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(
        out,
        "class,method,descriptor,calls,errors,self,total,min,p50,p95,p99,max"
    )?;
    for row in &summary.rows {
        let method = Method::of(row);
        let names = [method.class, method.method, method.descriptor].map(field);
        write!(out, "{},{}", names.join(","), method.calls)?;
        for number in [
            method.errors,
            method.own,
            method.total,
            method.min,
            method.p50,
            method.p95,
            method.p99,
            method.max,
        ] {
            match number {
                Some(number) => write!(out, ",{number}")?,
                None => write!(out, ",")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Quotes a field that would break the row.
fn field(text: &str) -> String {
    if text.contains(['"', ',']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
