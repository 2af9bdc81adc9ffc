//! JaCoCo's XML report (`-//JACOCO//DTD Report 1.1//EN`).

use std::io::{self, Write};
use std::sync::OnceLock;

use super::markup::Markup;
use super::{Report, Session, processors};
use crate::model::{ClassCoverage, Counter, CounterKind, Counters, MethodCoverage};
use crate::model::{PackageCoverage, SourceFileCoverage};

const DOCTYPE: &str = r#"report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd""#;

/// Writes the report.
///
/// It leaves out counters without items and lines without instructions, but lists classes and source files without
/// any. The output equals that of JaCoCo 0.8.15, except for the order: packages, classes and source files are sorted
/// by name here, and by a hash table in JaCoCo. Comments name missing data.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut xml = Markup::new(out, Some("yes"), DOCTYPE);
    xml.element("report", &[("name", report.name)], |xml| {
        xml.incomplete(report.incomplete());
        for session in Session::sorted(report.sessions) {
            let (start, dump) = (session.start_ms.to_string(), session.dump_ms.to_string());
            xml.empty(
                "sessioninfo",
                &[("id", &session.id), ("start", &start), ("dump", &dump)],
            );
        }
        for module in &report.modules {
            let packages = &module.bundle.packages;
            if !report.is_group {
                write_packages(xml, packages)?;
                continue;
            }
            xml.element("group", &[("name", &module.bundle.name)], |xml| {
                write_packages(xml, packages)?;
                write_counters(xml, &module.bundle.counters);
                Ok(())
            })?;
        }
        write_counters(xml, &report.counters);
        Ok(())
    })?;
    xml.finish()
}

/// Number of packages that several threads write at a time: few enough for memory.
const AT_A_TIME: usize = 64;

fn write_packages<W: Write>(xml: &mut Markup<W>, packages: &[PackageCoverage]) -> io::Result<()> {
    for some in packages.chunks(AT_A_TIME) {
        let parts: Vec<OnceLock<Vec<u8>>> = some.iter().map(|_| OnceLock::new()).collect();
        processors::share(some.len(), &|number| {
            let part = Markup::part(|xml| write_package(xml, &some[number]))?;
            parts[number].get_or_init(|| part);
            Ok(())
        })?;
        let mut parts = parts.iter().filter_map(OnceLock::get);
        parts.try_for_each(|part| xml.append(part))?;
    }
    Ok(())
}

fn write_package<W: Write>(xml: &mut Markup<W>, package: &PackageCoverage) -> io::Result<()> {
    xml.element("package", &[("name", &package.name)], |xml| {
        package
            .classes
            .iter()
            .try_for_each(|class| write_class(xml, class))?;
        package
            .source_files
            .iter()
            .try_for_each(|file| write_source_file(xml, file))?;
        write_counters(xml, &package.counters);
        Ok(())
    })
}

fn write_class<W: Write>(xml: &mut Markup<W>, class: &ClassCoverage) -> io::Result<()> {
    let file = class.source_file.as_deref();
    let attributes = [
        ("name", class.name.as_str()),
        ("sourcefilename", file.unwrap_or_default()),
    ];
    let known = if file.is_some() { 2 } else { 1 };
    xml.element("class", &attributes[..known], |xml| {
        class
            .methods
            .iter()
            .try_for_each(|method| write_method(xml, method))?;
        write_counters(xml, &class.counters);
        Ok(())
    })
}

fn write_method<W: Write>(xml: &mut Markup<W>, method: &MethodCoverage) -> io::Result<()> {
    let attributes = [("name", method.name.as_str()), ("desc", &method.descriptor)];
    let line = method.first_line().map(|line| ("line", line));
    xml.numbered("method", &attributes, line.as_slice(), |xml| {
        write_counters(xml, &method.counters);
        Ok(())
    })
}

/// Parts of a line element: its number, and missed and covered instructions and branches.
const LINE: [&str; 6] = [
    "<line nr=\"",
    "\" mi=\"",
    "\" ci=\"",
    "\" mb=\"",
    "\" cb=\"",
    "\"/>",
];

fn write_source_file<W: Write>(xml: &mut Markup<W>, file: &SourceFileCoverage) -> io::Result<()> {
    xml.element("sourcefile", &[("name", &file.name)], |xml| {
        for (number, line) in file.lines.iter() {
            let (instructions, branches) = (line.instructions, line.branches);
            let numbers = [
                number,
                instructions.missed,
                instructions.covered,
                branches.missed,
                branches.covered,
            ];
            xml.filled(&LINE, &numbers);
        }
        write_counters(xml, &file.counters);
        Ok(())
    })
}

fn write_counters<W: Write>(xml: &mut Markup<W>, counters: &Counters) {
    for kind in CounterKind::ALL {
        let counter = counters.of(kind);
        if counter != Counter::EMPTY {
            let numbers = [counter.missed, counter.covered];
            xml.raw(["<counter type=\"", kind.name()]);
            xml.filled(&["\" missed=\"", "\" covered=\"", "\"/>"], &numbers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BundleCoverage;
    use crate::report::{NoSources, fixture};

    fn written(bundle: &BundleCoverage, sessions: &[Session]) -> String {
        let mut bytes = Vec::new();
        write(&Report::of_bundle(bundle, &NoSources, sessions), &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn report_of_a_small_program() {
        let xml = written(&fixture::bundle(), &fixture::sessions());
        insta::assert_snapshot!(xml.replace("><", ">\n<"));
    }

    #[test]
    fn modules_are_groups_as_in_jacoco() {
        let (bank, web) = (fixture::bundle(), fixture::web());
        let mut bytes = Vec::new();
        write(&fixture::group(&bank, &web), &mut bytes).unwrap();
        let xml = String::from_utf8(bytes).unwrap();
        insta::assert_snapshot!(xml.replace("><", ">\n<"));
    }

    #[test]
    fn names_cannot_break_the_document() {
        let mut bundle = fixture::bundle();
        bundle.name = "<\u{1}a \"b\" & 'c'\n\u{FFFE}>".into();
        let xml = written(&bundle, &[]);
        assert!(
            xml.contains(r#"<report name="&lt;�a &quot;b&quot; &amp; &#39;c&#39;&#10;�&gt;">"#),
            "{xml}"
        );
    }
}
