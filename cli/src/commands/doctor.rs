//! `classhook doctor`: checks this machine, or a running JVM, for problems.

use std::ffi::OsString;

use clap::Args;
use environment_checks::{Finding, State};
use errors::{Error, codes};
use standard_streams::show::{show, show_json};

use crate::args::JSON;

const AFTER_HELP: &str = "\
Without a PID, doctor starts `java -version` once with the agent. It creates files where Classhook does, and removes
them.
With a PID, it requests the JVM's version over the attach protocol, as jcmd does. As the JVM's user it then tries
what an agent needs: space in /tmp and for recordings, the library, and file descriptors. It also lists other agents.
`good` means tried with success. `absent` is needed only for the feature that the next line names.
The exit code is 3 if a check is `bad`.

Examples:
  classhook doctor
  classhook doctor --java /opt/jdk-25/bin/java
  classhook doctor 4711";

/// Checks this machine, or a running JVM, for problems.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Doctor {
    /// Check this running JVM in place of this machine
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "java")]
    pub pid: Option<i32>,
    /// Start this `java`: a path, or a name in PATH
    #[arg(long, value_name = "FILE", default_value = "java")]
    pub java: OsString,
    /// Prints JSON.
    #[arg(long, help = JSON)]
    pub json: bool,
}

impl Doctor {
    /// Runs the checks and prints the findings.
    ///
    /// # Errors
    /// If there is no such JVM (`H05xx`), or a check is bad (`H0637`).
    pub fn run(&self) -> Result<u8, Error> {
        let findings = match self.pid {
            Some(pid) => environment_checks::of_jvm(pid)?,
            None => environment_checks::of_machine(&self.java),
        };
        if self.json {
            show_json(&environment_checks::json(&findings))?;
        } else {
            show(&environment_checks::text(&findings))?;
        }
        conclusion(&findings).map_or(Ok(0), Err)
    }
}

fn conclusion(findings: &[Finding]) -> Option<Error> {
    let bad = findings.iter().filter(|one| one.state == State::Bad);
    let bad: Vec<&str> = bad.map(|one| one.what).collect();
    (!bad.is_empty()).then(|| {
        Error::partial(codes::H0637, "some checks of doctor are bad")
            .with("found", bad.join(", "))
            .with("help", "follow the advice below each of these checks")
    })
}
