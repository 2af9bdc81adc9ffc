//! What was traced: from event files to the table and the files asked for.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use probes::events::Trace;
use trace::stacks::Stacks;
use trace::summary::{Order, Summary};
use trace::table::Layout;
use trace::{flame, json_lines, perfetto, table};

use crate::inputs::recordings;
use crate::outputs::atomic;
use crate::problem::Problem;
use crate::select::Filter;
use crate::terminal;
use crate::warnings::Warnings;

/// What to make of a trace.
#[derive(Debug, Clone, Default, Args)]
pub struct TraceOutputs {
    /// Write a flame graph (SVG) to this file
    #[arg(long, value_name = "FILE")]
    pub flame_graph: Option<PathBuf>,
    /// Write folded stacks, in nanoseconds, to this file
    #[arg(long, value_name = "FILE")]
    pub folded: Option<PathBuf>,
    /// Write a time line for ui.perfetto.dev or chrome://tracing (JSON) to this file
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write one event per line (JSON) to this file
    #[arg(long, value_name = "FILE")]
    pub json_lines: Option<PathBuf>,
    /// What the table is sorted by [default: self]
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<Sort>,
    /// How many methods the table shows
    #[arg(long, value_name = "NUMBER", default_value_t = 40)]
    pub top: usize,
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Time in the method without the traced methods it called
    #[value(name = "self")]
    Own,
    /// Time in the method and in what it called
    Total,
    /// Number of calls
    Calls,
    /// The longest call
    Max,
    /// Calls that ended by an exception
    Errors,
}

impl From<Sort> for Order {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Own => Order::Own,
            Sort::Total => Order::Total,
            Sort::Calls => Order::Calls,
            Sort::Max => Order::Max,
            Sort::Errors => Order::Errors,
        }
    }
}

/// Reads event files; of each only the classes that `filter` wants.
///
/// # Errors
/// If one is damaged, of a newer version, or no event file.
pub fn read(
    paths: &[PathBuf],
    filter: &Filter,
    warnings: &mut Warnings,
) -> Result<Vec<Trace>, Problem> {
    let mut traces = Vec::new();
    for path in paths {
        traces.extend(recordings::read_events(path, warnings)?);
    }
    select(&mut traces, filter);
    Ok(traces)
}

/// Takes out the classes that `filter` does not want.
pub fn select(traces: &mut [Trace], filter: &Filter) {
    for trace in traces {
        trace.spans.retain(|_, span| filter.wants_name(&span.class));
        let spans = &trace.spans;
        trace.calls.retain(|call| spans.contains_key(&call.span));
    }
}

impl TraceOutputs {
    /// Writes the files asked for, prints the table, and lists what was written; the table also if that fails.
    ///
    /// # Errors
    /// If a file or standard output cannot be written, or a file needs single calls and none were recorded (`H0636`).
    pub fn make(&self, traces: &[Trace]) -> Result<(), Problem> {
        let mut written = Vec::new();
        let outcome = self.write(traces, &mut written);
        let layout = Layout {
            width: terminal::width().unwrap_or(Layout::default().width),
            colours: terminal::colours(),
            rows: self.top,
        };
        let summary = Summary::of(traces, self.sort.map_or_else(Order::default, Order::from));
        let mut text = Vec::new();
        let printed = table::write(&summary, &layout, &mut text).and_then(|()| {
            written
                .iter()
                .try_for_each(|path| writeln!(text, "wrote {}", path.display()))
        });
        printed.map_err(|error| Problem::ours("H0624", error.to_string()))?;
        crate::show::show(&String::from_utf8_lossy(&text))?;
        outcome
    }

    fn write(&self, traces: &[Trace], written: &mut Vec<PathBuf>) -> Result<(), Problem> {
        let stacks = Stacks::of(traces);
        type Content<'a> = &'a dyn Fn(&mut dyn Write) -> std::io::Result<()>;
        let files: [(&Option<PathBuf>, Content<'_>); 4] = [
            (&self.flame_graph, &|mut out| {
                flame::write(&stacks, &title(traces), &mut out)
            }),
            (&self.folded, &|mut out| stacks.write_folded(&mut out)),
            (&self.perfetto, &|mut out| perfetto::write(traces, &mut out)),
            (&self.json_lines, &|mut out| {
                json_lines::write(traces, &mut out)
            }),
        ];
        for (path, content) in files {
            if let Some(path) = path {
                has_calls(traces, path)?;
                atomic::file(path, content)?;
                written.push(path.clone());
            }
        }
        Ok(())
    }
}

/// Sums cannot be made into what shows single calls, nor can nothing.
fn has_calls(traces: &[Trace], path: &Path) -> Result<(), Problem> {
    if traces.iter().any(|trace| !trace.calls.is_empty()) {
        return Ok(());
    }
    let message = format!(
        "{} needs single calls, and none were recorded",
        path.display()
    );
    Err(Problem::user("H0636", message).with(
        "help",
        "record without --aggregate and --count, and methods that are called",
    ))
}

fn title(traces: &[Trace]) -> String {
    match traces {
        [trace] if !trace.meta.command.is_empty() => trace::names::command(&trace.meta.command),
        _ => "Trace".to_owned(),
    }
}
