//! `cargo xtask release-check`: compares the versions of crates, changelog, documents and scripts before a release, and
//! writes the notes of the release from the changelog.

use crate::workspace::{Workspace, say, write_atomically};
use anyhow::{Context, Result, bail};
use e2e_tests::maven_plugin::VERSION;

/// Files that name the version, and how.
const PLACES: [(&str, &str); 13] = [
    (
        "README.md",
        "/releases/download/vVERSION/classhook-VERSION-linux-x86_64.tar.gz",
    ),
    (
        "docs/get-started/install.md",
        "/releases/download/vVERSION/classhook-VERSION-linux-x86_64.tar.gz",
    ),
    ("docs/how-to/ci.md", "classhook/classhook@vVERSION"),
    (
        "docs/how-to/ci.md",
        "classhook/classhook/vVERSION/.gitlab/classhook.yml",
    ),
    (
        "docs/how-to/ci.md",
        "/releases/download/vVERSION/install.sh",
    ),
    ("docs/how-to/containers.md", "classhook-VERSION-image.tar"),
    (".gitlab/classhook.yml", "    CLASSHOOK_VERSION: VERSION\n"),
    ("docs/how-to/maven.md", "<version>VERSION</version>"),
    ("docs/how-to/from-jacoco.md", "<version>VERSION</version>"),
    ("docs/how-to/tests.md", "<version>VERSION</version>"),
    ("docs/how-to/gradle.md", "classhook-gradle-plugin:VERSION"),
    ("install.sh", "${CLASSHOOK_VERSION:-VERSION}"),
    ("Cargo.toml", "\nversion = \"VERSION\""),
];

/// Options of the comparison.
#[derive(clap::Args)]
pub struct Options {
    /// Check that this tag is that of the version, and that the changelog has no unreleased entries
    #[arg(long)]
    tag: Option<String>,
}

/// Compares, and writes `target/release-notes.md`.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let mut faults = versions(workspace)?;
    let changelog = std::fs::read_to_string(workspace.root().join("CHANGELOG.md"))?;
    let notes = section(&changelog, VERSION);
    if notes.is_none_or(str::is_empty) {
        faults.push(format!(
            "expected entries below `## {VERSION}` in CHANGELOG.md"
        ));
    }
    if let Some(tag) = &options.tag {
        if *tag != format!("v{VERSION}") {
            faults.push(format!("expected the tag v{VERSION}, found {tag}"));
        }
        if section(&changelog, "Unreleased").is_some_and(|entries| !entries.is_empty()) {
            faults.push(format!(
                "expected no unreleased entries in CHANGELOG.md: move them below `## {VERSION}`"
            ));
        }
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    let file = workspace.target("release-notes.md");
    write_atomically(&file, format!("{}\n", notes.unwrap_or_default()).as_bytes())?;
    say(format!(
        "version {VERSION} agrees; its notes are in {}",
        file.display()
    ));
    Ok(())
}

/// Faults of files that do not name this version.
fn versions(workspace: &Workspace) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (name, form) in PLACES {
        let text = std::fs::read_to_string(workspace.root().join(name));
        let text = text.with_context(|| format!("failed to read {name}"))?;
        let expected = form.replace("VERSION", VERSION);
        // A variable has the word in its name.
        let expected = expected.replace(&format!("CLASSHOOK_{VERSION}"), "CLASSHOOK_VERSION");
        if !text.contains(&expected) {
            faults.push(format!("expected `{}` in {name}", expected.trim()));
        }
    }
    Ok(faults)
}

/// The entries below a heading of the changelog.
fn section<'a>(changelog: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = changelog.split_once(&format!("\n## {heading}\n"))?;
    Some(rest.split("\n## ").next().unwrap_or_default().trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_scripts_name_the_version_of_the_workspace() {
        let faults = versions(&Workspace::find().unwrap()).unwrap();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn notes_are_the_section_of_the_version() {
        let text = "# Changelog\n\n## Unreleased\n\n## 0.2.0\n\n- new\n\n## 0.1.0\n\n- old\n";
        assert_eq!(section(text, "0.2.0"), Some("- new"));
        assert_eq!(section(text, "0.1.0"), Some("- old"));
        assert_eq!(section(text, "Unreleased"), Some(""));
        assert_eq!(section(text, "0.3.0"), None);
    }
}
