//! `classhook tests-for`: prints the tests that executed a line.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;
use coverage_analysis::test_coverage::{Class, Selected, TestCoverage, has_code, is_executed};
use errors::{Error, PARTIAL, Warnings, codes};
use serde_json::json;
use standard_streams::show::{complain, say, show, show_json};

use crate::test_snapshots::Snapshots;

const AFTER_HELP: &str = "\
The output has one test a line: class#method, or the class for code that its tests share, such as @BeforeAll.
If tests ran at the same time, one of them executed the line, and all of them are printed.
A static initializer counts for the first test that triggers it.

In a folder with several runs, the last run counts and the others are named; --all-runs selects all.

Examples:
  classhook tests-for src/main/java/com/acme/Sum.java:42 target/classhook
  classhook tests-for Sum.java:42 target/jacoco.exec --json";

/// Prints the tests that executed a line.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct TestsFor {
    /// Search the tests of this line; the file is a path or the end of one
    #[arg(value_name = "FILE:LINE", value_parser = SourceLine::parse)]
    pub source_line: SourceLine,
    /// The snapshots.
    #[command(flatten)]
    pub snapshots: Snapshots,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    file: PathBuf,
    line: u32,
}

impl SourceLine {
    fn parse(text: &str) -> Result<Self, String> {
        let place = text.rsplit_once(':').and_then(|(file, line)| {
            let line = line.parse().ok().filter(|line| *line > 0)?;
            let file = PathBuf::from(file);
            file.file_name()?;
            Some(Self { file, line })
        });
        place.ok_or_else(|| "expected a file and a line: com/acme/Sum.java:42".to_owned())
    }

    fn is_of(&self, package: &str, source: &str) -> bool {
        self.file.file_name() == Some(OsStr::new(source))
            && self.file.parent().is_none_or(|folder| {
                folder.ends_with(package) || Path::new(package).ends_with(folder)
            })
    }
}

impl TestsFor {
    /// Reads the snapshots and prints the tests.
    ///
    /// # Errors
    /// If no snapshot can be read, no tests were recorded, or no class has code at the line (`H0691`).
    pub fn run(&self) -> Result<u8, Error> {
        let mut warnings = Warnings::default();
        let executed = self.snapshots.read(&mut warnings)?;
        let classes = self.classes(&executed)?;
        let mut selected = Selected::default();
        for class in classes
            .iter()
            .filter(|class| has_code(&class.all.lines, self.source_line.line))
        {
            let tests = executed.by_test(class).into_iter();
            let tests = tests.filter(|(_, class)| is_executed(&class.lines, self.source_line.line));
            tests.for_each(|(hits, _)| selected.add(hits));
        }
        complain(&warnings);
        let is_partial = warnings.of_missing();
        if self.snapshots.json {
            show_json(&json!({
                "file": self.source_line.file,
                "line": self.source_line.line,
                "tests": selected.json(),
                "outsideOfTests": selected.is_outside,
                "partial": is_partial,
            }))?;
        } else {
            show(&selected.text())?;
            tell(&selected);
        }
        Ok(if is_partial { PARTIAL } else { 0 })
    }

    /// Returns the classes of the source file. If its folders differ from the package, as in Kotlin, the file name decides.
    fn classes(&self, executed: &TestCoverage) -> Result<Vec<Class>, Error> {
        let SourceLine { file, line } = &self.source_line;
        let mut classes =
            executed.classes(&|package, source| self.source_line.is_of(package, source));
        if classes.is_empty() {
            let name = file.file_name().unwrap_or_default();
            classes = executed.classes(&|_, source| OsStr::new(source) == name);
            let packages: BTreeSet<&str> =
                classes.iter().map(|class| class.all.package()).collect();
            if packages.len() > 1 {
                let found = packages.into_iter().collect::<Vec<_>>().join(", ");
                return Err(Error::mistake(
                    codes::H0691,
                    format!("several packages have a {}", name.display()),
                )
                .with("found", found.replace('/', "."))
                .with("help", "name the file with its folders"));
            }
        }
        if classes
            .iter()
            .any(|class| has_code(&class.all.lines, *line))
        {
            return Ok(classes);
        }
        let lines = classes.iter().flat_map(|class| class.all.lines.iter());
        let nearest = lines
            .map(|(number, _)| number)
            .min_by_key(|number| number.abs_diff(*line));
        let problem = Error::mistake(
            codes::H0691,
            format!(
                "no class that was measured has code at {}:{line}",
                file.display()
            ),
        );
        Err(match nearest {
            Some(nearest) => problem.with("nearest", format!("line {nearest}")),
            None => problem.with(
                "help",
                "check the name; only classes that were loaded are known",
            ),
        })
    }
}

/// Reports code outside of tests, and tests that ran at the same time.
fn tell(selected: &Selected) {
    if selected.is_empty() {
        say(match selected.is_outside {
            true => "only code outside of tests executed the line",
            false => "no test executed the line",
        });
    } else if selected.is_outside {
        say("code outside of tests executed the line, too");
    }
    match selected.together() {
        0 => {}
        count => say(format_args!(
            "{count} of {} ran at the same time as other tests; one of them executed the line",
            selected.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_line_matches_by_the_end_of_the_path_or_of_the_package() {
        let place = |text: &str| SourceLine::parse(text).unwrap();
        for text in [
            "src/main/java/com/acme/Sum.java:4",
            "acme/Sum.java:4",
            "Sum.java:4",
        ] {
            assert!(place(text).is_of("com/acme", "Sum.java"), "{text}");
        }
        for text in ["com/Sum.java:4", "Sums.java:4", "org/acme/Sum.java:4"] {
            assert!(!place(text).is_of("com/acme", "Sum.java"), "{text}");
        }
        for wrong in ["Sum.java", "Sum.java:", "Sum.java:0", ":4", "a/..:4"] {
            assert!(SourceLine::parse(wrong).is_err(), "{wrong}");
        }
    }
}
