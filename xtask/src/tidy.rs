//! `cargo xtask tidy`: checks that no compiler makes.
//!
//! * [`layers`]: allowed imports between crates;
//! * [`circles`]: no circle among the modules of a crate;
//! * [`sources`]: sizes of files and functions, module documentation;
//! * [`unsafe_code`]: unsafe code only in the allowed files, which a document lists;
//! * [`features`]: wasmtime is compiled once with the compiler of plugins and once without;
//! * [`packages`]: the crates for crates.io have names of their own and hold all their files;
//! * [`edge_cases`]: the table of edge cases names tests that exist;
//! * [`error_codes`]: sources take codes from the registry, and each row of it is in use;
//! * [`interface`]: the imports of released plugins stay as they were;
//! * [`interface_page`]: the reference of the interface is generated from its comments;
//! * [`generated_rows`]: tables of events and error codes in documents equal `jvm-event-table` and `error-codes`;
//! * [`documents`]: links in Markdown are valid, one sentence per line;
//! * [`language`]: doc comments and documents are in plain language;
//! * [`figures`]: the page of figures shows the published ones.

mod circles;
mod documents;
mod edge_cases;
mod error_codes;
mod features;
mod finding;
mod generated_rows;
mod interface;
mod interface_page;
mod language;
mod layers;
mod packages;
mod sources;
mod unsafe_code;

use crate::bench::figures;
use crate::workspace::{Workspace, output_of, say};
use anyhow::{Context, Result, bail};
use finding::Finding;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of the check.
#[derive(clap::Args, Default)]
pub struct Options {
    /// Print only the circles among the modules of this crate
    #[arg(long, value_name = "CRATE")]
    circles: Option<String>,
}

/// Checks the whole workspace and prints every finding.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if let Some(name) = &options.circles {
        return circles::show(workspace, name);
    }
    let files = tracked_files(workspace.root())?;
    let mut findings = layers::check(workspace)?;
    circles::check(workspace, &mut findings)?;
    packages::check(workspace, &mut findings)?;
    let sources = sources::check(workspace.root(), &files, &mut findings)?;
    unsafe_code::check(workspace.root(), &sources.with_unsafe, &mut findings)?;
    interface_page::check(workspace.root(), &mut findings)?;
    generated_rows::check(workspace.root(), &mut findings)?;
    documents::check(workspace.root(), &files, &mut findings)?;
    language::check(workspace.root(), &files, &mut findings)?;
    edge_cases::check(workspace.root(), &files, &mut findings)?;
    error_codes::check(workspace.root(), &files, &mut findings)?;
    interface::check(workspace.root(), &files, &mut findings)?;
    features::check(workspace, &mut findings)?;
    if !figures::page_is_up_to_date(workspace.root())? {
        let what = "the table is not the one of docs/performance.json: run `cargo xtask bench table --docs`";
        findings.push(Finding::new(figures::PAGE, what));
    }
    say(sources.sizes.to_string());
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy: {} findings", findings.len());
    }
    say("tidy: nothing found");
    Ok(())
}

/// Returns the files that git tracks or would add, relative to the workspace.
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
