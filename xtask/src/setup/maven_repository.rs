//! The local repository of Maven builds in tests and measurements: `tests/maven-repository.sha256`, and
//! `xtask/src/bench/maven/repository.sha256`.

use super::artifacts::{MAVEN_CENTRAL, digest};
use crate::workspace::{in_path, output_of, say};
use anyhow::{Context, Result, bail};
use e2e_tests::maven::{File, local_repository};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Fetches all missing files in one call, and keeps only those with the right digest.
pub fn fill(list: &[File]) -> Result<()> {
    let repository = local_repository();
    let is_missing = |file: &&File| {
        let path = repository.join(&file.path);
        !digest(&path).is_ok_and(|found| found == file.sha256)
    };
    let missing: Vec<&File> = list.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        say(format!(
            "fetching {} files for Maven from {MAVEN_CENTRAL}",
            missing.len()
        ));
        fetch(&missing, &repository)?;
    }
    say(format!("{} files for Maven are present", list.len()));
    Ok(())
}

fn fetch(files: &[&File], repository: &Path) -> Result<()> {
    if in_path("curl").is_none() {
        bail!("expected `curl` in PATH, found none; on Debian: apt-get install curl");
    }
    std::fs::create_dir_all(repository)?;
    let fresh = tempfile::tempdir_in(repository)?;
    let mut list = String::new();
    for file in files {
        let path = fresh.path().join(&file.path);
        let (address, path) = (format!("{MAVEN_CENTRAL}/{}", file.path), path.display());
        writeln!(list, "url = \"{address}\"\noutput = \"{path}\"")?;
    }
    let config = fresh.path().join("curl.txt");
    std::fs::write(&config, list)?;
    let mut curl = Command::new("curl");
    curl.args(["--fail", "--silent", "--show-error", "--location"]);
    curl.args(["--retry", "3", "--max-time", "600", "--create-dirs"]);
    curl.args(["--parallel", "--parallel-max", "8", "--config"]);
    output_of(curl.arg(&config))?;
    for file in files {
        keep(file, fresh.path(), repository)?;
    }
    Ok(())
}

/// Moves a fetched file into the repository.
fn keep(file: &File, fresh: &Path, repository: &Path) -> Result<()> {
    let path = fresh.join(&file.path);
    let found = digest(&path)?;
    if found != file.sha256 {
        bail!(
            "expected SHA-256 {} of {}, found {found}",
            file.sha256,
            file.path
        );
    }
    let goal = repository.join(&file.path);
    let folder = goal.parent().context("expected a file below a folder")?;
    std::fs::create_dir_all(folder)?;
    std::fs::rename(path, &goal).with_context(|| format!("failed to write {}", goal.display()))
}
