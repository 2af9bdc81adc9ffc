//! Coverage rules from a file: our own TOML, or JaCoCo's XML.
//!
//! | module | holds |
//! |---|---|
//! | [`rule`] | rules as values, and their violations in a report |
//! | [`decimal`], [`wildcards`] | JaCoCo's numbers and patterns |
//! | [`toml_form`], [`xml_form`] | files as rules |
//! | [`elements`] | XML as a tree |
//! | [`document`] | a file, and mistakes shown at their positions |

pub mod decimal;
pub mod document;
pub mod elements;
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
