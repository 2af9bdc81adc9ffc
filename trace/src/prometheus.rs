//! The sums in Prometheus' text format (version 0.0.4), for text files of its node exporter and for scraping.

use std::io::{self, Write};

use probes::events::{Aggregate, Trace};

use crate::losses::losses;
use crate::summary::{Order, Row, Summary};

/// Upper bounds of the histogram's buckets as powers of two of nanoseconds: 1 µs to 69 s.
pub(crate) const POWERS: [u32; 14] = [10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36];

/// A metric family with one value for each method.
struct Family {
    name: &'static str,
    help: &'static str,
    /// The value as text; `None` if the method has none.
    value: fn(&Row) -> Option<String>,
}

const FAMILIES: [Family; 4] = [
    Family {
        name: "classhook_calls_total",
        help: "Completed calls; entries of methods in count mode.",
        value: |row| Some(row.calls.to_string()),
    },
    Family {
        name: "classhook_call_errors_total",
        help: "Calls that ended by an exception.",
        value: |row| Some(row.sums.as_ref()?.errors.to_string()),
    },
    Family {
        name: "classhook_call_seconds_total",
        help: "Time from entry to end; recursive calls count once.",
        value: |row| Some(seconds(row.sums.as_ref()?.total)),
    },
    Family {
        name: "classhook_call_self_seconds_total",
        help: "Time from entry to end, without traced callees.",
        value: |row| Some(seconds(row.sums.as_ref()?.own)),
    },
];

/// Writes the sums of each JVM since its start or last reset. Classes of one name in several loaders are summed up.
///
/// # Errors
/// `out` cannot be written.
pub fn write(jvms: &[Trace], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let summaries: Vec<(u32, Summary)> = (jvms.iter())
        .map(|trace| {
            let mut summary = Summary::of(std::slice::from_ref(trace), Order::Calls);
            let key = |row: &Row| (row.class.clone(), row.name.clone(), row.descriptor.clone());
            summary.rows.sort_by_cached_key(key);
            (trace.meta.pid, summary)
        })
        .collect();
    let rows = || {
        let all = summaries.iter();
        all.flat_map(|(pid, summary)| summary.rows.iter().map(|row| (*pid, row)))
    };
    for family in &FAMILIES {
        head(family.name, family.help, "counter", out)?;
        for (pid, row) in rows() {
            if let Some(value) = (family.value)(row) {
                writeln!(out, "{}{{{}}} {value}", family.name, labels(pid, row))?;
            }
        }
    }
    let name = "classhook_call_duration_seconds";
    head(
        name,
        "Durations of calls; the sum equals classhook_call_seconds_total.",
        "histogram",
        out,
    )?;
    for (pid, row) in rows() {
        if let Some(sums) = &row.sums {
            histogram(name, &labels(pid, row), sums, out)?;
        }
    }
    lost(&summaries, out)
}

fn head(name: &str, help: &str, kind: &str, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn histogram(
    name: &str,
    labels: &str,
    sums: &Aggregate,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    for power in POWERS {
        let end = 1_u64 << power;
        let le = seconds(end - 1);
        let calls = sums.histogram.below(end);
        writeln!(out, "{name}_bucket{{{labels},le=\"{le}\"}} {calls}")?;
    }
    let all = sums.histogram.calls();
    writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {all}")?;
    writeln!(out, "{name}_sum{{{labels}}} {}", seconds(sums.total))?;
    writeln!(out, "{name}_count{{{labels}}} {all}")
}

/// Writes the numbers of items missing above and in single calls.
fn lost(summaries: &[(u32, Summary)], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let name = "classhook_lost_total";
    head(name, "Lost calls and values, by reason.", "counter", out)?;
    for (pid, summary) in summaries {
        for loss in losses(&summary.lost) {
            let (reason, number) = (loss.reason, loss.number);
            writeln!(out, "{name}{{pid=\"{pid}\",reason=\"{reason}\"}} {number}")?;
        }
    }
    let name = "classhook_incomplete";
    head(
        name,
        "1 if data could not be written, else 0.",
        "gauge",
        out,
    )?;
    for (pid, summary) in summaries {
        let value = u8::from(!summary.incomplete.is_empty());
        writeln!(out, "{name}{{pid=\"{pid}\"}} {value}")?;
    }
    Ok(())
}

fn labels(pid: u32, row: &Row) -> String {
    let [class, method, descriptor] =
        [&row.class, &row.name.method, &row.descriptor].map(|text| escaped(text));
    format!("pid=\"{pid}\",class=\"{class}\",method=\"{method}\",descriptor=\"{descriptor}\"")
}

/// Escapes a label value.
fn escaped(text: &str) -> String {
    let escape = |char| match char {
        '\\' => "\\\\".to_owned(),
        '"' => "\\\"".to_owned(),
        '\n' => "\\n".to_owned(),
        other => String::from(other),
    };
    text.chars().map(escape).collect()
}

/// Formats nanoseconds as exact seconds.
fn seconds(nanos: u64) -> String {
    let (whole, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    match fraction {
        0 => whole.to_string(),
        _ => format!("{whole}.{fraction:09}")
            .trim_end_matches('0')
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        let texts = [0, 1, 1_023, 500_000_000, 61_000_000_000].map(seconds);
        assert_eq!(texts, ["0", "0.000000001", "0.000001023", "0.5", "61"]);
    }
}
