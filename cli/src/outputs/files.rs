//! The files that a command was asked for: those that are there, and why the others are not.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::atomic;
use crate::problem::Problem;
use crate::stdout::{is_stdout, stream};

/// What a file holds.
pub type Content<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// What was written so far. That one file cannot be written costs no other.
#[derive(Debug, Default)]
pub struct Files {
    /// Whole files, in the order in which they were written.
    pub written: Vec<PathBuf>,
    /// Why others were not.
    pub failed: Vec<Problem>,
}

impl Files {
    /// Writes a file, or to standard output; or notes why it cannot be (`H0620`).
    pub fn file(&mut self, path: &Path, content: Content<'_>) {
        if is_stdout(path) {
            return self.failed.extend(stream(content).err());
        }
        self.note(atomic::file(path, content), path.to_owned());
    }

    /// Writes a folder whose first page is `page`, or notes why it cannot be (`H0620`).
    pub fn folder(&mut self, path: &Path, page: &str, content: &dyn Fn(&Path) -> io::Result<()>) {
        self.note(atomic::folder(path, content), path.join(page));
    }

    fn note(&mut self, result: Result<(), Problem>, file: PathBuf) {
        match result {
            Ok(()) => self.written.push(file),
            Err(problem) => self.failed.push(problem.partly()),
        }
    }
}
