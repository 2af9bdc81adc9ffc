//! Allowed imports between crates, checked with `cargo metadata`. The table in docs/ARCHITECTURE.md, "Boundaries", must
//! be equal.

use super::finding::Finding;
use crate::metadata::{self, Package};
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::fmt::Write as _;

/// The document with the table of the layers.
const DOCUMENT: &str = "docs/ARCHITECTURE.md";
const HEAD: &str = "| crate | imports of ours | in its tests besides |\n|---|---|---|\n";

/// A crate and the crates of the workspace that it may import: in the product, and in addition in its tests.
struct Layer {
    name: &'static str,
    product: &'static [&'static str],
    tests: &'static [&'static str],
}

const LAYERS: [Layer; 60] = [
    Layer {
        name: "classhook-jvms",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "classhook-stored",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "classhook-fingerprint",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "classhook-edits",
        product: &["classhook-jvms", "classhook-stored"],
        tests: &[],
    },
    Layer {
        name: "classhook-globs",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "conditions",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "classhook-jvm-event-table",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "jvm-events",
        product: &[
            "classhook-jvms",
            "classhook-globs",
            "classhook-jvm-event-table",
        ],
        tests: &[],
    },
    Layer {
        name: "classhook-escape",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "classhook-error-codes",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "errors",
        product: &["classhook-escape", "classhook-error-codes"],
        tests: &[],
    },
    Layer {
        name: "standard-streams",
        product: &["classhook-escape", "errors"],
        tests: &[],
    },
    Layer {
        name: "attach",
        product: &["errors"],
        tests: &[],
    },
    Layer {
        name: "local-files",
        product: &["errors", "attach", "probes"],
        tests: &[],
    },
    Layer {
        name: "coverage-inputs",
        product: &[
            "classhook-jvms",
            "classhook-globs",
            "jvm-events",
            "classhook-escape",
            "errors",
            "local-files",
            "classhook-rewriter",
            "probes",
            "coverage",
            "trace",
            "class-description",
        ],
        tests: &[],
    },
    Layer {
        name: "otlp",
        product: &[
            "conditions",
            "classhook-escape",
            "errors",
            "coverage-inputs",
            "probes",
            "trace",
        ],
        tests: &[],
    },
    Layer {
        name: "class-selection",
        product: &[
            "classhook-jvms",
            "classhook-globs",
            "errors",
            "control",
            "probes",
            "coverage",
            "trace",
            "host",
        ],
        tests: &[],
    },
    Layer {
        name: "coverage-analysis",
        product: &[
            "classhook-jvms",
            "classhook-fingerprint",
            "classhook-escape",
            "errors",
            "coverage-inputs",
            "class-selection",
            "classhook-rewriter",
            "probes",
            "coverage",
            "class-description",
            "trace",
            "host",
        ],
        tests: &[],
    },
    Layer {
        name: "coverage-rules",
        product: &[
            "classhook-jvms",
            "classhook-globs",
            "classhook-escape",
            "errors",
            "class-selection",
            "coverage",
        ],
        tests: &[],
    },
    Layer {
        name: "differential-coverage",
        product: &[
            "classhook-jvms",
            "classhook-escape",
            "errors",
            "coverage-inputs",
            "coverage",
        ],
        tests: &[],
    },
    Layer {
        name: "java-compiler",
        product: &[
            "classhook-jvms",
            "errors",
            "attach",
            "local-files",
            "coverage-inputs",
            "control",
            "classhook-rewriter",
        ],
        tests: &[],
    },
    Layer {
        name: "advice",
        product: &[
            "classhook-jvms",
            "classhook-globs",
            "errors",
            "classhook-fingerprint",
            "attach",
            "local-files",
            "coverage-inputs",
            "java-compiler",
            "classhook-rewriter",
            "classhook-plan-rules",
        ],
        tests: &[],
    },
    Layer {
        name: "java-builds",
        product: &["local-files", "coverage-inputs", "trace"],
        tests: &[],
    },
    Layer {
        name: "static-instrumentation",
        product: &[
            "classhook-jvms",
            "errors",
            "classhook-fingerprint",
            "local-files",
            "coverage-inputs",
            "class-selection",
            "classhook-rewriter",
            "probes",
            "trace",
            "host",
        ],
        tests: &[],
    },
    Layer {
        name: "control",
        product: &["errors"],
        tests: &[],
    },
    Layer {
        name: "classhook-rewriter",
        product: &[
            "classhook-jvms",
            "classhook-stored",
            "classhook-edits",
            "classhook-escape",
        ],
        tests: &[
            "classhook-fingerprint",
            "class-text",
            "classhook-class-versions",
            "coverage",
        ],
    },
    Layer {
        name: "subroutines",
        product: &["classhook-jvms", "classhook-rewriter"],
        tests: &[],
    },
    Layer {
        name: "class-text",
        product: &["classhook-jvms", "classhook-escape", "classhook-rewriter"],
        tests: &[],
    },
    Layer {
        name: "classhook-class-versions",
        product: &[
            "classhook-jvms",
            "classhook-fingerprint",
            "classhook-rewriter",
        ],
        tests: &[],
    },
    Layer {
        name: "probes",
        product: &["classhook-jvms", "classhook-escape", "conditions"],
        tests: &[],
    },
    Layer {
        name: "coverage",
        product: &["classhook-jvms", "classhook-escape"],
        tests: &["classhook-rewriter"],
    },
    Layer {
        name: "class-description",
        product: &[
            "classhook-jvms",
            "classhook-fingerprint",
            "classhook-rewriter",
            "subroutines",
            "coverage",
        ],
        tests: &[],
    },
    Layer {
        name: "trace",
        product: &["classhook-jvms", "classhook-escape", "jvm-events", "probes"],
        tests: &[],
    },
    Layer {
        name: "classhook-plan-rules",
        product: &[
            "classhook-error-codes",
            "classhook-escape",
            "classhook-jvms",
            "classhook-edits",
            "classhook-stored",
            "classhook-fingerprint",
            "classhook-globs",
            "classhook-rewriter",
        ],
        tests: &[],
    },
    Layer {
        name: "child-process",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "class-readers",
        product: &[
            "classhook-jvms",
            "classhook-escape",
            "errors",
            "classhook-rewriter",
            "child-process",
        ],
        tests: &[],
    },
    Layer {
        name: "plugin-code",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "plugin-compiler",
        product: &["child-process", "plugin-code"],
        tests: &[],
    },
    Layer {
        name: "plugin-fetcher",
        product: &["classhook-escape"],
        tests: &[],
    },
    Layer {
        name: "relay",
        product: &[
            "classhook-escape",
            "errors",
            "standard-streams",
            "probes",
            "trace",
            "child-process",
        ],
        tests: &[],
    },
    Layer {
        name: "heap-dump",
        product: &["classhook-jvms", "classhook-escape"],
        tests: &[],
    },
    Layer {
        name: "host",
        product: &[
            "classhook-jvms",
            "classhook-edits",
            "classhook-globs",
            "conditions",
            "jvm-events",
            "classhook-escape",
            "errors",
            "classhook-stored",
            "classhook-fingerprint",
            "classhook-rewriter",
            "subroutines",
            "class-text",
            "classhook-class-versions",
            "probes",
            "classhook-plan-rules",
            "child-process",
            "plugin-code",
        ],
        tests: &[
            "coverage",
            "classhook-sdk",
            "classhook-testkit",
            "plugin-requests",
        ],
    },
    Layer {
        name: "plugin-projects",
        product: &[
            "classhook-escape",
            "errors",
            "local-files",
            "classhook-rewriter",
            "class-text",
            "probes",
            "plugin-compiler",
            "plugin-fetcher",
            "host",
        ],
        tests: &[],
    },
    Layer {
        name: "agent-launch",
        product: &[
            "errors",
            "standard-streams",
            "attach",
            "local-files",
            "coverage-inputs",
            "control",
            "probes",
            "trace",
            "child-process",
            "host",
            "plugin-projects",
        ],
        tests: &[],
    },
    Layer {
        name: "application-classes",
        product: &["errors", "attach", "host"],
        tests: &[],
    },
    Layer {
        name: "agent-connection",
        product: &[
            "classhook-escape",
            "errors",
            "standard-streams",
            "attach",
            "local-files",
            "control",
            "probes",
            "trace",
            "agent-launch",
            "application-classes",
        ],
        tests: &[],
    },
    Layer {
        name: "loaded-classes",
        product: &[
            "classhook-jvms",
            "errors",
            "standard-streams",
            "coverage-inputs",
            "class-selection",
            "java-compiler",
            "control",
            "trace",
            "host",
            "agent-launch",
            "agent-connection",
        ],
        tests: &[],
    },
    Layer {
        name: "environment-checks",
        product: &[
            "classhook-escape",
            "errors",
            "attach",
            "local-files",
            "coverage-inputs",
            "trace",
            "child-process",
            "host",
            "agent-launch",
            "agent-connection",
        ],
        tests: &[],
    },
    Layer {
        name: "trace-reports",
        product: &[
            "classhook-jvms",
            "conditions",
            "jvm-events",
            "classhook-escape",
            "errors",
            "standard-streams",
            "local-files",
            "coverage-inputs",
            "class-selection",
            "control",
            "probes",
            "trace",
            "host",
            "agent-launch",
            "agent-connection",
        ],
        tests: &[],
    },
    Layer {
        name: "live-traces",
        product: &[
            "classhook-escape",
            "errors",
            "standard-streams",
            "local-files",
            "coverage-inputs",
            "otlp",
            "control",
            "probes",
            "trace",
            "agent-connection",
            "trace-reports",
        ],
        tests: &[],
    },
    Layer {
        name: "profiles",
        product: &[
            "classhook-jvms",
            "classhook-globs",
            "jvm-events",
            "errors",
            "standard-streams",
            "attach",
            "local-files",
            "coverage-inputs",
            "class-selection",
            "control",
            "trace",
            "child-process",
            "relay",
            "agent-launch",
            "agent-connection",
            "trace-reports",
        ],
        tests: &[],
    },
    Layer {
        name: "hook-agent",
        product: &[
            "classhook-jvms",
            "conditions",
            "jvm-events",
            "classhook-escape",
            "errors",
            "control",
            "classhook-rewriter",
            "class-text",
            "classhook-class-versions",
            "probes",
            "coverage",
            "host",
        ],
        tests: &[],
    },
    Layer {
        name: "cli",
        product: &[
            "classhook-jvms",
            "conditions",
            "jvm-events",
            "classhook-escape",
            "errors",
            "standard-streams",
            "attach",
            "local-files",
            "coverage-inputs",
            "otlp",
            "class-selection",
            "coverage-analysis",
            "coverage-rules",
            "differential-coverage",
            "java-compiler",
            "advice",
            "java-builds",
            "static-instrumentation",
            "control",
            "classhook-rewriter",
            "class-text",
            "classhook-class-versions",
            "probes",
            "coverage",
            "trace",
            "child-process",
            "class-readers",
            "plugin-code",
            "plugin-compiler",
            "relay",
            "heap-dump",
            "host",
            "plugin-projects",
            "agent-launch",
            "agent-connection",
            "loaded-classes",
            "environment-checks",
            "trace-reports",
            "live-traces",
            "profiles",
        ],
        tests: &["class-description"],
    },
    Layer {
        name: "classhook-sdk-macros",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "classhook-sdk",
        product: &[
            "classhook-jvms",
            "classhook-edits",
            "classhook-globs",
            "classhook-jvm-event-table",
            "classhook-sdk-macros",
        ],
        tests: &["classhook-testkit"],
    },
    Layer {
        name: "classhook-testkit",
        product: &[
            "classhook-error-codes",
            "classhook-jvms",
            "classhook-edits",
            "classhook-fingerprint",
            "classhook-sdk",
            "classhook-plan-rules",
            "classhook-rewriter",
            "classhook-class-versions",
        ],
        tests: &[],
    },
    Layer {
        name: PLUGINS,
        product: &["classhook-sdk", "coverage"],
        tests: &["classhook-testkit", "classhook-rewriter"],
    },
    Layer {
        name: "jacoco-files",
        product: &[],
        tests: &[],
    },
    Layer {
        name: "e2e-tests",
        product: &[
            "classhook-jvms",
            "classhook-rewriter",
            "probes",
            "coverage",
            "jacoco-files",
        ],
        tests: &[
            "classhook-fingerprint",
            "subroutines",
            "class-text",
            "classhook-plan-rules",
            "attach",
            "control",
            "host",
            "hook-agent",
            "class-description",
            "classhook-testkit",
        ],
    },
    Layer {
        name: "xtask",
        product: &[
            "classhook-error-codes",
            "classhook-jvm-event-table",
            "e2e-tests",
            "jacoco-files",
        ],
        tests: &["coverage"],
    },
];

/// All packages below `plugins/`, and all plugins of tests and examples.
const PLUGINS: &str = "plugins/*";

/// Returns every import that the layers forbid, and every crate without a layer.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in metadata::packages(workspace)? {
        check_package(&package, &mut findings);
    }
    let document = std::fs::read_to_string(workspace.root().join(DOCUMENT))
        .with_context(|| format!("failed to read {DOCUMENT}"))?;
    check_document(&document, &mut findings);
    Ok(findings)
}

fn check_document(document: &str, findings: &mut Vec<Finding>) {
    let table = table();
    if !document.contains(&format!("{table}\n")) {
        let what =
            format!("expected the layers of xtask/src/tidy/layers.rs as this table:\n{table}");
        findings.push(Finding::new(DOCUMENT, what));
    }
}

/// Formats the layers as a table in Markdown.
fn table() -> String {
    let names = |names: &[&str]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        if quoted.is_empty() {
            "–".to_owned()
        } else {
            quoted.join(", ")
        }
    };
    let mut table = HEAD.to_owned();
    for layer in &LAYERS {
        let (product, tests) = (names(layer.product), names(layer.tests));
        let _ = writeln!(table, "| `{}` | {product} | {tests} |", layer.name);
    }
    table
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
    let name = if package.plugin.is_some() {
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
            req: "*".to_owned(),
            kind: kind.map(str::to_owned),
            path: Some(PathBuf::new()),
        });
        let package = Package {
            name: name.to_owned(),
            manifest_path: format!("/somewhere/{folder}/Cargo.toml").into(),
            plugin: folder.strip_prefix("plugins/").map(str::to_owned),
            dependencies: dependencies.collect(),
            ..Package::default()
        };
        let mut findings = Vec::new();
        check_package(&package, &mut findings);
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn upward_import_is_found() {
        assert_eq!(
            findings("classhook-rewriter", "rewriter", &[("host", None)]),
            ["classhook-rewriter: may not import host in the product"]
        );
        assert!(
            findings(
                "host",
                "host",
                &[("classhook-rewriter", None), ("probes", None)]
            )
            .is_empty()
        );
    }

    #[test]
    fn import_allowed_in_tests_only_is_found_in_the_product() {
        assert!(
            findings(
                "coverage",
                "coverage",
                &[("classhook-rewriter", Some("dev"))]
            )
            .is_empty()
        );
        assert_eq!(
            findings("coverage", "coverage", &[("classhook-rewriter", None)]).len(),
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
    fn document_without_the_table_of_the_layers_is_found() {
        let mut findings = Vec::new();
        check_document(&format!("## Boundaries\n\n{}\n", table()), &mut findings);
        assert!(findings.is_empty());
        let changed = table().replace("| `trace` | ", "| `trace` | `host`, ");
        check_document(&format!("{changed}\n"), &mut findings);
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn crate_without_a_layer_is_found() {
        assert_eq!(findings("newcomer", "newcomer", &[]).len(), 1);
    }
}
