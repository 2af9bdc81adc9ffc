//! Checks this machine: the programs of Classhook, a JVM with the agent, and the environment.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use agent_connection::recording_folder;
use agent_launch::agent_options::AgentOptions;
use agent_launch::start::{self, AGENT_LIBRARY};
use child_process::own_program;
use coverage_inputs::run_files;
use errors::{Error, Warnings};
use host::cache::Cache;
use host::compiler::{Compiler, CompilerProcess};
use host::plugin_file::PluginFile;
use local_files::programs::find_program;
use local_files::temporary;

use crate::first_message::first_message;
use crate::{Finding, State, hit_trial, write_check};

/// Environment variables with options for JVMs.
const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// The magic number and version of a component without sections.
const EMPTY_COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// Tools for plugins: language, program, and remedy if it is missing.
const LANGUAGES: [(&str, &str, &str); 3] = [
    (
        "Rust",
        "cargo",
        "only plugins of your own in Rust need it: https://rustup.rs",
    ),
    (
        "C",
        "clang",
        "only plugins of your own in C need it: clang and lld",
    ),
    (
        "Python",
        "componentize-py",
        "only plugins of your own in Python need it: pip install componentize-py",
    ),
];

/// Checks this machine. `java` is the launcher to try, as a shell would find it.
#[must_use]
pub fn of_machine(java: &OsString) -> Vec<Finding> {
    let mut findings = vec![agent(), java_with_agent(java)];
    let starts = findings.iter().all(|finding| finding.state == State::Good);
    findings.extend(starts.then(|| hit_trial::of_compilers(java)));
    findings.extend([compiler(), cache(), output()]);
    findings.push(clock());
    findings.extend(VARIABLES.iter().filter_map(|name| variable(name)));
    findings.push(running());
    findings.extend(LANGUAGES.map(|(language, program, advice)| {
        match find_program(program.as_ref()) {
            Some(path) => Finding::good("plugins", format!("{language}: {}", path.display())),
            None => Finding::absent("plugins", format!("{language}: no {program}"), advice),
        }
    }));
    findings
}

fn agent() -> Finding {
    match start::agent_library() {
        Ok(path) => Finding::good("agent", path.display().to_string()),
        Err(problem) => Finding::refused("agent", &problem),
    }
}

/// Runs `java -version` with the agent, and reads the recording.
fn java_with_agent(java: &OsString) -> Finding {
    match started(java) {
        Ok(finding) => finding,
        Err(problem) => Finding::refused("java", &problem),
    }
}

fn started(java: &OsString) -> Result<Finding, Error> {
    let folder = temporary::usual_folder()?;
    let printed = folder.path().join("printed");
    let file = File::create(&printed).map_err(|error| Error::unwritable(&printed, &error))?;
    let options = AgentOptions {
        output: Some(folder.path().to_path_buf()),
        ..AgentOptions::default()
    };
    let command = [java.clone(), "-version".into()];
    let exit = start::run(&command, &options, Some(file))?;
    let printed = fs::read(&printed).map_err(|error| Error::unreadable(&printed, &error))?;
    let printed = String::from_utf8_lossy(&printed);
    let found = find_program(java).unwrap_or_default();
    let found = format!("{}, {}", found.display(), version(&printed));
    let said = complaint(&printed).unwrap_or("it prints no cause");
    if let Some(said) = (exit != 0).then(|| fails_alone(java)).flatten() {
        let found = format!("{found}: it does not start, with or without the agent: {said}");
        return Ok(Finding::bad("java", found, MEND_ITS_OPTIONS));
    }
    if exit != 0 {
        let found = format!("{found}: with the agent it ends with {exit}: {said}");
        return Ok(Finding::bad("java", found, START_IT_ALONE));
    }
    if !is_recorded(folder.path())? {
        let found = format!("{found}: starts, and the agent records nothing: {said}");
        return Ok(Finding::bad("java", found, START_IT_ALONE));
    }
    let found = format!("{found}: starts with the agent, which records");
    Ok(Finding::good("java", found))
}

const MEND_ITS_OPTIONS: &str =
    "correct its options from the environment, listed below, or repair the JDK";

/// Returns the first message of `java -version` without the agent, or nothing if it succeeds.
fn fails_alone(java: &OsString) -> Option<String> {
    let ran = Command::new(java).arg("-version").output();
    let ran = ran.ok().filter(|ran| !ran.status.success())?;
    Some(first_message(&ran))
}

const START_IT_ALONE: &str = "start it once without classhook to see whether it works";

/// Checks whether the folder holds a complete snapshot.
fn is_recorded(folder: &Path) -> Result<bool, Error> {
    for path in run_files::in_folder(folder)? {
        let mut warnings = Warnings::default();
        let snapshot = run_files::read_snapshot(&path, &mut warnings)?;
        if snapshot.is_some_and(|snapshot| snapshot.complete) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds the line with the JVM's version: `openjdk version "17.0.15" 2025-04-15`.
fn version(printed: &str) -> &str {
    let mut lines = printed.lines();
    lines
        .find(|line| line.contains(" version \""))
        .unwrap_or("without a version")
}

/// Finds the first line about the agent.
fn complaint(printed: &str) -> Option<&str> {
    let about = |line: &&str| line.contains("classhook") || line.contains("agent");
    printed.lines().find(about).map(str::trim)
}

/// Compiles an empty component, which needs a child process with limits.
fn compiler() -> Finding {
    match compiled() {
        Ok(()) => Finding::good("compiler", "compiles plugins, in a child process"),
        Err(problem) => Finding::refused("compiler", &problem),
    }
}

fn compiled() -> Result<(), Error> {
    let folder = temporary::usual_folder()?;
    let file = folder.path().join("empty.wasm");
    fs::write(&file, EMPTY_COMPONENT).map_err(|error| Error::unwritable(&file, &error))?;
    let plugin = PluginFile::open("empty", &file)?;
    CompilerProcess::new(vec![own_program::program()]).compile(&plugin)?;
    Ok(())
}

/// Tries to write to the user's cache.
fn cache() -> Finding {
    const ADVICE: &str =
        "each JVM compiles and plans again: set XDG_CACHE_HOME to a writable folder";
    let Some(cache) = Cache::of_user() else {
        return Finding::bad("cache", "no folder that belongs to this user alone", ADVICE);
    };
    written("cache", cache.folder(), Some(ADVICE))
}

/// Tries to write to the default folder for recordings.
fn output() -> Finding {
    let folder = Path::new(recording_folder::DEFAULT);
    match folder.exists() {
        true => written("output", folder, None),
        false => written("output", Path::new("."), None),
    }
}

fn written(what: &'static str, folder: &Path, advice: Option<&str>) -> Finding {
    let shown = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let shown = shown.display();
    match write_check::check(folder) {
        Ok(()) => Finding::good(what, format!("{shown} can be written to")),
        Err(error) => Finding::bad(
            what,
            format!("{shown} cannot be written to: {error}"),
            advice.unwrap_or_else(|| write_check::advice(&error)),
        ),
    }
}

/// Checks whether the kernel trusts the processor's counter. The agent then times calls by it, too
/// (`hook-agent/src/ffi/clock.rs`).
fn clock() -> Finding {
    let sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let sources = fs::read_to_string(sources).unwrap_or_default();
    if sources.is_empty() || sources.split_whitespace().any(|name| name == "tsc") {
        return Finding::good("clock", "the processor's counter");
    }
    let found = format!("the kernel's: it has {}, and no tsc", sources.trim());
    Finding::absent("clock", found, "each time of a call costs about 20 ns more")
}

/// Returns a variable with options for JVMs, if it is set.
fn variable(name: &'static str) -> Option<Finding> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    let text = value.to_string_lossy();
    let found = format!("{name}={text}");
    if text.contains(AGENT_LIBRARY) {
        let advice = "unset it: the JVMs would get the agent twice, and load only the first";
        return Some(Finding::bad("options", found, advice));
    }
    if text.contains("-javaagent:") || text.contains("-agent") {
        let advice = "each JVM starts with that agent, too: its changes are measured with the rest";
        return Some(Finding::absent("options", found, advice));
    }
    Some(Finding::good("options", found))
}

fn running() -> Finding {
    let count = attach::jvms(AGENT_LIBRARY).len();
    Finding::good(
        "JVMs",
        format!("{count} run that this user may look at; `classhook doctor PID` looks at one"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "Picked up JAVA_TOOL_OPTIONS: -Dx=y\n\
        classhook: warning[H0403] ignored\n\
        openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment\n";

    #[test]
    fn version_and_complaint_are_found_among_other_lines() {
        assert_eq!(version(PRINTED), "openjdk version \"17.0.15\" 2025-04-15");
        assert_eq!(
            complaint(PRINTED),
            Some("classhook: warning[H0403] ignored")
        );
        assert_eq!(version(""), "without a version");
        assert_eq!(complaint("hello\n"), None);
    }
}
