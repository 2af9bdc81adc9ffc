//! The parent of the child process that compiles one component.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use child_process::{ARGUMENT, cause_of_end};
use plugin_code::limits::Limits;
use plugin_code::{Answer, COMPILE, MAX_ANSWER};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::interface::Compiler;
use crate::cache::Cache;
use crate::compiled_code::Code;
use crate::plugin_file::PluginFile;
use errors::{Error, codes};

/// File name of the command, which compiles plugins in a child process.
pub const COMMAND: &str = "classhook";

/// The cause for a child that exceeded the total time but not its own limits, perhaps on a busy
/// machine.
const LATE: &str = "it exceeded the total time limit";
/// The code of a plugin that exceeds a limit.
const BEYOND: &str = codes::H0117;

/// Poll interval for the end of a child that closed its output.
const TURN: Duration = Duration::from_millis(10);

/// Compiles each component in a separate process with limits.
///
/// The process gets the open file as its standard input, so it needs no path. Its answer contains
/// the digest of the file, so the code belongs to the file that was read. The code comes through a
/// pipe, so the process needs no folder.
#[derive(Debug, Clone)]
pub struct CompilerProcess {
    programs: Vec<PathBuf>,
    /// Folder of the cache. `None` means the user's cache.
    cache: Option<PathBuf>,
}

impl CompilerProcess {
    /// Uses the first of these programs that exists.
    #[must_use]
    pub fn new(programs: Vec<PathBuf>) -> Self {
        Self {
            programs,
            cache: None,
        }
    }

    /// Uses the cache in this folder in place of the user's.
    #[must_use]
    pub fn with_cache(self, folder: &Path) -> Self {
        Self {
            cache: Some(folder.to_owned()),
            ..self
        }
    }

    fn program(&self) -> Option<&Path> {
        let mut programs = self.programs.iter();
        let found = programs.find(|program| is_executable(program));
        found.map(PathBuf::as_path)
    }

    /// Runs the child to its end. Returns its answer, or the cause of its failure, if known.
    fn run(
        mut command: Command,
        plugin: &PluginFile,
        wall: Duration,
    ) -> io::Result<Result<Vec<u8>, Option<&'static str>>> {
        let mut input: File = plugin.file.try_clone()?;
        input.rewind()?;
        let mut child = command
            .env_clear()
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let deadline = Instant::now() + wall;
        let answer = match child.stdout.take() {
            Some(mut output) => read_until(&mut output, deadline),
            None => Ok(None),
        };
        let ended = end(&mut child, deadline);
        Ok(match answer? {
            Some(answer) if !answer.is_empty() => Ok(answer),
            _ => Err(ended),
        })
    }
}

impl Compiler for CompilerProcess {
    fn cache(&self) -> Option<Cache> {
        match &self.cache {
            Some(folder) => Cache::open(folder).ok(),
            None => Cache::of_user(),
        }
    }

    fn compile(&self, plugin: &PluginFile) -> Result<Code, Error> {
        let Some(program) = self.program() else {
            return Err(no_compiler(plugin, &self.programs));
        };
        let limits = Limits::of(plugin.wasm.len());
        let mut command = Command::new(program);
        command.args([ARGUMENT, COMPILE]);
        let ran = Self::run(command, plugin, limits.wall);
        let answer = ran.map_err(|error| unusable(plugin, program, &error.to_string()))?;
        let answer = answer.map_err(|cause| match cause {
            Some(cause) => beyond(plugin, cause, &limits.to_string()),
            None => unusable(plugin, program, "no answer"),
        })?;
        match Answer::read(answer) {
            Some((Answer::Code { of, .. }, code)) if of == plugin.digest => Ok(Code(code)),
            Some((Answer::Code { .. }, _)) => Err(invalid(
                plugin,
                "the file was changed while it was compiled",
            )),
            Some((Answer::Invalid(cause), _)) => Err(invalid(plugin, &cause)),
            Some((Answer::TooLarge(found, expected), _)) => Err(beyond(plugin, &found, &expected)),
            None => Err(unusable(
                plugin,
                program,
                "its answer is not that of a compiler",
            )),
        }
    }
}

fn is_executable(program: &Path) -> bool {
    let executable =
        |found: std::fs::Metadata| found.is_file() && found.permissions().mode() & 0o111 != 0;
    program.metadata().is_ok_and(executable)
}

/// Reads the output to its end. Returns `None` if the deadline passes or the output is too long.
fn read_until(output: &mut ChildStdout, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut answer = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || answer.len() as u64 > MAX_ANSWER {
            return Ok(None);
        }
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(output, PollFlags::IN)], timeout.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            ready => ready?,
        };
        match output.read(&mut buffer) {
            Ok(0) => return Ok(Some(answer)),
            Ok(count) => answer.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Waits until the deadline, then kills the child. Returns how it ended. Another part of the
/// process may have reaped the child.
fn end(child: &mut Child, deadline: Instant) -> Option<&'static str> {
    while let Ok(None) = child.try_wait() {
        if Instant::now() >= deadline {
            let _ = child.kill(); // it may have ended meanwhile
            let _ = child.wait();
            return Some(LATE);
        }
        std::thread::sleep(TURN);
    }
    cause_of_end(&child.wait())
}

/// The error for a component that the compiler rejects.
fn invalid(plugin: &PluginFile, cause: &str) -> Error {
    Error::mistake(codes::H0106, format!("plugin `{}` is damaged", plugin.name))
        .with("found", cause)
        .with("help", "build or fetch the plugin again")
}

/// Returns the found and the expected value for a plugin that will always exceed the same limit.
/// Returns `None` for other errors.
pub(crate) fn lasting(error: &Error) -> Option<(String, String)> {
    let note = |wanted: &str| {
        let mut notes = error.notes();
        let found = notes.find(|(label, _)| *label == wanted);
        found.map(|(_, text)| text.to_owned())
    };
    let (found, expected) = (note("found")?, note("expected")?);
    (error.code() == BEYOND && found != LATE).then_some((found, expected))
}

/// The error for a plugin that exceeds a limit.
pub(crate) fn beyond(plugin: &PluginFile, found: &str, expected: &str) -> Error {
    let message = format!(
        "plugin `{}` cannot be compiled within the limits",
        plugin.name
    );
    Error::mistake(BEYOND, message)
        .with("expected", expected)
        .with("found", found)
        .with("help", "make the plugin smaller, with fewer and shorter functions; docs/options.md lists the limits")
}

fn no_compiler(plugin: &PluginFile, programs: &[PathBuf]) -> Error {
    let message = format!(
        "plugin `{}` must be compiled, but the command `{COMMAND}` was not found",
        plugin.name
    );
    let looked = programs
        .iter()
        .fold(Error::mistake(codes::H0116, message), |error, program| {
            error.with("looked", program.display().to_string())
        });
    looked.with("help", format!("put `{COMMAND}` beside the agent's library, or name it with the agent's option compiler=PATH. Or run `{COMMAND} compile-plugin FILE` before, as the user of the JVM"))
}

fn unusable(plugin: &PluginFile, program: &Path, found: &str) -> Error {
    let message = format!(
        "plugin `{}` cannot be compiled by {}",
        plugin.name,
        program.display()
    );
    Error::mistake(codes::H0116, message).with("found", found).with(
        "help",
        format!("put the `{COMMAND}` of this version there, or name it with the agent's option compiler=PATH"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component file with invalid content.
    fn plugin() -> (tempfile::TempDir, PluginFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p.wasm");
        std::fs::write(&file, "component").unwrap();
        let plugin = PluginFile::open("p", &file).unwrap();
        (folder, plugin)
    }

    /// Returns the answer of a shell script in place of the compiler.
    fn answer(script: &str, wall: Duration) -> Result<String, Option<&'static str>> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let answer = CompilerProcess::run(command, &plugin().1, wall).unwrap();
        answer.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    const LONG: Duration = Duration::from_secs(100);

    #[test]
    fn child_reads_the_file_and_its_output_is_the_answer() {
        assert_eq!(answer("/bin/cat", LONG), Ok("component".to_owned()));
    }

    #[test]
    fn child_that_takes_too_long_is_ended() {
        let late = Err(Some(LATE));
        let short = Duration::from_millis(50);
        assert_eq!(answer("exec /bin/sleep 1000", short), late);
        assert_eq!(answer("exec /bin/sleep 1000 > /dev/null", short), late);
    }

    #[test]
    fn child_that_exceeds_its_limits_is_reported_with_its_cause() {
        let memory = Err(Some("it ran out of memory or aborted"));
        assert_eq!(answer("kill -ABRT $$", LONG), memory);
        let time = Err(Some("it exceeded the limit of CPU time"));
        assert_eq!(answer("kill -XCPU $$", LONG), time);
        assert_eq!(answer("exit 1", LONG), Err(None));
    }

    #[test]
    fn only_lasting_errors_are_stored() {
        let (_folder, plugin) = plugin();
        let expected = Some(("9 functions".to_owned(), "8".to_owned()));
        assert_eq!(lasting(&beyond(&plugin, "9 functions", "8")), expected);
        assert_eq!(lasting(&beyond(&plugin, LATE, "8")), None);
        assert_eq!(lasting(&invalid(&plugin, "no magic number")), None);
    }

    #[test]
    fn errors_give_advice() {
        let (_folder, plugin) = plugin();
        let missing = CompilerProcess::new(vec!["/nowhere/compiler".into(), "/dev/null".into()]);
        let error = missing.compile(&plugin).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.code(), "H0116");
        assert!(
            text.contains("/nowhere/compiler") && text.contains("compile-plugin"),
            "{text}"
        );
        let other = CompilerProcess::new(vec!["/bin/echo".into()]);
        let error = other.compile(&plugin).unwrap_err().to_string();
        assert!(
            error.contains("/bin/echo") && error.contains("not that of a compiler"),
            "{error}"
        );
    }
}
