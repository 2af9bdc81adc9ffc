//! The report as JSON, for programs: all counters and lines.
//!
//! `docs/coverage-reports.md` describes the format. [`VERSION`] increases when a field changes its meaning or is removed.

use std::io::{self, Write};

use super::per_test::{FileTests, PerTest};
use super::{Module, Report, Session, SourceLookup};
use crate::filter::Counting;
use crate::model::{ClassCoverage, CounterKind, Counters, MethodCoverage};
use crate::model::{PackageCoverage, SourceFileCoverage};
use jvms::names::binary;

/// The version of the format.
pub const VERSION: u32 = 1;

/// Writes the report; source files have a path if it is known.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    let changed = report.changed;
    let diff = changed.map_or("null".to_owned(), |changed| quoted(&changed.range));
    write!(
        out,
        "{{\"format\":\"classhook-coverage\",\"version\":{VERSION},\"name\":{},\"diff\":{diff},\n\"sessions\":[",
        quoted(report.name)
    )?;
    list(&mut out, Session::sorted(report.sessions), write_session)?;
    out.write_all(b"],\n\"incomplete\":[")?;
    list(&mut out, report.incomplete(), |out, sentence| {
        out.write_all(quoted(sentence).as_bytes())
    })?;
    let counted = match report.counting {
        Counting::Jacoco => "jacoco",
        Counting::Source => "source",
    };
    let counters_of_all = counters(&report.counters);
    write!(
        out,
        "],\n\"counted\":\"{counted}\",\"counters\":{counters_of_all},"
    )?;
    if let Some(per_test) = report.per_test {
        write_tests(&mut out, per_test)?;
    }
    if report.is_group {
        out.write_all(b"\n\"modules\":[")?;
        list(
            &mut out,
            report.modules.iter().enumerate(),
            |out, (number, module)| {
                let counters = counters(&module.bundle.counters);
                write!(
                    out,
                    "\n{{\"name\":{},\"counters\":{counters},",
                    quoted(&module.bundle.name)
                )?;
                write_packages(out, module, &of_module(report, number))?;
                out.write_all(b"}")
            },
        )?;
        out.write_all(b"]")?;
    } else {
        let mut modules = report.modules.iter().enumerate();
        modules.try_for_each(|(number, module)| {
            write_packages(&mut out, module, &of_module(report, number))
        })?;
    }
    out.write_all(b"}\n")?;
    out.flush()
}

/// Finds the tests that executed a source file of a module, if they are known.
type FindTests<'a> = dyn Fn(&SourceFileCoverage) -> Option<&'a FileTests> + 'a;

fn of_module<'a>(report: &Report<'a>, number: usize) -> Box<FindTests<'a>> {
    let per_test = report.per_test;
    Box::new(move |file| per_test?.of_file(number, file))
}

/// Writes the names of the tests; lines refer to them by index.
fn write_tests(out: &mut dyn Write, per_test: &PerTest<'_>) -> io::Result<()> {
    out.write_all(b"\n\"tests\":[")?;
    list(out, per_test.tests.tests(), |out, test| {
        let (name, alone) = (quoted(&test.name), !test.is_together);
        write!(out, "{{\"name\":{name},\"alone\":{alone}}}")
    })?;
    out.write_all(b"],")
}

fn write_session(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    let incomplete = session.missing().map_or("null".to_owned(), quoted);
    write!(
        out,
        "{{\"id\":{},\"start\":{},\"dump\":{},\"incomplete\":{incomplete}}}",
        quoted(&session.id),
        session.start_ms,
        session.dump_ms
    )
}

fn write_packages(
    out: &mut dyn Write,
    module: &Module<'_>,
    tests: &FindTests<'_>,
) -> io::Result<()> {
    out.write_all(b"\n\"packages\":[")?;
    list(out, &module.bundle.packages, |out, package| {
        write_package(out, package, module.sources, tests)
    })?;
    out.write_all(b"]")
}

fn write_package(
    out: &mut dyn Write,
    package: &PackageCoverage,
    sources: &dyn SourceLookup,
    tests: &FindTests<'_>,
) -> io::Result<()> {
    write!(
        out,
        "\n{{\"name\":{},\"counters\":{},\"classes\":[",
        quoted(&binary(&package.name)),
        counters(&package.counters)
    )?;
    list(out, &package.classes, write_class)?;
    out.write_all(b"],\"sourceFiles\":[")?;
    list(out, &package.source_files, |out, file| {
        write_file(out, file, sources, tests(file))
    })?;
    out.write_all(b"]}")
}

fn write_class(out: &mut dyn Write, class: &ClassCoverage) -> io::Result<()> {
    let file = class
        .source_file
        .as_deref()
        .map_or("null".to_owned(), quoted);
    let carried = class
        .carried_over
        .map_or("null".to_owned(), |carried| carried.same.to_string());
    write!(
        out,
        "\n{{\"name\":{},\"id\":\"{:016x}\",\"sourceFile\":{file},\"otherVersionRan\":{},\"carriedOver\":{carried},\"counters\":{},\"methods\":[",
        quoted(&binary(&class.name)),
        class.id,
        class.no_match,
        counters(&class.counters)
    )?;
    list(out, &class.methods, write_method)?;
    out.write_all(b"]}")
}

fn write_method(out: &mut dyn Write, method: &MethodCoverage) -> io::Result<()> {
    let line = method
        .first_line()
        .map_or("null".to_owned(), |line| line.to_string());
    write!(
        out,
        "{{\"name\":{},\"descriptor\":{},\"line\":{line},\"counters\":{}}}",
        quoted(&method.name),
        quoted(&method.descriptor),
        counters(&method.counters)
    )
}

fn write_file(
    out: &mut dyn Write,
    file: &SourceFileCoverage,
    sources: &dyn SourceLookup,
    tests: Option<&FileTests>,
) -> io::Result<()> {
    let path = sources.path(&file.package, &file.name, file.copy);
    write!(
        out,
        "\n{{\"name\":{},\"path\":{},\"counters\":{},\"lines\":[",
        quoted(&file.name),
        path.as_deref().map_or("null".to_owned(), quoted),
        counters(&file.counters)
    )?;
    list(out, file.lines.iter(), |out, (number, line)| {
        let (instructions, branches) = (line.instructions, line.branches);
        write!(
            out,
            "{{\"nr\":{number},\"mi\":{},\"ci\":{},\"mb\":{},\"cb\":{}",
            instructions.missed, instructions.covered, branches.missed, branches.covered
        )?;
        if file.lines.begun(number).is_some() {
            write!(out, ",\"times\":{}", file.lines.executions(number))?;
        }
        if let Some(line) = tests.and_then(|tests| tests.get(&number)) {
            let numbers: Vec<String> = line.tests.iter().map(u32::to_string).collect();
            let (tests, outside) = (numbers.join(","), line.is_outside);
            write!(out, ",\"tests\":[{tests}],\"outsideOfTests\":{outside}")?;
        }
        out.write_all(b"}")
    })?;
    out.write_all(b"]}")
}

/// Writes items with commas between them.
fn list<T>(
    out: &mut dyn Write,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut dyn Write, T) -> io::Result<()>,
) -> io::Result<()> {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        write(out, item)?;
    }
    Ok(())
}

/// Writes all six counters, including empty ones.
fn counters(counters: &Counters) -> String {
    let pairs = CounterKind::ALL.map(|kind| {
        let counter = counters.of(kind);
        format!(
            "\"{}\":{{\"missed\":{},\"covered\":{}}}",
            kind.name().to_lowercase(),
            counter.missed,
            counter.covered
        )
    });
    format!("{{{}}}", pairs.join(","))
}

/// Encodes a JSON string, in ASCII except for letters.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' '..='~' => quoted.push(character),
            letter if letter.is_alphanumeric() => quoted.push(letter),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    quoted += &format!("\\u{unit:04x}");
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::changed::tests::changed;
    use crate::report::per_test::tests::written;
    use crate::report::{NoSources, fixture};

    #[test]
    fn report_of_a_small_program() {
        let (bundle, sessions) = (fixture::bundle(), fixture::sessions());
        let changed = changed();
        let report = Report {
            changed: Some(&changed),
            ..Report::of_bundle(&bundle, &NoSources, &sessions)
        };
        let mut bytes = Vec::new();
        write(&report, &mut bytes).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn modules_have_their_own_packages() {
        let (bank, web) = (fixture::bundle(), fixture::web());
        let mut bytes = Vec::new();
        write(&fixture::group(&bank, &web), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let web = text.find("{\"name\":\"web|<b>\",\"counters\":{").unwrap();
        assert!(text[web..].contains("\"name\":\"bank.Page\""), "{text}");
        assert_eq!(text.matches("\"packages\":").count(), 2);
    }

    #[test]
    fn texts_cannot_break_the_document() {
        assert_eq!(
            quoted("a\"\\\n\u{1b}\u{202e}\u{e9}\u{1f600}"),
            "\"a\\\"\\\\\\u000a\\u001b\\u202e\u{e9}\\ud83d\\ude00\""
        );
    }

    #[test]
    fn lines_refer_to_tests_by_index() {
        let text = written(&fixture::bundle(), 4, write);
        for part in [
            "{\"name\":\"bank.AccountTest#withdraws<0001>\",\"alone\":false}",
            "{\"nr\":5,\"mi\":0,\"ci\":3,\"mb\":0,\"cb\":0,\"tests\":[],\"outsideOfTests\":true}",
            "\"tests\":[0,1,2],\"outsideOfTests\":false}",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
