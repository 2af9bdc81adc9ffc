//! The sender: follows the agents' files and sends them, until all are complete or the time is over.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::deadline::{Deadline, LAST};
use crate::frame::Frame;
use crate::link::{Link, Refusal};
use crate::source::{FileSelection, Source};
use crate::token::Token;

/// Poll interval for new files and new bytes.
const TURN: Duration = Duration::from_millis(100);
/// After this time without new bytes the sender sends [`Frame::Alive`].
const ALIVE: Duration = Duration::from_secs(10);
/// First and longest pause before the next attempt to connect.
const WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Longest time for the first connection to a receiver after the end of the recording.
const LAST_OF_NONE: Duration = Duration::from_secs(3);

/// The outcome of sending.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The files that were sent.
    pub files: Vec<Sent>,
    /// Number of connections that were established.
    pub connections: u64,
    /// The cause of the last failure, and of an earlier refusal.
    pub cause: Option<String>,
}

/// The outcome for one file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The file name on the receiver's side.
    pub name: String,
    /// Number of bytes that the receiver has written.
    pub bytes: u64,
    /// Number of bytes that the receiver does not have.
    pub left: u64,
    /// Set if the receiver has confirmed that the file is complete.
    pub whole: bool,
}

/// Sends the files of `which` in `folder` until the recording has ended, and then the rest for at most 20 s.
///
/// The folder may appear later.
pub fn run(
    address: &Address,
    token: Option<&Token>,
    folder: &Path,
    which: &FileSelection,
    deadline: &Arc<Deadline>,
) -> Report {
    let mut sender = Sender {
        folder,
        which,
        others: HashSet::new(),
        sources: Vec::new(),
        refusal: None,
        failure: None,
        report: Report::default(),
    };
    let mut wait = WAIT;
    loop {
        let kept = sender.kept();
        let began = deadline.is_over();
        match sender.session(address, token, deadline) {
            Ok(()) => break,
            Err(error) => {
                let refusal = Refusal::of(&error);
                if refusal.is_some() {
                    sender.refusal = Some(error.to_string());
                }
                sender.failure = Some(error.to_string());
                let is_for_good = refusal.is_some_and(|refusal| refusal.is_for_good);
                if is_for_good && deadline.is_over() {
                    break;
                }
            }
        }
        if sender.kept() > kept {
            wait = WAIT;
            if sender.refusal != sender.failure {
                sender.refusal = None;
            }
        }
        let until = Instant::now() + wait;
        wait = (wait * 2).min(LONGEST_WAIT);
        // The first attempt after the end follows at once.
        while Instant::now() < until && deadline.is_over() == began {
            std::thread::sleep(TURN);
        }
        let last = match sender.report.connections {
            0 => LAST_OF_NONE,
            _ => LAST,
        };
        if deadline.elapsed().is_some_and(|over| over >= last) {
            break;
        }
    }
    sender.finish()
}

struct Sender<'a> {
    folder: &'a Path,
    which: &'a FileSelection,
    /// Files that do not belong to the selection.
    others: HashSet<PathBuf>,
    sources: Vec<Source>,
    /// The last refusal since the receiver last wrote bytes.
    refusal: Option<String>,
    /// The cause of the last connection failure.
    failure: Option<String>,
    report: Report,
}

impl Sender<'_> {
    /// Sends over one connection until all files are complete.
    fn session(
        &mut self,
        address: &Address,
        token: Option<&Token>,
        deadline: &Arc<Deadline>,
    ) -> io::Result<()> {
        let mut link = Link::new(address, token, deadline)?;
        self.report.connections += 1;
        self.failure = None;
        self.sources.iter_mut().for_each(Source::forget_receiver);
        let mut spoke = Instant::now();
        loop {
            // Read before the files, so that all bytes written until then are sent.
            let is_over = deadline.is_over();
            self.find();
            for source in &mut self.sources {
                if source.send(&mut link)? {
                    spoke = Instant::now();
                }
            }
            if is_over {
                return self
                    .sources
                    .iter_mut()
                    .try_for_each(|one| one.end(&mut link));
            }
            if spoke.elapsed() >= ALIVE {
                link.say(&Frame::Alive)?;
                spoke = Instant::now();
            }
            std::thread::sleep(TURN);
        }
    }

    /// Looks for new files in the folder.
    fn find(&mut self) {
        let Ok(entries) = fs::read_dir(self.folder) else {
            return; // the agent creates it later
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if self.others.contains(&path) || self.sources.iter().any(|source| source.is(&path)) {
                continue;
            }
            match self.which.takes(&path) {
                None => {}
                Some(false) => drop(self.others.insert(path)),
                Some(true) => {
                    let number = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
                    self.sources.push(Source::new(path, number));
                }
            }
        }
    }

    /// Number of bytes that the receiver has written.
    fn kept(&self) -> u64 {
        self.sources.iter().map(|source| source.kept).sum()
    }

    fn finish(mut self) -> Report {
        self.find();
        let sent = |source: &Source| Sent {
            name: source.name().to_owned(),
            bytes: source.kept,
            left: source.left(),
            whole: source.ended,
        };
        self.report.files = self.sources.iter().map(sent).collect();
        self.report.cause = match (self.refusal, self.failure) {
            (Some(refusal), Some(failure)) if refusal != failure => {
                Some(format!("{refusal}; at last: {failure}"))
            }
            (refusal, failure) => failure.or(refusal),
        };
        self.report
    }
}
