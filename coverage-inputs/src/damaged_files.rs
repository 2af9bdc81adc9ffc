//! Unreadable run files: commands leave them out with a warning, or fail.

use std::path::Path;

use errors::{Error, Warning, Warnings, codes};
use local_files::recording_jvm;
use trace::numbers::counted;

/// Counts of the run files that a command reads.
#[derive(Debug, Default)]
pub struct DamagedFiles {
    /// True if the first unreadable file ends the command.
    strict: bool,
    /// The cause for the first unreadable file.
    first: Option<Error>,
    /// True if any file could be read.
    any_read: bool,
    /// Number of files left out, including files without records.
    left_out: usize,
    /// Sentences about the files left out, for reports.
    missing: Vec<String>,
}

impl DamagedFiles {
    /// Returns an empty record.
    #[must_use]
    pub fn new(strict: bool) -> Self {
        Self {
            strict,
            ..Self::default()
        }
    }

    /// Returns the content of a file, or nothing and a warning if it is left out.
    ///
    /// # Errors
    /// If the file cannot be read, and that ends the command.
    pub fn unless_damaged<T>(
        &mut self,
        path: &Path,
        read: Result<T, Error>,
        warnings: &mut Warnings,
    ) -> Result<Option<T>, Error> {
        let problem = match read {
            Ok(read) => {
                self.any_read = true;
                return Ok(Some(read));
            }
            Err(problem) if self.strict => return Err(problem),
            Err(problem) => problem,
        };
        let (file, cause) = (path.display().to_string(), problem.summary());
        self.note(&left_out(&file, &cause));
        let warning = Warning::new(codes::H0672, format!("{file} is left out"));
        let warning = warning.with("cause", cause);
        let help = "--strict-inputs makes this an error";
        warnings.add(warning.with("help", help));
        self.first.get_or_insert(problem);
        self.left_out += 1;
        Ok(None)
    }

    /// Adds a sentence for reports.
    fn note(&mut self, told: &str) {
        self.missing.push(escape::line(told).to_string());
    }

    /// Returns a sentence for each file left out, unless its JVM only just begins to write it.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Returns the number of files left out, including files without records.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Returns the content of a file with records, or nothing and a warning if it is left out.
    ///
    /// # Errors
    /// If the file has no record yet, and that ends the command.
    pub fn unless_empty<T>(&mut self, path: &Path, read: Option<T>) -> Result<Option<T>, Error> {
        self.left_out += usize::from(read.is_none());
        match read {
            None if self.strict => Err(Error::mistake(
                codes::H0611,
                format!("cannot read {}", path.display()),
            )
            .with("found", "no record: its JVM ended before it recorded data")),
            None if !recording_jvm::is_written(path) => {
                let file = path.display();
                self.note(&format!("the file {file}, which has no record"));
                Ok(None)
            }
            read => Ok(read),
        }
    }

    /// Refuses a report if every file is left out.
    ///
    /// # Errors
    /// `H0610` if no file of these `files` holds a record.
    pub fn expect_any(&self, files: usize) -> Result<(), Error> {
        if files == 0 || self.left_out < files {
            return Ok(());
        }
        let message = "the files have no record, so no report was written";
        let help =
            "run the program again: its JVMs ended before the first record, or have just started";
        Err(Error::partial(codes::H0610, message)
            .with("expected", "a file with at least one record")
            .with("found", format!("{} without any", counted(files, "file")))
            .with("help", help))
    }

    /// Checks whether any file is left out.
    ///
    /// # Errors
    /// If no file could be read: the cause for the first.
    pub fn any(&self) -> Result<bool, Error> {
        match &self.first {
            Some(problem) if !self.any_read => Err(problem.clone()),
            first => Ok(first.is_some()),
        }
    }
}

/// Formats a report's sentence about a missing file. Most causes name the file themselves.
#[must_use]
pub fn left_out(file: &str, cause: &str) -> String {
    match cause.contains(file) {
        true => format!("a file, which is left out: {cause}"),
        false => format!("the file {file}, which is left out: {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damaged() -> Result<u8, Error> {
        Err(Error::mistake("H0611", "cannot read a.hook").with("found", "no record"))
    }

    #[test]
    fn damaged_file_is_left_out_unless_it_is_the_only_one() {
        let (mut files, mut warnings) = (DamagedFiles::default(), Warnings::default());
        let path = Path::new("a.hook");
        assert_eq!(
            files.unless_damaged(path, damaged(), &mut warnings),
            Ok(None)
        );
        assert!(files.any().is_err());
        assert_eq!(
            files.unless_damaged(path, Ok(1), &mut warnings),
            Ok(Some(1))
        );
        assert_eq!(files.any(), Ok(true));
        let told = "a file, which is left out: cannot read a.hook: no record";
        assert_eq!(files.missing(), [told]);
        let text = warnings.to_string();
        assert!(
            text.contains("warning[H0672]: a.hook is left out"),
            "{text}"
        );
        assert!(text.contains("cannot read a.hook: no record"), "{text}");
    }

    #[test]
    fn empty_file_ends_a_strict_command() {
        let path = Path::new("a.hook");
        assert_eq!(
            DamagedFiles::default().unless_empty::<()>(path, None),
            Ok(None)
        );
        assert_eq!(
            DamagedFiles::new(true).unless_empty(path, Some(1)),
            Ok(Some(1))
        );
        let problem = DamagedFiles::new(true).unless_empty::<()>(path, None);
        assert!(problem.unwrap_err().to_string().contains("H0611"));
    }

    #[test]
    fn damaged_file_ends_a_strict_command() {
        let (mut files, mut warnings) = (DamagedFiles::new(true), Warnings::default());
        let read = files.unless_damaged(Path::new("a.hook"), damaged(), &mut warnings);
        assert!(read.is_err() && warnings.is_empty());
    }
}
