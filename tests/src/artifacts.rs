//! Programs and libraries that the tests run and the repository does not contain: `artifacts.toml`.

use crate::workspace;
use serde::Deserialize;
use std::path::PathBuf;

/// One entry of `artifacts.toml`.
#[derive(Debug, Clone, Deserialize)]
pub struct Artifact {
    /// The name in the tests.
    pub name: String,
    /// Path below Maven Central's root.
    pub path: String,
    /// Digest of the file, SHA-256.
    pub sha256: String,
}

#[derive(Deserialize)]
struct Artifacts {
    artifact: Vec<Artifact>,
}

impl Artifact {
    /// Returns the path of the fetched file.
    pub fn path(&self) -> PathBuf {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        workspace::target("downloads").join(file)
    }
}

/// Returns every artifact of the list.
pub fn all() -> Vec<Artifact> {
    let text = std::fs::read_to_string(workspace::test_file("artifacts.toml"))
        .expect("tests/artifacts.toml is there");
    toml::from_str::<Artifacts>(&text)
        .expect("tests/artifacts.toml is well formed")
        .artifact
}

/// Returns the file of the artifact with this name.
///
/// # Panics
/// If the list lacks the name, or the file was not fetched.
pub fn path(name: &str) -> PathBuf {
    let artifact = all().into_iter().find(|artifact| artifact.name == name);
    let path = artifact
        .unwrap_or_else(|| panic!("tests/artifacts.toml has no artifact {name}"))
        .path();
    assert!(
        path.is_file(),
        "expected {} to be fetched; run `cargo xtask setup`",
        path.display()
    );
    path
}

/// Returns the files of several artifacts.
pub fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| path(name)).collect()
}
