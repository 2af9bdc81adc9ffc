//! A running JVM: whether an agent can come into it, and what else is there.

use attach::{AttachError, Process};

use super::Finding;
use crate::agent::{Agent, unreached};
use crate::launch;
use crate::problem::Problem;

/// Arguments of a JVM that keep an agent out, and what they do.
const BARRIERS: [(&str, &str); 2] = [
    (
        "-XX:+DisableAttachMechanism",
        "it answers nobody: start it without that, or with the agent",
    ),
    (
        "-XX:-EnableDynamicAgentLoading",
        "it takes no agent while it runs: start it without that, or with the agent",
    ),
];

/// What an argument begins with that brings another agent.
const AGENTS: [&str; 4] = ["-javaagent:", "-agentpath:", "-agentlib:", "-Xrun"];

/// Looks at the JVM `pid`, without a word to it that would change it.
///
/// # Errors
/// If there is no such process, or it is no JVM (`H05xx`).
pub fn of_jvm(pid: i32) -> Result<Vec<Finding>, Problem> {
    let process = Process::read(pid).map_err(unreached)?;
    if !process.maps("libjvm.so") {
        return Err(unreached(AttachError::NotJvm(pid)));
    }
    let arguments = process.command_line();
    let mut findings = vec![
        checked("user", process.check_permission(), "it is this user's"),
        checked("answers", process.check_answers(), "it is not stopped"),
        checked("C library", process.check_libc(), "glibc"),
        signal(&process),
        files(&process),
        agent(pid),
    ];
    findings.extend(barriers(&arguments));
    findings.extend(others(&arguments));
    Ok(findings)
}

fn checked(what: &'static str, check: Result<(), AttachError>, good: &str) -> Finding {
    match check {
        Ok(()) => Finding::good(what, good),
        Err(error) => Finding::refused(what, &unreached(error)),
    }
}

/// An agent is let in by SIGQUIT, which ends a process that does not expect it.
fn signal(process: &Process) -> Finding {
    if process.catches_sigquit() {
        return Finding::good("attach", "it waits for SIGQUIT");
    }
    let advice = "it was started with -Xrs or is just beginning: start it with the agent";
    Finding::bad("attach", "it does not wait for SIGQUIT", advice)
}

fn files(process: &Process) -> Finding {
    match launch::agent_library() {
        Ok(library) if process.sees(&library) => Finding::good("files", "it sees those of here"),
        Ok(_) => Finding::good(
            "files",
            "it has other files, as in a container: it gets the library into a folder of its own",
        ),
        Err(problem) => Finding::refused("files", &problem),
    }
}

fn agent(pid: i32) -> Finding {
    match Agent::find(pid) {
        Ok(Ok(_)) => Finding::good("agent", "it is there: `classhook status` asks it"),
        Ok(Err(_)) => Finding::good("agent", "none yet"),
        Err(problem) => Finding::refused("agent", &problem),
    }
}

fn barriers(arguments: &[String]) -> impl Iterator<Item = Finding> {
    let found = |argument: &str| arguments.iter().any(|given| given == argument);
    let barriers = BARRIERS.iter().filter(move |(argument, _)| found(argument));
    barriers.map(|(argument, advice)| Finding::bad("options", *argument, *advice))
}

/// Other agents that it was started with.
fn others(arguments: &[String]) -> impl Iterator<Item = Finding> {
    let options = arguments.iter().take_while(|argument| *argument != "-jar");
    let brings = |argument: &&String| {
        let ours = argument.contains(launch::AGENT_LIBRARY);
        !ours && AGENTS.iter().any(|prefix| argument.starts_with(prefix))
    };
    options.filter(brings).map(|argument| {
        let advice =
            "what it changes is measured with the rest; docs/coverage.md, \"Beside other agents\"";
        Finding::absent("other agent", argument.as_str(), advice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_keep_an_agent_out_and_other_agents_are_found() {
        let arguments = [
            "java",
            "-XX:-EnableDynamicAgentLoading",
            "-javaagent:jacoco.jar",
            "-agentpath:/x/libclasshook.so=output=o",
            "-jar",
            "app.jar",
            "-javaagent:of-the-program",
        ];
        let arguments = arguments.map(str::to_owned);
        let found: Vec<Finding> = barriers(&arguments).chain(others(&arguments)).collect();
        let found: Vec<&str> = found.iter().map(|one| one.found.as_str()).collect();
        assert_eq!(
            found,
            ["-XX:-EnableDynamicAgentLoading", "-javaagent:jacoco.jar"]
        );
    }
}
