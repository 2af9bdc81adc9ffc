//! `cargo xtask tidy`: what a compiler does not check.
//!
//! * [`layers`]: which crate may import which;
//! * [`sources`]: sizes of files and functions, `unsafe` only where it is allowed, module documentation;
//! * [`features`]: wasmtime is compiled once;
//! * [`edge_cases`]: the table of edge cases names tests that exist;
//! * [`documents`]: links in Markdown lead somewhere, one sentence per line.

mod documents;
mod edge_cases;
mod features;
mod layers;
mod sources;

use crate::workspace::{Workspace, output_of, say};
use anyhow::{Context, Result, bail};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Something that breaks a rule of the house, and where.
struct Finding {
    place: String,
    what: String,
}

impl Finding {
    fn new(place: impl fmt::Display, what: impl Into<String>) -> Self {
        Self {
            place: place.to_string(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Checks the whole workspace and prints every finding.
pub fn run(workspace: &Workspace) -> Result<()> {
    let files = tracked_files(workspace.root())?;
    let mut findings = layers::check(workspace)?;
    let sizes = sources::check(workspace.root(), &files, &mut findings)?;
    documents::check(workspace.root(), &files, &mut findings)?;
    edge_cases::check(workspace.root(), &files, &mut findings)?;
    features::check(workspace, &mut findings)?;
    say(sizes.to_string());
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy: {} findings", findings.len());
    }
    say("tidy: nothing found");
    Ok(())
}

/// The files git knows, and those it would add; relative to the workspace.
fn tracked_files(root: &Path) -> Result<Vec<PathBuf>> {
    let listing = output_of(Command::new("git").current_dir(root).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
    ]))
    .context("tidy needs git to know which files belong to the project")?;
    Ok(listing
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect())
}
