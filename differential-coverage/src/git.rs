//! Reads changes from git.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use errors::{Error, codes};

use super::lines::{ChangedLines, LineSet, is_source};
use super::unified::{self, FileEdit};

/// Arguments of `git diff` that fix its format against the user's configuration.
const DIFF: [&str; 14] = [
    "-c",
    "core.quotePath=false",
    "-c",
    "diff.relative=false",
    "diff",
    "--unified=0",
    "--inter-hunk-context=0",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--ignore-submodules",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// The changes of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The range as the user wrote it.
    pub range: String,
    /// The root of the repository, without links.
    pub root: PathBuf,
    /// The added and changed lines.
    pub lines: ChangedLines,
    /// Files of the working folder that differ from HEAD, if the comparison includes them.
    pub uncommitted: BTreeSet<PathBuf>,
}

/// The subjects of a comparison.
enum Comparison {
    /// Two revisions, in git's own syntax.
    Revisions(String),
    /// A revision and the files of the working folder.
    WorkingFolder(String),
}

/// Edits of the files of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edits {
    /// The source files with classes, by their paths before the change.
    pub before: Changes,
    /// The edits of each file.
    pub files: Vec<FileEdit>,
    /// Changed files without classes. Untracked files are left out.
    pub others: Vec<PathBuf>,
}

impl Edits {
    /// Runs git as [`Changes::read`] does.
    ///
    /// # Errors
    /// As [`Changes::read`].
    pub fn read(range: &str) -> Result<Self, Error> {
        let Difference {
            root,
            diff,
            revision,
            with_unknown,
        } = Difference::read(range)?;
        let mut files = unified::edits(&diff).map_err(unreadable)?;
        let path = |file: &FileEdit| file.old.clone().or(file.new.clone());
        files.retain(|file| path(file).is_some_and(|path| is_source(&path)));
        if with_unknown {
            let mut unknown = ChangedLines::new();
            add_files(&root, &unknown_files(&root)?, &mut unknown);
            files.extend(unknown.into_keys().map(|path| FileEdit {
                new: Some(path),
                ..FileEdit::default()
            }));
        }
        let words = ["diff", "--name-only", "-z", "--no-renames", &revision, "--"];
        let listed = succeeded(&words, Some(&root))?;
        let others = names(&listed);
        let mut one = LineSet::default();
        one.add(1, 1);
        let old = files.iter().filter_map(|file| file.old.clone());
        Ok(Self {
            others: others.filter(|path| !is_source(path)).collect(),
            before: Changes {
                range: range.to_owned(),
                lines: old.map(|path| (path, one.clone())).collect(),
                uncommitted: BTreeSet::new(),
                root,
            },
            files,
        })
    }
}

/// Git's answer for a range.
struct Difference {
    root: PathBuf,
    diff: Vec<u8>,
    /// The range in git's own syntax.
    revision: String,
    /// True if untracked files belong to it.
    with_unknown: bool,
}

impl Difference {
    fn read(range: &str) -> Result<Self, Error> {
        let root = line(&succeeded(&["rev-parse", "--show-toplevel"], None)?);
        let root = PathBuf::from(root);
        let root = root.canonicalize().unwrap_or(root);
        let compared = compared(range)?;
        let with_unknown = matches!(compared, Comparison::WorkingFolder(_));
        let (Comparison::Revisions(revision) | Comparison::WorkingFolder(revision)) = compared;
        let mut words = DIFF.to_vec();
        words.extend([revision.as_str(), "--"]);
        Ok(Self {
            diff: succeeded(&words, Some(&root))?,
            root,
            revision,
            with_unknown,
        })
    }
}

fn unreadable(line: String) -> Error {
    Error::fault(codes::H0678, "git's output cannot be read").with("found", line)
}

impl Changes {
    /// Runs git. `A..B` and `A...B` compare as in git's own `diff`. A single revision means
    /// the changes since its last common ancestor with HEAD, including uncommitted changes and
    /// untracked files.
    ///
    /// # Errors
    /// `H0678` without git, repository, such a revision or a common ancestor.
    pub fn read(range: &str) -> Result<Self, Error> {
        let Difference {
            root,
            diff,
            with_unknown,
            ..
        } = Difference::read(range)?;
        let mut lines = unified::parse(&diff).map_err(unreadable)?;
        let mut uncommitted = BTreeSet::new();
        if with_unknown {
            let unknown = unknown_files(&root)?;
            add_files(&root, &unknown, &mut lines);
            let words = ["diff", "--name-only", "-z", "--no-renames", "HEAD", "--"];
            uncommitted.extend(names(&succeeded(&words, Some(&root))?));
            uncommitted.extend(unknown);
        }
        Ok(Self {
            range: range.to_owned(),
            root,
            lines,
            uncommitted,
        })
    }

    /// Checks whether a file was written after `then` and is not committed, so that the recorded
    /// program may have had another text. Git itself may have written a committed file.
    #[must_use]
    pub fn is_newer(&self, path: &Path, then: SystemTime) -> bool {
        let written = std::fs::metadata(self.root.join(path)).and_then(|file| file.modified());
        self.uncommitted.contains(path) && written.is_ok_and(|written| written > then)
    }
}

fn compared(range: &str) -> Result<Comparison, Error> {
    let ends = range.split_once("...").or_else(|| range.split_once(".."));
    if let Some((from, to)) = ends {
        check(from, range)?;
        check(to, range)?;
        return Ok(Comparison::Revisions(range.to_owned()));
    }
    check(range, range)?;
    let base = git(&["merge-base", range, "HEAD"], None)?;
    if !base.status.success() {
        return Err(
            Error::mistake(codes::H0678, format!("`{range}` and HEAD have no common ancestor"))
                .with("found", error_text(&base))
                .with("help", "in a shallow clone, fetch more: `git fetch --unshallow`, or `fetch-depth: 0` in a GitHub workflow; or compare two revisions, A..B"),
        );
    }
    Ok(Comparison::WorkingFolder(line(&base.stdout)))
}

/// Refuses a text that is no commit. The empty text means HEAD.
fn check(revision: &str, range: &str) -> Result<(), Error> {
    let name = if revision.is_empty() {
        "HEAD"
    } else {
        revision
    };
    let is_option = name.starts_with('-') || range.is_empty();
    let commit = format!("{name}^{{commit}}");
    if !is_option
        && git(&["rev-parse", "--verify", "--quiet", &commit], None)?
            .status
            .success()
    {
        return Ok(());
    }
    Err(Error::mistake(
        codes::H0678,
        format!("`{name}` is no revision of this repository"),
    )
    .with("found", format!("--diff {range}"))
    .with(
        "expected",
        "a commit, branch or tag, such as origin/main, or a range, such as HEAD~3..",
    )
    .with(
        "help",
        "fetch a remote branch first: `git fetch origin main`",
    ))
}

/// Adds all lines of the source files in this list.
fn add_files(root: &Path, files: &[PathBuf], lines: &mut ChangedLines) {
    for path in files.iter().filter(|path| is_source(path)) {
        // A file that cannot be read has no lines for a class.
        let text = std::fs::read(root.join(path)).unwrap_or_default();
        let count = text.split(|byte| *byte == b'\n').count();
        let mut all = LineSet::default();
        all.add(1, u32::try_from(count).unwrap_or(u32::MAX));
        lines.insert(path.clone(), all);
    }
}

/// Returns the untracked files that git does not ignore.
fn unknown_files(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let words = ["ls-files", "--others", "--exclude-standard", "-z"];
    Ok(names(&succeeded(&words, Some(root))?).collect())
}

/// Splits the file names of git's `-z` lists.
fn names(listed: &[u8]) -> impl Iterator<Item = PathBuf> {
    let names = listed.split(|byte| *byte == 0);
    let names = names.filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec())))
}

fn succeeded(words: &[&str], folder: Option<&Path>) -> Result<Vec<u8>, Error> {
    let output = git(words, folder)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(Error::mistake(codes::H0678, "git cannot list the changes")
        .with("found", error_text(&output))
        .with(
            "help",
            "--diff runs git in the working folder, which must be in a repository",
        ))
}

fn git(words: &[&str], folder: Option<&Path>) -> Result<Output, Error> {
    let mut command = Command::new("git");
    command.args(words).stdin(Stdio::null());
    // Git need not refresh its index for this command.
    command.env("GIT_OPTIONAL_LOCKS", "0");
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    command.output().map_err(|error| {
        let help = match error.kind() {
            ErrorKind::NotFound => "install git, or put it on the PATH",
            _ => "check the program `git` on the PATH",
        };
        Error::mistake(codes::H0678, "cannot start git, which lists the changes")
            .with("found", error.to_string())
            .with("help", help)
    })
}

/// Returns git's standard error, or its exit status.
fn error_text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    match text.trim() {
        "" => output.status.to_string(),
        text => text.to_owned(),
    }
}

/// Returns the first line.
fn line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or_default().to_owned()
}
