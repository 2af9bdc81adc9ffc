//! `classhook affected`: the tests to run for a change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::changes::git::Edits;
use crate::changes::source_files::{Found, SourceFiles};
use crate::changes::unified::{FileEdit, Hunk};
use crate::inputs::sources::Sources;
use crate::problem::{PARTIAL, Problem};
use crate::show::{say, show, show_json};
use crate::tests_executed::{Class, Executed, Selected, Snapshots, has_code, is_executed};
use crate::warnings::{Warning, Warnings};

const AFTER_HELP: &str = "\
The snapshots are of the revision that the range begins with: a build of the main branch keeps them for its pull requests.
The tests that executed a line that was changed or removed are printed, one a line: class#method, or the class for all of
its tests. Where lines were only added it is the tests that executed the method, and outside of methods and in static
initializers, which run once for all tests, those that executed anything of the file's classes.

What cannot be known is said, and the exit code is 3: new tests, new classes, files that are no sources, and code that
ran outside of tests. A test that a changed file names without executing it (a constant, a resource) is not found.

Of a folder with several runs the last counts, and the others are named; --all-runs takes all.

Examples:
  classhook affected --diff origin/main main-branch/classhook
  mvn test -Dtest=\"$(classhook affected --diff HEAD~1.. snapshots | paste -sd,)\"";

/// So many names stand for all.
const NAMED: usize = 5;

/// Prints the tests to run for a change.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Affected {
    /// The change, by git's differences: origin/main (what HEAD and the working folder have new), HEAD~3.., A..B
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub diff: String,
    /// Where to look.
    #[command(flatten)]
    pub snapshots: Snapshots,
}

impl Affected {
    /// Reads, looks, and prints.
    ///
    /// # Errors
    /// If nothing can be read, no tests were recorded, or git does not know the range (`H0678`).
    pub fn run(&self) -> Result<u8, Problem> {
        let edits = Edits::read(&self.diff)?;
        let mut warnings = Warnings::default();
        let executed = Executed::read(&self.snapshots, &mut warnings)?;
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
        warnings.print();
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
                say("no test that was recorded executed what is changed");
            }
        }
        Ok(if is_partial { PARTIAL } else { 0 })
    }
}

/// What cannot be known.
fn warning(unknown: &[String]) -> Option<Warning> {
    let warning = Warning::new(
        "H0692",
        "not everything is known of which tests the change affects",
    );
    let with = |warning: Warning, found: &String| warning.with("found", found);
    let warning = unknown.iter().fold(warning, with);
    (!unknown.is_empty()).then(|| warning.of_missing())
}

/// What in a class a test must have executed to be affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// This line.
    Line(u32),
    /// Anything of the method with this number.
    Method(usize),
    /// Anything of the class.
    Class,
}

struct Search<'e> {
    executed: &'e Executed,
    selected: Selected,
    /// What is changed and may affect others.
    unknown: Vec<String>,
}

impl Search<'_> {
    fn look(&mut self, edits: &Edits) {
        let sources = Sources::default();
        let files = SourceFiles::new(&edits.before, &sources);
        let classes = self.executed.classes(&|package, source| {
            !matches!(files.find(package, source, 0), Found::Unchanged)
        });
        let mut of_file: BTreeMap<&PathBuf, Vec<&Class>> = BTreeMap::new();
        for class in &classes {
            let source = class.all.source_file.as_deref().unwrap_or_default();
            match files.find(class.all.package(), source, 0) {
                Found::Changed(path, _) => of_file.entry(path).or_default().push(class),
                // Any of them may be meant, so all are.
                Found::Unclear(paths) => {
                    for path in paths {
                        of_file.entry(path).or_default().push(class);
                    }
                }
                Found::Unchanged => {}
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
        self.note(&new, "new source files, of which no test is known");
        self.note(
            &unmeasured,
            "changed source files of which no class was measured",
        );
        self.note(
            &others,
            "changed files that are no sources, which tests may read",
        );
    }

    fn note(&mut self, paths: &[&Path], what: &str) {
        let names = paths
            .iter()
            .take(NAMED)
            .map(|path| path.display().to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        match paths.len() {
            0 => {}
            count if count > NAMED => {
                let more = count - NAMED;
                self.unknown
                    .push(format!("{what}: {names} and {more} more"));
            }
            _ => self.unknown.push(format!("{what}: {names}")),
        }
    }

    /// Selects the tests that a file holds, by their names; whether there are any.
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
            let what = "changed code that was executed outside of tests, on which any may depend";
            self.note(&[path.as_path()], what);
        }
    }
}

/// Whether more than comments is changed in a file, or the whole file is new.
fn is_code(edit: &FileEdit) -> bool {
    edit.old.is_none() || edit.hunks.iter().any(|hunk| hunk.is_code)
}

/// Whether a file is for people alone.
fn is_document(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("md" | "adoc" | "rst"))
}

/// For each of the classes of a file, what of it is changed.
fn targets(hunks: &[&Hunk], classes: &[&Class]) -> Vec<Vec<Target>> {
    let mut all = vec![Vec::new(); classes.len()];
    for hunk in hunks {
        let (first, count) = hunk.old;
        let mut is_placed = false;
        for line in first..first.saturating_add(count) {
            is_placed |= add_line(line, classes, &mut all);
        }
        if !is_placed {
            add_place(first, count, classes, &mut all);
        }
    }
    all
}

/// A line that was changed or removed; whether it had code.
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
        // It ran in whichever test came first, for all of them.
        let is_static = of_line.any(|method| method.name == "<clinit>");
        targets.push(match is_static {
            true => Target::Class,
            false => Target::Line(line),
        });
    }
    has_any
}

/// A place without code: the methods around it; outside of methods, all of the classes.
fn add_place(first: u32, count: u32, classes: &[&Class], all: &mut [Vec<Target>]) {
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
