//! Collects the written files of a command, and the errors of the others.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use errors::Error;

use crate::atomic;
use crate::stdout::{is_stdout, stream};

/// Writes the content of a file.
pub type Content<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Results so far. A failed file does not stop the others.
#[derive(Debug, Default)]
pub struct Files {
    /// Complete files, in the order of writing.
    pub written: Vec<PathBuf>,
    /// Errors of the other files.
    pub failed: Vec<Error>,
}

impl Files {
    /// Writes a file, or to standard output, or records the error (`H0620`).
    pub fn file(&mut self, path: &Path, content: Content<'_>) {
        if is_stdout(path) {
            return self.failed.extend(stream(content).err());
        }
        self.note(atomic::file(path, content), path.to_owned());
    }

    /// Writes a folder whose first page is `page`, or records the error (`H0620`).
    pub fn folder(&mut self, path: &Path, page: &str, content: &dyn Fn(&Path) -> io::Result<()>) {
        self.note(atomic::folder(path, content), path.join(page));
    }

    fn note(&mut self, result: Result<(), Error>, file: PathBuf) {
        match result {
            Ok(()) => self.written.push(file),
            Err(problem) => self.failed.push(problem.partly()),
        }
    }
}
