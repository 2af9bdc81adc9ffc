//! Starts a command with the agent in its JVM, or in every JVM that it starts.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use errors::{Error, codes};
pub use library::NAME as AGENT_LIBRARY;
use local_files::preflight;

use crate::agent_options::AgentOptions;
use crate::program::{self, Program};
use crate::{child, library, tool_options};

/// The variable with options for every JVM.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";
/// The variable with options for Gradle's launcher.
const GRADLE_OPTIONS: &str = "GRADLE_OPTS";

/// Runs `command` with the agent and waits for its end. Returns its exit code, or 128 + signal if
/// it was killed.
///
/// `java` gets `-agentpath:…` as its first argument, and the JDK's other tools get it behind `-J`.
/// Every other command gets it in `JAVA_TOOL_OPTIONS`, behind the existing options.
///
/// With `output`, the command has no standard input, and its output goes to that file.
///
/// # Errors
/// If the command or the agent's library is not found or does not start (`H0601` to `H0603`),
/// another command of ours has started this one (`H0605`), or the folder for recordings is not
/// writable (`H0620`).
pub fn run(
    command: &[OsString],
    options: &AgentOptions,
    output: Option<File>,
) -> Result<u8, Error> {
    let Some((name, arguments)) = command.split_first() else {
        return Err(Error::mistake(codes::H0602, "no command is given")
            .with("expected", "a command after `--`")
            .with(
                "help",
                "for example: classhook coverage -- java -jar app.jar",
            ));
    };
    let program = program::find(name)?;
    let agent = agent_argument(library::find()?.as_os_str(), options)?;
    let tool_options = std::env::var_os(TOOL_OPTIONS);
    check_is_alone(tool_options.as_deref())?;
    options
        .output
        .as_deref()
        .map_or(Ok(()), preflight::folder)?;
    let mut command = prepare(name, &program, &agent, tool_options);
    command.args(arguments);
    let redirected = output.map_or(Ok(()), |output| redirect(&mut command, output));
    let outcome = redirected.and_then(|()| child::run(&mut command));
    outcome.map_err(|error| {
        Error::mistake(codes::H0603, format!("cannot start {}", name.display()))
            .with("found", error.to_string())
            .with(
                "help",
                "start it once without classhook to see whether it works",
            )
    })
}

/// Refuses a second agent: a JVM loads the first of our agents, so this command would record
/// nothing.
fn check_is_alone(tool_options: Option<&OsStr>) -> Result<(), Error> {
    let Some(found) = tool_options.filter(|text| text.to_string_lossy().contains(AGENT_LIBRARY))
    else {
        return Ok(());
    };
    let problem = Error::mistake(
        codes::H0605,
        "the JVMs would get the agent twice, and load only the first",
    );
    Err(problem
        .with("found", format!("{TOOL_OPTIONS}={}", found.display()))
        .with(
            "help",
            "start one classhook command at a time; `classhook profile PID` and others attach to a JVM with the agent",
        ))
}

fn redirect(command: &mut Command, output: File) -> io::Result<()> {
    command.stderr(output.try_clone()?).stdout(output);
    command.stdin(Stdio::null());
    Ok(())
}

/// Returns the agent's library as an absolute path.
///
/// # Errors
/// `H0601` with every path that was tried.
pub fn agent_library() -> Result<PathBuf, Error> {
    library::find()
}

/// Formats `-agentpath:LIBRARY=OPTIONS`.
fn agent_argument(library: &OsStr, options: &AgentOptions) -> Result<OsString, Error> {
    if library.as_encoded_bytes().contains(&b'=') {
        return Err(Error::mistake(
            codes::H0601,
            "the path of the agent library contains a `=`, at which the JVM would cut it",
        )
        .with("found", library.display().to_string())
        .with(
            "help",
            "move it, or set CLASSHOOK_AGENT to a copy elsewhere",
        ));
    }
    let mut argument = OsString::from("-agentpath:");
    argument.push(library);
    let options = options.to_text();
    if !options.is_empty() {
        argument.push("=");
        argument.push(options);
    }
    Ok(argument)
}

fn prepare(
    name: &OsStr,
    program: &Program,
    agent: &OsStr,
    tool_options: Option<OsString>,
) -> Command {
    let mut command = Command::new(name);
    match program {
        Program::Java => {
            command.arg(agent);
        }
        Program::JdkTool => {
            let mut argument = OsString::from("-J");
            argument.push(agent);
            command.arg(argument);
        }
        Program::Other => {
            command.env(
                TOOL_OPTIONS,
                tool_options::append(tool_options.as_deref(), agent),
            );
            let options = std::env::var_os(GRADLE_OPTIONS);
            command.env(GRADLE_OPTIONS, without_daemon(options));
        }
    }
    command
}

/// Returns Gradle's options with the daemon disabled: a daemon would keep the agent, and record
/// later builds in the folder of this one.
fn without_daemon(options: Option<OsString>) -> OsString {
    let mut options = options.unwrap_or_default();
    if !options.is_empty() {
        options.push(" ");
    }
    options.push("-Dorg.gradle.daemon=false");
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradle_runs_without_a_daemon() {
        let added = |options: Option<&str>| without_daemon(options.map(Into::into));
        assert_eq!(added(None), "-Dorg.gradle.daemon=false");
        assert_eq!(added(Some("-Xmx1g")), "-Xmx1g -Dorg.gradle.daemon=false");
        let command = prepare(
            "x".as_ref(),
            &Program::Other,
            "-agentpath:/a".as_ref(),
            None,
        );
        assert!(command.get_envs().any(|(name, _)| name == GRADLE_OPTIONS));
    }

    fn prepared(program: &Program, tool_options: Option<&str>) -> (Vec<String>, Option<String>) {
        let command = prepare(
            "x".as_ref(),
            program,
            "-agentpath:/a b.so=k=v".as_ref(),
            tool_options.map(Into::into),
        );
        let text = |text: &OsStr| text.to_str().unwrap().to_owned();
        let environment = command.get_envs().find(|(name, _)| *name == TOOL_OPTIONS);
        (
            command.get_args().map(text).collect(),
            environment.and_then(|(_, value)| value).map(text),
        )
    }

    #[test]
    fn each_kind_of_command_gets_the_agent() {
        assert_eq!(
            prepared(&Program::Java, Some("-Dx")),
            (vec!["-agentpath:/a b.so=k=v".to_owned()], None)
        );
        assert_eq!(
            prepared(&Program::JdkTool, None),
            (vec!["-J-agentpath:/a b.so=k=v".to_owned()], None)
        );
        let expected = "-Dx '-Dy= z' \"-agentpath:/a b.so=k=v\"".to_owned();
        assert_eq!(
            prepared(&Program::Other, Some("-Dx '-Dy= z'")),
            (vec![], Some(expected))
        );
    }

    #[test]
    fn nested_command_is_refused() {
        for alone in [None, Some("-Xmx1g -agentpath:/other.so")] {
            assert!(check_is_alone(alone.map(OsStr::new)).is_ok());
        }
        let outer = "-Xmx1g \"-agentpath:/a b/libclasshook.so=plugin=coverage\"";
        let error = check_is_alone(Some(outer.as_ref())).unwrap_err();
        assert_eq!(error.exit(), 2);
        assert!(error.to_string().contains("error[H0605]"), "{error}");
    }

    #[test]
    fn library_path_with_an_equals_sign_is_refused() {
        let error =
            agent_argument("/a=b/libclasshook.so".as_ref(), &AgentOptions::default()).unwrap_err();
        assert_eq!(error.exit(), 2);
        assert!(error.to_string().contains("CLASSHOOK_AGENT"), "{error}");
    }

    #[test]
    fn missing_command_is_a_user_error() {
        let error = run(&[], &AgentOptions::default(), None).unwrap_err();
        assert!(error.to_string().starts_with("error[H0602]"), "{error}");
        let error = run(
            &["no-such-command-anywhere".into()],
            &AgentOptions::default(),
            None,
        )
        .unwrap_err();
        assert_eq!(error.exit(), 2);
        assert!(
            error.to_string().contains("no-such-command-anywhere"),
            "{error}"
        );
    }
}
