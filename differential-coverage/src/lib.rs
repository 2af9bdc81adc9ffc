//! Coverage of changed lines: the changes that git reports, and the part of a report that they
//! touch.
//!
//! | module | holds |
//! |---|---|
//! | [`git`] | the changes that git reports for a range of revisions |
//! | [`unified`] | git's output as lines of files |
//! | [`lines`] | lines of files |
//! | [`mod@source_files`] | the assignment of changed files to classes |
//!
//! Each fails with a coded [`errors::Error`], and adds remarks to [`errors::Warnings`].
//!
//! ```
//! let diff = b"diff --git a/Shop.java b/Shop.java
//! --- a/Shop.java
//! +++ b/Shop.java
//! @@ -3 +3,2 @@ class Shop {
//! -    int price;
//! +    long price;
//! +    int tax;
//! ";
//! let changed = differential_coverage::unified::parse(diff)?;
//! let lines = &changed[std::path::Path::new("Shop.java")];
//! assert!(lines.contains(3) && lines.contains(4) && !lines.contains(5));
//! # Ok::<(), String>(())
//! ```
#![forbid(unsafe_code)]

pub mod git;
pub mod lines;
pub mod source_files;
pub mod unified;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use coverage::model::{BundleCoverage, SourceFileCoverage};
use coverage::report::changed::Changed;
use coverage_inputs::sources::Sources;
use errors::{Warning, Warnings, codes};
use git::Changes;
use lines::LineSet;
use source_files::{SourceFiles, SourceMatch};

/// Maximum number of names in a list; the rest is counted.
const NAMED: usize = 5;

/// The changed lines of a bundle.
#[derive(Debug)]
pub struct ChangeAnalysis {
    /// The report.
    pub changed: Changed,
    /// True if the changed file of some class is ambiguous.
    pub is_partial: bool,
}

/// Returns the changed lines of each bundle, which comes with its sources. `name` is the name of
/// the report, `began` the start of the last recorded run.
#[must_use]
pub fn of_bundles(
    name: &str,
    changes: &Changes,
    bundles: &[BundleCoverage],
    sources: &[Sources],
    began: Option<SystemTime>,
    warnings: &mut Warnings,
) -> ChangeAnalysis {
    let mut measured = ChangeAnalysis {
        changed: Changed {
            range: changes.range.clone(),
            name: name.to_owned(),
            ..Changed::default()
        },
        is_partial: false,
    };
    let mut used = BTreeSet::new();
    for (bundle, sources) in bundles.iter().zip(sources) {
        add(
            bundle,
            &SourceFiles::new(changes, sources),
            &mut measured,
            &mut used,
            warnings,
        );
    }
    let is_newer = |path: &&&PathBuf| began.is_some_and(|began| changes.is_newer(path, began));
    let newer: Vec<String> = used
        .iter()
        .filter(is_newer)
        .map(|path| escape::path(path))
        .collect();
    if !newer.is_empty() {
        measured.is_partial = true;
        warnings.add(changed_since(&newer));
    }
    let notes = [not_reported(changes, &used), without_lines(bundles)];
    measured.changed.notes = notes.into_iter().flatten().collect();
    measured
}

/// Adds the changed lines of one bundle. `used` collects the files that are sources of classes.
fn add<'c>(
    bundle: &BundleCoverage,
    files: &SourceFiles<'c, '_>,
    measured: &mut ChangeAnalysis,
    used: &mut BTreeSet<&'c PathBuf>,
    warnings: &mut Warnings,
) {
    let mut known = BTreeMap::<(&str, &str, u16), (&'c PathBuf, &'c LineSet)>::new();
    for file in source_files(bundle) {
        match files.find(&file.package, &file.name, file.copy) {
            SourceMatch::Changed(path, lines) => {
                used.insert(path);
                known.insert((&file.package, &file.name, file.copy), (path, lines));
            }
            SourceMatch::Unclear(paths) => {
                measured.is_partial = true;
                warnings.add(unclear(&format!("{}/{}", file.package, file.name), &paths));
            }
            SourceMatch::Unchanged => (),
        }
    }
    let restricted = bundle.of_lines(|class, line| {
        let file = class.source_file.as_deref().unwrap_or_default();
        let lines = known.get(&(class.package(), file, class.source_copy));
        lines.is_some_and(|(_, lines)| lines.contains(line))
    });
    let paths = source_files(&restricted).filter_map(|file| {
        let (path, _) = known.get(&(file.package.as_str(), file.name.as_str(), file.copy))?;
        Some(path.display().to_string())
    });
    measured.changed.paths.extend(paths);
    measured.changed.bundles.push(restricted);
}

fn source_files(bundle: &BundleCoverage) -> impl Iterator<Item = &SourceFileCoverage> {
    bundle
        .packages
        .iter()
        .flat_map(|package| &package.source_files)
}

fn unclear(name: &str, paths: &[&PathBuf]) -> Warning {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Warning::new(
        codes::H0679,
        format!("several changed files may be {name}; its lines are left out"),
    )
    .with("found", paths.join("\n"))
    .with("help", "name the folders of the sources with --sources")
}

fn changed_since(names: &[String]) -> Warning {
    Warning::new(
        codes::H0654,
        "sources were changed after the recorded program had started",
    )
    .with("found", some(names))
    .with("note", "coverage of their lines may belong to other lines")
    .with("help", "build and run it again")
}

/// Returns a note about changed source files that belong to no class of the report.
fn not_reported(changes: &Changes, used: &BTreeSet<&PathBuf>) -> Option<String> {
    let changed = changes.lines.iter().filter(|(_, lines)| !lines.is_empty());
    let others = changed.map(|(path, _)| path).filter(|path| {
        let is_description =
            path.ends_with("package-info.java") || path.ends_with("module-info.java");
        lines::is_source(path) && !is_description && !used.contains(path)
    });
    let others: Vec<String> = others.map(|path| path.display().to_string()).collect();
    counted(
        &others,
        "changed source file belongs to no class in the report",
        "changed source files belong to no class in the report",
    )
}

/// Returns a note about classes without debug information about lines or the source file.
fn without_lines(bundles: &[BundleCoverage]) -> Option<String> {
    let classes = bundles
        .iter()
        .flat_map(BundleCoverage::classes)
        .filter(|class| {
            class.contains_code() && (class.source_file.is_none() || class.lines.is_empty())
        });
    let names: Vec<String> = classes
        .map(|class| jvms::names::binary(&class.name))
        .collect();
    counted(
        &names,
        "class names no source file or no lines, so its changes are unknown",
        "classes name no source file or no lines, so their changes are unknown",
    )
}

/// Formats a count, the singular or plural text, and the first names, or nothing without names.
fn counted(names: &[String], of_one: &str, of_several: &str) -> Option<String> {
    let what = match names.len() {
        0 => return None,
        1 => of_one,
        _ => of_several,
    };
    Some(format!("{} {what}: {}", names.len(), some(names)))
}

fn some(names: &[String]) -> String {
    let first = names
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
