//! The report as JSON, for programs: every counter of everything, and the lines.
//!
//! The format is described in `docs/coverage.md`; [`VERSION`] grows when something in it changes its meaning or goes.

use std::io::{self, Write};

use super::{Session, SourceLookup};
use crate::model::{BundleCoverage, ClassCoverage, CounterKind, Counters, MethodCoverage};
use crate::model::{PackageCoverage, SourceFileCoverage};
use jvms::names::binary;

/// The version of the format.
pub const VERSION: u32 = 1;

/// What the report is about, besides what was counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// The runs.
    pub sessions: &'a [Session],
    /// The range of revisions whose changed lines the report is about, if it is.
    pub diff: Option<&'a str>,
}

/// Writes the report; source files have the paths that `sources` knows.
///
/// # Errors
/// `out` cannot be written.
pub fn write(
    bundle: &BundleCoverage,
    about: About<'_>,
    sources: &dyn SourceLookup,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    let diff = about.diff.map_or("null".to_owned(), quoted);
    write!(
        out,
        "{{\"format\":\"classhook-coverage\",\"version\":{VERSION},\"name\":{},\"diff\":{diff},\n\"sessions\":[",
        quoted(&bundle.name)
    )?;
    list(&mut out, Session::sorted(about.sessions), |out, session| {
        let incomplete = session
            .incomplete
            .as_deref()
            .map_or("null".to_owned(), quoted);
        write!(
            out,
            "{{\"id\":{},\"start\":{},\"dump\":{},\"incomplete\":{incomplete}}}",
            quoted(&session.id),
            session.start_ms,
            session.dump_ms
        )
    })?;
    write!(
        out,
        "],\n\"counters\":{},\n\"packages\":[",
        counters(&bundle.counters)
    )?;
    list(&mut out, &bundle.packages, |out, package| {
        write_package(out, package, sources)
    })?;
    out.write_all(b"]}\n")?;
    out.flush()
}

fn write_package(
    out: &mut dyn Write,
    package: &PackageCoverage,
    sources: &dyn SourceLookup,
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
        write_file(out, file, sources)
    })?;
    out.write_all(b"]}")
}

fn write_class(out: &mut dyn Write, class: &ClassCoverage) -> io::Result<()> {
    let file = class
        .source_file
        .as_deref()
        .map_or("null".to_owned(), quoted);
    write!(
        out,
        "\n{{\"name\":{},\"id\":\"{:016x}\",\"sourceFile\":{file},\"otherVersionRan\":{},\"counters\":{},\"methods\":[",
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
) -> io::Result<()> {
    let path = sources.path(&file.package, &file.name);
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
            "{{\"nr\":{number},\"mi\":{},\"ci\":{},\"mb\":{},\"cb\":{}}}",
            instructions.missed, instructions.covered, branches.missed, branches.covered
        )
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

/// All six, also those of nothing.
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

/// A string of JSON, in ASCII but for letters.
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
    use crate::report::{NoSources, fixture};

    #[test]
    fn report_of_a_small_program() {
        let sessions = fixture::sessions();
        let about = About {
            sessions: &sessions,
            diff: Some("origin/main"),
        };
        let mut bytes = Vec::new();
        write(&fixture::bundle(), about, &NoSources, &mut bytes).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn texts_cannot_break_the_document() {
        assert_eq!(
            quoted("a\"\\\n\u{1b}\u{202e}\u{e9}\u{1f600}"),
            "\"a\\\"\\\\\\u000a\\u001b\\u202e\u{e9}\\ud83d\\ude00\""
        );
    }
}
