//! The time of a test run, test by test.

use super::binaries::Binary;
use crate::workspace::{Workspace, say, write_atomically};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Number of tests shown on the terminal.
const SHOWN: usize = 40;

/// The time of each test. The row without a test is the whole binary.
#[derive(Default)]
pub struct Timings(Vec<Row>);

struct Row {
    binary: String,
    test: Option<String>,
    took: Duration,
}

impl Timings {
    /// Runs a binary, shows its output, and keeps the times in it. Returns whether all tests passed.
    pub fn run(&mut self, binary: &Binary, mut command: Command) -> Result<bool> {
        // The harness of a stable compiler prints times on request only.
        command
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["-Z", "unstable-options", "--report-time"])
            .stdout(Stdio::piped());
        let began = Instant::now();
        let mut child = command
            .spawn()
            .with_context(|| format!("failed to start {}", binary.title()))?;
        let output = child.stdout.take().context("expected a pipe")?;
        for line in BufReader::new(output).lines() {
            let line = line?;
            println!("{line}");
            if let Some((test, took)) = timed(&line) {
                self.0.push(Row {
                    binary: binary.title(),
                    test: Some(test.to_owned()),
                    took,
                });
            }
        }
        let passed = child.wait()?.success();
        self.0.push(Row {
            binary: binary.title(),
            test: None,
            took: began.elapsed(),
        });
        Ok(passed)
    }

    /// Shows the binaries and the slowest tests, and writes all times.
    pub fn report(mut self, workspace: &Workspace) -> Result<()> {
        self.0.sort_by_key(|row| std::cmp::Reverse(row.took));
        let (tests, binaries): (Vec<_>, Vec<_>) = self.0.iter().partition(|row| row.test.is_some());
        say("where the time went, in seconds");
        for row in binaries.iter().chain(tests.iter().take(SHOWN)) {
            println!("{}", row.line());
        }
        let mut text = String::new();
        for row in &self.0 {
            writeln!(text, "{}", row.line())?;
        }
        let file = workspace.target("test-timings.tsv");
        write_atomically(&file, text.as_bytes())?;
        say(format!("all {} tests: {}", tests.len(), file.display()));
        Ok(())
    }
}

impl Row {
    /// Formats seconds, binary and test, separated by tabs.
    fn line(&self) -> String {
        let test = self.test.as_deref().unwrap_or("(all)");
        format!("{:9.3}\t{}\t{test}", self.took.as_secs_f64(), self.binary)
    }
}

/// Parses `test trace::spans::nested ... ok <1.234s>`.
fn timed(line: &str) -> Option<(&str, Duration)> {
    let (test, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let seconds = rest.rsplit_once('<')?.1.strip_suffix("s>")?;
    let seconds = seconds.parse().ok()?;
    Some((test, Duration::try_from_secs_f64(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_from_the_output_of_the_harness() {
        let found = timed("test trace::spans::nested ... ok <1.250s>");
        assert_eq!(
            found,
            Some(("trace::spans::nested", Duration::from_millis(1250)))
        );
        assert!(timed("test a ... FAILED <0.001s>").is_some());
        assert!(timed("test a ... ok").is_none());
        assert!(timed("running 3 tests").is_none());
    }
}
