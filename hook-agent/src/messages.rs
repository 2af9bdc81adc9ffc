//! All output of the agent to standard error: lines that begin with `classhook: `.
//!
//! A message is one write, so that lines of several threads do not mix. A closed or full standard error is no failure.

use errors::{Error, codes};
use host::config::LogLevel;
use std::fmt::{self, Display, Write as _};
use std::fs::File;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stable codes of the agent's own messages, as listed in `docs/errors.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The JVM is older than 11.
    OldJvm,
    /// The JVM refuses something that the agent needs.
    Refused,
    /// The agent is in this JVM already.
    Twice,
    /// The output folder or the snapshot in it cannot be created.
    Output,
    /// The snapshot cannot be written during the run.
    Write,
    /// A probe class cannot be defined.
    ProbeClass,
    /// A thread of the agent does not start or does not answer.
    Thread,
    /// A class that was loaded earlier cannot be retransformed.
    Retransform,
    /// A panic of the agent.
    Panic,
    /// The option string is not UTF-8, or an option is refused.
    Options,
    /// The control socket cannot be created.
    Control,
    /// Methods of changed classes were left unchanged.
    LeftAlone,
    /// Methods became longer than HotSpot's limit for compilation.
    Huge,
    /// A rule or pattern of a plugin matched no class.
    Unmatched,
    /// JaCoCo's tools cannot connect to this JVM.
    Jacoco,
    /// JaCoCo's tools on other machines can connect to this JVM.
    JacocoRemote,
    /// Coverage of single tests is not recorded any more.
    Tests,
    /// Events of the JVM cannot be recorded.
    JvmEvents,
    /// A plugin gets no events of the JVM, or failed with them.
    Observer,
    /// A patch does not take effect on a class that was loaded later, or its log cannot be written.
    Patch,
}

impl Code {
    /// The code as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::OldJvm => codes::H0401,
            Code::Refused => codes::H0402,
            Code::Twice => codes::H0403,
            Code::Output => codes::H0404,
            Code::Write => codes::H0405,
            Code::ProbeClass => codes::H0406,
            Code::Thread => codes::H0407,
            Code::Retransform => codes::H0408,
            Code::Panic => codes::H0409,
            Code::Options => codes::H0410,
            Code::LeftAlone => codes::H0411,
            Code::Control => codes::H0412,
            Code::Patch => codes::H0413,
            Code::Huge => codes::H0414,
            Code::Unmatched => codes::H0415,
            Code::Jacoco => codes::H0416,
            Code::JacocoRemote => codes::H0417,
            Code::Tests => codes::H0418,
            Code::JvmEvents => codes::H0419,
            Code::Observer => codes::H0420,
        }
    }
}

/// A second file for messages: the process that attaches reads the messages of the start from it.
static COPY: Mutex<Option<File>> = Mutex::new(None);
static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Warn as u8);
static PANICS: AtomicU64 = AtomicU64::new(0);

/// Also writes messages to this file, until the next call with `None`.
pub(crate) fn copy_to(file: Option<File>) {
    *copy() = file;
}

fn copy() -> MutexGuard<'static, Option<File>> {
    COPY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the level of the messages that are written from now on.
pub(crate) fn set_level(level: LogLevel) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

fn enabled(level: LogLevel) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// Writes an error: the agent stops, or data is lost.
pub(crate) fn error(code: Code, text: impl Display) {
    if enabled(LogLevel::Error) {
        write(line(format_args!("error[{}]: {text}", code.as_str())));
    }
}

/// Writes an error of the host, with its own code and notes.
pub(crate) fn host_error(error: &Error) {
    if enabled(LogLevel::Error) {
        write(error);
    }
}

/// Writes a line that follows an error.
pub(crate) fn error_note(text: impl Display) {
    if enabled(LogLevel::Error) {
        write(line(text));
    }
}

/// Writes a warning, for example about one class.
pub(crate) fn warning(code: Code, text: impl Display) {
    if enabled(LogLevel::Warn) {
        write(line(format_args!("warning[{}]: {text}", code.as_str())));
    }
}

/// Writes the failure of a class that the host could not change, with its own code and notes.
pub(crate) fn host_failure(failure: &host::PluginFailure) {
    if enabled(LogLevel::Warn) {
        write(failure);
    }
}

/// Writes a warning for the attaching process alone; without such a process, as [`warning`].
pub(crate) fn to_attaching(code: Code, text: impl Display) {
    let text = line(format_args!("warning[{}]: {text}", code.as_str()));
    if let Some(file) = &*copy() {
        put(&mut &*file, &text);
        return;
    }
    if enabled(LogLevel::Warn) {
        put(&mut std::io::stderr(), &text);
    }
}

/// Writes a warning that has a code already.
pub(crate) fn coded_warning(text: impl Display) {
    if enabled(LogLevel::Warn) {
        write(line(text));
    }
}

/// Writes the reason why the program has to wait.
pub(crate) fn notice(text: impl Display) {
    if enabled(LogLevel::Warn) {
        write(text);
    }
}

/// Writes about the agent's work as a whole.
pub(crate) fn info(text: impl Display) {
    if enabled(LogLevel::Info) {
        write(line(text));
    }
}

/// Writes about a single class.
pub(crate) fn debug(text: impl Display) {
    if enabled(LogLevel::Debug) {
        write(line(text));
    }
}

/// Writes an answer that the user requested, at any level.
pub(crate) fn answer(text: impl Display) {
    write(text);
}

/// Counts a panic that the guard caught. The panic hook has written its message.
pub(crate) fn count_panic() {
    PANICS.fetch_add(1, Ordering::Relaxed);
}

/// The number of caught panics.
pub(crate) fn panics() -> u64 {
    PANICS.load(Ordering::Relaxed)
}

fn write(text: impl Display) {
    let mut message = String::new();
    if write!(message, "{text}").is_ok() {
        put(&mut std::io::stderr(), &message);
        if let Some(file) = &*copy() {
            put(&mut &*file, &message);
        }
    }
}

/// Writes a message in one call.
fn put(out: &mut impl std::io::Write, message: &str) {
    let line = format!("{}\n", escape::lines(&Prefixed(message).to_string()));
    let _ = out.write_all(line.as_bytes());
}

/// A message of one line: names of classes and files cannot begin another line.
fn line(text: impl Display) -> String {
    escape::line(&text.to_string()).into_owned()
}

/// The text with `classhook: ` before its first line.
struct Prefixed<T>(T);

impl<T: Display> Display for Prefixed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "classhook: {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_of_one_line_stays_on_it() {
        let text = line(format_args!("class {}", "a\nclasshook: \u{1b}[2J"));
        assert_eq!(text, r"class a\nclasshook: \u001b[2J");
    }

    #[test]
    fn level_includes_more_severe_messages() {
        set_level(LogLevel::Warn);
        assert!(enabled(LogLevel::Error) && enabled(LogLevel::Warn) && !enabled(LogLevel::Info));
        set_level(LogLevel::Off);
        assert!(!enabled(LogLevel::Error));
        set_level(LogLevel::Warn);
    }
}
