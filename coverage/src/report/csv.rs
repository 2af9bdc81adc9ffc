//! JaCoCo's CSV report: one row for each class with instructions.

use std::io::{self, Write};

use super::{Report, append, names};
use crate::model::{ClassCoverage, CounterKind};

const KINDS: [CounterKind; 5] = [
    CounterKind::Instruction,
    CounterKind::Branch,
    CounterKind::Line,
    CounterKind::Complexity,
    CounterKind::Method,
];

/// Writes the report; classes are ordered by package and name. The group of a module is `group/module`.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut text = "GROUP,PACKAGE,CLASS".to_owned();
    for kind in KINDS {
        text += &format!(",{0}_MISSED,{0}_COVERED", kind.name());
    }
    text.push('\n');
    for (module, package) in report.packages() {
        let group = match report.is_group {
            true => format!("{}/{}", report.name, module.bundle.name),
            false => report.name.to_owned(),
        };
        for class in package.classes.iter().filter(|class| class.contains_code()) {
            write_row(&group, &package.name, class, &mut text);
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
        for number in [counter.missed, counter.covered] {
            text.push(',');
            append::decimal(number, text);
        }
    }
    text.push('\n');
}

/// Quotes a field that would break the row.
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
    use crate::model::BundleCoverage;
    use crate::report::{NoSources, fixture};

    fn written(bundle: &BundleCoverage) -> String {
        let mut bytes = Vec::new();
        write(&Report::of_bundle(bundle, &NoSources, &[]), &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn report_of_a_small_program() {
        insta::assert_snapshot!(written(&fixture::bundle()));
    }

    #[test]
    fn modules_are_named_below_their_group() {
        let (bank, web) = (fixture::bundle(), fixture::web());
        let mut bytes = Vec::new();
        write(&fixture::group(&bank, &web), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.contains("\n\"All, of it/web|<b>\",bank,Page,1,2,"),
            "{text}"
        );
    }

    #[test]
    fn names_cannot_break_a_row() {
        let mut bundle = fixture::bundle();
        bundle.name = "a, \"b\"\nc".into();
        assert!(written(&bundle).contains("\n\"a, \"\"b\"\"\nc\",bank,"));
    }
}
