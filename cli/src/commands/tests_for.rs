//! `classhook tests-for`: the tests that executed a line.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::problem::{PARTIAL, Problem};
use crate::show::{say, show, show_json};
use crate::tests_executed::{Class, Executed, Selected, Snapshots, has_code, is_executed};
use crate::warnings::Warnings;

const AFTER_HELP: &str = "\
The tests are printed, one a line: class#method, or the class for what all its tests share, such as @BeforeAll.
Of tests that ran at the same time it is only known that one of them executed the line; all of them are printed.
A static initializer counts for the test that came first.

Of a folder with several runs the last counts, and the others are named; --all-runs takes all.

Examples:
  classhook tests-for src/main/java/com/acme/Sum.java:42 target/classhook
  classhook tests-for Sum.java:42 target/jacoco.exec --json";

/// Prints the tests that executed a line.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct TestsFor {
    /// The source file, or the end of its path, and the line
    #[arg(value_name = "FILE:LINE", value_parser = Place::parse)]
    pub place: Place,
    /// Where to look.
    #[command(flatten)]
    pub snapshots: Snapshots,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    file: PathBuf,
    line: u32,
}

impl Place {
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
    /// Reads, looks, and prints.
    ///
    /// # Errors
    /// If nothing can be read, no tests were recorded, or no class has code there (`H0691`).
    pub fn run(&self) -> Result<u8, Problem> {
        let mut warnings = Warnings::default();
        let executed = Executed::read(&self.snapshots, &mut warnings)?;
        let classes = self.classes(&executed)?;
        let mut selected = Selected::default();
        for class in classes
            .iter()
            .filter(|class| has_code(&class.all.lines, self.place.line))
        {
            let tests = executed.by_test(class).into_iter();
            let tests = tests.filter(|(_, class)| is_executed(&class.lines, self.place.line));
            tests.for_each(|(hits, _)| selected.add(hits));
        }
        warnings.print();
        let is_partial = warnings.of_missing();
        if self.snapshots.json {
            show_json(&json!({
                "file": self.place.file,
                "line": self.place.line,
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

    /// The classes with code at the line or near it; where Kotlin has other folders than packages, all of the same name.
    fn classes(&self, executed: &Executed) -> Result<Vec<Class>, Problem> {
        let Place { file, line } = &self.place;
        let mut classes = executed.classes(&|package, source| self.place.is_of(package, source));
        if classes.is_empty() {
            let name = file.file_name().unwrap_or_default();
            classes = executed.classes(&|_, source| OsStr::new(source) == name);
            let packages: BTreeSet<&str> =
                classes.iter().map(|class| class.all.package()).collect();
            if packages.len() > 1 {
                let found = packages.into_iter().collect::<Vec<_>>().join(", ");
                return Err(Problem::user(
                    "H0691",
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
        let problem = Problem::user(
            "H0691",
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

/// What the list does not say.
fn tell(selected: &Selected) {
    if selected.is_empty() {
        say(match selected.is_outside {
            true => "it was executed outside of tests alone",
            false => "no test executed it",
        });
    } else if selected.is_outside {
        say("it was executed outside of tests, too");
    }
    match selected.together() {
        0 => {}
        count => say(format_args!(
            "{count} of {} ran at the same time as others, one of which executed it",
            selected.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_the_end_of_a_path_or_the_package_the_end_of_its_folder() {
        let place = |text: &str| Place::parse(text).unwrap();
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
            assert!(Place::parse(wrong).is_err(), "{wrong}");
        }
    }
}
