//! Plans that a project's tests expect, in any language: a file `NAME.explained` beside a file
//! `NAME.class`, with the output of `classhook explain`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use errors::{Error, codes};
use host::compiler::Compiler;
use host::{ClassRequest, Pipeline};
use probes::ProbeTable;
use rewriter::ClassFile;

use crate::configured;
use crate::plan_text::plan_text;

/// Extension of these files; `.plan` is the test kit's.
const EXTENSION: &str = "explained";
/// Settings of the plugin for these tests.
const SETTINGS: &str = "classhook.toml";

/// Compares the component's plans for the classes in the project's folder `tests` with the plans
/// beside them, or writes these. Returns a message.
///
/// # Errors
/// If a plan differs or has no class, the plugin fails on a class (`H0685`), or a file cannot be
/// read.
pub fn check(
    folder: &Path,
    component: &Path,
    bless: bool,
    compiler: &dyn Compiler,
) -> Result<String, Error> {
    let tests = folder.join("tests");
    let plans = plans(&tests, bless)?;
    if plans.is_empty() {
        return Ok(String::new());
    }
    let settings = Some(tests.join(SETTINGS)).filter(|settings| settings.is_file());
    let pipeline =
        configured::pipeline(&component.to_string_lossy(), settings.as_deref(), compiler)?;
    let mut text = String::new();
    let mut equal = 0;
    for plan in &plans {
        let found = planned(&pipeline, &plan.with_extension("class"))?;
        let expected = fs::read_to_string(plan).unwrap_or_default(); // empty for a new plan
        if found == expected {
            equal += 1;
        } else if bless {
            fs::write(plan, found).map_err(|error| Error::unwritable(plan, &error))?;
            let _ = writeln!(text, "wrote {}", escape::path(plan)); // writing to a string cannot fail
        } else {
            return Err(another(plan, &expected, &found));
        }
    }
    if equal > 0 {
        let _ = writeln!(
            text,
            "{equal} of {} plans in tests are as expected",
            plans.len()
        );
    }
    Ok(text)
}

/// Returns the expected plans; with `all`, those of all classes.
fn plans(tests: &Path, all: bool) -> Result<Vec<PathBuf>, Error> {
    if !tests.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(tests).map_err(|error| Error::unreadable(tests, &error))?;
    let files = entries.flatten().map(|entry| entry.path());
    let mut plans: Vec<PathBuf> = files
        .filter(|file| {
            let extension = file.extension().unwrap_or_default();
            extension == EXTENSION || all && extension == "class"
        })
        .map(|file| file.with_extension(EXTENSION))
        .collect();
    plans.sort();
    plans.dedup();
    Ok(plans)
}

fn planned(pipeline: &Pipeline, file: &Path) -> Result<String, Error> {
    let bytes = fs::read(file).map_err(|error| Error::unreadable(file, &error))?;
    let failed = |found: String| {
        let message = format!("there is no plan for {}", file.display());
        Error::mistake(codes::H0685, message).with("found", found)
    };
    let class = ClassFile::read(&bytes).map_err(|error| failed(error.to_string()))?;
    let table = ProbeTable::new();
    table.set_arrays(1);
    let request = ClassRequest::of_file(class.this_class().as_bytes(), &bytes);
    let (outcome, explanation) = pipeline.explain(&request, &table, &mut Vec::new());
    match outcome.failures().first() {
        Some(failure) => Err(failed(failure.cause.clone())),
        None => Ok(plan_text(&class, &explanation)),
    }
}

/// Returns the error with the first line that differs.
fn another(plan: &Path, expected: &str, found: &str) -> Error {
    let (mut expected, mut found) = (expected.lines(), found.lines());
    let mut number = 0;
    let (expected, found) = loop {
        number += 1;
        let pair = (expected.next(), found.next());
        if pair.0 != pair.1 || pair.0.is_none() {
            break pair;
        }
    };
    let line = |line: Option<&str>| line.map_or("the end", str::trim).to_owned();
    let message = format!("the plan differs from {} at line {number}", plan.display());
    Error::mistake(codes::H0685, message)
        .with("expected", line(expected))
        .with("found", line(found))
        .with(
            "help",
            "`classhook plugin test --bless` writes the current plan",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_that_differs_is_shown() {
        let problem = another(Path::new("x.explained"), "a\n  b\n", "a\n  c\n").to_string();
        for part in [
            "error[H0685]",
            "x.explained at line 2",
            "expected b",
            "found    c",
        ] {
            assert!(problem.contains(part), "{problem}");
        }
        let problem = another(Path::new("x.explained"), "a\n", "a\nb\n").to_string();
        assert!(problem.contains("the end"), "{problem}");
    }

    #[test]
    fn only_expected_plans_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let names = |all| {
            let plans = plans(folder.path(), all).unwrap();
            let names = plans.iter().filter_map(|plan| plan.file_name()?.to_str());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        for file in ["A.class", "B.class", "B.explained", "C.plan"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        assert_eq!(names(false), ["B.explained"]);
        assert_eq!(names(true), ["A.explained", "B.explained"]);
        assert!(plans(&folder.path().join("none"), true).unwrap().is_empty());
    }
}
