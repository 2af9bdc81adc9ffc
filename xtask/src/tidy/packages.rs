//! The crates for crates.io. Each has a name with a prefix of ours, and depends only on published crates of this
//! workspace, of a stated version. Its package holds every file that its sources name.
//!
//! `cargo xtask nightly` also builds the packages.

use super::finding::Finding;
use crate::metadata::{self, Package};
use crate::workspace::{Workspace, output_of};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The beginning of the names of published crates. Names without it may belong to someone else.
const PREFIX: &str = "classhook-";

/// The texts in front of the path of another file, and the paths' folder.
const NAMED_FILES: [(&str, RelativeTo); 3] = [
    ("include_str!(\"", RelativeTo::Source),
    ("include_bytes!(\"", RelativeTo::Source),
    ("    path: \"", RelativeTo::Manifest),
];

/// The folder that a path in a source begins at.
#[derive(Clone, Copy)]
enum RelativeTo {
    Source,
    Manifest,
}

/// Checks every published crate, and the names of the others.
pub fn check(workspace: &Workspace, findings: &mut Vec<Finding>) -> Result<()> {
    let packages = metadata::packages(workspace)?;
    let published: BTreeSet<&str> = packages
        .iter()
        .filter(|package| package.is_published())
        .map(|package| package.name.as_str())
        .collect();
    for package in &packages {
        for fault in faults(package, &published) {
            findings.push(Finding::new(&package.name, fault));
        }
        if package.is_published() {
            for missing in missing_files(workspace, package)? {
                findings.push(Finding::new(&package.name, missing));
            }
        }
    }
    Ok(())
}

/// Returns the faults of a crate's manifest.
fn faults(package: &Package, published: &BTreeSet<&str>) -> Vec<String> {
    let has_prefix = package.name.starts_with(PREFIX);
    if !package.is_published() {
        let what = "is not published: expected `publish.workspace = true` only without the prefix";
        return has_prefix.then(|| what.to_owned()).into_iter().collect();
    }
    let mut faults = Vec::new();
    if !has_prefix {
        faults.push(format!(
            "expected `publish.workspace = true`, or a name that begins with {PREFIX}"
        ));
    }
    for (key, value) in [
        ("description", &package.description),
        ("license", &package.license),
        ("repository", &package.repository),
    ] {
        if value.as_ref().is_none_or(String::is_empty) {
            faults.push(format!("expected `{key}` in the manifest, found none"));
        }
    }
    let ours = package.dependencies.iter().filter(|it| it.path.is_some());
    for dependency in ours.filter(|it| it.kind.as_deref() != Some("dev")) {
        let name = &dependency.name;
        if !published.contains(name.as_str()) {
            faults.push(format!("depends on {name}, which is not published"));
        }
        if dependency.req == "*" {
            faults.push(format!("depends on {name} without a version"));
        }
    }
    faults
}

/// Returns a finding for each file that a source of the package names and the package does not hold.
fn missing_files(workspace: &Workspace, package: &Package) -> Result<Vec<String>> {
    let mut list = workspace.cargo(["package", "--list", "--allow-dirty", "--offline", "-p"]);
    let listing = output_of(list.arg(&package.name))?;
    let files: BTreeSet<PathBuf> = listing.lines().map(PathBuf::from).collect();
    let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
    let mut missing = Vec::new();
    let is_source = |file: &&PathBuf| {
        file.starts_with("src") && file.extension().is_some_and(|extension| extension == "rs")
    };
    for file in files.iter().filter(is_source) {
        let text = std::fs::read_to_string(folder.join(file))
            .with_context(|| format!("failed to read {}", file.display()))?;
        for named in named_files(file, &text) {
            if !files.contains(&named) {
                let (file, named) = (file.display(), named.display());
                missing.push(format!("{file} needs {named}, which is not in the package"));
            }
        }
    }
    Ok(missing)
}

/// Returns the paths of the files that a source names, relative to the package. Unit tests at its end may name others.
fn named_files(source: &Path, text: &str) -> Vec<PathBuf> {
    let text = text.split("\n#[cfg(test)]\n").next().unwrap_or(text);
    let mut named = Vec::new();
    for (before, relative_to) in NAMED_FILES {
        let base = match relative_to {
            RelativeTo::Source => source.parent().unwrap_or(Path::new("")),
            RelativeTo::Manifest => Path::new(""),
        };
        for rest in text.split(before).skip(1) {
            let path = rest.split('"').next().unwrap_or(rest);
            named.push(normal(&base.join(path)));
        }
    }
    named
}

/// Resolves `..` in a path, as far as the path goes.
fn normal(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if resolved.file_name().is_some() => {
                resolved.pop();
            }
            part => resolved.push(part),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    fn package(name: &str, dependencies: Vec<Dependency>) -> Package {
        Package {
            name: name.to_owned(),
            description: Some("does it".to_owned()),
            license: Some("MIT".to_owned()),
            repository: Some("https://there".to_owned()),
            dependencies,
            ..Package::default()
        }
    }

    fn dependency(name: &str, req: &str, kind: Option<&str>) -> Dependency {
        Dependency {
            name: name.to_owned(),
            req: req.to_owned(),
            kind: kind.map(str::to_owned),
            path: Some(PathBuf::new()),
        }
    }

    fn faults_of(package: &Package) -> Vec<String> {
        faults(package, &BTreeSet::from(["classhook-there"]))
    }

    #[test]
    fn published_crate_needs_the_prefix_and_a_description() {
        assert!(faults_of(&package("classhook-sdk", Vec::new())).is_empty());
        assert_eq!(faults_of(&package("sdk", Vec::new())).len(), 1);
        let nameless = Package {
            description: None,
            ..package("classhook-sdk", Vec::new())
        };
        let expected = "expected `description` in the manifest, found none";
        assert_eq!(faults_of(&nameless), [expected]);
    }

    #[test]
    fn internal_crate_has_no_prefix() {
        let internal = |name| Package {
            publish: Some(Vec::new()),
            ..package(name, Vec::new())
        };
        assert!(faults_of(&internal("host")).is_empty());
        assert_eq!(faults_of(&internal("classhook-host")).len(), 1);
    }

    #[test]
    fn published_crate_depends_on_versions_of_published_crates() {
        let of = |dependency| faults_of(&package("classhook-sdk", vec![dependency]));
        assert!(of(dependency("classhook-there", "^0.1.0", None)).is_empty());
        assert_eq!(
            of(dependency("classhook-there", "*", None)),
            ["depends on classhook-there without a version"]
        );
        assert_eq!(
            of(dependency("host", "^0.1.0", Some("build"))),
            ["depends on host, which is not published"]
        );
        // Cargo leaves dependencies of tests without a version out of the package.
        assert!(of(dependency("host", "*", Some("dev"))).is_empty());
    }

    #[test]
    fn files_that_a_source_names_are_relative_to_it_or_to_the_package() {
        let text = "generate!({\n    path: \"../wit/plugin.wit\",\n});\n\
                    const A: &str = include_str!(\"../b.txt\");\n\
                    const C: &[u8] = include_bytes!(\"c.bin\");\n\
                    #[cfg(test)]\nmod tests {\n    const D: &str = include_str!(\"../../../d\");\n}\n";
        let found = named_files(Path::new("src/inner/a.rs"), text);
        let expected = ["src/b.txt", "src/inner/c.bin", "../wit/plugin.wit"];
        assert_eq!(found, expected.map(PathBuf::from));
    }
}
