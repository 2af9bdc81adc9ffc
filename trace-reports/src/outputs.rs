//! Outputs of a trace: tables, and files for other programs.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use class_selection::filter::Filter;
use errors::{Error, codes};
use escape::line;
use jvm_events::tables::PluginTables;
use local_files::distinct_outputs;
use local_files::output_files::{Content, Files};
use local_files::preflight;
use local_files::special_file::is_special;
use local_files::stdout::is_stdout;
use probes::events::Trace;
use standard_streams::show;
use standard_streams::terminal;
use trace::flame::Labels;
use trace::names::Names;
use trace::recording::{Recording, Scratch};
use trace::slow::LostCalls;
use trace::stacks::Side;
use trace::summary::{Gap, Order, Summary};
use trace::table::Layout;
use trace::{compact, json_lines, perfetto, records, results, table};

use crate::completeness::{
    StreamedLines, follows_all, has_calls, has_calls_or_events, has_whole_trees, is_complete,
    without_calls,
};
use crate::recorded::{self, traces};
use crate::reporters::Reporters;
use crate::stacks::StackOptions;
use crate::{plugin_tables, value_check};

/// Outputs of a trace.
#[derive(Debug, Clone, Default)]
pub struct TraceOutputs {
    /// The file of a flame graph (SVG).
    pub flame_graph: Option<PathBuf>,
    /// The file of folded stacks; calls in nanoseconds.
    pub folded: Option<PathBuf>,
    /// The file of a time line (JSON), for ui.perfetto.dev or chrome://tracing.
    pub perfetto: Option<PathBuf>,
    /// The file of JSON lines; `-` is standard output, and tables then go to standard error.
    pub json_lines: Option<PathBuf>,
    /// Writes one JSON line for each call, and names as numbers.
    pub compact: bool,
    /// The form of stacks.
    pub stacks: StackOptions,
    /// The file of the whole table as CSV, in nanoseconds.
    pub table_csv: Option<PathBuf>,
    /// The file of the whole table as JSON, in nanoseconds.
    pub table_json: Option<PathBuf>,
    /// The folder of plugins' tables as PLUGIN-TABLE.csv, in nanoseconds.
    pub results_csv: Option<PathBuf>,
    /// The file of plugins' tables as JSON lines; `-` is standard output.
    pub results_json_lines: Option<PathBuf>,
    /// The file of plugins' tables as one HTML page.
    pub results_html: Option<PathBuf>,
    /// The sort order of the table.
    pub order: Order,
    /// Number of rows of a table.
    pub top: usize,
    /// Show only this table of a plugin, with this number of rows; repeatable [default: tables without `_` in front of the name]
    pub tables: Vec<String>,
    /// Selects the classes of the recording to compare with.
    pub filter: Filter,
    /// Prints tables to standard error, because standard output is taken.
    pub beside: bool,
    /// Plugins that compute tables.
    pub reporters: Reporters,
    /// Tables that plugins computed from JVM events.
    pub plugin_tables: Vec<PluginTables>,
}

impl TraceOutputs {
    /// Returns the requested files, with their options.
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

    /// Checks these outputs, and another one of the command, before any recording.
    ///
    /// # Errors
    /// As [`distinct_outputs::check`], and if a file cannot be written (`H0620`).
    pub fn check(&self, other: Option<(&'static str, &Option<PathBuf>)>) -> Result<(), Error> {
        let files: Vec<_> = self.files().into_iter().chain(other).collect();
        distinct_outputs::check(files.iter().copied())?;
        self.check_stacks()?;
        let folder = self.results_csv.as_deref();
        folder.map_or(Ok(()), preflight::folder)?;
        let files = files
            .into_iter()
            .filter(|(option, _)| *option != "--results-csv"); // checked above
        preflight::files(files.map(|(_, path)| path))
    }

    /// Checks the options of stacks.
    ///
    /// # Errors
    /// As [`StackOptions::check`].
    pub fn check_stacks(&self) -> Result<(), Error> {
        let is_drawn = self.flame_graph.is_some() || self.folded.is_some();
        self.stacks.check(is_drawn)
    }

    /// Checks whether an output goes to standard output.
    #[must_use]
    pub fn takes_stdout(&self) -> bool {
        let mut files = self.files().into_iter();
        files.any(|(_, path)| path.as_deref().is_some_and(is_stdout))
    }

    /// Refuses outputs that need single calls, because none will be recorded.
    ///
    /// # Errors
    /// `H0636`.
    pub fn refuse_calls(&self) -> Result<(), Error> {
        let files = [
            &self.flame_graph,
            &self.folded,
            &self.perfetto,
            &self.json_lines,
        ];
        let asked = files.into_iter().flatten().next();
        asked.map_or(Ok(()), |path| Err(without_calls(path)))
    }

    /// Writes the requested files, prints the table, and lists the written files. A failure does
    /// not stop the other outputs. `streamed` describes the lines written while the program ran.
    ///
    /// # Errors
    /// If a file or standard output cannot be written, a file needs single calls and none were
    /// recorded (`H0636`), a plugin has not computed its tables (`H0698`), or the recording is
    /// incomplete (`H0651`), which is checked last.
    pub fn make(&self, recordings: &[Recording], streamed: StreamedLines) -> Result<(), Error> {
        let summary = Summary::of(traces(recordings), self.order);
        let tables = results::of(recordings);
        let tables = tables.map_err(|error| Error::fault(codes::H0624, error.to_string()))?;
        let (mut tables, uncomputed) = self.reporters.add_to(tables);
        tables.extend(plugin_tables::merged(&self.plugin_tables));
        let mut made = Files::default();
        self.write(recordings, &summary, streamed, &mut made);
        self.write_results(&tables, &summary, &mut made);
        let Files {
            written,
            mut failed,
        } = made;
        failed.extend(uncomputed);
        failed.extend(self.expect_tables(&tables).err());
        failed.extend(self.print_outputs(&summary, &tables, &written).err());
        failed.extend(is_complete(&summary).err());
        let lost_tasks = recordings.iter().map(Recording::lost_tasks).sum();
        failed.extend(follows_all(lost_tasks).err());
        let lost_calls = recordings.iter().map(Recording::lost_calls);
        let lost_calls = lost_calls.fold(LostCalls::default(), LostCalls::and);
        failed.extend(has_whole_trees(lost_calls).err());
        let traces: Vec<&Trace> = traces(recordings).collect();
        failed.extend(value_check::were_found(&traces).err());
        show::all_but_last(failed)
    }

    /// Prints the tables and the list of written files.
    fn print_outputs(
        &self,
        summary: &Summary,
        tables: &[results::Table],
        written: &[PathBuf],
    ) -> Result<(), Error> {
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
        printed.map_err(|error| Error::fault(codes::H0624, error.to_string()))?;
        let text = String::from_utf8_lossy(&text);
        show::show_beside(self.beside || self.takes_stdout(), &text)
    }

    /// Prints the table of methods, if any, and those of plugins.
    fn print(
        &self,
        summary: &Summary,
        tables: &[results::Table],
        layout: &Layout,
        text: &mut Vec<u8>,
    ) -> io::Result<()> {
        let has_methods =
            summary.methods > 0 || (tables.is_empty() && self.plugin_tables.is_empty());
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

    /// Names the tables that are hidden because other tables are computed from them.
    fn print_left_out(&self, tables: &[results::Table], text: &mut Vec<u8>) -> io::Result<()> {
        let left_out = tables.iter().filter(|table| self.rows_of(table).is_none());
        for table in left_out.filter(|_| self.tables.is_empty()) {
            let (plugin, name) = (line(table.plugin()), line(table.name()));
            writeln!(text, "not shown: {plugin}: {name} (--table {name})")?;
        }
        Ok(())
    }

    /// Returns the number of displayed rows of a plugin's table, or nothing for a hidden one. Notes
    /// about missing data are always displayed. A helper table is displayed only on request.
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

    /// Checks that the requested tables exist.
    fn expect_tables(&self, tables: &[results::Table]) -> Result<(), Error> {
        let is_there = |name: &str| tables.iter().any(|table| table.name() == name);
        let mut names = self.tables.iter().map(|asked| table_and_rows(asked).0);
        let Some(name) = names.find(|name| !is_there(name)) else {
            return Ok(());
        };
        let found = tables.iter().filter(|table| table.is_table());
        let found: Vec<&str> = found.map(results::Table::name).collect();
        let message = format!("there is no table `{name}`");
        Err(Error::partial(codes::H0688, message).with("found", found.join(", ")))
    }

    /// Writes the requested files of plugins' tables.
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
        recordings: &[Recording],
        summary: &Summary,
        streamed: StreamedLines,
        made: &mut Files,
    ) {
        let sums: [(&Option<PathBuf>, Content<'_>); 2] = [
            (&self.table_csv, &|out| records::write_csv(summary, out)),
            (&self.table_json, &|out| records::write_json(summary, out)),
        ];
        for (path, content) in sums {
            if let Some(path) = path {
                made.file(path, content);
            }
        }
        self.write_stacks(recordings, made);
        if let Some(path) = &self.perfetto {
            match has_calls_or_events(recordings, path) {
                Ok(()) => made.file(path, &|out| perfetto::write(recordings, out)),
                Err(problem) => made.failed.push(problem),
            }
        }
        if let Some(path) = &self.json_lines {
            self.write_lines(path, recordings, streamed, made);
        }
    }

    /// Writes the flame graph and the folded stacks.
    fn write_stacks(&self, recordings: &[Recording], made: &mut Files) {
        let asked = [&self.flame_graph, &self.folded].into_iter().flatten();
        let asked: Vec<&PathBuf> = asked.collect();
        let Some(first) = asked.first() else { return };
        if has_calls(recordings, first).is_err() {
            let refused = asked.iter().map(|path| has_calls(recordings, path));
            return made.failed.extend(refused.filter_map(Result::err));
        }
        if let Err(problem) = self.draw(recordings, first, made) {
            made.failed.push(problem);
        }
    }

    fn draw(&self, recordings: &[Recording], first: &Path, made: &mut Files) -> Result<(), Error> {
        let before = match &self.stacks.against {
            Some(path) => recorded::before(path, &self.filter, &self.scratch())?,
            None => Vec::new(),
        };
        let names = Names::of(traces(recordings).chain(traces(&before)));
        let mut stacks = self.stacks.stacks();
        for (side, recordings) in [(Side::Before, before.as_slice()), (Side::After, recordings)] {
            for recording in recordings {
                let added = stacks.add_calls(recording, &names, side);
                added.map_err(|error| Error::unwritable(first, &error).partly())?;
            }
        }
        let title = self.stacks.title(title(recordings));
        let files = (&self.flame_graph, &self.folded);
        self.stacks
            .write(&mut stacks, Labels::of_calls(&title), files, made);
        Ok(())
    }

    /// Writes JSON lines, unless they were written while the program ran.
    fn write_lines(
        &self,
        path: &Path,
        recordings: &[Recording],
        streamed: StreamedLines,
        made: &mut Files,
    ) {
        if matches!(streamed, StreamedLines::No | StreamedLines::Calls(0))
            && let Err(problem) = has_calls_or_events(recordings, path)
        {
            return made.failed.push(problem);
        }
        match streamed {
            StreamedLines::CutShort => {}
            StreamedLines::Calls(_) if is_stdout(path) => {}
            StreamedLines::Calls(_) => made.written.push(path.to_owned()),
            StreamedLines::No => made.file(path, &|out| match self.compact {
                true => compact::write(recordings, out),
                false => json_lines::write(recordings, out),
            }),
        }
    }

    /// Returns the folder for sorting single calls: that of TMPDIR, or else that of the first file
    /// of calls, because the usual folder may be in memory.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        let files = [
            &self.flame_graph,
            &self.folded,
            &self.perfetto,
            &self.json_lines,
        ];
        let mut files = files.into_iter().flatten();
        let file = files.find(|path| !is_stdout(path) && !is_special(path));
        let beside = file.and_then(|path| path.parent());
        match beside.filter(|_| std::env::var_os("TMPDIR").is_none()) {
            Some(folder) if folder.is_dir() => Scratch::new(folder.to_owned()),
            _ => Scratch::default(),
        }
    }
}

/// Splits `TABLE`, or `TABLE=ROWS`, into name and number.
fn table_and_rows(asked: &str) -> (&str, Option<usize>) {
    let parts = asked.rsplit_once('=');
    let with_rows = parts.and_then(|(name, rows)| Some((name, rows.parse().ok()?)));
    with_rows.map_or((asked, None), |(name, rows)| (name, Some(rows)))
}

fn no_table() -> Error {
    Error::mistake(codes::H0688, "the recording has no table of a plugin")
        .with(
            "expected",
            "counts or times with rows of a plugin (`Plan::row` of the SDK), or events (`Plan::event`)",
        )
        .with(
            "help",
            "--table-csv and --table-json write the table of methods",
        )
}

fn title(recordings: &[Recording]) -> String {
    let title = match recordings {
        [one] if !one.trace.meta.command.is_empty() => {
            trace::names::command(&one.trace.meta.command)
        }
        _ => "Trace".to_owned(),
    };
    match traces(recordings).find_map(Gap::of) {
        Some(gap) => format!("{title} (incomplete: {gap})"),
        None => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helper_table_is_displayed_only_on_request() {
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
}
