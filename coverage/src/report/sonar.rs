//! SonarQube's generic coverage report, version 1: lines and branches of each source file.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::markup::{escape, incomplete};
use super::{Report, SourceLookup, path_of};
use crate::model::SourceFileCoverage;

/// Writes the report. Files have the names of the source lookup, unknown ones `package/File.java`. Classes without a
/// source file are left out.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut text = String::from("<coverage version=\"1\">\n");
    for sentence in report.incomplete() {
        writeln!(text, "  <!-- {} -->", incomplete(sentence)).map_err(io::Error::other)?;
    }
    for (module, package) in report.packages() {
        let files = package.source_files.iter();
        for file in files.filter(|file| file.lines.of_source().next().is_some()) {
            write_file(file, module.sources, &mut text).map_err(io::Error::other)?;
        }
    }
    text.push_str("</coverage>\n");
    out.write_all(text.as_bytes())
}

fn write_file(
    file: &SourceFileCoverage,
    sources: &dyn SourceLookup,
    text: &mut String,
) -> std::fmt::Result {
    let path = path_of(sources, &file.package, (&file.name, file.copy));
    writeln!(text, "  <file path=\"{}\">", escape(&path))?;
    for (number, line) in file.lines.of_source() {
        let covered = line.instructions.covered > 0;
        write!(
            text,
            "    <lineToCover lineNumber=\"{number}\" covered=\"{covered}\""
        )?;
        let branches = line.branches;
        if branches.total() > 0 {
            write!(
                text,
                " branchesToCover=\"{}\" coveredBranches=\"{}\"",
                branches.total(),
                branches.covered
            )?;
        }
        text.push_str("/>\n");
    }
    writeln!(text, "  </file>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{NoSources, fixture};

    #[test]
    fn report_of_a_small_program() {
        let mut bytes = Vec::new();
        let bundle = fixture::bundle();
        write(&Report::of_bundle(&bundle, &NoSources, &[]), &mut bytes).unwrap();
        let expected = r#"<coverage version="1">
  <file path="bank/Account.java">
    <lineToCover lineNumber="5" covered="true"/>
    <lineToCover lineNumber="6" covered="true"/>
    <lineToCover lineNumber="9" covered="true" branchesToCover="2" coveredBranches="1"/>
    <lineToCover lineNumber="10" covered="false"/>
    <lineToCover lineNumber="12" covered="true" branchesToCover="2" coveredBranches="2"/>
    <lineToCover lineNumber="16" covered="false" branchesToCover="4" coveredBranches="0"/>
    <lineToCover lineNumber="17" covered="false"/>
  </file>
</coverage>
"#;
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn line_0_is_no_line_of_the_file() {
        let lines = [(1, 0, 0, 0, 0), (0, 2, 0, 0, 3)];
        let method = fixture::method("run", "()V", &lines);
        let mut builder = crate::model::BundleBuilder::default();
        let class = fixture::class("A", Some("A.java"), vec![method]);
        builder.add(class).unwrap();
        let (bundle, mut bytes) = (builder.build("x"), Vec::new());
        write(&Report::of_bundle(&bundle, &NoSources, &[]), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.contains("lineNumber=\"3\"") && !text.contains("lineNumber=\"0\""),
            "{text}"
        );
    }

    #[test]
    fn names_cannot_break_the_document() {
        let mut bundle = fixture::bundle();
        bundle.packages[1].source_files[0].name = "\"<&>.java".into();
        let mut bytes = Vec::new();
        write(&Report::of_bundle(&bundle, &NoSources, &[]), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.contains(r#"path="bank/&quot;&lt;&amp;&gt;.java""#),
            "{text}"
        );
    }
}
