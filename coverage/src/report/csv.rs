//! JaCoCo's CSV report: one row per class that has instructions.

use std::io::{self, Write};

use super::names;
use crate::model::{BundleCoverage, ClassCoverage, CounterKind};

const KINDS: [CounterKind; 5] = [
    CounterKind::Instruction,
    CounterKind::Branch,
    CounterKind::Line,
    CounterKind::Complexity,
    CounterKind::Method,
];

/// Writes the report, classes in the order of their packages and names.
///
/// # Errors
/// `out` cannot be written.
pub fn write(bundle: &BundleCoverage, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut text = "GROUP,PACKAGE,CLASS".to_owned();
    for kind in KINDS {
        text += &format!(",{0}_MISSED,{0}_COVERED", kind.name());
    }
    text.push('\n');
    for package in &bundle.packages {
        for class in package.classes.iter().filter(|class| class.contains_code()) {
            write_row(&bundle.name, &package.name, class, &mut text);
        }
    }
    out.write_all(text.as_bytes())
}

fn write_row(group: &str, package: &str, class: &ClassCoverage, text: &mut String) {
    *text += &[
        field(group),
        field(&names::package(package)),
        field(&names::class(class)),
    ]
    .join(",");
    for kind in KINDS {
        let counter = class.counters.of(kind);
        *text += &format!(",{},{}", counter.missed, counter.covered);
    }
    text.push('\n');
}

/// Quotes what would break a row.
fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    fn written(bundle: &BundleCoverage) -> String {
        let mut bytes = Vec::new();
        write(bundle, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn report_of_a_small_program() {
        insta::assert_snapshot!(written(&fixture::bundle()));
    }

    #[test]
    fn names_cannot_break_a_row() {
        let mut bundle = fixture::bundle();
        bundle.name = "a, \"b\"\nc".into();
        assert!(written(&bundle).contains("\n\"a, \"\"b\"\"\nc\",bank,"));
    }
}
