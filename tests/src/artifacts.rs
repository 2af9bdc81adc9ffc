//! The programs and libraries that the tests run and the repository does not hold: `artifacts.toml`.

use crate::workspace;
use serde::Deserialize;
use std::path::PathBuf;

/// One entry of `artifacts.toml`.
#[derive(Debug, Clone, Deserialize)]
pub struct Artifact {
    /// What the tests call it.
    pub name: String,
    /// Its path below Maven Central's root.
    pub path: String,
    /// Digest of the file.
    pub sha256: String,
}

#[derive(Deserialize)]
struct Artifacts {
    artifact: Vec<Artifact>,
}

impl Artifact {
    /// Where it lies once fetched.
    pub fn path(&self) -> PathBuf {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        workspace::target("downloads").join(file)
    }
}

/// Every artifact of the list.
pub fn all() -> Vec<Artifact> {
    let text = std::fs::read_to_string(workspace::test_file("artifacts.toml"))
        .expect("tests/artifacts.toml is there");
    toml::from_str::<Artifacts>(&text)
        .expect("tests/artifacts.toml is well formed")
        .artifact
}

/// The file of the artifact of this name.
///
/// # Panics
/// If the list has no such name, or the file was not fetched.
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

/// The files of several artifacts.
pub fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| path(name)).collect()
}
