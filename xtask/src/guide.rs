//! The guide, for `cargo xtask docs` and the CI: makes a book of the pages in `docs`, and checks every link in it.
//!
//! mdBook makes the book of copies of the pages. A link that leaves `docs` leads to the repository there.

mod html;
mod pages;

use crate::setup;
use crate::workspace::{Workspace, say, step};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// The settings of the book.
const SETTINGS: &str = r#"[book]
title = "Classhook"
language = "en"

[build]
create-missing = false

[output.html]
no-section-label = true
git-repository-url = "REPOSITORY"

[output.html.print]
enable = false
"#;

/// Builds `target/book` and prints each broken link.
pub fn run(workspace: &Workspace) -> Result<()> {
    let program = setup::mdbook(workspace)?;
    let sources = workspace.target("book-sources");
    copy_sources(workspace.root(), &sources)?;
    let book = workspace.target("book");
    let mut mdbook = Command::new(program);
    mdbook
        .arg("build")
        .arg(&sources)
        .arg("--dest-dir")
        .arg(&book);
    step("making the guide", &mut mdbook)?;
    let broken = html::broken_links(&book)?;
    for link in &broken {
        println!("{link}");
    }
    if !broken.is_empty() {
        bail!("guide: {} broken links", broken.len());
    }
    say(format!("guide: open {}", book.join("index.html").display()));
    Ok(())
}

/// Writes the settings and the pages for mdBook into an empty folder.
fn copy_sources(root: &Path, sources: &Path) -> Result<()> {
    if sources.exists() {
        std::fs::remove_dir_all(sources)?;
    }
    let repository = repository(root)?;
    let to = sources.join("src");
    std::fs::create_dir_all(&to).with_context(|| format!("failed to make {}", to.display()))?;
    let settings = SETTINGS.replace("REPOSITORY", &repository);
    std::fs::write(sources.join("book.toml"), settings)?;
    pages::copy(&root.join("docs"), &to, &repository)
}

/// Returns the repository's address, from the manifest of the workspace.
fn repository(root: &Path) -> Result<String> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let manifest: toml::Table = manifest.parse()?;
    let address = manifest["workspace"]["package"]["repository"].as_str();
    address
        .map(str::to_owned)
        .context("expected `repository` in the workspace's manifest")
}
