//! What git says is changed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use super::lines::{ChangedLines, LineSet, is_source};
use super::unified::{self, FileEdit};
use crate::problem::Problem;

/// How the difference is written, whatever the user's configuration says.
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
    /// The range as it was given.
    pub range: String,
    /// The root of the repository, without links.
    pub root: PathBuf,
    /// Its lines that were added or changed.
    pub lines: ChangedLines,
    /// Files of the working folder that are not as HEAD has them, if these are compared.
    pub uncommitted: BTreeSet<PathBuf>,
}

/// What is compared.
enum Compared {
    /// Two revisions, in git's own writing.
    Revisions(String),
    /// A revision and the files of the working folder.
    WorkingFolder(String),
}

/// What was done to the files of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edits {
    /// The files that hold classes, by their paths before.
    pub before: Changes,
    /// What was done to each.
    pub files: Vec<FileEdit>,
    /// Changed files that hold none, new ones that git does not know yet left out.
    pub others: Vec<PathBuf>,
}

impl Edits {
    /// Asks git as [`Changes::read`] does.
    ///
    /// # Errors
    /// As [`Changes::read`].
    pub fn read(range: &str) -> Result<Self, Problem> {
        let Difference {
            root,
            diff,
            revision,
            with_unknown,
        } = Difference::read(range)?;
        let mut files = unified::edits(&diff).map_err(unread)?;
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

/// What git says of a range.
struct Difference {
    root: PathBuf,
    diff: Vec<u8>,
    /// The range in git's own writing.
    revision: String,
    /// Whether files that git does not know yet belong to it.
    with_unknown: bool,
}

impl Difference {
    fn read(range: &str) -> Result<Self, Problem> {
        let root = line(&succeeded(&["rev-parse", "--show-toplevel"], None)?);
        let root = PathBuf::from(root);
        let root = root.canonicalize().unwrap_or(root);
        let compared = compared(range)?;
        let with_unknown = matches!(compared, Compared::WorkingFolder(_));
        let (Compared::Revisions(revision) | Compared::WorkingFolder(revision)) = compared;
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

fn unread(line: String) -> Problem {
    Problem::ours("H0678", "git's output cannot be read").with("found", line)
}

impl Changes {
    /// Asks git: of `A..B` and `A...B` what git's own `diff` compares, of a revision alone what has changed since HEAD
    /// and it had their last common ancestor, with what is not committed and files that git does not know yet.
    ///
    /// # Errors
    /// `H0678` if there is no git, no repository, no such revision or no common ancestor.
    pub fn read(range: &str) -> Result<Self, Problem> {
        let Difference {
            root,
            diff,
            with_unknown,
            ..
        } = Difference::read(range)?;
        let mut lines = unified::parse(&diff).map_err(unread)?;
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

    /// Whether a file was written since then and is not committed, so that what ran then may have had another text. A
    /// file that is committed may have been written by git.
    #[must_use]
    pub fn is_newer(&self, path: &Path, then: SystemTime) -> bool {
        let written = std::fs::metadata(self.root.join(path)).and_then(|file| file.modified());
        self.uncommitted.contains(path) && written.is_ok_and(|written| written > then)
    }
}

fn compared(range: &str) -> Result<Compared, Problem> {
    let ends = range.split_once("...").or_else(|| range.split_once(".."));
    if let Some((from, to)) = ends {
        check(from, range)?;
        check(to, range)?;
        return Ok(Compared::Revisions(range.to_owned()));
    }
    check(range, range)?;
    let base = git(&["merge-base", range, "HEAD"], None)?;
    if !base.status.success() {
        return Err(
            Problem::user("H0678", format!("`{range}` and HEAD have no common ancestor"))
                .with("found", said(&base))
                .with("help", "of a shallow clone, fetch more: `git fetch --unshallow`, or `fetch-depth: 0` of a GitHub workflow; or compare two revisions, A..B"),
        );
    }
    Ok(Compared::WorkingFolder(line(&base.stdout)))
}

/// Refuses what is no commit; nothing stands for HEAD.
fn check(revision: &str, range: &str) -> Result<(), Problem> {
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
    Err(Problem::user(
        "H0678",
        format!("`{name}` is no revision of this repository"),
    )
    .with("found", format!("--diff {range}"))
    .with(
        "expected",
        "a commit, branch or tag, such as origin/main, or a range, such as HEAD~3..",
    )
    .with(
        "help",
        "a branch of another repository has to be fetched first: `git fetch origin main`",
    ))
}

/// Adds all lines of those of these files that are sources.
fn add_files(root: &Path, files: &[PathBuf], lines: &mut ChangedLines) {
    for path in files.iter().filter(|path| is_source(path)) {
        // A file that cannot be read has no lines that a class could have.
        let text = std::fs::read(root.join(path)).unwrap_or_default();
        let count = text.split(|byte| *byte == b'\n').count();
        let mut all = LineSet::default();
        all.add(1, u32::try_from(count).unwrap_or(u32::MAX));
        lines.insert(path.clone(), all);
    }
}

/// The files that git does not know and is not told to ignore.
fn unknown_files(root: &Path) -> Result<Vec<PathBuf>, Problem> {
    let words = ["ls-files", "--others", "--exclude-standard", "-z"];
    Ok(names(&succeeded(&words, Some(root))?).collect())
}

/// Names of files as git lists them with `-z`.
fn names(listed: &[u8]) -> impl Iterator<Item = PathBuf> {
    let names = listed.split(|byte| *byte == 0);
    let names = names.filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec())))
}

fn succeeded(words: &[&str], folder: Option<&Path>) -> Result<Vec<u8>, Problem> {
    let output = git(words, folder)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(Problem::user("H0678", "git cannot say what is changed")
        .with("found", said(&output))
        .with(
            "help",
            "--diff asks git in the working folder, which must lie in a repository",
        ))
}

fn git(words: &[&str], folder: Option<&Path>) -> Result<Output, Problem> {
    let mut command = Command::new("git");
    command.args(words).stdin(Stdio::null());
    // It need not refresh its index for us.
    command.env("GIT_OPTIONAL_LOCKS", "0");
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    command.output().map_err(|error| {
        let help = match error.kind() {
            ErrorKind::NotFound => "install git, or put it on the PATH",
            _ => "check the program `git` on the PATH",
        };
        Problem::user("H0678", "git cannot be started, which says what is changed")
            .with("found", error.to_string())
            .with("help", help)
    })
}

/// What git wrote to standard error, or how it ended.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    match text.trim() {
        "" => output.status.to_string(),
        text => text.to_owned(),
    }
}

/// The first line.
fn line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or_default().to_owned()
}
