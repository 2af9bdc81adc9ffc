//! Merges several run files: the hits of each class file, and the sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use class_description::{Arena, describe_as};
use coverage::analysis::{add_implied, may_be_long, probe_count, unmeasured};
use coverage::report::{ExecutionData, Session};
use errors::{Error, Warning, Warnings, codes};
use jvms::names::binary;
use probes::events::{SpanInfo, Trace};
use probes::{ClassBytes, Incomplete, Merged, Meta, Snapshot, TestHits, Unselected};
use rayon::prelude::*;
use rewriter::ClassFile;
use trace::numbers::counted;

use super::class_files::Loader;
use super::command_line::program_of;
use super::damaged_files::DamagedFiles;
use super::exec_files;
use super::jacoco_agents::JacocoAgents;
use super::run_files::{self, RunFileKind};

use local_files::recording_jvm::Jvm;

pub use probes::coverage_plugins::{COUNTS, COVERAGE as PLUGIN, LINES};

/// Checks whether a class file has the method that JaCoCo adds to each class that it instruments.
#[must_use]
pub fn holds_jacoco(class: &[u8]) -> bool {
    const ADDED: &[u8] = b"$jacocoInit";
    ClassFile::read(class).is_ok_and(|class| class.pool().holds(ADDED))
}

/// The code of a method that had no probes.
pub const LEFT_ALONE: &str = codes::H0411;

/// Execution count of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCount {
    /// The method's name.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The line.
    pub line: u32,
    /// Number of executions.
    pub times: u64,
    /// True if the method begins at this line.
    pub is_entry: bool,
}

/// A loaded class and its hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredClass {
    /// Internal name.
    pub name: String,
    /// JaCoCo's class id.
    pub id: u64,
    /// Executed probes.
    pub probes: Vec<bool>,
    /// The class file, if the snapshot holds it.
    pub bytes: Option<ClassBytes>,
}

/// The begun lines of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunLines {
    /// Internal name of the class.
    pub name: String,
    /// The class's id.
    pub id: u64,
    /// One entry per line, in the order of the code.
    pub lines: Vec<bool>,
}

/// Hits of the classes of one loader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoaderData {
    /// The classes, each id once.
    pub classes: Vec<MeasuredClass>,
    /// Their begun lines.
    pub lines: Vec<BegunLines>,
}

/// The merged content of run files.
#[derive(Debug, Clone, Default)]
pub struct ExecutionDataStore {
    /// One per JVM, or per session of an `.exec` file.
    pub sessions: Vec<Session>,
    /// The classes, each id once, in order of first appearance.
    pub classes: Vec<MeasuredClass>,
    /// Begun lines of the classes with that information.
    pub lines: Vec<BegunLines>,
    /// Execution counts of lines, by the internal name of the class.
    pub counts: HashMap<String, Vec<LineCount>>,
    /// Hits of each test, by class number.
    pub tests: Vec<TestHits>,
    /// Begun lines of the same tests, if recorded.
    pub test_lines: Vec<TestHits>,
    /// True if the hits of some tests are incomplete.
    pub tests_cut_off: bool,
    /// Classes that a failure left without coverage probes.
    pub failures: Vec<probes::Failure>,
    /// True if a JVM was killed, or still ran.
    pub unfinished: bool,
    /// Plugins other than `coverage` with recorded data, which no report holds.
    pub other_plugins: BTreeSet<String>,
    /// Loaded classes, if none was selected.
    pub unselected: Unselected,
    /// The JVM of the first snapshot.
    pub loader: Loader,
    /// The same classes and lines by the name of their loader, from JVMs that recorded loaders
    /// apart.
    by_loader: BTreeMap<String, LoaderData>,
    /// True if a JVM recorded loaders apart.
    any_apart: bool,
    /// A file or JVM that did not record loaders apart.
    loaders_united_in: Option<String>,
    by_id: HashMap<u64, usize>,
    lines_by_id: HashMap<u64, usize>,
    by_name: HashMap<String, Vec<u64>>,
}

impl ExecutionDataStore {
    /// Reads and merges run files. Files that are damaged, of a newer version or of another kind
    /// are recorded in `damaged`.
    ///
    /// # Errors
    /// As [`DamagedFiles::unless_damaged`].
    pub fn read(
        paths: &[PathBuf],
        damaged: &mut DamagedFiles,
        warnings: &mut Warnings,
    ) -> Result<Self, Error> {
        let mut recorded = Self::default();
        let mut snapshots = Vec::new();
        for path in paths {
            let Some(kind) = kind_of(path, damaged, warnings)? else {
                continue;
            };
            match kind {
                RunFileKind::Snapshot => snapshots.push(path),
                RunFileKind::Tables => {} // it holds no coverage
                RunFileKind::Events => {
                    if run_files::with_counts([path.clone()]).next().is_none() {
                        continue; // it holds no coverage
                    }
                    let read = run_files::read_sums(path, warnings);
                    let trace = damaged.unless_damaged(path, read, warnings)?.flatten();
                    trace.iter().for_each(|trace| recorded.add_counts(trace));
                }
                RunFileKind::Exec => {
                    let read = exec_files::read(path);
                    let Some((sessions, data)) = damaged.unless_damaged(path, read, warnings)?
                    else {
                        continue;
                    };
                    recorded.sessions.extend(sessions);
                    recorded.loaders_united_in = Some(path.display().to_string());
                    for data in data {
                        recorded.add(data.into(), warnings);
                    }
                }
            }
        }
        recorded.add_snapshots(&snapshots, damaged, warnings)?;
        Ok(recorded)
    }

    /// Reads and merges snapshots one after the other: the forks of a build share most classes.
    fn add_snapshots(
        &mut self,
        paths: &[&PathBuf],
        damaged: &mut DamagedFiles,
        warnings: &mut Warnings,
    ) -> Result<(), Error> {
        let mut problem = None;
        let mut notes = JvmNotes::default();
        let snapshots = paths.iter().map_while(|path| {
            let read = run_files::read_snapshot(path, warnings)
                .and_then(|read| damaged.unless_empty(path, read));
            damaged
                .unless_damaged(path, read, warnings)
                .map_err(|error| problem = Some(error))
                .inspect(|read| read.iter().flatten().for_each(|read| notes.add(path, read)))
                .ok()
        });
        let merged = probes::merge(snapshots.flatten().flatten());
        match problem {
            Some(problem) => Err(problem),
            None => {
                self.add_merged(merged, &notes, warnings);
                Ok(())
            }
        }
    }

    /// Adds the recordings of JaCoCo's agent in JVMs of this run. They replace our hits of the
    /// classes that JaCoCo had changed before. Returns the files that were read.
    pub fn add_jacoco(&mut self, agents: &JacocoAgents, warnings: &mut Warnings) -> Vec<PathBuf> {
        let mut read = Vec::new();
        for (file, start_ms) in &agents.files {
            let start_ms = i64::try_from(*start_ms).unwrap_or(i64::MAX);
            // Earlier sessions in the file belong to earlier runs: a JVM starts its agents in
            // order, ours first.
            let Ok((_, data)) = exec_files::read_since(file, start_ms) else {
                continue;
            };
            if data.is_empty() {
                continue;
            }
            read.push(file.clone());
            for data in data {
                self.add(data.into(), warnings);
            }
        }
        if !read.is_empty() {
            self.remove_changed_by_jacoco();
        }
        read
    }

    /// Removes the classes that hold JaCoCo's probes.
    fn remove_changed_by_jacoco(&mut self) {
        let changed = |class: &MeasuredClass| {
            let bytes = class.bytes.as_ref().and_then(|bytes| bytes.inflate().ok());
            bytes.is_some_and(|bytes| holds_jacoco(&bytes))
        };
        let removed: HashSet<u64> = self
            .classes
            .iter()
            .filter(|class| changed(class))
            .map(|class| class.id)
            .collect();
        for ids in self.by_name.values_mut() {
            ids.retain(|id| !removed.contains(id));
        }
    }

    /// Adds merged snapshots. A JVM without measured classes, such as a build tool's own, is no
    /// session.
    fn add_merged(&mut self, merged: Merged, notes: &JvmNotes, warnings: &mut Warnings) {
        let Merged {
            sessions,
            incomplete,
            classes,
            tests,
            tests_cut_off,
            failures,
            conflicts,
            summary,
            complete,
        } = merged;
        self.unselected = summary.unselected;
        self.loader = sessions
            .iter()
            .map(loader)
            .max_by_key(|loader| loader.java_feature)
            .unwrap_or_default();
        // `classhook instrument` keeps classes in snapshots of no JVM.
        let all = sessions.iter().zip(&incomplete);
        let ran = all.filter(|(meta, _)| meta.pid > 0);
        let measured = ran.filter(|(meta, incomplete)| {
            incomplete.is_some() || !notes.without_classes.contains(&Jvm::of(meta))
        });
        self.sessions.extend(measured.map(|(meta, incomplete)| {
            let killed = notes.killed.get(&Jvm::of(meta));
            Session {
                killed: killed.filter(|_| incomplete.is_none()).cloned(),
                ..session(meta, incomplete.as_ref())
            }
        }));
        let merged = sessions.iter().flat_map(|meta| &meta.sessions);
        self.sessions.extend(merged.map(|session| Session {
            id: session.id.clone(),
            start_ms: session.start_ms,
            dump_ms: session.dump_ms,
            incomplete: session.incomplete.clone(),
            killed: session.killed.clone(),
        }));
        self.unfinished |= !complete;
        let ours =
            |failure: &probes::Failure| failure.plugin.is_empty() || is_coverage(&failure.plugin);
        self.failures = failures.into_iter().filter(ours).collect();
        for conflict in conflicts {
            warnings.add(different_probes(
                &conflict.name,
                conflict.kept,
                conflict.left_out,
            ));
        }
        let (mut numbers, mut line_ids) = (Vec::new(), Vec::new());
        let united = sessions.iter().find(|meta| !meta.per_loader);
        let per_loader = united.is_none();
        self.any_apart |= sessions.iter().any(|meta| meta.per_loader);
        self.loaders_united_in = united.map(session_id).or(self.loaders_united_in.take());
        for class in classes {
            line_ids.push((class.plugin == LINES).then_some(class.fingerprint));
            if class.plugin == LINES {
                let begun = BegunLines {
                    name: class.name,
                    id: class.fingerprint,
                    lines: class.probes,
                };
                if per_loader {
                    self.data_of_loader(&class.loader).lines.push(begun.clone());
                }
                self.add_lines(begun);
                numbers.push(None);
                continue;
            }
            if !is_coverage(&class.plugin) {
                self.other_plugins.insert(class.plugin);
                numbers.push(None);
                continue;
            }
            let loader = class.loader;
            let class = MeasuredClass {
                name: class.name,
                id: class.fingerprint,
                probes: class.probes,
                bytes: class.bytes,
            };
            if per_loader {
                self.data_of_loader(&loader).classes.push(class.clone());
            }
            numbers.push(self.add(class, warnings));
        }
        let number = |id: &Option<u64>| self.by_id.get(id.as_ref()?).copied();
        let of_lines: Vec<Option<usize>> = line_ids.iter().map(number).collect();
        for test in tests {
            self.test_lines.push(test.clone().renumbered(&of_lines));
            self.tests.push(test.renumbered(&numbers));
        }
        self.tests_cut_off |= tests_cut_off;
    }

    /// Adds a class, or unites it with the class of the same id. Returns its number, or nothing if the
    /// probes do not match.
    fn add(&mut self, class: MeasuredClass, warnings: &mut Warnings) -> Option<usize> {
        let number = *self.by_id.get(&class.id).unwrap_or(&self.classes.len());
        let Some(known) = self.classes.get_mut(number) else {
            self.by_id.insert(class.id, number);
            self.by_name
                .entry(class.name.clone())
                .or_default()
                .push(class.id);
            self.classes.push(class);
            return Some(number);
        };
        if known.name != class.name || known.probes.len() != class.probes.len() {
            warnings.add(different_probes(
                &class.name,
                known.probes.len(),
                class.probes.len(),
            ));
            return None;
        }
        unite(&mut known.probes, &class.probes);
        known.bytes = known.bytes.take().or(class.bytes);
        Some(number)
    }

    /// Adds the begun lines of a class, or unites them with those of another loader.
    fn add_lines(&mut self, begun: BegunLines) {
        let known = self.lines_by_id.get(&begun.id);
        let known = known.and_then(|number| self.lines.get_mut(*number));
        if let Some(known) = known.filter(|known| known.lines.len() == begun.lines.len()) {
            unite(&mut known.lines, &begun.lines);
            return;
        }
        self.lines_by_id.insert(begun.id, self.lines.len());
        self.lines.push(begun);
    }

    fn data_of_loader(&mut self, name: &str) -> &mut LoaderData {
        self.by_loader.entry(binary(name)).or_default()
    }

    /// Returns the hits of each loader, with its name (`app`, `com.acme.Loader#2`), in order of
    /// names and numbers.
    ///
    /// # Errors
    /// `H0606` if a JVM did not record loaders apart, or lines were counted, which covers all
    /// loaders together.
    pub fn by_loader(&self) -> Result<Vec<(String, Self)>, Error> {
        let mut refused = Error::mistake(codes::H0606, "cannot report results per loader");
        if !self.counts.is_empty() {
            refused = refused.with("cause", "lines are counted for all loaders together");
            return Err(refused.with(
                "help",
                "record without --hit-counts, or report without --per-loader",
            ));
        }
        if let Some(place) = &self.loaders_united_in {
            refused = refused.with(
                "found",
                format!("{place}, recorded for all loaders together"),
            );
            return Err(refused.with("help", "record with `classhook coverage --per-loader -- …`, or with the agent's option per-loader=on"));
        }
        let store = |of: &LoaderData| {
            let mut store = Self {
                loader: self.loader.clone(),
                failures: self.failures.clone(),
                ..Self::default()
            };
            // The stores of all loaders have reported these conflicts already.
            let mut known = Warnings::default();
            for class in of.classes.iter().cloned() {
                store.add(class, &mut known);
            }
            of.lines
                .iter()
                .cloned()
                .for_each(|lines| store.add_lines(lines));
            store
        };
        let loaders = self.by_loader.iter();
        let mut stores: Vec<_> = loaders
            .map(|(name, of)| (name.clone(), store(of)))
            .collect();
        stores.sort_by(|(one, _), (other, _)| numbered(one).cmp(&numbered(other)));
        Ok(stores)
    }

    /// Returns the hits by loader for one file if every JVM recorded loaders apart, or nothing if no
    /// JVM did.
    ///
    /// # Errors
    /// The reason why one file cannot hold them apart.
    pub fn loaders_apart(&self) -> Result<Option<&BTreeMap<String, LoaderData>>, String> {
        if !self.any_apart {
            return Ok(None);
        }
        if let Some(place) = &self.loaders_united_in {
            return Err(format!("{place} was recorded for all loaders together"));
        }
        match self.tests.is_empty() {
            true => Ok(Some(&self.by_loader)),
            false => Err("hits of tests are merged for all loaders together".to_owned()),
        }
    }

    /// Adds the execution counts of a JVM. Counted lines that never began get 0.
    fn add_counts(&mut self, trace: &Trace) {
        let counters = || trace.spans.iter().filter(|(_, span)| span.plugin == COUNTS);
        let method = |span: &SpanInfo| {
            (
                span.class.clone(),
                span.method.clone(),
                span.descriptor.clone(),
            )
        };
        // Counters of a class are numbered in the order of the code.
        let mut first = HashMap::new();
        for (_, span) in counters() {
            let number = first.entry(method(span)).or_insert(span.number);
            *number = span.number.min(*number);
        }
        for (id, span) in counters() {
            let counts = self.counts.entry(span.class.clone()).or_default();
            counts.push(LineCount {
                method: span.method.clone(),
                descriptor: span.descriptor.clone(),
                line: span.line,
                times: trace.counts.get(id).copied().unwrap_or(0),
                is_entry: first.get(&method(span)) == Some(&span.number),
            });
        }
    }

    /// Returns the begun lines of the class with this id; empty if unknown.
    #[must_use]
    pub fn begun_lines(&self, id: u64) -> &[bool] {
        let found = self.lines_by_id.get(&id);
        let found = found.and_then(|number| self.lines.get(*number));
        found.map_or(&[], |found| &found.lines)
    }

    /// Returns the class with this id.
    #[must_use]
    pub fn by_id(&self, id: u64) -> Option<&MeasuredClass> {
        self.classes.get(*self.by_id.get(&id)?)
    }

    /// Returns the ids of the classes with this name.
    #[must_use]
    pub fn ids_of(&self, name: &str) -> &[u64] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the start of the last run, if known.
    #[must_use]
    pub fn last_began(&self) -> Option<SystemTime> {
        let starts = self.sessions.iter().map(|session| session.start_ms);
        let last = u64::try_from(starts.max()?)
            .ok()
            .filter(|start| *start > 0)?;
        UNIX_EPOCH.checked_add(Duration::from_millis(last))
    }

    /// Returns a sentence for each session with data that could not be written.
    pub fn unwritten(&self) -> impl Iterator<Item = &str> {
        let sessions = self.sessions.iter();
        sessions.filter_map(|session| session.incomplete.as_deref())
    }

    /// Checks that all recorded data was written. Reports list the rest.
    ///
    /// # Errors
    /// `H0651` if data is missing.
    pub fn is_complete(&self) -> Result<(), Error> {
        let mut unwritten = self.unwritten().peekable();
        if unwritten.peek().is_none() {
            return Ok(());
        }
        let problem = Error::partial(codes::H0651, "the coverage is incomplete");
        let problem = unwritten.fold(problem, |problem, found| problem.with("found", found));
        Err(problem.with(
            "help",
            "make room where the agent writes (--output), and run the program again",
        ))
    }

    /// Returns the content of an `.exec` file: the classes in which JaCoCo has as many probes. A
    /// warning names the others.
    #[must_use]
    pub fn execution_data(&self, warnings: &mut Warnings) -> Vec<ExecutionData> {
        let all = self.classes.par_iter().map(jacocos_probes);
        let all: Vec<Option<Vec<bool>>> = all.collect();
        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        for (class, probes) in self.classes.iter().zip(all) {
            match probes {
                Some(probes) => kept.push(ExecutionData {
                    id: class.id,
                    name: class.name.clone(),
                    probes,
                }),
                None => left_out.push(class.name.as_str()),
            }
        }
        warnings.extend(not_for_jacoco(&left_out));
        kept
    }
}

/// Returns the hits of JaCoCo's probes in a class, or nothing if JaCoCo has another number of probes. Its tools stop
/// with an error at a class with subroutines that cannot be inlined.
fn jacocos_probes(class: &MeasuredClass) -> Option<Vec<bool>> {
    let mut probes = class.probes.clone();
    let bytes = class.bytes.as_ref().and_then(|bytes| bytes.inflate().ok());
    let may_differ =
        |bytes: &Vec<u8>| may_have_subroutines(bytes) || may_be_long(bytes.len(), probes.len());
    let Some(bytes) = bytes.filter(may_differ) else {
        return Some(probes);
    };
    let arena = Arena::new();
    let Ok(description) = describe_as(class.id, &bytes, &arena) else {
        return Some(probes);
    };
    if unmeasured(&description).next().is_some() && probe_count(&description) == probes.len() {
        return None;
    }
    add_implied(&description, &mut probes);
    Some(probes)
}

/// No class file of version 51 or above has `jsr` and `ret` (JVMS 4.9.1).
fn may_have_subroutines(class_file: &[u8]) -> bool {
    let major = class_file.get(6..8);
    major.is_some_and(|major| major < [0, 51].as_slice())
}

fn not_for_jacoco(left_out: &[&str]) -> Option<Warning> {
    let first = left_out.first()?;
    let message = format!("the .exec file lacks {}", counted(left_out.len(), "class"));
    let warning = Warning::new(codes::H0623, message)
        .with("found", format!("{}, for example", binary(first)))
        .with(
            "cause",
            "methods whose subroutines (jsr, ret) cannot be inlined have no probes, and JaCoCo's tools stop at such a class",
        );
    let help = "other reports have the other methods of these classes";
    Some(warning.with("help", help).of_missing())
}

/// Adds the hits of another loader or JVM.
fn unite(mine: &mut [bool], theirs: &[bool]) {
    let pairs = mine.iter_mut().zip(theirs);
    pairs.for_each(|(mine, theirs)| *mine |= theirs);
}

/// Facts about the JVMs of snapshots that the merged snapshot lacks.
#[derive(Default)]
struct JvmNotes {
    /// JVMs without measured classes.
    without_classes: HashSet<Jvm>,
    /// Sentences about killed JVMs, whose data may be incomplete.
    killed: HashMap<Jvm, String>,
}

impl JvmNotes {
    fn add(&mut self, path: &Path, snapshot: &Snapshot) {
        let jvm = Jvm::of(&snapshot.meta);
        if snapshot.classes.is_empty() {
            self.without_classes.insert(jvm);
        }
        if run_files::was_killed(path, snapshot) {
            self.killed.insert(jvm, killed(&snapshot.meta));
        }
    }
}

/// Returns a loader's name and its number among those of its class, so that `#2` precedes `#10`.
fn numbered(loader: &str) -> (&str, u64) {
    let (name, number) = loader.rsplit_once('#').unwrap_or((loader, ""));
    match number.parse() {
        Ok(number) => (name, number),
        Err(_) => (loader, 0),
    }
}

/// Returns the kind of a run file, or nothing if it is left out.
fn kind_of(
    path: &Path,
    damaged: &mut DamagedFiles,
    warnings: &mut Warnings,
) -> Result<Option<RunFileKind>, Error> {
    match run_files::kind(path) {
        Ok(kind) => Ok(Some(kind)),
        Err(problem) => damaged.unless_damaged(path, Err(problem), warnings),
    }
}

impl From<ExecutionData> for MeasuredClass {
    fn from(data: ExecutionData) -> Self {
        Self {
            name: data.name,
            id: data.id,
            probes: data.probes,
            bytes: None,
        }
    }
}

/// A snapshot names its plugins `name` or `name@version`.
fn is_coverage(plugin: &str) -> bool {
    plugin.split('@').next() == Some(PLUGIN)
}

fn loader(meta: &Meta) -> Loader {
    let java_home =
        Some(PathBuf::from(&meta.java_home)).filter(|home| !home.as_os_str().is_empty());
    Loader {
        java_feature: meta.java_feature,
        java_home,
    }
}

/// Returns the main class or jar, and, as in JaCoCo, the machine and a number that differs between
/// JVMs.
fn session_id(meta: &Meta) -> String {
    let jvm = meta.jvm_id();
    match (meta.session.as_str(), program_of(&meta.command)) {
        ("", Some(program)) => format!("{program}@{jvm}"),
        ("", None) => jvm,
        (session, _) => session.to_owned(),
    }
}

fn session(meta: &Meta, incomplete: Option<&Incomplete>) -> Session {
    let milliseconds = |value| i64::try_from(value).unwrap_or(i64::MAX);
    Session {
        id: session_id(meta),
        start_ms: milliseconds(meta.start_ms),
        dump_ms: milliseconds(meta.dump_ms),
        incomplete: incomplete.map(|incomplete| unwritten(meta, incomplete)),
        killed: None,
    }
}

/// Describes the possible loss of a killed JVM: hits before the last read of the arrays are
/// present.
fn killed(meta: &Meta) -> String {
    format!(
        "hits later than {:.3} s after the start of the JVM {} may be missing: it was killed, or still runs elsewhere. Line counts may lack one more second",
        seconds_after_begin(meta, meta.dump_ms),
        meta.pid,
    )
}

fn seconds_after_begin(meta: &Meta, time_ms: u64) -> f64 {
    time_ms.saturating_sub(meta.start_ms) as f64 / 1_000.0
}

/// Describes the data that could not be written, with start and cause.
fn unwritten(meta: &Meta, incomplete: &Incomplete) -> String {
    let after = seconds_after_begin(meta, incomplete.since_ms);
    let count = |number: u64, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {many}")),
    };
    let kinds = [
        count(incomplete.classes, "class", "classes"),
        count(incomplete.probes, "executed probe", "executed probes"),
    ];
    let what = kinds
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" and ");
    let what = if what.is_empty() { "later data" } else { &what };
    format!(
        "{what} of the JVM {} could not be written from {after:.1} s after its start on: {}",
        meta.pid,
        escape::line(&incomplete.cause)
    )
}

fn different_probes(name: &str, kept: usize, left_out: usize) -> Warning {
    Warning::new(
        codes::H0616,
        format!("{name} has two recordings with different probes"),
    )
    .with(
        "found",
        format!("{kept} probes, and {left_out} under the same id, which are left out"),
    )
    .with(
        "cause",
        "another version of Classhook recorded it: up to 0.1.0, methods with subroutines (jsr, ret) had no probes",
    )
    .with("help", "report the files of each version separately")
    .of_missing()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, id: u64, probes: &[bool]) -> MeasuredClass {
        MeasuredClass {
            name: name.to_owned(),
            id,
            probes: probes.to_vec(),
            bytes: None,
        }
    }

    #[test]
    fn classes_are_united_by_id_and_not_by_name() {
        let (mut recorded, mut warnings) = (ExecutionDataStore::default(), Warnings::default());
        recorded.add(class("a/A", 1, &[true, false]), &mut warnings);
        recorded.add(class("a/A", 1, &[false, true]), &mut warnings);
        recorded.add(class("a/A", 2, &[false]), &mut warnings);
        assert_eq!(recorded.by_id(1).unwrap().probes, [true, true]);
        assert_eq!(recorded.ids_of("a/A"), [1, 2]);
        assert!(warnings.is_empty());
        recorded.add(class("a/A", 1, &[true]), &mut warnings);
        assert_eq!(recorded.by_id(1).unwrap().probes.len(), 2);
        assert!(!warnings.is_empty());
    }

    #[test]
    fn loaders_are_sorted_by_number() {
        let mut recorded = ExecutionDataStore::default();
        for name in ["a.Loader#10", "a.Loader#2", "app", "a.Loader#x"] {
            recorded.data_of_loader(name);
        }
        let loaders = recorded.by_loader().unwrap().into_iter();
        let names: Vec<String> = loaders.map(|(name, _)| name).collect();
        assert_eq!(names, ["a.Loader#2", "a.Loader#10", "a.Loader#x", "app"]);
    }

    #[test]
    fn session_names_use_the_known_data() {
        let meta = |session: &str, host: &str, command: &str| Meta {
            session: session.into(),
            host: host.into(),
            command: command.into(),
            pid: 7,
            ..Meta::default()
        };
        let ids = [
            meta("", "", ""),
            meta("", "box", ""),
            meta("", "box", "/jdk/bin/java -cp x com.acme.Main all"),
            meta("nightly", "box", "java -jar a.jar"),
        ];
        let ids = ids.map(|meta| session(&meta, None).id);
        assert_eq!(ids, ["pid-7", "box-7", "com.acme.Main@box-7", "nightly"]);
    }

    #[test]
    fn missing_data_is_described_in_a_sentence() {
        let meta = Meta {
            pid: 7,
            start_ms: 1_000,
            ..Meta::default()
        };
        let of = |classes, probes| {
            let incomplete = Incomplete {
                since_ms: 3_450,
                cause: "No space left\non device".into(),
                classes,
                probes,
            };
            unwritten(&meta, &incomplete)
        };
        let rest = r"of the JVM 7 could not be written from 2.5 s after its start on: No space left\non device";
        assert_eq!(of(0, 0), format!("later data {rest}"));
        assert_eq!(of(1, 0), format!("1 class {rest}"));
        assert_eq!(of(2, 1), format!("2 classes and 1 executed probe {rest}"));
    }

    #[test]
    fn only_probes_of_the_coverage_plugin_count() {
        assert!(is_coverage("coverage") && is_coverage("coverage@0.1.0"));
        assert!(!is_coverage("count-calls") && !is_coverage("coverage-extra"));
    }
}
