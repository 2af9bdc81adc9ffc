//! What was traced: from event files to the table and the files asked for.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use escape::line;
use observations::tables::PluginTables;
use probes::events::{SpanInfo, SpanMode, Trace};
use trace::numbers::counted;
use trace::stacks::Stacks;
use trace::summary::{Gap, Order, Summary};
use trace::table::Layout;
use trace::{compact, flame, json_lines, losses, perfetto, records, results, table};

use crate::args::{Outputs, place};
use crate::attached::Ended;
use crate::inputs::damaged_files::DamagedFiles;
use crate::inputs::execution_data::COUNTS;
use crate::inputs::run_files::{self, Kind};
use crate::outputs::files::{Content, Files};
use crate::plugin_tables;
use crate::problem::Problem;
use crate::reporters::Reporters;
use crate::select::Filter;
use crate::show;
use crate::stdout::is_stdout;
use crate::terminal;
use crate::warnings::Warnings;
use crate::writable;

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
    /// Write one event per line (JSON) to this file; `-` is standard output, and the table then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json_lines: Option<PathBuf>,
    /// Write one call per line with --json-lines, and names as numbers
    #[arg(long, requires = "json_lines")]
    pub compact: bool,
    /// Write the table with all its rows and columns (CSV, nanoseconds) to this file
    #[arg(long, value_name = "FILE")]
    pub table_csv: Option<PathBuf>,
    /// Write the table with all its rows and columns (JSON, nanoseconds) to this file
    #[arg(long, value_name = "FILE")]
    pub table_json: Option<PathBuf>,
    /// Write each table of a plugin, with all its rows, to a file PLUGIN-TABLE.csv in this folder (nanoseconds)
    #[arg(long, value_name = "DIR", value_parser = place())]
    pub results_csv: Option<PathBuf>,
    /// Write the rows of all tables of plugins, one JSON object per line (nanoseconds), to this file; `-` is standard output, and the tables then go to standard error
    #[arg(long, value_name = "FILE")]
    pub results_json_lines: Option<PathBuf>,
    /// Write the tables of plugins as one page for a browser to this file
    #[arg(long, value_name = "FILE")]
    pub results_html: Option<PathBuf>,
    /// What the table is sorted by [default: self]
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<Sort>,
    /// How many rows a table shows
    #[arg(long, value_name = "NUMBER", default_value_t = 40)]
    pub top: usize,
    /// Of the tables of plugins show this one alone, with so many rows; may be repeated. Without it those are shown whose names do not begin with `_`. Files have all tables
    #[arg(long = "table", value_name = "TABLE[=ROWS]")]
    pub tables: Vec<String>,
    /// Whether another output has standard output; set by the commands that have others.
    #[arg(skip)]
    pub beside: bool,
    /// Plugins that compute tables; set by the commands that know some.
    #[arg(skip)]
    pub reporters: Reporters,
    /// What plugins made of the events of JVMs; set by the commands that know some.
    #[arg(skip)]
    pub observed: Vec<PluginTables>,
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

/// Reads event files; of each only the classes that `filter` wants. Those that are damaged, of a newer version or no
/// event files are noted in `damaged`.
///
/// # Errors
/// As [`DamagedFiles::unless_damaged`].
pub fn read(
    paths: &[PathBuf],
    filter: &Filter,
    damaged: &mut DamagedFiles,
    warnings: &mut Warnings,
) -> Result<Vec<Trace>, Problem> {
    let mut traces = Vec::new();
    for path in paths {
        let read = run_files::read_events(path, warnings);
        traces.extend(damaged.unless_damaged(path, read, warnings)?.flatten());
    }
    // These are numbers of a coverage report.
    let of_coverage = |span: &SpanInfo| span.plugin == COUNTS;
    traces
        .iter_mut()
        .for_each(|trace| retain(trace, |span| !of_coverage(span)));
    select(&mut traces, filter);
    Ok(traces)
}

/// What was traced in the JVMs of one run.
///
/// # Errors
/// If the folder cannot be read.
pub fn of_run(run: &str, folder: &Path, warnings: &mut Warnings) -> Result<Vec<Trace>, Problem> {
    let mut traces = Vec::new();
    if !folder.is_dir() {
        return Ok(traces);
    }
    let mut damaged = DamagedFiles::default();
    for path in run_files::in_folder(folder)? {
        let mut warned = Warnings::default();
        if !run_files::kind(&path).is_ok_and(|kind| kind == Kind::Events) {
            continue; // also one that is no file of a run at all
        }
        let read = run_files::read_events(&path, &mut warned);
        if let Some(Some(trace)) = damaged.unless_damaged(&path, read, warnings)?
            && trace.meta.run == run
        {
            warnings.merge(warned);
            traces.push(trace);
        }
    }
    Ok(traces)
}

/// What was traced in the JVM that was visited.
///
/// # Errors
/// If the files cannot be read.
pub fn of_visit(ended: &Ended, warnings: &mut Warnings) -> Result<Vec<Trace>, Problem> {
    let mut traces = Vec::new();
    for path in event_files(&ended.snapshot)? {
        let mut warned = Warnings::default();
        if let Some(trace) = run_files::read_events(&path, &mut warned)? {
            // An agent that goes on has not completed its file, and need not.
            if ended.dump.is_none() || trace.truncated {
                warnings.merge(warned);
            }
            traces.push(trace);
        }
    }
    Ok(traces)
}

/// The methods that are traced in the JVM of this snapshot, called or not, as far as its agent has written them.
///
/// # Errors
/// If the files cannot be read.
pub fn methods(snapshot: &Path) -> Result<Vec<SpanInfo>, Problem> {
    let mut methods = Vec::new();
    for path in event_files(snapshot)? {
        let trace = run_files::read_events(&path, &mut Warnings::default())?;
        methods.extend(
            trace
                .into_iter()
                .flat_map(|trace| trace.spans.into_values()),
        );
    }
    Ok(methods)
}

/// The event files of the JVM that writes a snapshot.
///
/// # Errors
/// If the folder or a file of it cannot be read.
pub fn event_files(snapshot: &Path) -> Result<Vec<PathBuf>, Problem> {
    let folder = snapshot.parent().unwrap_or(Path::new("."));
    let mut files = run_files::in_folder(folder)?;
    let jvm = run_files::jvm_of(snapshot);
    files.retain(|path| run_files::jvm_of(path) == jvm);
    let mut found = Vec::new();
    for path in files {
        if run_files::kind(&path)? == Kind::Events {
            found.push(path);
        }
    }
    Ok(found)
}

/// Takes out the classes that `filter` does not want.
pub fn select(traces: &mut [Trace], filter: &Filter) {
    for trace in traces {
        retain(trace, |span| filter.wants_name(&span.class));
    }
}

/// Takes out the spans that are not wanted, and their calls; the same with places and their events.
pub fn retain(trace: &mut Trace, is_wanted: impl Fn(&SpanInfo) -> bool) {
    trace.spans.retain(|_, span| is_wanted(span));
    let spans = &trace.spans;
    trace.calls.retain(|call| spans.contains_key(&call.span));
    trace.places.retain(|_, place| is_wanted(place));
    let places = &trace.places;
    trace
        .moments
        .retain(|moment| places.contains_key(&moment.place));
}

impl TraceOutputs {
    /// The files that are asked for, with their options.
    #[must_use]
    pub fn files(&self) -> [(&'static str, &Option<PathBuf>); 9] {
        [
            ("--flame-graph", &self.flame_graph),
            ("--folded", &self.folded),
            ("--perfetto", &self.perfetto),
            ("--json-lines", &self.json_lines),
            ("--table-csv", &self.table_csv),
            ("--table-json", &self.table_json),
            ("--results-csv", &self.results_csv),
            ("--results-json-lines", &self.results_json_lines),
            ("--results-html", &self.results_html),
        ]
    }

    /// Checks what is asked for, before anything is recorded.
    ///
    /// # Errors
    /// As [`Outputs::check`], and if it cannot be written (`H0620`).
    pub fn check(&self) -> Result<(), Problem> {
        let files = self.files();
        Outputs::default().check(&files)?;
        let folder = self.results_csv.as_deref();
        folder.map_or(Ok(()), writable::folder)?;
        let files = files
            .into_iter()
            .filter(|(option, _)| *option != "--results-csv"); // that folder
        writable::files(files.map(|(_, path)| path))
    }

    /// Whether one of them goes to standard output.
    #[must_use]
    pub fn takes_stdout(&self) -> bool {
        let mut files = self.files().into_iter();
        files.any(|(_, path)| path.as_deref().is_some_and(is_stdout))
    }

    /// Refuses what is made of single calls, because none will be recorded.
    ///
    /// # Errors
    /// `H0636`.
    pub fn refuse_calls(&self) -> Result<(), Problem> {
        let files = [
            &self.flame_graph,
            &self.folded,
            &self.perfetto,
            &self.json_lines,
        ];
        let asked = files.into_iter().flatten().next();
        asked.map_or(Ok(()), |path| Err(without_calls(path)))
    }

    /// What the table is sorted by.
    #[must_use]
    pub fn order(&self) -> Order {
        self.sort.map_or_else(Order::default, Order::from)
    }

    /// Writes the files asked for, prints the table, and lists what was written; all the rest also if one of them fails.
    /// `streamed`: what was written while the program ran.
    ///
    /// # Errors
    /// If a file or standard output cannot be written, a file needs single calls and none were recorded (`H0636`), a
    /// plugin has not computed its tables (`H0698`), or what was recorded is incomplete (`H0651`), which is found out when
    /// all else is done.
    pub fn make(&self, traces: &[Trace], streamed: StreamedLines) -> Result<(), Problem> {
        let summary = Summary::of(traces, self.order());
        let (mut tables, uncomputed) = self.reporters.add_to(results::of(traces));
        tables.extend(plugin_tables::merged(&self.observed));
        let mut made = Files::default();
        self.write(traces, &summary, streamed, &mut made);
        self.write_results(&tables, &summary, &mut made);
        let Files {
            written,
            mut failed,
        } = made;
        failed.extend(uncomputed);
        failed.extend(self.expect_tables(&tables).err());
        failed.extend(self.tell(&summary, &tables, &written).err());
        failed.extend(is_complete(&summary).err());
        show::all_but_last(failed)
    }

    /// Prints the tables, and what was written.
    fn tell(
        &self,
        summary: &Summary,
        tables: &[results::Table],
        written: &[PathBuf],
    ) -> Result<(), Problem> {
        let layout = Layout {
            width: terminal::columns(),
            colours: terminal::colours(),
            rows: self.top,
        };
        let mut text = Vec::new();
        let printed = self
            .print(summary, tables, &layout, &mut text)
            .and_then(|()| {
                written
                    .iter()
                    .try_for_each(|path| writeln!(text, "wrote {}", show::path(path)))
            });
        printed.map_err(|error| Problem::ours("H0624", error.to_string()))?;
        let text = String::from_utf8_lossy(&text);
        show::show_beside(self.beside || self.takes_stdout(), &text)
    }

    /// The table of methods, if there are any, and those of plugins.
    fn print(
        &self,
        summary: &Summary,
        tables: &[results::Table],
        layout: &Layout,
        text: &mut Vec<u8>,
    ) -> io::Result<()> {
        let has_methods = summary.methods > 0 || (tables.is_empty() && self.observed.is_empty());
        if has_methods {
            table::write(summary, layout, text)?;
        }
        let shown = tables
            .iter()
            .filter_map(|table| Some((table, self.rows_of(table)?)));
        for (index, (table, rows)) in shown.enumerate() {
            if has_methods || index > 0 {
                writeln!(text)?;
            }
            table.write(rows, text)?;
        }
        self.print_left_out(tables, text)?;
        if !has_methods {
            table::write_missing(summary, text)?;
        }
        Ok(())
    }

    /// Names the tables that are not shown, since others are computed of them.
    fn print_left_out(&self, tables: &[results::Table], text: &mut Vec<u8>) -> io::Result<()> {
        let left_out = tables.iter().filter(|table| self.rows_of(table).is_none());
        for table in left_out.filter(|_| self.tables.is_empty()) {
            let (plugin, name) = (line(table.plugin()), line(table.name()));
            writeln!(text, "not shown: {plugin}: {name} (--table {name})")?;
        }
        Ok(())
    }

    /// How many rows of a plugin's table are shown; none if it is not. What is missing is, always; a table that is there
    /// for others alone only by its name.
    fn rows_of(&self, table: &results::Table) -> Option<usize> {
        if !table.is_table() {
            return Some(self.top);
        }
        if self.tables.is_empty() {
            return (!table.is_helper()).then_some(self.top);
        }
        let mut asked = self.tables.iter().map(|asked| table_and_rows(asked));
        let (_, rows) = asked.find(|(name, _)| *name == table.name())?;
        Some(rows.unwrap_or(self.top))
    }

    /// Expects that the tables are there that are to be shown.
    fn expect_tables(&self, tables: &[results::Table]) -> Result<(), Problem> {
        let is_there = |name: &str| tables.iter().any(|table| table.name() == name);
        let mut names = self.tables.iter().map(|asked| table_and_rows(asked).0);
        let Some(name) = names.find(|name| !is_there(name)) else {
            return Ok(());
        };
        let found = tables.iter().filter(|table| table.is_table());
        let found: Vec<&str> = found.map(results::Table::name).collect();
        let message = format!("there is no table `{name}`");
        Err(Problem::partial("H0688", message).with("found", found.join(", ")))
    }

    /// Writes the tables of plugins where they are asked for.
    fn write_results(&self, tables: &[results::Table], summary: &Summary, made: &mut Files) {
        let asked = [
            &self.results_csv,
            &self.results_json_lines,
            &self.results_html,
        ];
        if asked.into_iter().any(Option::is_some) && !tables.iter().any(results::Table::is_table) {
            return made.failed.push(no_table());
        }
        if let Some(folder) = &self.results_csv {
            let mut names = HashMap::new();
            for table in tables.iter().filter(|table| table.is_table()) {
                let name = table.file_name();
                let before: &mut usize = names.entry(name.clone()).or_default();
                *before += 1;
                let name = match before {
                    1 => format!("{name}.csv"),
                    again => format!("{name}-{again}.csv"),
                };
                made.file(&folder.join(name), &|out| table.write_csv(out));
            }
        }
        if let Some(path) = &self.results_json_lines {
            made.file(path, &|out| {
                let mut tables = tables.iter();
                tables.try_for_each(|table| table.write_json_lines(out))
            });
        }
        if let Some(path) = &self.results_html {
            made.file(path, &|out| {
                let mut missing = Vec::new();
                table::write_missing(summary, &mut missing)?;
                results::write_html(tables, &String::from_utf8_lossy(&missing), out)
            });
        }
    }

    fn write(
        &self,
        traces: &[Trace],
        summary: &Summary,
        streamed: StreamedLines,
        made: &mut Files,
    ) {
        let stacks = Stacks::of(traces);
        let sums: [(&Option<PathBuf>, Content<'_>); 2] = [
            (&self.table_csv, &|out| records::write_csv(summary, out)),
            (&self.table_json, &|out| records::write_json(summary, out)),
        ];
        for (path, content) in sums {
            if let Some(path) = path {
                made.file(path, content);
            }
        }
        type Asked = fn(&[Trace], &Path) -> Result<(), Problem>;
        let calls: [(&Option<PathBuf>, Asked, Content<'_>); 3] = [
            (&self.flame_graph, has_calls, &|mut out| {
                flame::write(&stacks, &title(traces), &mut out)
            }),
            (&self.folded, has_calls, &|mut out| {
                stacks.write_folded(&mut out)
            }),
            (&self.perfetto, has_calls_or_events, &|mut out| {
                perfetto::write(traces, &mut out)
            }),
        ];
        for (path, has, content) in calls {
            let Some(path) = path else { continue };
            match has(traces, path) {
                Ok(()) => made.file(path, content),
                Err(problem) => made.failed.push(problem),
            }
        }
        if let Some(path) = &self.json_lines {
            self.write_lines(path, traces, streamed, made);
        }
    }

    /// Writes JSON lines, unless that was done while the program ran.
    fn write_lines(
        &self,
        path: &Path,
        traces: &[Trace],
        streamed: StreamedLines,
        made: &mut Files,
    ) {
        if matches!(streamed, StreamedLines::No | StreamedLines::Calls(0))
            && let Err(problem) = has_calls_or_events(traces, path)
        {
            return made.failed.push(problem);
        }
        match streamed {
            StreamedLines::CutShort => {}
            StreamedLines::Calls(_) if is_stdout(path) => {}
            StreamedLines::Calls(_) => made.written.push(path.to_owned()),
            StreamedLines::No => made.file(path, &|mut out| match self.compact {
                true => compact::write(traces, &mut out),
                false => json_lines::write(traces, &mut out),
            }),
        }
    }
}

/// The JSON lines that were written while calls were recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StreamedLines {
    /// They were not to be.
    #[default]
    No,
    /// Those of so many calls.
    Calls(u64),
    /// They could not be written to the end, which is told.
    CutShort,
}

/// The name and the number of `TABLE`, or `TABLE=ROWS`.
fn table_and_rows(asked: &str) -> (&str, Option<usize>) {
    let parts = asked.rsplit_once('=');
    let with_rows = parts.and_then(|(name, rows)| Some((name, rows.parse().ok()?)));
    with_rows.map_or((asked, None), |(name, rows)| (name, Some(rows)))
}

fn no_table() -> Problem {
    Problem::user("H0688", "there is no table of a plugin")
        .with(
            "expected",
            "counts or times that a plugin made rows of (`Plan::row` of the SDK), or events (`Plan::event`)",
        )
        .with(
            "help",
            "--table-csv and --table-json write the table of methods",
        )
}

/// Whether all was recorded that happened; what was not is in every output.
///
/// # Errors
/// `H0651` if something is missing.
pub fn is_complete(summary: &Summary) -> Result<(), Problem> {
    let gaps = summary.incomplete.iter().map(ToString::to_string);
    let lost = losses::present(&summary.lost).map(|loss| loss.to_string());
    let mut missing = gaps.chain(lost).peekable();
    if missing.peek().is_none() {
        return Ok(());
    }
    let problem = Problem::partial("H0651", "the trace is incomplete");
    let problem = missing.fold(problem, |problem, found| problem.with("found", found));
    Err(problem.with(
        "help",
        "make room where the agent writes (--output), or trace fewer methods, or use --aggregate",
    ))
}

/// Whether the lines are of all calls that were ever in the event files.
///
/// # Errors
/// `H0651` if the oldest were dropped before they were read.
pub fn is_streamed(traces: &[Trace], streamed: StreamedLines) -> Result<(), Problem> {
    let StreamedLines::Calls(streamed) = streamed else {
        return Ok(());
    };
    let all = |trace: &Trace| (trace.calls.len() + trace.moments.len()) as u64 + trace.lost.oldest;
    let missing = traces.iter().map(all).sum::<u64>().saturating_sub(streamed);
    if missing == 0 || traces.iter().all(|trace| trace.lost.oldest == 0) {
        return Ok(());
    }
    let missing = counted(missing, "call");
    let found = format!("{missing} dropped from the event file before being read");
    Err(Problem::partial("H0651", "the JSON lines are incomplete")
        .with("found", found)
        .with(
            "help",
            "allow longer event files (--max-size), or trace fewer methods",
        ))
}

/// Sums cannot be made into what shows single calls, nor can nothing.
fn has_calls(traces: &[Trace], path: &Path) -> Result<(), Problem> {
    let has_some = |trace: &Trace| {
        // That no call matches a condition is an answer.
        !trace.calls.is_empty() || trace.spans.values().any(|span| !span.when.is_empty())
    };
    if traces.iter().any(has_some) {
        return Ok(());
    }
    let keeps_calls = |span: &SpanInfo| span.mode == SpanMode::Events;
    let mut spans = traces.iter().flat_map(|trace| trace.spans.values());
    Err(match spans.all(keeps_calls) {
        true => without_any_call(path),
        false => without_calls(path),
    })
}

/// As [`has_calls`], of what shows events, too.
fn has_calls_or_events(traces: &[Trace], path: &Path) -> Result<(), Problem> {
    // That no event was reached is an answer.
    if traces.iter().any(|trace| !trace.places.is_empty()) {
        return Ok(());
    }
    has_calls(traces, path)
}

fn without_any_call(path: &Path) -> Problem {
    let message = format!("{} shows calls, and none was recorded", path.display());
    Problem::user("H0636", message).with(
        "help",
        "the methods were not called meanwhile: record for longer, or methods that are called",
    )
}

fn without_calls(path: &Path) -> Problem {
    let message = format!(
        "{} needs single calls, and none are recorded",
        path.display()
    );
    Problem::user("H0636", message).with(
        "help",
        "record without --aggregate and --count, and methods that are called",
    )
}

/// Whether each JVM has written the end of its file.
///
/// # Errors
/// `H0651` with those that have not.
pub fn are_finished<'t>(traces: impl IntoIterator<Item = &'t Trace>) -> Result<(), Problem> {
    let mut cut = traces
        .into_iter()
        .filter(|trace| !trace.complete)
        .peekable();
    if cut.peek().is_none() {
        return Ok(());
    }
    let problem = Problem::partial("H0651", "what is shown is incomplete");
    Err(cut.fold(problem, |problem, trace| {
        problem.with("found", not_finished(trace.meta.pid))
    }))
}

/// What is missing of a JVM that has not written the end of its file.
#[must_use]
pub fn not_finished(pid: u32) -> String {
    format!("the JVM {pid} was killed, and with it what it had not written")
}

fn title(traces: &[Trace]) -> String {
    let title = match traces {
        [trace] if !trace.meta.command.is_empty() => trace::names::command(&trace.meta.command),
        _ => "Trace".to_owned(),
    };
    match traces.iter().find_map(Gap::of) {
        Some(gap) => format!("{title} (incomplete: {gap})"),
        None => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::events::Lost;

    #[test]
    fn table_that_is_there_for_others_is_shown_by_its_name_alone() {
        let table = |name: &str| {
            results::Table::Computed(results::ComputedTable {
                plugin: "p".to_owned(),
                name: name.to_owned(),
                columns: vec![],
                rows: vec![],
            })
        };
        let tables = [table("_runs"), table("texts")];
        let shown = |asked: &[&str]| {
            let outputs = TraceOutputs {
                top: 40,
                tables: asked.iter().map(|name| (*name).to_owned()).collect(),
                ..TraceOutputs::default()
            };
            let mut left_out = Vec::new();
            outputs.print_left_out(&tables, &mut left_out).unwrap();
            let rows = tables.each_ref().map(|table| outputs.rows_of(table));
            (rows, String::from_utf8(left_out).unwrap())
        };
        let line = "not shown: p: _runs (--table _runs)\n".to_owned();
        assert_eq!(shown(&[]), ([None, Some(40)], line));
        assert_eq!(shown(&["_runs=5"]), ([Some(5), None], String::new()));
    }

    #[test]
    fn trace_without_some_calls_is_incomplete_whatever_the_reason_unless_that_was_asked_for() {
        let complete = |lost: Lost| {
            let trace = Trace {
                lost,
                ..Trace::default()
            };
            is_complete(&Summary::of(&[trace], Order::Calls))
        };
        let none = Lost::default();
        for lost in [
            Lost { full: 7, ..none },
            Lost { sums: 7, ..none },
            Lost {
                untracked: 7,
                ..none
            },
            Lost { unended: 7, ..none },
        ] {
            let problem = complete(lost).expect_err("incomplete");
            assert_eq!(problem.code(), "H0651");
            assert!(problem.to_string().contains("7 calls: "), "{problem}");
        }
        let asked = Lost {
            filtered: 7,
            oldest: 7,
            ..none
        };
        assert!(complete(asked).is_ok());
    }
}
