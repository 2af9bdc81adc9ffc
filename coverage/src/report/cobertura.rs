//! Cobertura's XML report (`coverage-04.dtd`).

use std::io::{self, Write};

use super::markup::Markup;
use super::{Report, SourceLookup, names, path_of};
use crate::model::{ClassCoverage, Counter, Counters, Lines, MethodCoverage, PackageCoverage};

const DOCTYPE: &str = r#"coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd""#;

/// Writes the report. Files have the names of the source lookup, unknown ones `package/File.java`; classes without a
/// source file are named by their class file. An executed line counts as executed once. The timestamp is the last
/// dump of the sessions.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut xml = Markup::new(out, None, DOCTYPE);
    let (line, branch) = (report.counters.line, report.counters.branch);
    let numbers = [line.covered, line.total(), branch.covered, branch.total()]
        .map(|number| number.to_string());
    let [lines_covered, lines_valid, branches_covered, branches_valid] = &numbers;
    let [line_rate, branch_rate, complexity] = &rates(&report.counters);
    let timestamp = report
        .sessions
        .iter()
        .map(|session| session.dump_ms)
        .max()
        .unwrap_or_default()
        .to_string();
    let attributes = [
        ("line-rate", line_rate.as_str()),
        ("branch-rate", branch_rate),
        ("lines-covered", lines_covered),
        ("lines-valid", lines_valid),
        ("branches-covered", branches_covered),
        ("branches-valid", branches_valid),
        ("complexity", complexity),
        ("version", env!("CARGO_PKG_VERSION")),
        ("timestamp", &timestamp),
    ];
    xml.element("coverage", &attributes, |xml| {
        xml.incomplete(report.incomplete());
        xml.element("sources", &[], |xml| {
            let mut modules = report.modules.iter();
            let folder = modules.find_map(|module| module.sources.folder());
            xml.element("source", &[], |xml| {
                xml.text(folder.as_deref().unwrap_or("."));
                Ok(())
            })
        })?;
        xml.element("packages", &[], |xml| {
            let mut packages = report.packages();
            packages.try_for_each(|(module, package)| write_package(xml, package, module.sources))
        })
    })?;
    xml.finish()
}

/// Returns line rate, branch rate and mean complexity of a method.
fn rates(counters: &Counters) -> [String; 3] {
    let methods = f64::from(counters.method.total().max(1));
    let complexity = f64::from(counters.complexity.total()) / methods;
    [
        rate(counters.line),
        rate(counters.branch),
        format!("{complexity:.4}"),
    ]
}

fn rate(counter: Counter) -> String {
    let ratio = counter.ratio().unwrap_or(1.0);
    format!("{:.4}", (ratio * 10_000.0).floor() / 10_000.0) // 1 only if all are covered
}

fn write_package<W: Write>(
    xml: &mut Markup<W>,
    package: &PackageCoverage,
    sources: &dyn SourceLookup,
) -> io::Result<()> {
    let [line_rate, branch_rate, complexity] = &rates(&package.counters);
    let name = names::package(&package.name);
    let attributes = [
        ("name", name.as_str()),
        ("line-rate", line_rate),
        ("branch-rate", branch_rate),
        ("complexity", complexity),
    ];
    xml.element("package", &attributes, |xml| {
        xml.element("classes", &[], |xml| {
            let mut classes = package.classes.iter().filter(|class| class.contains_code());
            classes.try_for_each(|class| write_class(xml, class, sources))
        })
    })
}

fn write_class<W: Write>(
    xml: &mut Markup<W>,
    class: &ClassCoverage,
    sources: &dyn SourceLookup,
) -> io::Result<()> {
    let [line_rate, branch_rate, complexity] = &rates(&class.counters);
    let file = match class.source_file.as_deref() {
        Some(file) => path_of(sources, class.package(), (file, class.source_copy)),
        None => format!("{}.class", class.name), // the DTD requires a file name
    };
    let name = jvms::names::binary(&class.name);
    let attributes = [
        ("name", name.as_str()),
        ("filename", &file),
        ("line-rate", line_rate),
        ("branch-rate", branch_rate),
        ("complexity", complexity),
    ];
    xml.element("class", &attributes, |xml| {
        xml.element("methods", &[], |xml| {
            class
                .methods
                .iter()
                .try_for_each(|method| write_method(xml, method))
        })?;
        write_lines(xml, &class.lines)
    })
}

fn write_method<W: Write>(xml: &mut Markup<W>, method: &MethodCoverage) -> io::Result<()> {
    let [line_rate, branch_rate, _] = &rates(&method.counters);
    let complexity = method.counters.complexity.total().to_string();
    let attributes = [
        ("name", method.name.as_str()),
        ("signature", &method.descriptor),
        ("line-rate", line_rate),
        ("branch-rate", branch_rate),
        ("complexity", &complexity),
    ];
    xml.element("method", &attributes, |xml| write_lines(xml, &method.lines))
}

fn write_lines<W: Write>(xml: &mut Markup<W>, lines: &Lines) -> io::Result<()> {
    xml.element("lines", &[], |xml| {
        for (number, line) in lines
            .of_source()
            .filter(|(_, line)| line.instructions.total() > 0)
        {
            let hits = &*lines.executions(number).to_string();
            let number = number.to_string();
            let branches = line.branches;
            let Some(ratio) = branches.ratio() else {
                xml.empty(
                    "line",
                    &[("number", &number), ("hits", hits), ("branch", "false")],
                );
                continue;
            };
            let percent = format!("{:.0}%", (ratio * 100.0).floor());
            let covered = format!("{percent} ({}/{})", branches.covered, branches.total());
            let attributes = [
                ("number", number.as_str()),
                ("hits", hits),
                ("branch", "true"),
                ("condition-coverage", &covered),
            ];
            xml.element("line", &attributes, |xml| {
                xml.element("conditions", &[], |xml| {
                    xml.empty(
                        "condition",
                        &[("number", "0"), ("type", "jump"), ("coverage", &percent)],
                    );
                    Ok(())
                })
            })?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{NoSources, fixture};

    #[test]
    fn rate_is_one_only_if_all_is_covered() {
        assert_eq!(rate(Counter::new(1, 99_999)), "0.9999");
        assert_eq!(rate(Counter::new(0, 3)), "1.0000");
        assert_eq!(rate(Counter::new(1, 2)), "0.6666");
    }

    #[test]
    fn class_without_a_source_names_its_class_file_and_line_0_is_left_out() {
        let lines = [(0, 2, 0, 0, 0), (1, 0, 0, 0, 3)];
        let method = fixture::method("run", "()V", &lines);
        let mut builder = crate::model::BundleBuilder::default();
        let class = fixture::class("iss/NoSource$A", None, vec![method]);
        builder.add(class).unwrap();
        let (bundle, mut bytes) = (builder.build("x"), Vec::new());
        write(&Report::of_bundle(&bundle, &NoSources, &[]), &mut bytes).unwrap();
        let xml = String::from_utf8(bytes).unwrap();
        assert!(xml.contains("filename=\"iss/NoSource$A.class\""), "{xml}");
        assert!(
            xml.contains("number=\"3\"") && !xml.contains("number=\"0\""),
            "{xml}"
        );
    }

    #[test]
    fn report_of_a_small_program() {
        let mut bytes = Vec::new();
        let (bundle, sessions) = (fixture::bundle(), fixture::sessions());
        let report = Report::of_bundle(&bundle, &NoSources, &sessions);
        write(&report, &mut bytes).unwrap();
        let xml = String::from_utf8(bytes).unwrap();
        insta::assert_snapshot!(
            xml.replace("><", ">\n<")
                .replace(env!("CARGO_PKG_VERSION"), "VERSION")
        );
    }
}
