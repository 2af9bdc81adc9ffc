//! What cargo knows of the workspace's own crates.

use crate::workspace::{Workspace, output_of};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A crate of the workspace.
#[derive(Deserialize)]
pub struct Package {
    /// Its name in `Cargo.toml`.
    pub name: String,
    /// Its `Cargo.toml`.
    pub manifest_path: PathBuf,
    /// What it depends on, tests included.
    pub dependencies: Vec<Dependency>,
    /// What is built of it.
    pub targets: Vec<Target>,
    /// Its path below the folder `plugins`, `tests/…` and `examples/…` for those below these; nothing if it is no plugin.
    #[serde(skip)]
    pub plugin: Option<String>,
}

/// A line of a dependency table.
#[derive(Deserialize)]
pub struct Dependency {
    /// The name of the package.
    pub name: String,
    /// `dev`, `build`, or nothing for the product.
    pub kind: Option<String>,
    /// Its folder, if it is a crate of ours.
    pub path: Option<PathBuf>,
}

/// A library, program or test.
#[derive(Deserialize)]
pub struct Target {
    /// The name of the file that is built, without prefix and extension.
    pub name: String,
    /// `lib`, `cdylib`, `bin`, …
    pub kind: Vec<String>,
    /// Its first source file.
    pub src_path: PathBuf,
}

/// Every crate of the workspace.
pub fn packages(workspace: &Workspace) -> Result<Vec<Package>> {
    let mut command = workspace.cargo(["metadata", "--format-version", "1", "--no-deps"]);
    let json = output_of(&mut command)?;
    let metadata: Metadata =
        serde_json::from_str(&json).context("failed to read cargo's metadata")?;
    let mut packages = metadata.packages;
    for package in &mut packages {
        package.plugin = plugin_name(&package.manifest_path, workspace.root());
    }
    Ok(packages)
}

impl Target {
    /// Is it a library or a program, rather than a test, an example or a build script?
    pub fn is_product(&self) -> bool {
        let kinds = ["lib", "rlib", "cdylib", "staticlib", "bin"];
        self.kind.iter().any(|kind| kinds.contains(&kind.as_str()))
    }
}

fn plugin_name(manifest: &Path, root: &Path) -> Option<String> {
    let folder = manifest.parent()?.strip_prefix(root).ok()?.to_str()?;
    ["tests/", "examples/", ""].into_iter().find_map(|place| {
        let name = folder.strip_prefix(place)?.strip_prefix("plugins/")?;
        Some(format!("{place}{name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(root: &str, manifest: &str) -> Option<String> {
        plugin_name(manifest.as_ref(), root.as_ref())
    }

    #[test]
    fn plugins_of_the_product_of_the_tests_and_of_the_examples() {
        let product = name("/w", "/w/plugins/coverage/Cargo.toml");
        assert_eq!(product.as_deref(), Some("coverage"));
        let of_tests = name("/w", "/w/tests/plugins/trap/Cargo.toml");
        assert_eq!(of_tests.as_deref(), Some("tests/trap"));
        let example = name("/w", "/w/examples/plugins/timer/Cargo.toml");
        assert_eq!(example.as_deref(), Some("examples/timer"));
        assert_eq!(name("/w", "/w/rewriter/Cargo.toml"), None);
    }

    #[test]
    fn checkout_may_lie_in_a_folder_named_tests() {
        let product = name("/w/tests", "/w/tests/plugins/coverage/Cargo.toml");
        assert_eq!(product.as_deref(), Some("coverage"));
    }
}
