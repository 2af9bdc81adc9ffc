//! The tracefile of LCOV: a section for each source file, or for each test and file.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::decisions::Decisions;
use super::per_test::{FileTests, PerTest};
use super::{Report, SourceLookup, path_of};
use crate::model::{
    BundleCoverage, Counter, LineCoverage, MethodCoverage, PackageCoverage, SourceFileCoverage,
};

/// Writes the report. Files have the names of the source lookup, unknown ones `package/File.java`. An executed line
/// counts as executed once, unless executions were counted. Classes without a source file are left out.
///
/// With tests, each test has a section for each file that it executed. Every file also has a section without a test
/// name, for the executions outside tests. The sum of all sections is the total coverage.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let Some(per_test) = report.per_test else {
        let all: Vec<_> = report.modules.iter().map(|module| module.bundle).collect();
        return write_section(report, &all, &Section::WHOLE, out);
    };
    let outside = per_test.tests.outside();
    let section = Section {
        test: "",
        outside_of: Some(per_test),
    };
    write_section(report, &outside.iter().collect::<Vec<_>>(), &section, out)?;
    for (number, test) in per_test.tests.tests().iter().enumerate() {
        let executed = per_test.tests.executed(number);
        let section = Section {
            test: &test_name(&test.name),
            outside_of: None,
        };
        write_section(report, &executed.iter().collect::<Vec<_>>(), &section, out)?;
    }
    Ok(())
}

/// The origin of a section's numbers.
struct Section<'a> {
    /// The name of the test, or empty.
    test: &'a str,
    /// The tests whose executions do not count here, if all were counted.
    outside_of: Option<&'a PerTest<'a>>,
}

impl Section<'_> {
    /// The section of all executions.
    const WHOLE: Section<'static> = Section {
        test: "",
        outside_of: None,
    };
}

/// Writes the files of these bundles, one bundle for each module of the report.
fn write_section(
    report: &Report<'_>,
    bundles: &[&BundleCoverage],
    section: &Section<'_>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let mut text = String::new();
    for (number, (bundle, module)) in bundles.iter().zip(&report.modules).enumerate() {
        for package in &bundle.packages {
            let files = package.source_files.iter();
            for file in files.filter(|file| file.lines.of_source().next().is_some()) {
                let executions = section.outside_of.map(|per_test| {
                    let tests = per_test.of_file(number, file);
                    Outside::new(module.bundle, file, tests)
                });
                let file = File {
                    package,
                    file,
                    test: section.test,
                    outside: executions,
                };
                file.write(module.sources, &mut text)
                    .map_err(io::Error::other)?;
                out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
    }
    Ok(())
}

/// Converts the name of a test to the letters, digits and underscores that LCOV allows: `com_acme_SumTest__adds`. If
/// two names could clash, a hash of the name follows.
fn test_name(name: &str) -> String {
    let (class, method) = name.split_once('#').unwrap_or((name, ""));
    let is_letter = |char: char| char.is_ascii_alphanumeric();
    let is_plain = class
        .split('.')
        .all(|part| !part.is_empty() && part.chars().all(is_letter))
        && method.chars().all(|char| is_letter(char) || char == '_')
        && !method.starts_with('_')
        && !name.ends_with('#');
    let letters = name.replacen('#', "__", 1);
    let letters = letters.replace(|char: char| !is_letter(char) && char != '_', "_");
    match is_plain {
        true => letters,
        false => format!("{letters}_{:08x}", fnv(name)),
    }
}

/// Computes the FNV-1a hash of a text.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// All executions of a file, from which those of tests are subtracted.
struct Outside<'a> {
    package: Option<&'a PackageCoverage>,
    file: Option<&'a SourceFileCoverage>,
    tests: Option<&'a FileTests>,
}

impl<'a> Outside<'a> {
    fn new(
        bundle: &'a BundleCoverage,
        file: &SourceFileCoverage,
        tests: Option<&'a FileTests>,
    ) -> Self {
        let mut packages = bundle.packages.iter();
        let package = packages.find(|found| found.name == file.package);
        let mut files = package.into_iter().flat_map(|found| &found.source_files);
        let is_it =
            |found: &&SourceFileCoverage| (&found.name, found.copy) == (&file.name, file.copy);
        Self {
            file: files.find(is_it),
            package,
            tests,
        }
    }

    /// Counts the tests that executed a line.
    fn tests(&self, line: u32) -> u64 {
        let line = self.tests.and_then(|tests| tests.get(&line));
        line.map_or(0, |line| line.tests.len() as u64)
    }

    fn of_line(&self, line: u32) -> u64 {
        let all = self.file.map_or(0, |file| file.lines.executions(line));
        all.saturating_sub(self.tests(line))
    }

    fn of_method(&self, class: &str, method: &MethodCoverage, line: u32) -> u64 {
        let mut classes = self
            .package
            .into_iter()
            .flat_map(|package| &package.classes);
        let class = classes.find(|found| found.name == class);
        let mut methods = class.into_iter().flat_map(|class| &class.methods);
        let is_it = |found: &&MethodCoverage| {
            (&found.name, &found.descriptor) == (&method.name, &method.descriptor)
        };
        let all = methods.find(is_it).map_or(0, MethodCoverage::executions);
        all.saturating_sub(self.tests(line))
    }
}

/// A source file in a section.
struct File<'a> {
    package: &'a PackageCoverage,
    file: &'a SourceFileCoverage,
    test: &'a str,
    outside: Option<Outside<'a>>,
}

impl File<'_> {
    fn write(&self, sources: &dyn SourceLookup, text: &mut String) -> std::fmt::Result {
        let (package, file) = (self.package, self.file);
        let path = path_of(sources, &file.package, (&file.name, file.copy));
        writeln!(text, "TN:{}\nSF:{}", self.test, one_line(&path))?;
        self.write_methods(text)?;
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
        let lines = file.lines.of_source();
        let lines: Vec<_> = lines
            .filter(|(_, line)| line.instructions.total() > 0)
            .map(|(number, _)| (number, self.executions(number)))
            .collect();
        for (number, times) in &lines {
            writeln!(text, "DA:{number},{times}")?;
        }
        let hit = lines.iter().filter(|(_, times)| *times > 0).count();
        writeln!(text, "LF:{}\nLH:{hit}\nend_of_record", lines.len())
    }

    /// Counts the executions of a line.
    fn executions(&self, line: u32) -> u64 {
        let outside = self.outside.as_ref();
        let outside = outside.map_or(0, |outside| outside.of_line(line));
        self.file.lines.executions(line).max(outside)
    }

    fn write_methods(&self, text: &mut String) -> std::fmt::Result {
        let classes = self.package.classes.iter();
        let classes = classes.filter(|class| self.file.holds(class));
        let methods: Vec<(u32, String, u64)> = classes
            .flat_map(|class| class.methods.iter().map(move |method| (class, method)))
            .filter_map(|(class, method)| {
                let name = format!("{}.{}{}", class.name, method.name, method.descriptor);
                let line = method.first_source_line()?;
                let outside = self.outside.as_ref();
                let outside =
                    outside.map_or(0, |outside| outside.of_method(&class.name, method, line));
                Some((line, one_line(&name), method.executions().max(outside)))
            })
            .collect();
        for (line, name, _) in &methods {
            writeln!(text, "FN:{line},{name}")?;
        }
        for (_, name, times) in &methods {
            writeln!(text, "FNDA:{times},{name}")?;
        }
        let hit = methods.iter().filter(|(.., times)| *times > 0).count();
        writeln!(text, "FNF:{}\nFNH:{hit}", methods.len())
    }
}

/// Writes a block for each decision of the line. If only the number of branches is known, as for inlined lines, the
/// taken ones come first in a single block.
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

/// Replaces control characters, which would break the line-based format.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Branch, BundleBuilder, Outcome};
    use crate::report::per_test::tests::written;
    use crate::report::{NoSources, fixture};

    /// Returns the branches of a program with one decision; the flags mark the taken ones.
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
    fn taken_branches_are_marked() {
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

    #[test]
    fn each_test_has_a_section_and_the_sum_is_the_total_coverage() {
        let text = written(&fixture::bundle(), 5, write);
        let sections: Vec<&str> = text.split_inclusive("end_of_record\n").collect();
        assert_eq!(sections.len(), 6, "{text}");
        for (section, parts) in [
            (0, ["TN:\n", "DA:5,1\n", "DA:9,0\n", "DA:16,0\n"]),
            (
                1,
                [
                    "TN:bank_AccountTest__withdraws_0000__",
                    "DA:5,0\n",
                    "DA:9,1\n",
                    "DA:12,1\n",
                ],
            ),
            (
                5,
                [
                    "TN:bank_AccountTest__withdraws_0004__",
                    "DA:5,0\n",
                    "DA:9,1\n",
                    "DA:12,0\n",
                ],
            ),
        ] {
            let section = sections[section];
            for part in parts {
                assert!(section.contains(part), "{part}: {section}");
            }
        }
        assert!(
            sections[1].contains("FNDA:1,bank/Account.withdraw(J)Z\n"),
            "{text}"
        );
        assert!(
            sections[0].contains("FNDA:0,bank/Account.withdraw(J)Z\n"),
            "{text}"
        );
    }

    #[test]
    fn counted_executions_are_the_sum_of_all_sections() {
        let mut class = fixture::class(
            "bank/Account",
            Some("Account.java"),
            vec![fixture::method(
                "withdraw",
                "(J)Z",
                &[(0, 4, 1, 1, 9), (0, 5, 0, 2, 12)],
            )],
        );
        class.count("withdraw", "(J)Z", 9, 12);
        class.count_entries("withdraw", "(J)Z", 12);
        let mut builder = BundleBuilder::default();
        builder.add(class).unwrap();
        let text = written(&builder.build("x"), 5, write);
        let sum = |record: &str| -> u64 {
            let lines = text.lines().filter(|line| line.starts_with(record));
            let number = |line: &str| -> u64 {
                let number = line.split([':', ',']).find_map(|part| part.parse().ok());
                match record.starts_with("DA") {
                    true => line.rsplit(',').next().unwrap().parse().unwrap(),
                    false => number.unwrap(),
                }
            };
            lines.map(number).sum()
        };
        assert_eq!(sum("DA:9,"), 12, "{text}");
        assert_eq!(sum("DA:12,"), 3, "{text}");
        assert!(
            text.contains("FNDA:7,bank/Account.withdraw(J)Z\n"),
            "{text}"
        );
    }

    #[test]
    fn test_names_are_valid_in_lcov_and_unique() {
        assert_eq!(
            test_name("com.acme.SumTest#adds_two"),
            "com_acme_SumTest__adds_two"
        );
        assert_eq!(test_name("com.acme.SumTest"), "com_acme_SumTest");
        let names = [
            "com.acme.SumTest#adds",
            "com.acme.SumTest__adds",
            "com.acme.Sum$Test#adds",
            "com.acme.Sum_Test#adds",
            "com.acme.SumTest#_adds",
            "com.acme.SumTest#",
            "GET /a?b=1",
            "GET /a?b-1",
            "\u{1f600}",
        ];
        let mut known: Vec<String> = names.iter().map(|name| test_name(name)).collect();
        for name in &known {
            assert!(
                name.chars()
                    .all(|char| char.is_ascii_alphanumeric() || char == '_'),
                "{name}"
            );
        }
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), names.len());
    }
}
