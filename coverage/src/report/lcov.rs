//! The tracefile of LCOV: one section per source file.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::decisions::Decisions;
use super::{Report, SourceLookup, path_of};
use crate::model::{Counter, LineCoverage, MethodCoverage, PackageCoverage, SourceFileCoverage};

/// Writes the report; files are named as the sources have them, those that they do not know
/// `package/File.java`, and what was executed counts as executed once where nothing was
/// counted. Classes that name no source file are left out.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut text = String::new();
    for (module, package) in report.packages() {
        for file in package
            .source_files
            .iter()
            .filter(|file| file.lines.of_source().next().is_some())
        {
            write_file(package, file, module.sources, &mut text).map_err(io::Error::other)?;
        }
    }
    out.write_all(text.as_bytes())
}

fn write_file(
    package: &PackageCoverage,
    file: &SourceFileCoverage,
    sources: &dyn SourceLookup,
    text: &mut String,
) -> std::fmt::Result {
    let path = path_of(sources, &file.package, &file.name);
    writeln!(text, "TN:\nSF:{}", one_line(&path))?;
    write_methods(package, file, text)?;
    let decisions = Decisions::of(package, file);
    for (number, line) in file.lines.of_source() {
        write_branches(number, line, &decisions, text)?;
    }
    let mut branch = Counter::EMPTY;
    let of_lines = file.lines.of_source().map(|(_, line)| line.branches);
    of_lines.for_each(|of_line| branch += of_line);
    if branch.total() > 0 {
        writeln!(text, "BRF:{}\nBRH:{}", branch.total(), branch.covered)?;
    }
    let lines: Vec<_> = file
        .lines
        .of_source()
        .filter(|(_, line)| line.instructions.total() > 0)
        .collect();
    let executed = |line: &LineCoverage| line.instructions.covered > 0;
    for (number, _) in &lines {
        writeln!(text, "DA:{number},{}", file.lines.executions(*number))?;
    }
    let hit = lines.iter().filter(|(_, line)| executed(line)).count();
    writeln!(text, "LF:{}\nLH:{hit}\nend_of_record", lines.len())
}

fn write_methods(
    package: &PackageCoverage,
    file: &SourceFileCoverage,
    text: &mut String,
) -> std::fmt::Result {
    let classes = package
        .classes
        .iter()
        .filter(|class| class.source_file.as_ref() == Some(&file.name));
    let methods: Vec<(u32, String, &MethodCoverage)> = classes
        .flat_map(|class| class.methods.iter().map(move |method| (class, method)))
        .filter_map(|(class, method)| {
            let name = format!("{}.{}{}", class.name, method.name, method.descriptor);
            Some((method.first_source_line()?, one_line(&name), method))
        })
        .collect();
    for (line, name, _) in &methods {
        writeln!(text, "FN:{line},{name}")?;
    }
    for (_, name, method) in &methods {
        writeln!(text, "FNDA:{},{name}", method.executions())?;
    }
    let hit = methods
        .iter()
        .filter(|(.., method)| method.counters.method.covered > 0)
        .count();
    writeln!(text, "FNF:{}\nFNH:{hit}", methods.len())
}

/// Each decision of the line is a block with its branches. Where only their number is known, as of lines that were
/// inlined, the first ones of one block are those that were taken.
fn write_branches(
    number: u32,
    line: &LineCoverage,
    decisions: &Decisions<'_>,
    text: &mut String,
) -> std::fmt::Result {
    let branches = line.branches;
    let mut write = |block: usize, branch: usize, taken: bool| {
        let taken = match (line.instructions.covered > 0, taken) {
            (false, _) => "-",
            (true, true) => "1",
            (true, false) => "0",
        };
        writeln!(text, "BRDA:{number},{block},{branch},{taken}")
    };
    let Some(blocks) = decisions.of_line(number, branches) else {
        let (total, covered) = (branches.total() as usize, branches.covered as usize);
        return (0..total).try_for_each(|branch| write(0, branch, branch < covered));
    };
    for (block, branches) in blocks.iter().enumerate() {
        for (number, branch) in branches.iter().enumerate() {
            write(block, number, branch.taken)?;
        }
    }
    Ok(())
}

/// Control characters would break the line-based format.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Branch, BundleBuilder, Outcome};
    use crate::report::{NoSources, fixture};

    /// The branches of a program whose one decision took these.
    fn branches(taken: &[bool]) -> Vec<String> {
        let hit = taken.iter().filter(|taken| **taken).count() as u32;
        let missed = taken.len() as u32 - hit;
        let mut method = fixture::method("f", "()V", &[(0, 2, missed, hit, 2)]);
        let branches = taken.iter().map(|taken| Branch {
            taken: *taken,
            outcome: Outcome::Unknown,
        });
        method.decide(2, branches);
        let mut builder = BundleBuilder::default();
        let class = fixture::class("S", Some("S.java"), vec![method]);
        builder.add(class).unwrap();
        let (bundle, mut bytes) = (builder.build("x"), Vec::new());
        write(&Report::of_bundle(&bundle, &NoSources, &[]), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("BRDA:"));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn branches_that_were_taken_are_told_from_others() {
        assert_eq!(branches(&[true, false]), ["2,0,0,1", "2,0,1,0"]);
        assert_eq!(branches(&[false, true]), ["2,0,0,0", "2,0,1,1"]);
        assert_eq!(
            branches(&[true, false, true]),
            ["2,0,0,1", "2,0,1,0", "2,0,2,1"]
        );
    }

    #[test]
    fn line_0_is_no_line_of_the_file() {
        let of_no_line = fixture::method("g", "()V", &[(1, 1, 1, 1, 0)]);
        let mut method = fixture::method("f", "()V", &[(0, 2, 1, 1, 0), (0, 1, 0, 2, 4)]);
        method.close();
        let mut builder = BundleBuilder::default();
        let class = fixture::class("S", Some("S.java"), vec![method, of_no_line]);
        builder.add(class).unwrap();
        let (bundle, mut bytes) = (builder.build("x"), Vec::new());
        write(&Report::of_bundle(&bundle, &NoSources, &[]), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let expected = "TN:\nSF:S.java\nFN:4,S.f()V\nFNDA:1,S.f()V\nFNF:1\nFNH:1\n\
                        BRDA:4,0,0,1\nBRDA:4,0,1,1\nBRF:2\nBRH:2\nDA:4,1\nLF:1\nLH:1\nend_of_record\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn report_of_a_small_program() {
        let mut bytes = Vec::new();
        let bundle = fixture::bundle();
        write(&Report::of_bundle(&bundle, &NoSources, &[]), &mut bytes).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }
}
