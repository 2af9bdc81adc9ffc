//! The crates that are in the files that users get: their licence texts, and a bill of materials (CycloneDX 1.6).

use super::archive::Time;
use crate::workspace::{Workspace, output_of};
use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Selections of cargo whose crates are in the files: command and agent, and the plugins that they carry.
const SELECTIONS: [&[&str]; 2] = [
    &["-p", "cli", "-p", "hook-agent", "--target"],
    &[
        "-p",
        "plugin-coverage",
        "-p",
        "plugin-patch",
        "-p",
        "plugin-trace",
        "--target",
    ],
];
const PLUGINS_TARGET: &str = "wasm32-unknown-unknown";
/// Beginnings of the names of files with licences, in lower case.
const LICENCES: [&str; 6] = [
    "licen",
    "copying",
    "copyright",
    "notice",
    "unlicense",
    "authors",
];
/// A licence that asks for nothing, so its text need not be passed on.
const WITHOUT_CONDITIONS: &str = "0BSD";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Component>,
}

/// A crate, and where it comes from.
#[derive(Deserialize)]
pub struct Component {
    name: String,
    version: String,
    license: Option<String>,
    repository: Option<String>,
    description: Option<String>,
    /// The registry. Crates of this workspace have `None`.
    source: Option<String>,
    manifest_path: PathBuf,
}

/// The crates of others in the files for this target, in the order of their names.
pub fn of_target(workspace: &Workspace, target: &str) -> Result<Vec<Component>> {
    let mut names = BTreeSet::new();
    for (selection, target) in SELECTIONS.into_iter().zip([target, PLUGINS_TARGET]) {
        let mut tree = workspace.cargo(["tree", "--locked", "--edges", "normal"]);
        tree.args(["--prefix", "none", "--format", "{p}"]);
        names.extend(named(&output_of(tree.args(selection).arg(target))?));
    }
    let mut metadata = workspace.cargo(["metadata", "--locked", "--format-version", "1"]);
    let metadata: Metadata = serde_json::from_str(&output_of(&mut metadata)?)?;
    let mut components = metadata.packages;
    components.retain(|one| {
        one.source.is_some() && names.contains(&(one.name.clone(), one.version.clone()))
    });
    components.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(components)
}

/// Names and versions in the lines `name v1.2.3 (…)` of `cargo tree`.
fn named(tree: &str) -> BTreeSet<(String, String)> {
    let crates = tree.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let version = words.next()?.strip_prefix('v')?;
        Some((name.to_owned(), version.to_owned()))
    });
    crates.collect()
}

/// Returns the texts of all licences, each once below the crates that have it. `zig` is the folder of Zig, whose parts
/// are linked too.
pub fn licences(components: &[Component], zig: &Path) -> Result<String> {
    let standard = standard_texts()?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |text: String, of: String| {
        let text = text.replace("\r\n", "\n").trim_end().to_owned();
        texts.entry(text).or_default().push(of);
    };
    for component in components {
        let of = format!("{} {}", component.name, component.version);
        for text in component.texts(&standard)? {
            add(text, of.clone());
        }
    }
    for (path, of) in [
        ("lib/libc/musl/COPYRIGHT", "musl"),
        (
            "lib/libunwind/LICENSE.TXT",
            "LLVM's libunwind and compiler-rt",
        ),
    ] {
        let file = zig.join(path);
        let text = std::fs::read_to_string(&file);
        let text = text.with_context(|| format!("failed to read {}", file.display()))?;
        add(text, of.to_owned());
    }
    for name in ["Apache-2.0.txt", "MIT.txt"] {
        let of = "the standard library of Rust".to_owned();
        add(
            standard.get(name).context("Rust's own licences")?.clone(),
            of,
        );
    }
    let mut all: Vec<(Vec<String>, String)> = texts
        .into_iter()
        .map(|(text, mut of)| {
            of.sort();
            of.dedup();
            (of, text)
        })
        .collect();
    all.sort();
    let mut page = String::from("Licences of the works of others in Classhook.\n");
    for (of, text) in all {
        // a string takes everything
        let _ = write!(page, "\n{}\n{}\n\n{text}\n", "=".repeat(80), of.join(", "));
    }
    Ok(page)
}

/// The texts of common licences, by the names of their files: those that come with Rust.
fn standard_texts() -> Result<BTreeMap<String, String>> {
    let root = output_of(Command::new("rustc").args(["--print", "sysroot"]))?;
    let folder = Path::new(root.trim()).join("share/doc/rust/licenses");
    let files = std::fs::read_dir(&folder);
    let files = files.with_context(|| format!("failed to read {}", folder.display()))?;
    let mut texts = BTreeMap::new();
    for file in files {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        texts.insert(name.into_owned(), std::fs::read_to_string(&path)?);
    }
    Ok(texts)
}

impl Component {
    /// The crate's own texts, or the standard texts of its licences.
    fn texts(&self, standard: &BTreeMap<String, String>) -> Result<Vec<String>> {
        let folder = self.manifest_path.parent().unwrap_or(Path::new("/"));
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_file() && is_licence(path))
            .collect();
        files.sort();
        if !files.is_empty() {
            let texts = files.iter().map(std::fs::read);
            return texts
                .map(|bytes| Ok(String::from_utf8_lossy(&bytes?).into_owned()))
                .collect();
        }
        let licence = self.license.as_deref().unwrap_or_default();
        let names: Vec<String> = files_of(licence);
        let texts: Vec<String> = names
            .iter()
            .filter_map(|name| standard.get(name).cloned())
            .collect();
        if licence != WITHOUT_CONDITIONS && (texts.is_empty() || texts.len() < names.len()) {
            bail!(
                "expected a file with the licence in {} ({licence}), found none",
                folder.display()
            );
        }
        Ok(texts)
    }

    /// The crate as CycloneDX describes a component.
    fn described(&self) -> Value {
        let mut component = json!({
            "type": "library",
            "bom-ref": self.package_url(),
            "name": self.name,
            "version": self.version,
            "purl": self.package_url(),
        });
        if let Some(text) = &self.description {
            component["description"] = json!(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        if let Some(licence) = &self.license {
            // Older crates write `/` for `OR`.
            let licence = licence.replace(" / ", "/").replace('/', " OR ");
            component["licenses"] = json!([{ "expression": licence }]);
        }
        if let Some(address) = &self.repository {
            component["externalReferences"] = json!([{ "type": "vcs", "url": address }]);
        }
        component
    }

    fn package_url(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    LICENCES.iter().any(|start| name.starts_with(start))
}

/// The files with the texts of an SPDX expression. Of a choice, Apache 2.0 is taken if it is offered.
fn files_of(licence: &str) -> Vec<String> {
    let choices: Vec<&str> = licence.split(" OR ").collect();
    let chosen = choices.iter().find(|one| one.starts_with("Apache-2.0"));
    let chosen = chosen.or(choices.first()).copied().unwrap_or_default();
    chosen
        .split([' ', '(', ')'])
        .filter(|word| !matches!(*word, "" | "AND" | "WITH" | "OR"))
        .map(|name| format!("{name}.txt"))
        .collect()
}

/// Returns the bill of materials.
pub fn bill(components: &[Component], version: &str, time: Time) -> Result<String> {
    let time = Timestamp::from_second(i64::try_from(time.0)?)?;
    let root = format!("pkg:github/classhook/classhook@v{version}");
    let references = components.iter().map(|one| json!(one.package_url()));
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.to_string(),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "classhook",
                "version": version,
                "purl": root,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components.iter().map(Component::described).collect::<Vec<_>>(),
        "dependencies": [{ "ref": root, "dependsOn": references.collect::<Vec<_>>() }],
    });
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(folder: &Path, licence: &str) -> Component {
        Component {
            name: "a".to_owned(),
            version: "1.0.0".to_owned(),
            license: Some(licence.to_owned()),
            repository: None,
            description: Some("Two\nlines".to_owned()),
            source: None,
            manifest_path: folder.join("Cargo.toml"),
        }
    }

    #[test]
    fn crate_without_a_licence_file_gets_the_standard_texts() {
        let folder = tempfile::tempdir().unwrap();
        let standard = ["Apache-2.0", "LLVM-exception"].map(|name| {
            let file = format!("{name}.txt");
            (file, format!("text of {name}"))
        });
        let standard = BTreeMap::from(standard);
        let texts = |licence| component(folder.path(), licence).texts(&standard);
        assert_eq!(texts("MIT OR Apache-2.0").unwrap(), ["text of Apache-2.0"]);
        assert_eq!(texts("Apache-2.0 WITH LLVM-exception").unwrap().len(), 2);
        assert!(texts("0BSD").unwrap().is_empty());
        assert!(texts("CDDL-1.0").is_err(), "no text is known");
        std::fs::write(folder.path().join("LICENSE-MIT"), "its own").unwrap();
        assert_eq!(texts("CDDL-1.0").unwrap(), ["its own"]);
    }

    #[test]
    fn crates_of_a_tree_are_named_once() {
        let found = named("a v1.0.0\nb v0.2.0 (/w/b)\na v1.0.0 (*)\n\n");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn bill_names_each_crate_with_its_address() {
        let folder = Path::new("/");
        let text = bill(
            &[component(folder, "MIT/Apache-2.0")],
            "0.1.0",
            Time(951_827_696),
        );
        let json: Value = serde_json::from_str(&text.unwrap()).unwrap();
        assert_eq!(json["metadata"]["timestamp"], "2000-02-29T12:34:56Z");
        assert_eq!(json["components"][0]["purl"], "pkg:cargo/a@1.0.0");
        assert_eq!(json["components"][0]["description"], "Two lines");
        let licence = &json["components"][0]["licenses"][0]["expression"];
        assert_eq!(licence, "MIT OR Apache-2.0");
        assert_eq!(json["dependencies"][0]["dependsOn"][0], "pkg:cargo/a@1.0.0");
    }
}
