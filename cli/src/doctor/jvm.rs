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
    let options = options(&process);
    let mut findings = vec![
        checked("user", process.check_permission(), "it is this user's"),
        checked("answers", process.check_answers(), "it is not stopped"),
        checked("C library", process.check_libc(), "glibc"),
        signal(&process),
        files(&process),
        agent(pid),
    ];
    findings.extend(barriers(&options));
    findings.extend(others(&options));
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

/// An option of the JVM, and the variable that it is from, if it is not on the command line.
struct JvmOption {
    text: String,
    variable: Option<&'static str>,
}

impl JvmOption {
    /// The option, and where it is from.
    fn found(&self) -> String {
        match self.variable {
            Some(variable) => format!("{} (in {variable})", self.text),
            None => self.text.clone(),
        }
    }
}

/// The options of a JVM in the order in which it takes them: the last one counts.
fn options(process: &Process) -> Vec<JvmOption> {
    let of_variable = |variable: &'static str| {
        let value = process.variable(variable).unwrap_or_default();
        let texts = words(&value).into_iter();
        texts.map(move |text| JvmOption {
            text,
            variable: Some(variable),
        })
    };
    let command_line = process.command_line().into_iter();
    let own = command_line.take_while(|argument| argument != "-jar");
    let own = own.map(|text| JvmOption {
        text,
        variable: None,
    });
    let first = of_variable("JAVA_TOOL_OPTIONS").chain(of_variable("JDK_JAVA_OPTIONS"));
    first
        .chain(own)
        .chain(of_variable("_JAVA_OPTIONS"))
        .collect()
}

/// The words of a variable with options, as HotSpot separates them: by blanks outside of quotes.
fn words(value: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for character in value.chars() {
        match (character, quote) {
            (_, Some(open)) if character == open => quote = None,
            ('"' | '\'', None) => quote = Some(character),
            (blank, None) if blank.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn barriers(options: &[JvmOption]) -> impl Iterator<Item = Finding> {
    let name = |option: &str| option.trim_start_matches(['-', '+', 'X', ':']).to_owned();
    let last = move |barrier: &str| {
        let mut options = options.iter().rev();
        options.find(|given| given.text.starts_with("-XX:") && name(&given.text) == name(barrier))
    };
    BARRIERS.iter().filter_map(move |(barrier, advice)| {
        let option = last(barrier).filter(|option| option.text == *barrier)?;
        Some(Finding::bad("options", option.found(), *advice))
    })
}

/// Other agents that it was started with.
fn others(options: &[JvmOption]) -> impl Iterator<Item = Finding> {
    let brings = |option: &&JvmOption| {
        let ours = option.text.contains(launch::AGENT_LIBRARY);
        !ours && AGENTS.iter().any(|prefix| option.text.starts_with(prefix))
    };
    options.iter().filter(brings).map(|option| {
        let advice =
            "what it changes is measured with the rest; docs/coverage.md, \"Beside other agents\"";
        Finding::absent("other agent", option.found(), advice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_keep_an_agent_out_and_other_agents_are_found() {
        let option = |text: &str, variable| JvmOption {
            text: text.to_owned(),
            variable,
        };
        let options = [
            option("-XX:+DisableAttachMechanism", Some("JAVA_TOOL_OPTIONS")),
            option("-javaagent:a.jar", Some("JAVA_TOOL_OPTIONS")),
            option("java", None),
            option("-XX:-DisableAttachMechanism", None),
            option("-javaagent:jacoco.jar", None),
            option("-agentpath:/x/libclasshook.so=output=o", None),
            option("-XX:-EnableDynamicAgentLoading", Some("_JAVA_OPTIONS")),
        ];
        let found: Vec<Finding> = barriers(&options).chain(others(&options)).collect();
        let found: Vec<&str> = found.iter().map(|one| one.found.as_str()).collect();
        let expected = [
            "-XX:-EnableDynamicAgentLoading (in _JAVA_OPTIONS)",
            "-javaagent:a.jar (in JAVA_TOOL_OPTIONS)",
            "-javaagent:jacoco.jar",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn options_in_variables_are_separated_by_blanks_outside_of_quotes() {
        assert_eq!(
            words(" -Da='b c'  \"-Dd=\"e\n-f "),
            ["-Da=b c", "-Dd=e", "-f"]
        );
        assert!(words("").is_empty());
    }
}
