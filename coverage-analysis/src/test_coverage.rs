//! Finds the tests that executed code, from snapshots with data per test.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;

use class_description::{Arena, describe};
use coverage::analysis::{analyze, analyze_with_lines};
use coverage::class::ClassDescription;
use coverage::model::{ClassCoverage, LineCoverage, Lines};
use coverage_inputs::damaged_files::DamagedFiles;
use coverage_inputs::execution_data::ExecutionDataStore;
use errors::{Error, Warning, Warnings, codes};
use probes::TestHits;
use rayon::prelude::*;
use serde_json::{Value, json};
use trace::numbers::counted;

/// Recorded data per test.
#[derive(Debug)]
pub struct TestCoverage {
    recorded: ExecutionDataStore,
    /// Indices of the tests' hits, by the number of the class.
    of_class: HashMap<usize, Vec<usize>>,
}

/// A measured class.
#[derive(Debug)]
pub struct Class {
    number: usize,
    bytes: Vec<u8>,
    /// Its methods and lines, as not executed.
    pub all: ClassCoverage,
}

impl TestCoverage {
    /// Reads snapshots. Missing data becomes a warning, and so does a damaged file unless
    /// `strict_inputs` is set.
    ///
    /// # Errors
    /// If a file cannot be read (`H0611` and others), or no test is in it (`H0690`).
    pub fn read(
        files: &[PathBuf],
        strict_inputs: bool,
        warnings: &mut Warnings,
    ) -> Result<Self, Error> {
        let mut damaged = DamagedFiles::new(strict_inputs);
        let recorded = ExecutionDataStore::read(files, &mut damaged, warnings)?;
        damaged.any()?;
        if recorded.tests.iter().all(|test| test.tests.is_empty()) {
            let (message, help) = missing_tests();
            let found = format!(
                "{} with hits of whole runs only",
                counted(files.len(), "file")
            );
            return Err(Error::mistake(codes::H0690, message)
                .with("found", found)
                .with("help", help));
        }
        let missing = recorded.unwritten();
        let missing: Vec<Warning> = missing
            .map(|found| incomplete().with("found", found))
            .collect();
        warnings.extend(missing);
        if recorded.tests_cut_off {
            warnings.add(cut_off());
        }
        let mut of_class: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, test) in recorded.tests.iter().enumerate() {
            let lines = recorded.test_lines.get(number);
            let lines = lines.into_iter().flat_map(|test| &test.classes);
            for (class, _) in test.classes.iter().chain(lines) {
                let tests = of_class.entry(*class).or_default();
                if tests.last() != Some(&number) {
                    tests.push(number);
                }
            }
        }
        Ok(Self { recorded, of_class })
    }

    /// Returns the classes with code that `wanted` selects by package, an internal name, and source
    /// file.
    pub fn classes(&self, wanted: &(dyn Fn(&str, &str) -> bool + Sync)) -> Vec<Class> {
        let all = self.recorded.classes.par_iter().enumerate();
        let found = all.filter_map(|(number, class)| {
            let bytes = class.bytes.as_ref()?.inflate().ok()?;
            let arena = Arena::new();
            let description = describe(&bytes, &arena).ok()?;
            let package = package(description.name);
            let source = description.source_file.unwrap_or_default();
            if !wanted(package, source) {
                return None;
            }
            let all = analyze(&description, None).ok()?;
            Some(Class { number, bytes, all })
        });
        found.collect()
    }

    /// Returns the hits of each test in a class, and the coverage by those.
    #[must_use]
    pub fn by_test(&self, class: &Class) -> Vec<(&TestHits, Rc<ClassCoverage>)> {
        let arena = Arena::new();
        let Ok(description) = describe(&class.bytes, &arena) else {
            return Vec::new(); // cannot happen: the class was described before
        };
        let mut known: HashMap<(&[u32], &[u32]), Rc<ClassCoverage>> = HashMap::new();
        let of_class = self.of_class.get(&class.number).into_iter().flatten();
        let mut found = Vec::new();
        for number in of_class {
            let Some(test) = self.recorded.tests.get(*number) else {
                continue;
            };
            let hits = (
                hits_of(Some(test), class.number),
                hits_of(self.recorded.test_lines.get(*number), class.number),
            );
            let covered = known.get(&hits).cloned();
            let covered = covered.or_else(|| {
                let covered = self.covered(class.number, &description, hits);
                covered.map(Rc::new)
            });
            let Some(covered) = covered else { continue };
            known.insert(hits, Rc::clone(&covered));
            found.push((test, covered));
        }
        found
    }

    /// Computes the coverage by these probes and begun lines.
    fn covered(
        &self,
        class: usize,
        description: &ClassDescription<'_>,
        (probes, lines): (&[u32], &[u32]),
    ) -> Option<ClassCoverage> {
        let measured = self.recorded.classes.get(class)?;
        let probes = flags(probes, measured.probes.len())?;
        let lines = flags(lines, self.recorded.begun_lines(measured.id).len())?;
        analyze_with_lines(description, Some(&probes), &lines).ok()
    }

    /// Returns the names of all tests.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let tests = self.recorded.tests.iter().flat_map(|test| &test.tests);
        tests.map(String::as_str)
    }
}

/// Returns a test's hits in a class, by the number of the class.
fn hits_of(test: Option<&TestHits>, class: usize) -> &[u32] {
    let mut classes = test.into_iter().flat_map(|test| &test.classes);
    let found = classes.find(|(number, _)| *number == class);
    found.map_or(&[], |(_, hits)| hits.as_slice())
}

/// Returns `count` flags with these set, or nothing if a number is out of range.
pub fn flags<'n>(set: impl IntoIterator<Item = &'n u32>, count: usize) -> Option<Vec<bool>> {
    let mut flags = vec![false; count];
    for number in set {
        *flags.get_mut(*number as usize)? = true;
    }
    Some(flags)
}

/// Message and help for snapshots without tests.
#[must_use]
pub fn missing_tests() -> (&'static str, &'static str) {
    (
        "the recording has no data per test",
        "put classhook-tests.jar, which `cargo xtask maven-plugin` builds, on the class path of the tests, where JUnit's platform finds it. Or mark each test with `classhook test`",
    )
}

/// Returns the warning that only the first tests of a run are recorded.
#[must_use]
pub fn cut_off() -> Warning {
    incomplete().with("found", "a run with more tests, or tests with more hits, than the limit: the hits of later tests are unknown")
}

/// Returns the warning that data of tests is missing.
#[must_use]
pub fn incomplete() -> Warning {
    Warning::new(codes::H0692, "hits of some tests are missing").of_missing()
}

/// Returns the package of a class, as an internal name.
fn package(class: &str) -> &str {
    class.rsplit_once('/').map_or("", |(package, _)| package)
}

/// Checks whether any instruction of a line was executed.
#[must_use]
pub fn is_executed(lines: &Lines, line: u32) -> bool {
    let line = lines.line(line);
    line.is_some_and(|line| line.instructions.covered > 0)
}

/// Checks whether a line has code.
#[must_use]
pub fn has_code(lines: &Lines, line: u32) -> bool {
    let empty = LineCoverage::default();
    lines.line(line).is_some_and(|line| *line != empty)
}

/// Selected tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selected {
    /// By name; true if the test ran alone, and not only together with others.
    tests: BTreeMap<String, bool>,
    /// True if the code was executed outside of tests, too.
    pub is_outside: bool,
}

impl Selected {
    /// Adds the tests of these hits.
    pub fn add(&mut self, hits: &TestHits) {
        self.is_outside |= hits.tests.is_empty();
        for test in &hits.tests {
            *self.tests.entry(test.clone()).or_default() |= hits.tests.len() == 1;
        }
    }

    /// Adds a test by name.
    pub fn add_named(&mut self, name: &str) {
        self.tests.insert(name.to_owned(), true);
    }

    /// Removes the methods of classes that are selected themselves.
    pub fn without_parts(&mut self) {
        let names = self.tests.clone();
        self.tests.retain(|name, _| {
            let class = name.split_once('#').map(|(class, _)| class);
            class.is_none_or(|class| !names.contains_key(class))
        });
    }

    /// Counts the tests that ran only together with others.
    #[must_use]
    pub fn together(&self) -> usize {
        self.tests.values().filter(|alone| !**alone).count()
    }

    /// Checks whether no test is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Returns the number of tests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Formats one line per test.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = self.tests.keys();
        lines.fold(String::new(), |text, test| {
            text + &escape::line(test) + "\n"
        })
    }

    /// Formats the tests as an array.
    #[must_use]
    pub fn json(&self) -> Value {
        let tests = self.tests.iter();
        let tests = tests.map(|(name, alone)| json!({"name": name, "alone": alone}));
        tests.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(tests: &[&str]) -> TestHits {
        TestHits {
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
            classes: Vec::new(),
        }
    }

    #[test]
    fn tests_are_marked_alone_or_together_and_classes_cover_their_methods() {
        let mut selected = Selected::default();
        for tests in [&["A#a", "B#b"][..], &["A#a"], &["C"], &["C#c"], &[]] {
            selected.add(&hits(tests));
        }
        assert!(selected.is_outside);
        assert_eq!((selected.len(), selected.together()), (4, 1));
        selected.without_parts();
        assert_eq!(selected.text(), "A#a\nB#b\nC\n");
        assert_eq!(selected.json()[1], json!({"name": "B#b", "alone": false}));
    }
}
