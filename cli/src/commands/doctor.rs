//! `classhook doctor`: whether all is there that Classhook needs.

use std::ffi::OsString;

use clap::Args;

use crate::doctor::{self, Finding, State};
use crate::problem::Problem;
use crate::show::{show, show_json};

const AFTER_HELP: &str = "\
Starts `java -version` once with the agent, and makes files where Classhook does; all of them go again.
With a PID it asks that JVM for its version over the attach protocol, as jcmd does, and tries as the JVM's user what an
agent needs: room in /tmp and for recordings, the library, and file descriptors. It names the other agents there.
Only what was tried is good. The exit code is 3 if something is bad. What is absent is needed only for what the line
below it says.

Examples:
  classhook doctor
  classhook doctor --java /opt/jdk-25/bin/java
  classhook doctor 4711";

/// Looks whether all is there that Classhook needs.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Doctor {
    /// The running JVM to look at instead of this machine
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "java")]
    pub pid: Option<i32>,
    /// The `java` to try: a path, or a name in PATH
    #[arg(long, value_name = "FILE", default_value = "java")]
    pub java: OsString,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

impl Doctor {
    /// Looks, and prints what it found.
    ///
    /// # Errors
    /// If there is no such JVM (`H05xx`), or something is bad (`H0637`).
    pub fn run(&self) -> Result<u8, Problem> {
        let findings = match self.pid {
            Some(pid) => doctor::of_jvm(pid)?,
            None => doctor::of_machine(&self.java),
        };
        if self.json {
            show_json(&doctor::json(&findings))?;
        } else {
            show(&doctor::text(&findings))?;
        }
        conclusion(&findings).map_or(Ok(0), Err)
    }
}

fn conclusion(findings: &[Finding]) -> Option<Problem> {
    let bad = findings.iter().filter(|one| one.state == State::Bad);
    let bad: Vec<&str> = bad.map(|one| one.what).collect();
    (!bad.is_empty()).then(|| {
        Problem::partial("H0637", "not all is as Classhook needs it")
            .with("found", bad.join(", "))
            .with("help", "the lines above say what to do")
    })
}
