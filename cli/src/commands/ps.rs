//! `classhook ps`: the JVMs of this machine.

use std::io::Write;

use clap::Args;

use crate::launch::AGENT_LIBRARY;
use crate::problem::Problem;

const AFTER_HELP: &str = "\
Lists the JVMs that this user may look at: all of them for root, also those in containers.
`agent` says whether Classhook's library is in the JVM.";

/// Longest main class or command line that is printed, in characters.
const MAIN_WIDTH: usize = 100;

/// Lists the JVMs of this machine.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Ps {}

impl Ps {
    /// Prints one line per JVM.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn run(&self) -> Result<u8, Problem> {
        let text = table(&attach::jvms(AGENT_LIBRARY));
        let written = std::io::stdout().lock().write_all(text.as_bytes());
        match written {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                let problem = Problem::ours("H0624", "cannot write to standard output");
                Err(problem.with("found", error.to_string()))
            }
            _ => Ok(0),
        }
    }
}

fn table(jvms: &[attach::Jvm]) -> String {
    let mut text = format!("{:>8}  {:<12}  {:<5}  main\n", "pid", "version", "agent");
    for jvm in jvms {
        let version = if jvm.version.is_empty() {
            "-"
        } else {
            &jvm.version
        };
        let agent = if jvm.has_library { "yes" } else { "-" };
        let main: String = jvm.main.chars().take(MAIN_WIDTH).collect();
        text.push_str(&format!(
            "{:>8}  {version:<12}  {agent:<5}  {main}\n",
            jvm.pid
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_jvm_is_a_line_and_what_is_unknown_is_a_dash() {
        let jvm = attach::Jvm {
            pid: 4711,
            uid: 0,
            version: String::new(),
            main: "x".repeat(500),
            has_library: true,
        };
        let text = table(&[jvm]);
        let line = text.lines().nth(1).unwrap();
        assert!(
            line.starts_with("    4711  -             yes    xxx"),
            "{line}"
        );
        assert!(line.len() < 140);
    }
}
