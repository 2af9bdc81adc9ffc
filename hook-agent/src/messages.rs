//! Everything the agent writes to standard error: lines that begin with `classhook: `.
//!
//! A message is one write, so that lines of several threads do not mix, and a standard error that is
//! closed or full is no reason to fail.

use host::HostError;
use host::config::LogLevel;
use std::fmt::{self, Display, Write as _};
use std::fs::File;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stable codes of the agent's own messages; `docs/errors.md` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The JVM is older than 11.
    OldJvm,
    /// The JVM refuses something that the agent needs.
    Refused,
    /// The agent is in this JVM already.
    Twice,
    /// The output folder or the snapshot in it cannot be made.
    Output,
    /// The snapshot cannot be written while running.
    Write,
    /// A probe class cannot be defined.
    ProbeClass,
    /// A thread of the agent does not start or does not answer.
    Thread,
    /// A class that was loaded earlier cannot be retransformed.
    Retransform,
    /// A panic of ours.
    Panic,
    /// The option string is no text.
    Options,
    /// The control socket cannot be made.
    Control,
    /// Methods of changed classes stay as they were.
    LeftAlone,
    /// Methods became longer than HotSpot compiles.
    Huge,
    /// A plugin's rule or pattern had no class.
    Unmatched,
    /// JaCoCo's tools cannot ask this JVM.
    Jacoco,
    /// JaCoCo's tools on other machines can.
    JacocoRemote,
    /// It is not recorded any more what single tests execute.
    Tests,
    /// The JVM's own events cannot be recorded.
    Observe,
    /// A plugin is not told of the JVM's own events, or failed with them.
    Observer,
    /// A patch does not take effect on a class that was loaded later, or its log cannot be written.
    Patch,
}

impl Code {
    /// The code as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::OldJvm => "H0401",
            Code::Refused => "H0402",
            Code::Twice => "H0403",
            Code::Output => "H0404",
            Code::Write => "H0405",
            Code::ProbeClass => "H0406",
            Code::Thread => "H0407",
            Code::Retransform => "H0408",
            Code::Panic => "H0409",
            Code::Options => "H0410",
            Code::LeftAlone => "H0411",
            Code::Control => "H0412",
            Code::Patch => "H0413",
            Code::Huge => "H0414",
            Code::Unmatched => "H0415",
            Code::Jacoco => "H0416",
            Code::JacocoRemote => "H0417",
            Code::Tests => "H0418",
            Code::Observe => "H0419",
            Code::Observer => "H0420",
        }
    }
}

/// A second place for messages: the process that attaches reads what is said meanwhile.
static COPY: Mutex<Option<File>> = Mutex::new(None);
static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Warn as u8);
static PANICS: AtomicU64 = AtomicU64::new(0);

/// Writes messages to this file too, until it is taken back with `None`.
pub(crate) fn copy_to(file: Option<File>) {
    *copy() = file;
}

fn copy() -> MutexGuard<'static, Option<File>> {
    COPY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets what is written from now on.
pub(crate) fn set_level(level: LogLevel) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

fn enabled(level: LogLevel) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// What stops the agent or loses data.
pub(crate) fn error(code: Code, text: impl Display) {
    if enabled(LogLevel::Error) {
        write(line(format_args!("error[{}]: {text}", code.as_str())));
    }
}

/// An error of the host, which brings its own code and notes.
pub(crate) fn host_error(error: &HostError) {
    if enabled(LogLevel::Error) {
        write(error);
    }
}

/// A line that follows an error.
pub(crate) fn error_note(text: impl Display) {
    if enabled(LogLevel::Error) {
        write(line(text));
    }
}

/// What went wrong with one class.
pub(crate) fn warning(code: Code, text: impl Display) {
    if enabled(LogLevel::Warn) {
        write(line(format_args!("warning[{}]: {text}", code.as_str())));
    }
}

/// A class that the host could not have changed, with its own code and notes.
pub(crate) fn host_failure(failure: &host::Failure) {
    if enabled(LogLevel::Warn) {
        write(failure);
    }
}

/// A warning that is for the process that attaches alone; where none reads messages, as [`warning`].
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

/// A warning that brings its own code.
pub(crate) fn coded_warning(text: impl Display) {
    if enabled(LogLevel::Warn) {
        write(line(text));
    }
}

/// Why the program has to wait.
pub(crate) fn notice(text: impl Display) {
    if enabled(LogLevel::Warn) {
        write(text);
    }
}

/// What was loaded and what came of it.
pub(crate) fn info(text: impl Display) {
    if enabled(LogLevel::Info) {
        write(line(text));
    }
}

/// Each class.
pub(crate) fn debug(text: impl Display) {
    if enabled(LogLevel::Debug) {
        write(line(text));
    }
}

/// What the user asked for, whatever the level.
pub(crate) fn answer(text: impl Display) {
    write(text);
}

/// Counts a panic that the guard caught; its message was written by the panic hook.
pub(crate) fn count_panic() {
    PANICS.fetch_add(1, Ordering::Relaxed);
}

/// Panics caught so far.
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

/// Writes a message at once.
fn put(out: &mut impl std::io::Write, message: &str) {
    let line = format!("{}\n", escape::lines(&Prefixed(message).to_string()));
    let _ = out.write_all(line.as_bytes());
}

/// A message of one line, in which names of classes and files cannot begin another.
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
    fn a_level_lets_through_itself_and_what_is_graver() {
        set_level(LogLevel::Warn);
        assert!(enabled(LogLevel::Error) && enabled(LogLevel::Warn) && !enabled(LogLevel::Info));
        set_level(LogLevel::Off);
        assert!(!enabled(LogLevel::Error));
        set_level(LogLevel::Warn);
    }
}
