//! Files of several inputs that would become one file of the output.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use errors::{Error, codes};
use trace::numbers::counted;

/// Conflicts that the error names one by one.
const NAMED: usize = 3;

/// The treatment of files with one name and different contents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Write nothing and report the files.
    #[default]
    Error,
    /// Keep the file of the first input, as a class path does.
    First,
}

/// The files of the output with their sources, in the order of the inputs.
///
/// A class path takes the first of two files with one name, so the output must not hold the last.
#[derive(Debug, Default)]
pub struct Targets {
    policy: OnConflict,
    taken: HashMap<PathBuf, Source>,
    conflicts: Vec<(PathBuf, PathBuf)>,
    left_out: u64,
}

/// The input that an output path comes from.
#[derive(Debug)]
enum Source {
    File(PathBuf),
    Folder(PathBuf),
}

impl Targets {
    /// Starts without any target.
    #[must_use]
    pub fn new(policy: OnConflict) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    /// Assigns a path of the output to a file. Returns false if an earlier input has it.
    ///
    /// # Errors
    /// If one of two files of one name cannot be read.
    pub fn take_file(&mut self, source: &Path, target: &Path) -> Result<bool, Error> {
        let Some(earlier) = self.taken.get(target) else {
            let file = Source::File(source.to_owned());
            self.taken.insert(target.to_owned(), file);
            return Ok(true);
        };
        match earlier {
            Source::File(other) if is_equal(other, source)? => {}
            Source::File(other) | Source::Folder(other) => {
                let pair = (other.clone(), source.to_owned());
                self.conflicts.push(pair);
                self.left_out += 1;
            }
        }
        Ok(false)
    }

    /// Assigns a path of the output to a folder. Returns false if a file of an earlier input has
    /// it.
    pub fn take_folder(&mut self, source: &Path, target: &Path) -> bool {
        match self.taken.get(target) {
            None => {
                let folder = Source::Folder(source.to_owned());
                self.taken.insert(target.to_owned(), folder);
                true
            }
            Some(Source::Folder(_)) => true,
            Some(Source::File(other)) => {
                let pair = (other.clone(), source.to_owned());
                self.conflicts.push(pair);
                self.left_out += 1;
                false
            }
        }
    }

    /// Returns the number of files, and of folders, that a file of an earlier input replaces.
    ///
    /// # Errors
    /// `H0640` if contents differ, unless the policy keeps the first.
    pub fn check(self) -> Result<u64, Error> {
        if self.policy == OnConflict::First || self.conflicts.is_empty() {
            return Ok(self.left_out);
        }
        let message = match self.conflicts.len() {
            1 => "two inputs would become the same output".to_owned(),
            more => format!(
                "inputs with different contents would become the same output: {}",
                counted(more, "file")
            ),
        };
        let mut problem = Error::mistake(codes::H0640, message);
        for (first, second) in self.conflicts.iter().take(NAMED) {
            let found = format!("{} and {}", first.display(), second.display());
            problem = problem.with("found", found);
        }
        if self.conflicts.len() > NAMED {
            let more = self.conflicts.len() - NAMED;
            problem = problem.with("found", format!("{more} more"));
        }
        Err(problem.with(
            "help",
            "instrument them one after the other, to different paths; or keep the first, as a class path does, with --on-conflict first",
        ))
    }
}

/// Compares two files byte by byte.
fn is_equal(one: &Path, other: &Path) -> Result<bool, Error> {
    let open = |path: &Path| -> Result<(u64, BufReader<File>), Error> {
        let file = File::open(path).map_err(|error| Error::unreadable(path, &error))?;
        let meta = file.metadata();
        let length = meta.map_err(|error| Error::unreadable(path, &error))?.len();
        Ok((length, BufReader::new(file)))
    };
    let ((one_length, one_file), (other_length, other_file)) = (open(one)?, open(other)?);
    if one_length != other_length {
        return Ok(false);
    }
    let same = same_bytes(one_file, other_file);
    same.map_err(|error| Error::unreadable(other, &error))
}

fn same_bytes(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    const CHUNK: u64 = 1 << 16;
    loop {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        one.by_ref().take(CHUNK).read_to_end(&mut left)?;
        other.by_ref().take(CHUNK).read_to_end(&mut right)?;
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_of_equal_length_are_compared_completely() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, last: u8| {
            let path = root.path().join(name);
            let mut bytes = vec![7; 200_000];
            bytes.push(last);
            fs::write(&path, bytes).unwrap();
            path
        };
        let [a, b, c] = [write("a", 1), write("b", 1), write("c", 2)];
        let mut targets = Targets::new(OnConflict::Error);
        let target = Path::new("x");
        assert!(targets.take_file(&a, target).unwrap());
        assert!(!targets.take_file(&b, target).unwrap());
        assert!(targets.conflicts.is_empty());
        assert!(!targets.take_file(&c, target).unwrap());
        let told = targets.check().unwrap_err().to_string();
        assert!(told.starts_with("error[H0640]"), "{told}");
        assert!(told.contains("/a and ") && told.contains("/c"), "{told}");
    }
}
