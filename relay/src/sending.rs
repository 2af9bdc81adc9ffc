//! Recordings to another machine: a child process follows the files that agents write, and sends them. The JVMs take no
//! part.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use child_process::own_program::{self, SEND};
use errors::{Error, codes};
use standard_streams::show::say;
use trace::numbers::{counted, thousands};

use crate::{Report, Sent};

/// Help if no connection was made.
const NOBODY: &str = "start `classhook collect` there first, with a copy of its token file here; with --output DIR the recording stays here as well";
/// Help if the recording is empty.
const EMPTY: &str = "check that the command starts a JVM, and see the agent's messages above";
/// Help if the connection broke.
const CUT_OFF: &str =
    "the receiver keeps the earlier data; with --output DIR the whole recording stays here as well";

/// The receiver of recordings.
#[derive(Debug, Clone, Default)]
pub struct Receiver {
    /// The address: `tcp://HOST:PORT` or `unix:PATH`. Without it nothing is sent.
    pub to: Option<String>,
    /// The file of the token, which `tcp://` needs.
    pub token_file: Option<PathBuf>,
}

/// Selects the files to send.
#[derive(Debug, Clone, Copy)]
pub enum SentFiles<'a> {
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

impl Receiver {
    /// Checks address and token before the recording starts.
    ///
    /// # Errors
    /// If nothing can be sent there, or the token cannot be used (`H0669`).
    pub fn check(&self) -> Result<(), Error> {
        let Some(to) = &self.to else { return Ok(()) };
        self.check_words(to)?;
        crate::check(to, self.token_file.as_deref()).map_err(|cause| {
            Error::mistake(codes::H0669, "nothing can be sent").with("found", cause)
        })
    }

    /// Checks the form of the address, and that a token is named where one is needed.
    fn check_words(&self, to: &str) -> Result<(), Error> {
        let is_tcp = to.starts_with("tcp://");
        if !is_tcp && !to.starts_with("unix:") {
            return Err(Error::mistake(codes::H0669, "--to is no receiver address")
                .with("expected", "tcp://HOST:PORT or unix:PATH")
                .with("found", to));
        }
        match &self.token_file {
            None if is_tcp => Err(Error::mistake(codes::H0669, "tcp needs a token")
                .with("help", "`classhook collect --token-file FILE` creates one; copy that file, and name it here with --token-file")),
            Some(file) => match file.metadata() {
                Ok(_) => Ok(()),
                Err(error) => Err(Error::unreadable(file, &error)),
            },
            None => Ok(()),
        }
    }

    /// Starts to send the files of `which` in a folder, which may appear later. `None` without `--to`.
    ///
    /// # Errors
    /// If no child process can be started (`H0667`).
    pub fn start(&self, folder: &Path, which: SentFiles<'_>) -> Result<Option<Sending>, Error> {
        let Some(to) = &self.to else { return Ok(None) };
        let which = match which {
            SentFiles::Run(id) => format!("run:{id}"),
            SentFiles::Jvm(name) => format!("jvm:{name}"),
            SentFiles::Process(pid, start_ms) => format!("process:{pid}:{start_ms}"),
        };
        let mut command = own_program::command(SEND);
        command.arg(to);
        command.arg(self.token_file.as_deref().unwrap_or(Path::new("-")));
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
    /// Sends the rest after the end of the recording, and prints the number of files and bytes.
    ///
    /// # Errors
    /// If the receiver does not have all bytes (`H0666`), or the child process failed (`H0667`).
    pub fn finish(mut self) -> Result<(), Error> {
        drop(self.child.stdin.take()); // the end of the recording
        let mut answer = Vec::new();
        if let Some(mut out) = self.child.stdout.take() {
            let _ = out.read_to_end(&mut answer);
        }
        let _ = self.child.wait();
        match serde_json::from_slice::<Result<Report, String>>(&answer) {
            Ok(Ok(report)) => print_report(&report, &self.to),
            Ok(Err(cause)) => {
                Err(Error::partial(codes::H0669, "nothing was sent").with("found", cause))
            }
            Err(_) => Err(unusable("it ended without an answer")),
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        // After another failure, the program sends the existing data by itself.
        drop(self.child.stdin.take());
    }
}

fn print_report(report: &Report, to: &str) -> Result<(), Error> {
    let bytes: u64 = report.files.iter().map(|sent| sent.bytes).sum();
    let (bytes, to) = (thousands(bytes), escape::line(to));
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
    let problem = Error::partial(codes::H0666, message);
    let problem = lacking.iter().fold(problem, |problem, sent| {
        let (bytes, left) = (thousands(sent.bytes), thousands(sent.left));
        problem.with(
            "missing",
            format!(
                "{}: {left} bytes, {bytes} are there",
                escape::line(&sent.name)
            ),
        )
    });
    let problem = match &report.cause {
        Some(cause) => problem.with("found", cause),
        None => problem,
    };
    Err(problem.with("help", help))
}

fn unusable(found: &str) -> Error {
    Error::partial(codes::H0667, "the process that sends the recording failed")
        .with("found", found)
        .with("help", "with --output DIR the recording stays here as well")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_transfer_is_reported_with_its_cause() {
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
        assert_eq!(print_report(&report, "tcp://h:1"), Ok(()));
        report.files.push(sent("b.events", 5678, false));
        report.cause = Some("gone".to_owned());
        let text = print_report(&report, "tcp://h:1").unwrap_err().to_string();
        assert!(
            text.contains("b.events: 5,678 bytes, 1,234 are there"),
            "{text}"
        );
        assert!(
            text.contains("gone") && !text.contains("a.events"),
            "{text}"
        );
        let nothing = print_report(&Report::default(), "tcp://h:1").unwrap_err();
        assert_eq!((nothing.code(), nothing.exit()), ("H0666", 3));
    }

    #[test]
    fn address_and_token_are_checked_before_the_recording() {
        let code = |to: &str, token: Option<&str>| {
            let options = Receiver {
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
        assert_eq!(Receiver::default().check(), Ok(()));
    }
}
