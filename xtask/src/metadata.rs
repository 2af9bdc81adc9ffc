//! What cargo knows of the workspace's own crates.

use crate::workspace::{Workspace, output_of};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::PathBuf;

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
}

/// Every crate of the workspace.
pub fn packages(workspace: &Workspace) -> Result<Vec<Package>> {
    let mut command = workspace.cargo(["metadata", "--format-version", "1", "--no-deps"]);
    let json = output_of(&mut command)?;
    let metadata: Metadata =
        serde_json::from_str(&json).context("failed to read cargo's metadata")?;
    Ok(metadata.packages)
}

impl Package {
    /// Its path below the folder `plugins`, `tests/…` for those of the tests; nothing if it is no plugin.
    pub fn plugin_name(&self) -> Option<String> {
        let folder = self.manifest_path.parent()?;
        let above = folder.parent()?;
        if above.file_name()? != "plugins" {
            return None;
        }
        let name = folder.file_name()?.to_string_lossy();
        let of_tests = above.parent()?.file_name()? == "tests";
        Some(if of_tests {
            format!("tests/{name}")
        } else {
            name.into_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin_name(manifest: &str) -> Option<String> {
        let package = Package {
            name: String::new(),
            manifest_path: manifest.into(),
            dependencies: Vec::new(),
            targets: Vec::new(),
        };
        package.plugin_name()
    }

    #[test]
    fn plugins_of_the_product_and_of_the_tests() {
        assert_eq!(
            plugin_name("/w/plugins/coverage/Cargo.toml").as_deref(),
            Some("coverage")
        );
        assert_eq!(
            plugin_name("/w/tests/plugins/trap/Cargo.toml").as_deref(),
            Some("tests/trap")
        );
        assert_eq!(plugin_name("/w/rewriter/Cargo.toml"), None);
    }
}
