//! Coverage rules: minimums, our own TOML, and JaCoCo's XML, and their verdict on a report.
//!
//! | module | holds |
//! |---|---|
//! | [`requirements`] | the rules of one job, and their verdict |
//! | [`minimums`] | rules as a text: `line=80,package:com.acme.**=75` |
//! | [`rule`] | rules as values, and their violations in a report |
//! | [`decimal`], [`wildcards`] | JaCoCo's numbers and patterns |
//! | [`toml_form`], [`xml_form`] | files as rules |
//! | [`elements`] | XML as a tree |
//! | [`document`] | a file, and mistakes shown at their positions |
//!
//! Each fails with a coded [`errors::Error`]; a violated rule is the error `H0673`.
//!
//! ```
//! use coverage_rules::minimums::Minimum;
//! use coverage_rules::requirements::Requirements;
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("rules.toml");
//! std::fs::write(&file, "[[rule]]\nlimit = [{ counter = \"line\", minimum = 0.8 }]\n")?;
//! let minimum: Minimum = "package:com.acme.**:branch=70".parse()?;
//!
//! let requirements = Requirements::read(&[minimum], &[file])?;
//! assert_eq!(requirements.count(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod decimal;
pub mod document;
pub mod elements;
pub mod minimums;
pub mod requirements;
pub mod rule;
#[cfg(test)]
mod tests;
pub mod toml_form;
pub mod wildcards;
pub mod xml_form;

use std::path::Path;

use document::Document;
use errors::Error;
use rule::Rule;

/// Reads the rules of a file, which is XML if it begins with `<`.
///
/// # Errors
/// If the file cannot be read, or has an invalid rule (`H0676`).
pub fn read(path: &Path) -> Result<Vec<Rule>, Error> {
    let document = Document::read(path)?;
    let text = document.text().trim_start_matches('\u{feff}');
    let rules = match text.trim_start().starts_with('<') {
        true => xml_form::read(&document),
        false => toml_form::read(&document),
    };
    rules.map_err(|mistake| document.problem(&mistake))
}
