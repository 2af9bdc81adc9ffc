//! `cargo xtask bench maven`: the tests of libraries, run by Maven without coverage, with JaCoCo's plugin and with ours.
//!
//! Each tool has a copy of the project, compiled before; builds take turns. A build of its own makes the reports.
//! Beside it is measured one that does nothing, because most of both is the start of Maven. Every element of the two
//! XML reports must be the same. Elements that differ between runs of one tool are counted instead.

mod project;

use crate::bench::figures::Figure;
use crate::bench::folder;
use crate::bench::three_ways::{Column, Runs, Subject, VARIANTS, Variant};
use crate::bench::usage::{self, Usage};
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, say};
use crate::{maven_plugin, setup};
use anyhow::{Context, Result, bail, ensure};
use e2e_tests::maven::{home, local_repository};
use e2e_tests::maven_plugin::repository;
use jacoco_files::XmlReport;
use project::{LIBRARIES, Library, report_goal};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// Builds of each kind
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only this library; may be repeated
    #[arg(long, value_name = "NAME")]
    library: Vec<String>,
    /// Only the JDK of this release; may be repeated
    #[arg(long, value_name = "RELEASE")]
    jdk: Vec<u32>,
}

/// Files that the builds need besides the repository of the tests.
const REPOSITORY: &str = include_str!("maven/repository.sha256");

/// Measures each library on each full JDK from 17 up.
///
/// # Errors
/// If a build fails, or the tools do not count the same.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    let named = |name: &String| LIBRARIES.iter().any(|library| library.name == name);
    if let Some(unknown) = options.library.iter().find(|name| !named(name)) {
        let names = LIBRARIES.map(|library| library.name).join(", ");
        bail!("expected a library ({names}), found {unknown}");
    }
    maven_plugin::run(workspace)?;
    setup::maven_files(workspace, REPOSITORY)?;
    let mut figures = Vec::new();
    for jdk in jdks::measured()? {
        if !options.jdk.is_empty() && !options.jdk.contains(&jdk.feature) {
            continue;
        }
        let folder = folder::emptied(workspace, "maven", &jdk)?;
        let bench = Bench { jdk: &jdk, folder };
        for library in &LIBRARIES {
            let name = library.name;
            if options.library.is_empty() || options.library.iter().any(|wanted| wanted == name) {
                say(format!("bench maven: {name}, {} rounds", options.rounds));
                let found = bench.measure(library, options.rounds);
                figures.extend(found.with_context(|| name.to_owned())?);
            }
        }
    }
    ensure!(
        !figures.is_empty(),
        "expected a full JDK of a requested release, found none"
    );
    Ok(figures)
}

struct Bench<'a> {
    jdk: &'a Jdk,
    folder: PathBuf,
}

/// The builds of one round: that of the tests and that of the report.
struct Round {
    tests: Usage,
    report: Usage,
}

/// The peak memory is that of the JVM of the tests, not of Maven.
const COLUMNS: [Column<Round>; 5] = [
    ("CPU time", "s", |round| Some(round.tests.cpu.as_secs_f64())),
    ("time", "s", |round| Some(round.tests.wall.as_secs_f64())),
    ("most memory", "MB", |round| {
        Some(round.tests.peak_below as f64 / 1e6)
    }),
    ("CPU time of the report's build", "s", |round| {
        Some(round.report.cpu.as_secs_f64())
    }),
    ("time of the report's build", "s", |round| {
        Some(round.report.wall.as_secs_f64())
    }),
];

impl Bench<'_> {
    fn measure(&self, library: &Library, rounds: u32) -> Result<Vec<Figure>> {
        let mut projects = Vec::new();
        for (variant, title) in VARIANTS {
            let folder = self.folder.join(library.name).join(title);
            library.lay_out(&folder, variant)?;
            let compiled = usage::of(&mut self.mvn(&folder, &["test-compile"]));
            compiled.context(title)?;
            projects.push(folder);
        }
        let mut used: Runs<Round> = Default::default();
        let mut reports: Runs<XmlReport> = Default::default();
        for _ in 0..rounds {
            let each = VARIANTS.iter().zip(&projects);
            for (((variant, title), project), (used, reports)) in
                each.zip(used.iter_mut().zip(&mut reports))
            {
                used.push(self.round(project, *variant).context(*title)?);
                if *variant != Variant::None {
                    let xml = project.join("target/site/jacoco/jacoco.xml");
                    ensure!(xml.is_file(), "{title}: expected {}", xml.display());
                    reports.push(XmlReport::read(&xml));
                }
            }
        }
        let title = format!("the tests of {} under Maven", library.name);
        let subject = Subject {
            bench: "maven",
            title: &title,
            jdk: self.jdk.feature,
        };
        let figures = subject.compare(&COLUMNS, &used);
        let [_, theirs, ours] = &reports;
        println!("{}", compared(theirs, ours)?);
        Ok(figures)
    }

    fn round(&self, project: &Path, variant: Variant) -> Result<Round> {
        for left in ["jacoco.exec", "site", "surefire-reports"] {
            remove(&project.join("target").join(left))?;
        }
        let tests = usage::of(&mut self.mvn(project, &["test"])).context("the tests")?;
        let report = usage::of(&mut self.mvn(project, &[&report_goal(variant)]));
        Ok(Round {
            tests,
            report: report.context("the report")?,
        })
    }

    /// Returns a Maven command with these arguments, offline.
    fn mvn(&self, project: &Path, words: &[&str]) -> Command {
        let setting = |name: &str, path: PathBuf| format!("-D{name}={}", path.display());
        let mut mvn = Command::new(home().join("bin/mvn"));
        mvn.current_dir(project)
            .env_remove("JAVA_TOOL_OPTIONS")
            .env("JAVA_HOME", &self.jdk.home)
            .env("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .env("MAVEN_SKIP_RC", "true")
            .env("XDG_CACHE_HOME", self.folder.join("cache"))
            .args(["--batch-mode", "--offline", "--no-transfer-progress"])
            .arg(setting("maven.repo.local", local_repository()))
            .arg(setting("maven.repo.local.tail", repository()))
            .args(words);
        mvn
    }
}

/// Removes a file or folder, if it exists.
fn remove(path: &Path) -> Result<()> {
    if path.is_dir() {
        std::fs::remove_dir_all(path)?;
    } else if path.exists() {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Returns a sentence with the number of equal elements of the XML reports.
///
/// # Errors
/// If elements differ that are equal in all runs of one tool.
fn compared(theirs: &[XmlReport], ours: &[XmlReport]) -> Result<String> {
    let (their_first, our_first) = theirs
        .first()
        .zip(ours.first())
        .context("expected a report of each tool")?;
    let places: BTreeSet<&str> = theirs
        .iter()
        .chain(ours)
        .flat_map(XmlReport::places)
        .collect();
    let differs = |place: &str, reports: &[XmlReport], first: &XmlReport| {
        let mut values = reports.iter().map(|report| report.values(place));
        values.any(|values| values != first.values(place))
    };
    let (mut varying, mut wrong) = (0_usize, Vec::new());
    for place in &places {
        if differs(place, theirs, their_first) || differs(place, ours, our_first) {
            varying += 1;
        } else if their_first.values(place) != our_first.values(place) {
            let [theirs, ours] = [their_first, our_first].map(|report| report.values(place));
            wrong.push(format!("{place}: {ours:?} against {theirs:?}"));
        }
    }
    ensure!(
        wrong.is_empty(),
        "expected JaCoCo's numbers, found {} others:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let same = places.len() - varying;
    Ok(format!(
        "elements of the XML report: {same} the same, {varying} that differ between runs of one tool"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(lines: [u32; 2]) -> XmlReport {
        let line = |(number, covered)| format!(r#"<line nr="{number}" ci="{covered}"/>"#);
        let lines: String = (1..).zip(lines).map(line).collect();
        XmlReport::parse(&format!(
            r#"<report name="x"><sourcefile name="A.java">{lines}</sourcefile></report>"#
        ))
    }

    #[test]
    fn element_that_differs_between_runs_of_one_tool_is_counted() {
        let theirs = [report([1, 2]), report([1, 3])];
        let said = compared(&theirs, &[report([1, 2]), report([1, 2])]).expect("the same");
        assert!(said.contains("2 the same, 1 that differ"), "{said}");
    }

    #[test]
    fn element_that_only_the_tools_differ_in_is_an_error_with_its_values() {
        let theirs = [report([1, 2]), report([1, 3])];
        let error = compared(&theirs, &[report([0, 2]), report([0, 3])]).expect_err("line 1");
        let error = error.to_string();
        let line = r#"/sourcefile A.java/line 1: Some("ci=0") against Some("ci=1")"#;
        assert!(error.contains(line) && error.contains("found 1"), "{error}");
        assert!(compared(&[], &[]).is_err());
    }
}
