//! Independent readers of class files, isolated in child processes.
//!
//! `cafebabe` and `ristretto_classfile` are not made for hostile bytes: they may panic, recurse
//! without end, or request all memory. So they run in a child process of the caller's program. The
//! child limits its own memory and time before it reads a byte ([`readers`]). If a class kills the
//! child, the end of the child is the answer for that class, and the next class gets a new child.
//!
//! A child that cannot be started is a coded [`errors::Error`].
//!
//! ```
//! use class_readers::Guards;
//! use class_readers::opinion::Opinion;
//! use std::process::Command;
//!
//! // A child that ends at once: the answer of each reader is its end.
//! let guards = Guards::new(|| Command::new("true"));
//! let opinions = guards.ask(b"\xca\xfe\xba\xbe")?;
//! assert!(opinions.iter().all(|opinion| matches!(opinion, Opinion::Breaks(_))));
//!
//! let missing = Guards::new(|| Command::new("/nowhere/reader"));
//! assert_eq!(missing.ask(b"").unwrap_err().code(), "H0630");
//! # Ok::<(), errors::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod opinion;
pub mod readers;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use child_process::cause_of_end;
use errors::{Error, codes};

use self::opinion::{MAX_ANSWER, Opinion};

/// The readers, in the order of their calls.
pub const READERS: [&str; 2] = ["cafebabe", "ristretto_classfile"];

/// The results of all readers for one class, in the order of [`READERS`].
pub type Opinions = [Opinion; 2];

/// Child processes, kept for the next class.
#[derive(Debug)]
pub struct Guards {
    /// Returns the command of a child process, which runs [`readers::serve`].
    child: fn() -> Command,
    kept: Mutex<Vec<Guard>>,
}

impl Guards {
    /// Starts without a child process. `child` returns the command of one, which runs
    /// [`readers::serve`].
    #[must_use]
    pub fn new(child: fn() -> Command) -> Self {
        Self {
            child,
            kept: Mutex::default(),
        }
    }

    /// Runs every reader on one class. Many threads may call it at once.
    ///
    /// # Errors
    /// If no child process can be started (`H0630`).
    pub fn ask(&self, class: &[u8]) -> Result<Opinions, Error> {
        let mut opinions = READERS.map(|_| Opinion::Breaks(String::new()));
        for (index, opinion) in opinions.iter_mut().enumerate() {
            let kept = self.lock().pop();
            let mut guard = match kept {
                Some(guard) => guard,
                None => Guard::start((self.child)())?,
            };
            match guard.ask(index as u8, class) {
                Some(said) => {
                    *opinion = said;
                    self.lock().push(guard);
                }
                None => *opinion = Opinion::Breaks(guard.last_words()),
            }
        }
        Ok(opinions)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Guard>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One child process.
#[derive(Debug)]
struct Guard {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Guard {
    fn start(mut child: Command) -> Result<Self, Error> {
        let failed = |error: std::io::Error| {
            Error::fault(codes::H0630, "the independent readers cannot be started")
                .with("found", error.to_string())
        };
        let mut child = child
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Self {
                child,
                input,
                output: BufReader::new(output),
            }),
            _ => Err(failed(std::io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Returns the result of one reader, or nothing if the child ended.
    fn ask(&mut self, reader: u8, class: &[u8]) -> Option<Opinion> {
        let length = u32::try_from(class.len()).ok()?;
        self.input.write_all(&[reader]).ok()?;
        self.input.write_all(&length.to_be_bytes()).ok()?;
        self.input.write_all(class).ok()?;
        self.input.flush().ok()?;
        let mut line = String::new();
        let limited = &mut self.output;
        limited.take(MAX_ANSWER).read_line(&mut line).ok()?;
        Opinion::from_line(line.strip_suffix('\n')?)
    }

    /// Returns the cause of the child's end.
    fn last_words(mut self) -> String {
        let _ = self.child.kill(); // it is dead, or must end
        let cause = cause_of_end(&self.child.wait());
        cause.unwrap_or("its process ended").to_owned()
    }
}

impl Drop for Guards {
    fn drop(&mut self) {
        let all = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
        for mut guard in all.drain(..) {
            drop(guard.input); // the child ends at the end of its input
            let _ = guard.child.wait(); // a failure changes nothing
        }
    }
}
