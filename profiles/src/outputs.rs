//! Outputs of a profile: tables, and files for other programs.

use std::io::Write;
use std::path::PathBuf;

use class_selection::filter::Filter;
use errors::{Error, PARTIAL, codes};
use flate2::Compression;
use flate2::write::GzEncoder;
use globs::Glob;
use jvm_events::Recorded;
use jvm_events::merged::merged;
use jvm_events::selection::Selection;
use local_files::distinct_outputs;
use local_files::output_files::Files;
use local_files::preflight;
use local_files::stdout::is_stdout;
use standard_streams::show::{self, all_but_last, say};
use trace::flame::Labels;
use trace::jvm_events::folded::{self, Weight};
use trace::jvm_events::jfr::{self, Gaps};
use trace::jvm_events::table::Layout;
use trace::jvm_events::{json_lines, perfetto, pprof, table};
use trace::names::command;
use trace::numbers::counted;
use trace::stacks::Side;
use trace_reports::stacks::StackOptions;

use crate::recorded;

/// Printed frames of each stack.
pub const FRAMES: usize = 8;

/// Tables and files of a profile.
#[derive(Debug, Clone, Default)]
pub struct ProfileOutputs {
    /// The file of a flame graph (SVG), of the first recorded kind.
    pub flame_graph: Option<PathBuf>,
    /// The file of folded stacks, of the first recorded kind.
    pub folded: Option<PathBuf>,
    /// The form of stacks.
    pub stacks: StackOptions,
    /// The file of a pprof profile (`.pb.gz`).
    pub pprof: Option<PathBuf>,
    /// The file of a time line (JSON), for ui.perfetto.dev or chrome://tracing.
    pub perfetto: Option<PathBuf>,
    /// The file of a JDK Flight Recorder recording.
    pub jfr: Option<PathBuf>,
    /// The file of JSON lines; `-` is standard output, and tables then go to standard error.
    pub json_lines: Option<PathBuf>,
    /// Selectors of classes: only stacks with a frame of these are kept.
    pub only: Vec<String>,
    /// Globs of threads: only events of these are kept.
    pub thread: Vec<String>,
    /// Number of rows of a table.
    pub top: usize,
    /// Number of printed frames of each stack; 0 for no stacks.
    pub frames: usize,
}

/// Checked outputs of a profile.
pub struct Report<'a> {
    outputs: &'a ProfileOutputs,
    classes: Filter,
}

impl ProfileOutputs {
    fn files(&self) -> [(&'static str, &Option<PathBuf>); 6] {
        [
            ("--flame-graph", &self.flame_graph),
            ("--folded", &self.folded),
            ("--pprof", &self.pprof),
            ("--perfetto", &self.perfetto),
            ("--jfr", &self.jfr),
            ("--json-lines", &self.json_lines),
        ]
    }

    /// Checks whether a file needs single events with their times.
    #[must_use]
    pub fn needs_times(&self) -> bool {
        self.perfetto.is_some() || self.jfr.is_some()
    }

    /// Checks whether an output file is selected.
    #[must_use]
    pub fn any(&self) -> bool {
        self.files().iter().any(|(_, path)| path.is_some())
    }

    /// Checks before a recording whether the files can be written.
    ///
    /// # Errors
    /// `H0620`.
    pub fn check(&self) -> Result<(), Error> {
        preflight::files(self.files().map(|(_, path)| path))
    }

    /// Checks the options before a recording is written or read.
    ///
    /// # Errors
    /// If two outputs have one file (`H0670`), an output is the file of a run (`H0689`), or a selector is malformed
    /// (`H0606`).
    pub fn report(&self) -> Result<Report<'_>, Error> {
        distinct_outputs::check(self.files())?;
        let is_drawn = self.flame_graph.is_some() || self.folded.is_some();
        self.stacks.check(is_drawn)?;
        Ok(Report {
            outputs: self,
            classes: Filter::of_names(&self.only)?,
        })
    }
}

impl Report<'_> {
    /// Prints the tables, writes the files, and returns the exit code.
    ///
    /// # Errors
    /// If a file or standard output cannot be written, the filters leave no event (`H0610`), or `before` is a problem.
    pub fn make(&self, mut recordings: Vec<Recorded>, before: Option<Error>) -> Result<u8, Error> {
        let was_empty = recordings.iter().all(Recorded::is_empty);
        for recorded in &mut recordings {
            self.select(recorded);
        }
        let (mut files, gaps) = self.write(&recordings);
        let told = self.tell(&recordings, &files, gaps);
        files.failed.extend(told.err());
        files.failed.extend(before);
        let is_empty = recordings.iter().all(Recorded::is_empty);
        if is_empty && !was_empty {
            files.failed.push(nothing_selected());
        }
        all_but_last(files.failed)?;
        let is_partial = gaps.left_out > 0 || recordings.iter().any(table::is_partial);
        Ok(match is_partial {
            true => PARTIAL,
            false => 0,
        })
    }

    /// Keeps only events of the selected threads and classes.
    fn select(&self, recorded: &mut Recorded) {
        let globs: Vec<Glob> = self
            .outputs
            .thread
            .iter()
            .map(|text| Glob::of_member(text))
            .collect();
        let thread = |name: &str| globs.is_empty() || globs.iter().any(|glob| glob.matches(name));
        let class = |name: &str| {
            self.classes.is_everything() || self.classes.wants_name(&jvms::names::internal(name))
        };
        let (thread, class) = (&thread, &class);
        Selection { thread, class }.apply(recorded);
    }

    fn write(&self, recordings: &[Recorded]) -> (Files, Gaps) {
        let mut written = Files::default();
        self.write_stacks(recordings, &mut written);
        self.write_rows(recordings, &mut written);
        let gaps = self.write_jfr(recordings, &mut written);
        (written, gaps)
    }

    /// Writes the file of JDK Flight Recorder.
    fn write_jfr(&self, recordings: &[Recorded], written: &mut Files) -> Gaps {
        let Some(path) = &self.outputs.jfr else {
            return Gaps::default();
        };
        if !recordings.iter().any(jfr::has_events) {
            written.failed.push(without_events(path));
            return Gaps::default();
        }
        let (bytes, gaps) = jfr::bytes(recordings);
        written.file(path, &|out| out.write_all(&bytes));
        gaps
    }

    /// Writes the flame graph and the folded stacks.
    fn write_stacks(&self, recordings: &[Recorded], written: &mut Files) {
        let drawn = (&self.outputs.flame_graph, &self.outputs.folded);
        let mut asked = [drawn.0, drawn.1].into_iter().flatten().peekable();
        if asked.peek().is_none() {
            return;
        }
        let weight = recordings.iter().find_map(Weight::of);
        let before = match self.before() {
            Ok(before) => before,
            Err(problem) => return written.failed.push(problem),
        };
        let options = &self.outputs.stacks;
        let mut stacks = options.stacks();
        for (side, recordings) in [(Side::Before, before.as_slice()), (Side::After, recordings)] {
            for (recorded, weight) in recordings.iter().zip(weight.into_iter().cycle()) {
                folded::add(&mut stacks, recorded, weight, side);
            }
        }
        let Some(weight) = weight.filter(|_| !stacks.is_empty()) else {
            return written
                .failed
                .extend(asked.map(|path| nothing_to_draw(path)));
        };
        let labels = Labels {
            title: &options.title(title(recordings)),
            subtitle: weight.title(),
            unit: weight.unit(),
            is_difference: false,
        };
        options.write(&mut stacks, labels, drawn, written);
    }

    /// Returns the recordings of --against, filtered like the others.
    fn before(&self) -> Result<Vec<Recorded>, Error> {
        let Some(path) = &self.outputs.stacks.against else {
            return Ok(Vec::new());
        };
        let mut recordings = recorded::read_all(path)?;
        recordings.iter_mut().for_each(|one| self.select(one));
        Ok(recordings)
    }

    /// Writes the files that need no stacks.
    fn write_rows(&self, recordings: &[Recorded], written: &mut Files) {
        if let Some(path) = &self.outputs.pprof {
            written.file(path, &|out| {
                let mut out = GzEncoder::new(out, Compression::default());
                out.write_all(&pprof::bytes(recordings))?;
                out.finish().map(drop)
            });
        }
        if let Some(path) = &self.outputs.perfetto {
            let is_timed = |one: &Recorded| one.subscription.times || !one.collections.is_empty();
            match recordings.iter().any(is_timed) {
                true => written.file(path, &|mut out| perfetto::write(recordings, &mut out)),
                false => written.failed.push(without_times(path)),
            }
        }
        if let Some(path) = &self.outputs.json_lines {
            written.file(path, &|mut out| json_lines::write(recordings, &mut out));
        }
    }

    /// Prints the tables and the written files.
    fn tell(&self, recordings: &[Recorded], files: &Files, gaps: Gaps) -> Result<(), Error> {
        let layout = Layout {
            rows: self.outputs.top,
            frames: self.outputs.frames,
        };
        let mut text = tables(recordings, layout);
        text.push_str(&gaps_of_jfr(gaps));
        for path in &files.written {
            text.push_str(&format!("wrote {}\n", show::path(path)));
        }
        let mut paths = self.outputs.files().into_iter();
        let is_taken = paths.any(|(_, path)| path.as_deref().is_some_and(is_stdout));
        show::show_beside(is_taken, &text)
    }
}

/// Returns the title of a flame graph: the command of the JVM.
fn title(recordings: &[Recorded]) -> String {
    let first = recordings.first().map(|one| command(&one.jvm.command));
    let first = first.unwrap_or_default();
    match recordings.len().saturating_sub(1) {
        0 => first,
        more => format!(
            "{} together: {first}, and {more} more",
            counted(more + 1, "JVM")
        ),
    }
}

/// Returns the tables. Several JVMs share one table of each kind.
fn tables(recordings: &[Recorded], layout: Layout) -> String {
    if let [recorded] = recordings {
        return table::text(recorded, layout);
    }
    let count = recordings.len();
    let mut text = format!("{count} JVMs, whose numbers are added up:\n");
    for recorded in recordings {
        let line = command(&recorded.jvm.command);
        text.push_str(&format!("  {} {line}\n", recorded.jvm.pid));
    }
    text.push_str(&table::text(&merged(recordings), layout));
    for recorded in recordings {
        let bias = table::sampler_bias(recorded).unwrap_or_default();
        let missing = table::missing(recorded);
        for line in bias.lines().chain(missing.lines()) {
            text.push_str(&format!("  {} {line}\n", recorded.jvm.pid));
        }
    }
    text
}

/// Returns the problem of filters that leave no event.
fn nothing_selected() -> Error {
    say("--only and --thread exclude all recorded events");
    Error::partial(
        codes::H0610,
        "no recorded event matches --only and --thread",
    )
    .with(
        "help",
        "write selectors as com.acme.** or com.acme.Store, or leave --only and --thread out",
    )
}

fn without_times(path: &std::path::Path) -> Error {
    let message = format!("{} is not written: no times were recorded", path.display());
    Error::partial(codes::H0610, message).with("help", "select --perfetto when you record")
}

fn without_events(path: &std::path::Path) -> Error {
    let message = format!(
        "{} is not written: no recorded event is an event of JFR",
        path.display()
    );
    Error::partial(codes::H0610, message).with(
        "expected",
        "samples, allocations, waits, exceptions or collections",
    )
}

/// Returns the lines about incomplete or missing events of JFR.
fn gaps_of_jfr(gaps: Gaps) -> String {
    let lines = [
        (
            gaps.untimed,
            "at the end of the JFR recording, without recorded times",
        ),
        (gaps.left_out, "not in the JFR recording, for lack of space"),
    ];
    let lines = lines.iter().filter(|(number, _)| *number > 0);
    let line = |(number, cause): &(u64, &str)| {
        let verb = if *number == 1 { "is" } else { "are" };
        format!("{} {verb} {cause}\n", counted(*number, "event"))
    };
    lines.map(line).collect()
}

fn nothing_to_draw(path: &std::path::Path) -> Error {
    let message = format!("{} is not written: no stack to draw", path.display());
    Error::partial(codes::H0610, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm_events::Subscription;
    use jvm_events::recorded::{Collection, Jvm, Lost, VERSION};

    #[test]
    fn several_jvms_have_one_table_and_each_says_what_it_lacks() {
        let recording = |pid, complete| Recorded {
            version: VERSION,
            jvm: Jvm {
                pid,
                command: format!("java Main{pid}"),
                ..Jvm::default()
            },
            subscription: Subscription {
                collections: true,
                ..Subscription::default()
            },
            collections: vec![Collection::default()],
            complete,
            lost: Lost {
                turns: 2,
                ..Lost::default()
            },
            ..Recorded::default()
        };
        let layout = Layout { rows: 9, frames: 9 };
        let both = [recording(7, true), recording(8, false)];
        assert_eq!(title(&both[..1]), "java Main7");
        assert_eq!(title(&both), "2 JVMs together: java Main7, and 1 more");
        let text = tables(&both, layout);
        assert!(
            text.starts_with(
                "2 JVMs, whose numbers are added up:\n  7 java Main7\n  8 java Main8\n"
            ),
            "{text}"
        );
        assert_eq!(
            text.matches("GARBAGE COLLECTIONS: 2 collections").count(),
            1
        );
        assert_eq!(text.matches("incomplete: ").count(), 1);
        assert!(text.contains("JVM 8 did not end"), "{text}");
        for late in ["\n  7 late: 2 looks ", "\n  8 late: 2 looks "] {
            assert!(text.contains(late), "{text}");
        }
    }
}
