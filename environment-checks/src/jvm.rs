//! Checks a running JVM: whether an agent can be loaded, and which other agents it has.

use std::io::{self, ErrorKind};

use agent_connection::agent::{self, Agent};
use agent_connection::recording_folder;
use agent_launch::attachment;
use agent_launch::start;
use attach::{AttachError, PlacedFile, Process};
use errors::Error;
use local_files::jvm_files;
use local_files::jvm_tmp::JvmTmp;
use rustix::fs::Access;
use rustix::process::geteuid;
use trace::numbers::thousands;

use crate::{Finding, write_check};

/// Arguments of a JVM that keep an agent out, with effect and remedy.
const BARRIERS: [(&str, &str); 2] = [
    (
        "-XX:+DisableAttachMechanism",
        "it accepts no attach requests: start it without this option, or with the agent",
    ),
    (
        "-XX:-EnableDynamicAgentLoading",
        "it loads no agent at run time: start it without this option, or with the agent",
    ),
];

/// Prefixes of arguments that load another agent.
const AGENTS: [&str; 4] = ["-javaagent:", "-agentpath:", "-agentlib:", "-Xrun"];

/// File descriptors that an agent needs: for attaching, its library, its recordings, its socket and
/// connections to it.
const DESCRIPTORS: u64 = 24;

/// Advice if `/proc` hides something.
const AS_ROOT: &str = "run this command as root to see it";

/// Checks the JVM `pid`: runs its attach protocol, and creates the agent's files for a moment.
///
/// # Errors
/// If the process does not exist, or is no JVM (`H05xx`).
pub fn of_jvm(pid: i32) -> Result<Vec<Finding>, Error> {
    let process = Process::read(pid).map_err(Error::from)?;
    // The mapped files of another user's process are hidden, so the process may be a JVM.
    let is_reached = process.check_permission().is_ok();
    if is_reached && !process.is_jvm() {
        return Err(Error::from(AttachError::NotJvm(pid)));
    }
    let options = options(&process);
    let mut findings = vec![user(&process), attach(pid), descriptors(&process)];
    findings.push(c_library(&process));
    // Only the JVM's user and root can try more.
    if process.check_permission().is_ok() && process.check_files().is_ok() {
        findings.extend([
            tmp(&process),
            library(&process),
            output(&process),
            agent(pid),
        ]);
    }
    findings.extend(barriers(&options));
    findings.extend(others(&options));
    Ok(findings)
}

fn user(process: &Process) -> Finding {
    const WHAT: &str = "user";
    let (ours, theirs) = (geteuid().as_raw(), process.effective_uid());
    match process
        .check_permission()
        .and_then(|()| process.check_files())
    {
        Ok(()) if ours == theirs => Finding::good(WHAT, format!("{theirs}, as this command's")),
        Ok(()) => Finding::good(WHAT, format!("{theirs}; this command's is root")),
        Err(error) => Finding::refused(WHAT, &Error::from(error)),
    }
}

/// Tries the attach protocol: requests the JVM's version.
fn attach(pid: i32) -> Finding {
    const WHAT: &str = "attach";
    let answer = attachment::open(pid).and_then(|jvm| jvm.properties());
    match answer {
        Ok(properties) => {
            let value = |name: &str| {
                let mut lines = properties.lines();
                let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
                value.unwrap_or("unknown").to_owned()
            };
            let (name, version) = (value("java.vm.name"), value("java.version"));
            Finding::good(WHAT, format!("it answers: {name} {version}"))
        }
        Err(error) => Finding::refused(WHAT, &Error::from(error)),
    }
}

fn descriptors(process: &Process) -> Finding {
    const WHAT: &str = "files";
    let Some((open, limit)) = process.descriptors() else {
        let found = "its open files and their limit are hidden";
        return Finding::absent(WHAT, found, AS_ROOT);
    };
    match process.check_descriptors(DESCRIPTORS) {
        Ok(()) if limit == u64::MAX => Finding::good(
            WHAT,
            format!("{} are open, without a limit", thousands(open)),
        ),
        Ok(()) => {
            let (open, limit) = (thousands(open), thousands(limit));
            Finding::good(WHAT, format!("{open} of {limit} are open"))
        }
        Err(error) => Finding::refused(WHAT, &Error::from(error)),
    }
}

fn c_library(process: &Process) -> Finding {
    const WHAT: &str = "C library";
    match (process.maps("libjvm.so"), process.check_libc()) {
        (None, _) => Finding::absent(WHAT, "its libraries are hidden", AS_ROOT),
        (Some(_), Ok(name)) => Finding::good(WHAT, name),
        (Some(_), Err(error)) => Finding::refused(WHAT, &Error::from(error)),
    }
}

/// Writes a file to the JVM's `/tmp` as the JVM's user, because the agent creates its socket there.
fn tmp(process: &Process) -> Finding {
    let made = JvmTmp::open(process)
        .and_then(|tmp| process.as_its_user(|| write_check::check(&tmp.path())));
    written("tmp", "/tmp", process, made)
}

/// Checks whether the JVM's user can read the library, or whether a copy can be made.
fn library(process: &Process) -> Finding {
    const WHAT: &str = "library";
    let library = match start::agent_library() {
        Ok(library) => library,
        Err(problem) => return Finding::refused(WHAT, &problem),
    };
    if jvm_files::reads(process, &library) {
        let path = library.display();
        return Finding::good(WHAT, format!("the JVM's user can read {path}"));
    }
    match PlacedFile::new(process, &library, &agent::folder_of(&library)) {
        Ok(placed) => {
            let path = placed.path().display();
            Finding::good(WHAT, format!("the JVM gets a copy: {path}"))
        }
        Err(error) => Finding::refused(WHAT, &Error::from(error)),
    }
}

/// Writes a file to the default folder for recordings, as the recording user.
fn output(process: &Process) -> Finding {
    const WHAT: &str = "output";
    let user = process.effective_uid();
    let Ok(here) = std::env::current_dir() else {
        return Finding::bad(
            WHAT,
            "the working folder was removed",
            "change to another folder",
        );
    };
    if !process.sees(&here) {
        return tmp(process).about(WHAT);
    }
    let folder = here.join(recording_folder::DEFAULT);
    let nearest = if folder.exists() { &folder } else { &here };
    let made = process.as_its_user(|| write_check::check(nearest));
    let is_denied = made
        .as_ref()
        .is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    if !is_denied || geteuid().as_raw() == user {
        return written(WHAT, &nearest.display().to_string(), process, made);
    }
    if !folder.exists() && process.check_access(&here, Access::EXEC_OK).is_ok() {
        return written(
            WHAT,
            &here.display().to_string(),
            process,
            write_check::check(&here),
        );
    }
    tmp(process).about(WHAT)
}

fn written(what: &'static str, folder: &str, process: &Process, made: io::Result<()>) -> Finding {
    let user = process.effective_uid();
    match made {
        Ok(()) => Finding::good(what, format!("user {user} can write to {folder}")),
        Err(error) => Finding::bad(
            what,
            format!("user {user} cannot write to {folder}: {error}"),
            write_check::advice(&error),
        ),
    }
}

fn agent(pid: i32) -> Finding {
    match Agent::find(pid) {
        Ok(Ok(_)) => Finding::good("agent", "it is loaded: `classhook status` shows its state"),
        Ok(Err(_)) => Finding::good("agent", "none yet"),
        Err(problem) => Finding::refused("agent", &problem),
    }
}

/// An option of the JVM, and its environment variable if it is not on the command line.
struct JvmOption {
    text: String,
    variable: Option<&'static str>,
}

impl JvmOption {
    /// Formats the option with its origin.
    fn found(&self) -> String {
        match self.variable {
            Some(variable) => format!("{} (in {variable})", self.text),
            None => self.text.clone(),
        }
    }
}

/// Returns the options of a JVM in the order in which it reads them: the last one counts.
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

/// Splits a variable with options as HotSpot does: at blanks outside of quotes.
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

/// Returns the other agents on the JVM's command line.
fn others(options: &[JvmOption]) -> impl Iterator<Item = Finding> {
    let brings = |option: &&JvmOption| {
        let ours = option.text.contains(start::AGENT_LIBRARY);
        !ours && AGENTS.iter().any(|prefix| option.text.starts_with(prefix))
    };
    options.iter().filter(brings).map(|option| {
        let advice = "its changes are measured with the rest; see docs/how-to/other-agents.md";
        Finding::absent("other agent", option.found(), advice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_block_an_agent_and_other_agents_are_found() {
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
    fn options_in_variables_are_split_at_blanks_outside_of_quotes() {
        assert_eq!(
            words(" -Da='b c'  \"-Dd=\"e\n-f "),
            ["-Da=b c", "-Dd=e", "-f"]
        );
        assert!(words("").is_empty());
    }
}
