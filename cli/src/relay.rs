//! Sends recordings to another machine, with the program beside this command, to limit the
//! command's size. The program follows the files that agents write; the JVMs are not involved.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clap::Args;
use serde_json::Value;
use trace::numbers::{counted, thousands};

use crate::companion;
use crate::problem::Problem;
use crate::show::{name, say};

/// Help if no connection was made.
const NOBODY: &str = "start `classhook collect` there first, with a copy of its token file here; with --output DIR the recording stays here as well";
/// Help if the recording is empty.
const EMPTY: &str = "does the command start a JVM, and does what the agent said above explain it?";
/// Help if the connection broke.
const CUT_OFF: &str = "what came before is there, and stays; with --output DIR the whole recording stays here as well";

/// File name of the program.
pub const RELAY: &str = "classhook-relay";

/// Options for sending recordings.
#[derive(Debug, Clone, Default, Args)]
pub struct RelayOptions {
    /// Send the recording to `classhook collect` while it grows: tcp://HOST:PORT (encrypted), unix:PATH
    #[arg(long, value_name = "ADDRESS")]
    pub to: Option<String>,
    /// Read the receiver's token from this file; tcp:// needs one
    #[arg(long, value_name = "FILE", requires = "to")]
    pub token_file: Option<PathBuf>,
}

/// Selects the files to send.
#[derive(Debug, Clone, Copy)]
pub enum Which<'a> {
    /// Files of the JVMs of a run.
    Run(&'a str),
    /// Files of the JVM with this file name before the extension.
    Jvm(&'a str),
    /// Event files of the agent in the JVM of this process that began at this time, in milliseconds
    /// since 1970.
    Process(u32, u64),
}

/// A running transfer.
#[derive(Debug)]
pub struct Sending {
    child: Child,
    to: String,
}

/// The program's report of a transfer.
#[derive(Debug, Default)]
struct Report {
    files: Vec<Sent>,
    connections: u64,
    cause: Option<String>,
}

#[derive(Debug)]
struct Sent {
    name: String,
    bytes: u64,
    left: u64,
    whole: bool,
}

impl Report {
    fn read(answer: &Value) -> Self {
        let files = answer["files"].as_array().into_iter().flatten();
        let sent = |file: &Value| Sent {
            name: file["name"].as_str().unwrap_or_default().to_owned(),
            bytes: file["bytes"].as_u64().unwrap_or(0),
            left: file["left"].as_u64().unwrap_or(0),
            whole: file["whole"] == true,
        };
        Self {
            files: files.map(sent).collect(),
            connections: answer["connections"].as_u64().unwrap_or(0),
            cause: answer["cause"].as_str().map(str::to_owned),
        }
    }
}

impl RelayOptions {
    /// Checks the options before any recording.
    ///
    /// # Errors
    /// If nothing can be sent to the address, the token is invalid (`H0669`), or the program is
    /// missing (`H0667`).
    pub fn check(&self) -> Result<(), Problem> {
        let Some(to) = &self.to else { return Ok(()) };
        self.check_words(to)?;
        let mut check = program("check", to, self.token_file.as_deref());
        let answer = check.stdin(Stdio::null()).output();
        let answer = answer.map_err(|error| unusable(&error.to_string()))?;
        let failed = Problem::user("H0669", "nothing can be sent");
        answered(&answer.stdout, failed).map(drop)
    }

    /// Checks the options without the program.
    fn check_words(&self, to: &str) -> Result<(), Problem> {
        let is_tcp = to.starts_with("tcp://");
        if !is_tcp && !to.starts_with("unix:") {
            return Err(Problem::user("H0669", "--to is no address of a receiver")
                .with("expected", "tcp://HOST:PORT or unix:PATH")
                .with("found", to));
        }
        match &self.token_file {
            None if is_tcp => Err(Problem::user("H0669", "tcp needs a token")
                .with("help", "`classhook collect --token-file FILE` makes one; copy that file, and name it here with --token-file")),
            Some(file) => match file.metadata() {
                Ok(_) => Ok(()),
                Err(error) => Err(Problem::unreadable(file, &error)),
            },
            None => Ok(()),
        }
    }

    /// Starts to send the files of `which` in a folder, which may not exist yet. Returns nothing
    /// without `--to`.
    ///
    /// # Errors
    /// If the program is missing (`H0667`).
    pub fn start(&self, folder: &Path, which: Which<'_>) -> Result<Option<Sending>, Problem> {
        let Some(to) = &self.to else { return Ok(None) };
        let which = match which {
            Which::Run(id) => format!("run:{id}"),
            Which::Jvm(name) => format!("jvm:{name}"),
            Which::Process(pid, start_ms) => format!("process:{pid}:{start_ms}"),
        };
        let mut command = program("send", to, self.token_file.as_deref());
        command.arg(folder).arg(which);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command
            .spawn()
            .map_err(|error| unusable(&error.to_string()))?;
        let to = to.clone();
        Ok(Some(Sending { child, to }))
    }
}

impl Sending {
    /// Ends the transfer: sends the rest, and prints the report.
    ///
    /// # Errors
    /// If the receiver lacks data (`H0666`), or the program failed (`H0667`).
    pub fn finish(mut self) -> Result<(), Problem> {
        drop(self.child.stdin.take()); // the end of the input ends the recording
        let mut answer = Vec::new();
        if let Some(mut out) = self.child.stdout.take() {
            // A missing answer is reported below.
            let _ = out.read_to_end(&mut answer);
        }
        let _ = self.child.wait();
        let failed = Problem::partial("H0669", "nothing was sent");
        let report = Report::read(&answered(&answer, failed)?);
        told(&report, &self.to)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        // After another failure, the program sends the existing data by itself.
        drop(self.child.stdin.take());
    }
}

/// Decodes the program's answer. Returns `failed` with its cause if the program failed.
fn answered(answer: &[u8], failed: Problem) -> Result<Value, Problem> {
    let answer: Value =
        serde_json::from_slice(answer).map_err(|_| unusable("it ended without an answer"))?;
    if let Some(version) = answer["other-version"].as_str() {
        return Err(unusable(&format!("version {version}")));
    }
    match answer["failed"].as_str() {
        Some(cause) => Err(failed.with("found", cause)),
        None => Ok(answer),
    }
}

fn told(report: &Report, to: &str) -> Result<(), Problem> {
    let bytes: u64 = report.files.iter().map(|sent| sent.bytes).sum();
    let (bytes, to) = (thousands(bytes), name(to));
    let whole = report.files.iter().filter(|sent| sent.whole).count();
    let lacking: Vec<&Sent> = report.files.iter().filter(|sent| !sent.whole).collect();
    if lacking.is_empty() && !report.files.is_empty() {
        say(format_args!(
            "sent {} to {to}, {bytes} bytes",
            counted(whole as u64, "file")
        ));
        return Ok(());
    }
    let (message, help) = match (report.connections, report.files.is_empty()) {
        (0, _) => (format!("nothing was sent to {to}"), NOBODY),
        (_, true) => ("nothing was sent: there is no recording".to_owned(), EMPTY),
        _ => (format!("not everything was sent to {to}"), CUT_OFF),
    };
    let problem = Problem::partial("H0666", message);
    let problem = lacking.iter().fold(problem, |problem, sent| {
        let (bytes, left) = (thousands(sent.bytes), thousands(sent.left));
        problem.with(
            "missing",
            format!("{}: {left} bytes, {bytes} are there", name(&sent.name)),
        )
    });
    let problem = match &report.cause {
        Some(cause) => problem.with("found", cause),
        None => problem,
    };
    Err(problem.with("help", help))
}

/// Returns the program's command line for a task with an address and a token.
#[must_use]
pub fn program(task: &str, address: &str, token: Option<&Path>) -> Command {
    let mut command = command(task);
    command.arg(address).arg(token.unwrap_or(Path::new("-")));
    command
}

/// Returns the program's command line up to the name of the task.
#[must_use]
pub fn command(task: &str) -> Command {
    let mut command = Command::new(companion::path(RELAY));
    command.args([companion::VERSION, task]);
    command
}

/// Checks that the program starts and has this command's version.
///
/// # Errors
/// If not (`H0667`).
pub fn check_version() -> Result<(), Problem> {
    companion::check(RELAY).map_err(|found| unusable(&found))
}

/// Returns the error for an unusable program.
#[must_use]
pub fn unusable(found: &str) -> Problem {
    Problem::partial(
        "H0667",
        format!("{RELAY}, which sends and receives recordings, cannot be used"),
    )
    .with(
        "expected",
        format!("version {}, beside the command", companion::VERSION),
    )
    .with("found", found)
    .with("help", "install all files of one version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_receiver_lacks_is_said_with_its_cause() {
        let sent = |name: &str, left, whole| Sent {
            name: name.to_owned(),
            bytes: 1234,
            left,
            whole,
        };
        let mut report = Report {
            files: vec![sent("a.events", 0, true)],
            connections: 1,
            ..Report::default()
        };
        assert_eq!(told(&report, "tcp://h:1"), Ok(()));
        report.files.push(sent("b.events", 5678, false));
        report.cause = Some("gone".to_owned());
        let text = told(&report, "tcp://h:1").unwrap_err().to_string();
        assert!(
            text.contains("b.events: 5,678 bytes, 1,234 are there"),
            "{text}"
        );
        assert!(
            text.contains("gone") && !text.contains("a.events"),
            "{text}"
        );
        let nothing = told(&Report::default(), "tcp://h:1").unwrap_err();
        assert_eq!((nothing.code(), nothing.exit()), ("H0666", 3));
    }

    #[test]
    fn address_and_token_are_checked_before_anything_is_recorded() {
        let code = |to: &str, token: Option<&str>| {
            let options = RelayOptions {
                to: Some(to.to_owned()),
                token_file: token.map(PathBuf::from),
            };
            let checked = options.check_words(to);
            checked.map_err(|problem| problem.code().to_owned())
        };
        assert_eq!(code("unix:/x", None), Ok(()));
        assert_eq!(code("tcp://h:1", None), Err("H0669".to_owned()));
        assert_eq!(code("http://h:1", None), Err("H0669".to_owned()));
        assert_eq!(code("tcp://h:1", Some("/no/such")), Err("H0612".to_owned()));
        assert_eq!(RelayOptions::default().check(), Ok(()));
    }
}
