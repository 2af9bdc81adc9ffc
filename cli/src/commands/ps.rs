//! `classhook ps`: lists the JVMs of this machine.

use std::fmt::Write;

use agent_connection::agent::Agent;
use agent_launch::start::AGENT_LIBRARY;
use attach::Jvm;
use clap::Args;
use errors::Error;
use rustix::process::{Uid, geteuid};
use standard_streams::show::{name, say, show};

const AFTER_HELP: &str = "\
The list holds the JVMs that you may inspect: for root all JVMs, also those in containers.
The column `agent` is `yes` if Classhook's agent answers in the JVM.
It is `library` if the library is loaded and no agent answers: the agent has ended, as after every visit, or has
control=off.";

/// Limit of a printed main class or command line, in characters.
const MAIN_WIDTH: usize = 100;

/// Lists the JVMs of this machine.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Ps {}

/// State of the agent in a JVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// The agent answers.
    Yes,
    /// The library is loaded, and no agent answers.
    LibraryOnly,
    /// The library is not loaded.
    No,
}

impl Presence {
    fn of(jvm: &Jvm) -> Self {
        match (jvm.has_library, Agent::find(jvm.pid)) {
            (_, Ok(Ok(_))) => Self::Yes,
            (Some(true), _) => Self::LibraryOnly,
            (Some(false) | None, _) => Self::No,
        }
    }
}

impl Ps {
    /// Prints one line for each JVM.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn run(&self) -> Result<u8, Error> {
        let jvms = attach::jvms(AGENT_LIBRARY);
        if jvms.is_empty() {
            say(none_found(geteuid()));
            return Ok(0);
        }
        let mut text = format!("{:>8}  {:<12}  {:<7}  main\n", "pid", "version", "agent");
        let mut is_explained = true;
        for jvm in jvms {
            let agent = Presence::of(&jvm);
            is_explained &= agent != Presence::LibraryOnly;
            line(&jvm, agent, &mut text);
        }
        show(&text)?;
        if !is_explained {
            say("library: the agent has ended, as after every visit, or has control=off");
        }
        Ok(0)
    }
}

/// Says whose JVMs were looked for, as no JVM was found.
fn none_found(user: Uid) -> String {
    if user.is_root() {
        return "no JVM was found, of any user".to_owned();
    }
    let name = probes::user_name(user.as_raw());
    format!(
        "no JVM of the user {} was found; root sees the JVMs of all users",
        escape::line(&name)
    )
}

fn line(jvm: &Jvm, agent: Presence, text: &mut String) {
    let version = match jvm.version.as_str() {
        "" => "-",
        version => version,
    };
    let agent = match agent {
        Presence::Yes => "yes",
        Presence::LibraryOnly => "library",
        Presence::No => "-",
    };
    let main: String = name(&jvm.main).chars().take(MAIN_WIDTH).collect();
    let version = name(version);
    let _ = writeln!(text, "{:>8}  {version:<12}  {agent:<7}  {main}", jvm.pid);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_list_names_the_users_whose_jvms_were_looked_for() {
        assert_eq!(none_found(Uid::ROOT), "no JVM was found, of any user");
        let text = none_found(Uid::from_raw(4_000_000_000));
        let expected = "no JVM of the user 4000000000 was found; root sees the JVMs of all users";
        assert_eq!(text, expected);
    }

    #[test]
    fn each_jvm_is_a_line_with_dashes_for_unknown_values() {
        let jvm = Jvm {
            pid: 4711,
            uid: 0,
            version: String::new(),
            main: "x".repeat(500),
            has_library: Some(true),
        };
        let mut text = String::new();
        line(&jvm, Presence::Yes, &mut text);
        assert!(
            text.starts_with("    4711  -             yes      xxx"),
            "{text}"
        );
        assert!(text.len() < 140);
    }
}
