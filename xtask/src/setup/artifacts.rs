//! Test artifacts from Maven Central, by name, version and SHA-256.
//!
//! The list is `tests/artifacts.toml`; the files are in `target/downloads/`.

use crate::workspace::{in_path, output_of, say, temporary_file};
use anyhow::{Context, Result, bail};
use e2e_tests::artifacts::Artifact;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of Maven Central.
pub const MAVEN_CENTRAL: &str = "https://repo1.maven.org/maven2";

/// Fetches all missing artifacts. The error names each that could not be fetched.
pub fn fetch_all() -> Result<()> {
    let list = e2e_tests::artifacts::all();
    let mut missing = Vec::new();
    for artifact in &list {
        if let Err(error) = fetch(artifact) {
            missing.push(format!("{}: {error:#}", artifact.name));
        }
    }
    if !missing.is_empty() {
        bail!(
            "{} of {} test artifacts are missing:\n{}",
            missing.len(),
            list.len(),
            missing.join("\n")
        );
    }
    say(format!("{} test artifacts are present", list.len()));
    Ok(())
}

/// Fetches one artifact of the list.
pub fn fetch_named(name: &str) -> Result<PathBuf> {
    let list = e2e_tests::artifacts::all();
    let artifact = list
        .iter()
        .find(|artifact| artifact.name == name)
        .with_context(|| format!("expected an artifact named {name} in tests/artifacts.toml"))?;
    fetch(artifact)
}

fn fetch(artifact: &Artifact) -> Result<PathBuf> {
    let file = artifact.path();
    if file.is_file() && digest(&file)? == artifact.sha256 {
        return Ok(file);
    }
    let address = format!("{MAVEN_CENTRAL}/{}", artifact.path);
    download(&address, &artifact.sha256, &file)?;
    Ok(file)
}

/// Downloads to a temporary file beside the destination, checks the digest, and then renames the file.
fn download(address: &str, sha256: &str, file: &Path) -> Result<()> {
    if in_path("curl").is_none() {
        bail!(
            "expected `curl` in PATH to fetch {address}, found none; on Debian: apt-get install curl"
        );
    }
    let folder = file.parent().context("expected a file below a folder")?;
    std::fs::create_dir_all(folder)?;
    say(format!("fetching {address}"));
    let temporary = temporary_file(folder)?;
    let mut curl = Command::new("curl");
    curl.args([
        "--fail",
        "--silent",
        "--show-error",
        "--location",
        "--retry",
        "3",
        "--max-time",
        "600",
        "--output",
    ]);
    output_of(curl.arg(temporary.path()).arg(address))?;
    let found = digest(temporary.path())?;
    if found != sha256 {
        bail!("expected SHA-256 {sha256} of {address}, found {found}; nothing was kept");
    }
    temporary
        .persist(file)
        .with_context(|| format!("failed to write {}", file.display()))?;
    Ok(())
}

/// Returns the SHA-256 of bytes, in lower-case hexadecimal digits.
pub fn digest_of(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of a file, in lower-case hexadecimal digits.
pub fn digest(file: &Path) -> Result<String> {
    let bytes =
        std::fs::read(file).with_context(|| format!("failed to read {}", file.display()))?;
    Ok(digest_of(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn wrong_digest_keeps_no_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = folder.path().join("source");
        std::fs::write(&source, "").expect("written");
        let goal = folder.path().join("goal");
        let address = format!("file://{}", source.display());
        let error = download(&address, &"0".repeat(64), &goal).expect_err("a wrong digest");
        assert!(format!("{error:#}").contains(EMPTY), "{error:#}");
        assert!(!goal.exists());
        download(&address, EMPTY, &goal).expect("the right digest");
        assert!(goal.exists());
    }

    #[test]
    fn list_of_the_tests_has_unique_names_and_whole_digests() {
        let list = e2e_tests::artifacts::all();
        let mut names: Vec<&str> = list.iter().map(|artifact| artifact.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), list.len());
        assert!(list.iter().all(|artifact| artifact.sha256.len() == 64));
    }
}
