//! `classhook affected`: prints the tests to run for a change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use coverage_analysis::test_coverage::{Class, Selected, TestCoverage, has_code, is_executed};
use coverage_inputs::sources::Sources;
use differential_coverage::git::Edits;
use differential_coverage::source_files::{SourceFiles, SourceMatch};
use differential_coverage::unified::{FileEdit, Hunk};
use errors::{Error, PARTIAL, Warning, Warnings, codes};
use serde_json::json;
use standard_streams::show::{complain, say, show, show_json};

use crate::args::DIFF;
use crate::test_snapshots::Snapshots;

const AFTER_HELP: &str = "\
Record the snapshots at the revision where the range begins, such as in builds of the main branch.
The command prints the tests that executed a changed or removed line, one a line: class#method, or the class for all its
tests. For added lines, it prints the tests that executed the method. Outside of methods and in static initializers, it
prints the tests that executed any code of the file's classes.

New tests, new classes, files that are not sources, and code executed outside of tests are unknown. The command reports
them, and the exit code is 3. Tests that use a changed constant or resource without executing its file are not found.

In a folder with several runs, the last run counts and the others are named; --all-runs selects all.

Examples:
  classhook affected --diff origin/main main-branch/classhook
  mvn test -Dtest=\"$(classhook affected --diff HEAD~1.. snapshots | paste -sd,)\"";

/// Limit of named files in a warning.
const NAMED_FILES: usize = 5;

/// Prints the tests to run for a change.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Affected {
    /// The range of changed lines.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, help = DIFF)]
    pub diff: String,
    /// The snapshots.
    #[command(flatten)]
    pub snapshots: Snapshots,
}

impl Affected {
    /// Reads the snapshots and prints the tests.
    ///
    /// # Errors
    /// If no snapshot can be read, no tests were recorded, or git does not know the range (`H0678`).
    pub fn run(&self) -> Result<u8, Error> {
        let edits = Edits::read(&self.diff)?;
        let mut warnings = Warnings::default();
        let executed = self.snapshots.read(&mut warnings)?;
        let mut search = Search {
            executed: &executed,
            selected: Selected::default(),
            unknown: Vec::new(),
        };
        search.look(&edits);
        let Search {
            mut selected,
            unknown,
            ..
        } = search;
        selected.without_parts();
        warnings.extend(warning(&unknown));
        complain(&warnings);
        let is_partial = warnings.of_missing();
        if self.snapshots.json {
            show_json(&json!({
                "diff": self.diff,
                "tests": selected.json(),
                "unknown": unknown,
                "partial": is_partial,
            }))?;
        } else {
            show(&selected.text())?;
            if selected.is_empty() {
                say("no recorded test executed the changed code");
            }
        }
        Ok(if is_partial { PARTIAL } else { 0 })
    }
}

/// Returns a warning about changes with unknown effects on tests.
fn warning(unknown: &[String]) -> Option<Warning> {
    let warning = Warning::new(codes::H0692, "the change may affect further tests");
    let with = |warning: Warning, found: &String| warning.with("found", found);
    let warning = unknown.iter().fold(warning, with);
    (!unknown.is_empty()).then(|| warning.of_missing())
}

/// Changed code of a class. A test that executed it is affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// A line.
    Line(u32),
    /// The method with this index.
    Method(usize),
    /// The whole class.
    Class,
}

struct Search<'e> {
    executed: &'e TestCoverage,
    selected: Selected,
    /// Changes with unknown effects on tests.
    unknown: Vec<String>,
}

impl Search<'_> {
    fn look(&mut self, edits: &Edits) {
        let sources = Sources::default();
        let files = SourceFiles::new(&edits.before, &sources);
        let classes = self.executed.classes(&|package, source| {
            !matches!(files.find(package, source, 0), SourceMatch::Unchanged)
        });
        let mut of_file: BTreeMap<&PathBuf, Vec<&Class>> = BTreeMap::new();
        for class in &classes {
            let source = class.all.source_file.as_deref().unwrap_or_default();
            match files.find(class.all.package(), source, 0) {
                SourceMatch::Changed(path, _) => of_file.entry(path).or_default().push(class),
                // Each file gets the class, which may come from any file in `paths`.
                SourceMatch::Unclear(paths) => {
                    for path in paths {
                        of_file.entry(path).or_default().push(class);
                    }
                }
                SourceMatch::Unchanged => {}
            }
        }
        let (mut new, mut unmeasured) = (Vec::new(), Vec::new());
        for edit in &edits.files {
            let classes = edit.old.as_ref().and_then(|path| of_file.get(path));
            let is_test = self.tests_in(edit);
            match (classes, &edit.old, &edit.new) {
                (Some(classes), ..) => self.file(edit, classes),
                _ if is_test || !is_code(edit) => {}
                (None, None, Some(path)) => new.push(path.as_path()),
                (None, Some(path), _) => unmeasured.push(path.as_path()),
                (None, None, None) => {}
            }
        }
        let others: Vec<&Path> = edits.others.iter().map(PathBuf::as_path).collect();
        let others: Vec<&Path> = others
            .into_iter()
            .filter(|path| !is_document(path))
            .collect();
        self.note(&new, "new source files without recorded tests");
        self.note(&unmeasured, "changed source files without a measured class");
        self.note(
            &others,
            "changed files other than sources, which tests may read",
        );
    }

    fn note(&mut self, paths: &[&Path], what: &str) {
        let names = paths
            .iter()
            .take(NAMED_FILES)
            .map(|path| path.display().to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        match paths.len() {
            0 => {}
            count if count > NAMED_FILES => {
                let more = count - NAMED_FILES;
                self.unknown
                    .push(format!("{what}: {names} and {more} more"));
            }
            _ => self.unknown.push(format!("{what}: {names}")),
        }
    }

    /// Selects the tests that a file contains, by their names. Returns whether it contains any.
    fn tests_in(&mut self, edit: &FileEdit) -> bool {
        let Some(path) = edit.old.as_ref().or(edit.new.as_ref()) else {
            return false;
        };
        let path = path.with_extension("");
        let is_in_file = |test: &str| {
            let class = test.split(['#', '$']).next().unwrap_or_default();
            path.ends_with(class.replace('.', "/"))
        };
        let mut tests: Vec<&str> = self
            .executed
            .names()
            .filter(|test| is_in_file(test))
            .collect();
        tests.sort_unstable();
        tests.dedup();
        if is_code(edit) {
            tests.iter().for_each(|test| self.selected.add_named(test));
        }
        !tests.is_empty()
    }

    fn file(&mut self, edit: &FileEdit, classes: &[&Class]) {
        let hunks: Vec<&Hunk> = edit.hunks.iter().filter(|hunk| hunk.is_code).collect();
        let mut outside = Selected::default();
        for (class, targets) in classes.iter().zip(targets(&hunks, classes)) {
            if targets.is_empty() {
                continue;
            }
            for (hits, covered) in self.executed.by_test(class) {
                let is_affected = targets.iter().any(|target| match *target {
                    Target::Line(line) => is_executed(&covered.lines, line),
                    Target::Method(number) => covered
                        .methods
                        .get(number)
                        .is_some_and(|method| method.counters.instruction.covered > 0),
                    Target::Class => true,
                });
                match is_affected {
                    true if hits.tests.is_empty() => outside.add(hits),
                    true => self.selected.add(hits),
                    false => {}
                }
            }
        }
        if let (true, Some(path)) = (outside.is_outside, &edit.old) {
            let what = "changed code that was executed outside of tests; any test may depend on it";
            self.note(&[path.as_path()], what);
        }
    }
}

/// Checks whether a file is new or has changes outside of comments.
fn is_code(edit: &FileEdit) -> bool {
    edit.old.is_none() || edit.hunks.iter().any(|hunk| hunk.is_code)
}

/// Checks whether a file is documentation.
fn is_document(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("md" | "adoc" | "rst"))
}

/// Returns the changed code of each class of a file.
fn targets(hunks: &[&Hunk], classes: &[&Class]) -> Vec<Vec<Target>> {
    let mut all = vec![Vec::new(); classes.len()];
    for hunk in hunks {
        let (first, count) = hunk.old;
        let mut is_placed = false;
        for line in first..first.saturating_add(count) {
            is_placed |= add_line(line, classes, &mut all);
        }
        if !is_placed {
            add_surroundings(first, count, classes, &mut all);
        }
    }
    all
}

/// Adds a changed or removed line to the classes with code there. Returns whether a class has.
fn add_line(line: u32, classes: &[&Class], all: &mut [Vec<Target>]) -> bool {
    let mut has_any = false;
    for (class, targets) in classes.iter().zip(all) {
        let methods = class.all.methods.iter();
        let mut of_line = methods
            .filter(|method| has_code(&method.lines, line))
            .peekable();
        if of_line.peek().is_none() {
            continue;
        }
        has_any = true;
        // A static initializer ran in the first test, on behalf of all tests.
        let is_static = of_line.any(|method| method.name == "<clinit>");
        targets.push(match is_static {
            true => Target::Class,
            false => Target::Line(line),
        });
    }
    has_any
}

/// Adds the methods around a range of lines without code, or all classes if no method encloses it.
fn add_surroundings(first: u32, count: u32, classes: &[&Class], all: &mut [Vec<Target>]) {
    let last = first.saturating_add(count.max(1) - 1);
    let mut is_in_method = false;
    for (class, targets) in classes.iter().zip(&mut *all) {
        for (number, method) in class.all.methods.iter().enumerate() {
            let (Some(begin), Some(end)) = (method.lines.first(), method.lines.last()) else {
                continue;
            };
            if begin <= last.saturating_add(1) && first < end {
                is_in_method = true;
                targets.push(match method.name.as_str() {
                    "<clinit>" => Target::Class,
                    _ => Target::Method(number),
                });
            }
        }
    }
    if !is_in_method {
        all.iter_mut()
            .for_each(|targets| targets.push(Target::Class));
    }
}
