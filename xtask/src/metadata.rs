//! The workspace's own crates, as `cargo metadata` reports them.

use crate::workspace::{Workspace, output_of};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A crate of the workspace.
#[derive(Default, Deserialize)]
pub struct Package {
    /// The name in `Cargo.toml`.
    pub name: String,
    /// Its description in `Cargo.toml`.
    pub description: Option<String>,
    /// The licences, as an SPDX expression.
    pub license: Option<String>,
    /// The address of the sources.
    pub repository: Option<String>,
    /// Registries of the crate; an empty list marks an internal crate.
    pub publish: Option<Vec<String>>,
    /// The path of `Cargo.toml`.
    pub manifest_path: PathBuf,
    /// Dependencies, tests included.
    pub dependencies: Vec<Dependency>,
    /// The built libraries, programs and tests.
    pub targets: Vec<Target>,
    /// A plugin's path below the folder `plugins`, or `tests/…` and `examples/…` for those below these. Empty for other
    /// crates.
    #[serde(skip)]
    pub plugin: Option<String>,
}

/// A line of a dependency table.
#[derive(Deserialize)]
pub struct Dependency {
    /// The package's name.
    pub name: String,
    /// The required version, `*` if any will do.
    pub req: String,
    /// `dev`, `build`, or empty for a dependency of the product.
    pub kind: Option<String>,
    /// The folder, for a crate of this workspace.
    pub path: Option<PathBuf>,
}

/// A library, program or test.
#[derive(Deserialize)]
pub struct Target {
    /// The file name of the product, without prefix and extension.
    pub name: String,
    /// `lib`, `cdylib`, `bin`, …
    pub kind: Vec<String>,
    /// The root source file.
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

impl Package {
    /// Checks whether the crate is meant for crates.io.
    pub fn is_published(&self) -> bool {
        self.publish.is_none()
    }
}

impl Target {
    /// Checks whether the target is a library or a program, rather than a test, an example or a build script.
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
