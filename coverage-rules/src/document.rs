//! A file with rules: its text, and mistakes shown at their positions.

use std::ops::Range;
use std::path::{Path, PathBuf};

use errors::{Error, codes};

/// A mistake at a position of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// Description of the mistake.
    pub message: String,
    /// Expected text.
    pub expected: String,
}

impl Mistake {
    /// Creates a mistake at this byte range.
    pub fn new(
        span: Range<usize>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self {
            span,
            message: message.into(),
            expected: expected.into(),
        }
    }

    /// Creates a mistake for an unknown word.
    pub fn unknown<'w>(
        span: Range<usize>,
        what: &str,
        word: &str,
        known: impl Iterator<Item = &'w str>,
    ) -> Self {
        let known: Vec<&str> = known.collect();
        Self::new(span, format!("`{word}` is no {what}"), known.join(", "))
    }
}

/// A file that was read.
#[derive(Debug)]
pub struct Document {
    path: PathBuf,
    text: String,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read (`H0612`), or is no text (`H0676`).
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::unreadable(path, &error))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            Error::mistake(codes::H0676, "the rules are no UTF-8 text")
                .with("at", path.display().to_string())
                .with("found", error.utf8_error().to_string())
        })?;
        Ok(Self {
            path: path.to_owned(),
            text,
        })
    }

    /// Returns the file's text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Formats file and line of an offset. Lines count from 1.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> String {
        format!("{}:{}", self.path.display(), self.line(offset).0)
    }

    /// Returns the number of a line, and its first byte.
    fn line(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (1 + before.matches('\n').count(), start)
    }

    /// Formats a mistake with the line of the file, and carets below the position (`H0676`).
    #[must_use]
    pub fn problem(&self, mistake: &Mistake) -> Error {
        let start = mistake.span.start.min(self.text.len());
        let (line, begin) = self.line(start);
        let rest = self.text.get(begin..).unwrap_or_default();
        let shown = rest.lines().next().unwrap_or_default();
        let end = mistake
            .span
            .end
            .clamp(start, begin + shown.len().max(start - begin));
        let width = |text: Option<&str>| escape::line(text.unwrap_or_default()).chars().count();
        let blanks = width(self.text.get(begin..start));
        let carets = width(self.text.get(start..end)).max(1);
        let place = format!(
            "{}:{line}:{}\n{}\n{}{}",
            self.path.display(),
            blanks + 1,
            escape::line(shown),
            " ".repeat(blanks),
            "^".repeat(carets)
        );
        let problem = Error::mistake(codes::H0676, mistake.message.clone()).with("at", place);
        match mistake.expected.as_str() {
            "" => problem,
            expected => problem.with("expected", expected),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_are_below_the_place() {
        let document = Document {
            path: "rules.toml".into(),
            text: "a\n\tline = \u{e9}\nb".to_owned(),
        };
        let at = document.text.find('\u{e9}').unwrap();
        let text = document
            .problem(&Mistake::new(at..at + 2, "wrong", "right"))
            .to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "error[H0676]: wrong");
        assert!(lines[1].ends_with("rules.toml:2:10"), "{text}");
        assert_eq!(lines[2].find('\u{e9}'), lines[3].find('^'), "{text}");
        assert!(lines[4].ends_with("expected right"), "{text}");
        let end = document.text.len();
        let text = document
            .problem(&Mistake::new(end..end + 9, "wrong", ""))
            .to_string();
        assert!(text.contains("rules.toml:3:2\n"), "{text}");
    }
}
