//! Cases in files: the leading comments of a Java file state how to run it, and its expected results.
//!
//! `java/cases/Branches.java` documents the format.

use crate::java::{Java, Run};
use crate::javac;
use crate::jdks::{self, Jdk};
use crate::workspace;
use jacoco_files::XmlReport;
use std::path::{Path, PathBuf};

/// One Java file.
#[derive(Debug)]
pub struct Case {
    /// The file.
    pub file: PathBuf,
    /// The main class, with the name of the file.
    main: String,
    jvm: Vec<String>,
    agent: String,
    arguments: Vec<String>,
    oldest: u32,
    newest: u32,
    exit: i32,
    stdout: Vec<String>,
    lines: Lines,
}

/// The expectations in a file's comments, by line.
#[derive(Debug, Default)]
pub struct Lines(Vec<(u32, Expected)>);

/// The expectation in a line's comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// Every instruction and every branch was executed.
    Covered,
    /// Covered and total branches.
    Branches(u32, u32),
    /// No instruction was executed.
    Missed,
    /// Some instructions were executed, and some were not.
    Partly,
    /// The line does not count: no instructions, or filtered.
    Nothing,
}

/// Returns every case, sorted by name.
pub fn all() -> Vec<Case> {
    javac::sources_in(&workspace::test_file("java/cases"))
        .into_iter()
        .map(Case::read)
        .collect()
}

impl Case {
    fn read(file: PathBuf) -> Self {
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let main = file
            .file_stem()
            .expect("a file name")
            .to_string_lossy()
            .into_owned();
        let mut case = Self {
            main,
            jvm: Vec::new(),
            agent: "plugin=coverage".to_owned(),
            arguments: Vec::new(),
            oldest: jdks::OLDEST,
            newest: u32::MAX,
            exit: 0,
            stdout: Vec::new(),
            lines: Lines::read(&text),
            file,
        };
        for comment in text.lines().map_while(|line| line.strip_prefix("//")) {
            case.read_header(comment.trim());
        }
        assert!(
            !case.stdout.is_empty(),
            "{} expects no output",
            case.file.display()
        );
        case
    }

    fn read_header(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(": ") else {
            return;
        };
        let words = || value.split_whitespace().map(str::to_owned).collect();
        let number = |text: &str| {
            text.parse()
                .unwrap_or_else(|_| panic!("{}: {line}", self.file.display()))
        };
        match key {
            "jvm" => self.jvm = words(),
            "agent" => self.agent = value.to_owned(),
            "arguments" => self.arguments = words(),
            "exit" => self.exit = number(value) as i32,
            "stdout" => self.stdout.push(value.to_owned()),
            "releases" => {
                let (oldest, newest) = value.split_once("..").expect("releases: 17.. or 11..21");
                let newest = if newest.is_empty() {
                    u32::MAX
                } else {
                    number(newest)
                };
                (self.oldest, self.newest) = (number(oldest), newest);
            }
            _ => {}
        }
    }

    /// Returns the JDKs of this machine that the case is for.
    pub fn jdks(&self) -> impl Iterator<Item = &'static Jdk> {
        let releases = self.oldest..=self.newest;
        jdks::all()
            .iter()
            .filter(move |jdk| releases.contains(&jdk.feature))
    }

    /// Compiles the file with this JDK.
    pub fn compile(&self, jdk: &Jdk, folder: &Path) -> PathBuf {
        if jdk.full {
            return javac::compile(jdk, &[&self.file], folder, &[]);
        }
        let compiler = jdks::newest();
        let release = jdk.feature.min(compiler.feature).to_string();
        javac::compile(&compiler, &[&self.file], folder, &["--release", &release])
    }

    /// Returns the command without the agent.
    pub fn java(&self, jdk: &Jdk, classes: &Path) -> Java {
        let java = Java::new(jdk).options(&self.jvm).class_path(&[classes]);
        java.main(&self.main).arguments(&self.arguments)
    }

    /// Returns the agent's options for this output folder.
    pub fn agent_options(&self, output: &Path) -> String {
        format!("{},output={}", self.agent, output.display())
    }

    /// Asserts exit code and output as the file states them.
    #[track_caller]
    pub fn assert_run(&self, run: &Run) {
        run.assert_exit(self.exit);
        let found: Vec<&str> = run.stdout.lines().collect();
        assert_eq!(
            found,
            self.stdout,
            "{}\n{}",
            self.file.display(),
            run.report()
        );
    }

    /// Asserts that the report shows every line as its comment states.
    #[track_caller]
    pub fn assert_lines(&self, report: &XmlReport, whose: &str) {
        let differences = self.lines.differences("", &self.file, report);
        assert!(differences.is_empty(), "{whose}: {differences:?}");
    }
}

impl Lines {
    /// Reads the comments at the ends of lines.
    pub fn read(text: &str) -> Self {
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let expected = line
                .rsplit_once("// ")
                .filter(|(code, _)| !code.trim().is_empty());
            if let Some(expected) = expected.and_then(|(_, comment)| Expected::read(comment)) {
                lines.push((number, expected));
            }
        }
        Self(lines)
    }

    /// Returns the number of lines with a comment.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the differences between a report and the comments of this file.
    pub fn differences(&self, package: &str, file: &Path, report: &XmlReport) -> Vec<String> {
        let name = file.file_name().expect("a file name").to_string_lossy();
        let difference = |&(number, expected): &(u32, Expected)| {
            let place = format!("/package {package}/sourcefile {name}/line {number}");
            let value = |key: &str| report.number(&place, key);
            let found = value("mi").map(|missed| Found {
                instructions: (missed, value("ci").expect("ci")),
                branches: (value("mb").expect("mb"), value("cb").expect("cb")),
            });
            let told = || format!("{name}:{number}: expected {expected:?}, found {found:?}");
            (!expected.fits(found)).then(told)
        };
        self.0.iter().filter_map(difference).collect()
    }
}

/// The counters of a line, missed and covered.
#[derive(Debug, Clone, Copy)]
struct Found {
    instructions: (u32, u32),
    branches: (u32, u32),
}

impl Expected {
    fn read(comment: &str) -> Option<Self> {
        match comment.trim() {
            "covered" => Some(Self::Covered),
            "missed" => Some(Self::Missed),
            "partly" => Some(Self::Partly),
            "nothing" => Some(Self::Nothing),
            comment => {
                let (covered, all) = comment.strip_prefix("branches ")?.split_once('/')?;
                Some(Self::Branches(covered.parse().ok()?, all.parse().ok()?))
            }
        }
    }

    fn fits(self, found: Option<Found>) -> bool {
        match (self, found) {
            (Self::Nothing, found) => found.is_none(),
            (_, None) => false,
            (Self::Covered, Some(found)) => found.instructions.0 == 0 && found.branches.0 == 0,
            (Self::Missed, Some(found)) => found.instructions.1 == 0 && found.branches.1 == 0,
            (Self::Partly, Some(found)) => {
                found.instructions.0 > 0 && found.instructions.1 > 0 && found.branches == (0, 0)
            }
            (Self::Branches(covered, all), Some(found)) => {
                found.branches == (all - covered, covered)
            }
        }
    }
}
