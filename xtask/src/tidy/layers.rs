//! Who may import whom (docs/ARCHITECTURE.md, "Boundaries"), read from `cargo metadata`.

use super::Finding;
use crate::metadata::{self, Package};
use crate::workspace::Workspace;
use anyhow::Result;

/// A crate and the crates of ours that it may depend on: in the product, and in its tests besides.
struct Layer {
    name: &'static str,
    product: &'static [&'static str],
    tests: &'static [&'static str],
}

const LAYERS: [Layer; 14] = [
    Layer {
        name: "attach",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "control",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "rewriter",
        product: &[],
        tests: &["coverage"],
    },
    Layer {
        name: "probes",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "coverage",
        product: &[],
        tests: &["rewriter"],
    },
    Layer {
        name: "trace",
        product: &["probes"],
        tests: &[],
    },
    Layer {
        name: "host",
        product: &["rewriter", "probes"],
        tests: &["coverage"],
    },
    Layer {
        name: "hook-agent",
        product: &["control", "host", "rewriter", "probes"],
        tests: &[],
    },
    Layer {
        name: "cli",
        product: &[
            "attach", "control", "host", "rewriter", "probes", "coverage", "trace",
        ],
        tests: &[],
    },
    Layer {
        name: "classhook-sdk",
        product: &[],
        tests: &["classhook-testkit"],
    },
    Layer {
        name: "classhook-testkit",
        product: &["classhook-sdk", "rewriter"],
        tests: &[],
    },
    Layer {
        name: PLUGINS,
        product: &["classhook-sdk", "coverage"],
        tests: &["classhook-testkit", "rewriter"],
    },
    Layer {
        name: "e2e-tests",
        product: &["rewriter", "probes", "coverage"],
        tests: &[
            "attach",
            "control",
            "host",
            "hook-agent",
            "classhook-testkit",
        ],
    },
    Layer {
        name: "xtask",
        product: &["e2e-tests"],
        tests: &["coverage"],
    },
];

/// Every package below `plugins/` and every plugin of the tests.
const PLUGINS: &str = "plugins/*";

/// Every import between crates of ours that the layers do not allow, and every crate without a layer.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in metadata::packages(workspace)? {
        check_package(&package, &mut findings);
    }
    Ok(findings)
}

fn check_package(package: &Package, findings: &mut Vec<Finding>) {
    let Some(layer) = layer_of(package) else {
        findings.push(Finding::new(
            &package.name,
            "a crate without a layer: add it to xtask/src/tidy/layers.rs and docs/ARCHITECTURE.md",
        ));
        return;
    };
    for dependency in package
        .dependencies
        .iter()
        .filter(|dependency| dependency.path.is_some())
    {
        let name = dependency.name.as_str();
        let test = dependency.kind.as_deref() == Some("dev");
        let allowed = layer.product.contains(&name) || (test && layer.tests.contains(&name));
        if !allowed {
            let kind = if test {
                "in its tests"
            } else {
                "in the product"
            };
            findings.push(Finding::new(
                &package.name,
                format!("may not import {name} {kind}"),
            ));
        }
    }
}

fn layer_of(package: &Package) -> Option<&'static Layer> {
    let name = if package.plugin_name().is_some() {
        PLUGINS
    } else {
        package.name.as_str()
    };
    LAYERS.iter().find(|layer| layer.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;
    use std::path::PathBuf;

    fn findings(name: &str, folder: &str, imports: &[(&str, Option<&str>)]) -> Vec<String> {
        let dependencies = imports.iter().map(|(name, kind)| Dependency {
            name: (*name).to_owned(),
            kind: kind.map(str::to_owned),
            path: Some(PathBuf::new()),
        });
        let package = Package {
            name: name.to_owned(),
            manifest_path: format!("/somewhere/{folder}/Cargo.toml").into(),
            targets: Vec::new(),
            dependencies: dependencies.collect(),
        };
        let mut findings = Vec::new();
        check_package(&package, &mut findings);
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn upward_import_is_found() {
        assert_eq!(
            findings("rewriter", "rewriter", &[("host", None)]),
            ["rewriter: may not import host in the product"]
        );
        assert!(findings("host", "host", &[("rewriter", None), ("probes", None)]).is_empty());
    }

    #[test]
    fn import_allowed_in_tests_only_is_found_in_the_product() {
        assert!(findings("coverage", "coverage", &[("rewriter", Some("dev"))]).is_empty());
        assert_eq!(
            findings("coverage", "coverage", &[("rewriter", None)]).len(),
            1
        );
    }

    #[test]
    fn any_plugin_sees_the_sdk_and_never_the_host() {
        assert!(findings("some-plugin", "plugins/some", &[("classhook-sdk", None)]).is_empty());
        assert_eq!(
            findings("some-plugin", "plugins/some", &[("host", None)]).len(),
            1
        );
    }

    #[test]
    fn crate_without_a_layer_is_found() {
        assert_eq!(findings("newcomer", "newcomer", &[]).len(), 1);
    }
}
