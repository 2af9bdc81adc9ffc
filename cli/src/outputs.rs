//! Writes reports to disk: each appears whole or not at all.

use std::path::{Path, PathBuf};

use coverage::report::{self, ExecutionData, Report};
use errors::{Error, codes};
use local_files::atomic;
use local_files::distinct_outputs::{self, both, real_path};
use local_files::output_files::{Content, Files};
use local_files::preflight;
use local_files::stdout::is_stdout;

use crate::args::Outputs;

/// Checks whether a file is directly in the folder of an HTML report, as JaCoCo's XML is, under a
/// name of no page.
fn is_beside_pages(file: &Path, folder: &Path) -> bool {
    let extension = file.extension();
    file.parent() == Some(folder)
        && extension.is_some_and(|found| ["html", "css", "js"].iter().all(|own| found != *own))
}

impl Outputs {
    /// Checks whether any report is requested.
    #[must_use]
    pub fn any(&self) -> bool {
        self.html.is_some() || self.files().iter().any(|(_, path)| path.is_some())
    }

    /// Returns the requested files with their options.
    fn files(&self) -> [(&'static str, &Option<PathBuf>); 9] {
        [
            ("--xml", &self.xml),
            ("--csv", &self.csv),
            ("--lcov", &self.lcov),
            ("--cobertura", &self.cobertura),
            ("--sonar", &self.sonar),
            ("--json", &self.json),
            ("--badge", &self.badge),
            ("--markdown", &self.markdown),
            ("--exec", &self.exec),
        ]
    }

    /// Checks whether a report goes to standard output.
    #[must_use]
    pub fn takes_stdout(&self) -> bool {
        let mut files = self.files().into_iter();
        files.any(|(_, path)| path.as_deref().is_some_and(is_stdout))
    }

    /// Refuses two reports in one file or on standard output, a file that may be one of the HTML
    /// report's, and a folder that may not be replaced. `others` are further output files.
    ///
    /// # Errors
    /// `H0670` with both options, `H0689` for an output in place of an input, and as
    /// [`atomic::is_replaceable`].
    pub fn check(&self, others: &[(&'static str, &Option<PathBuf>)]) -> Result<(), Error> {
        let files = self.files();
        let all = files.iter().chain(others);
        let known = distinct_outputs::check(all.map(|(option, path)| (*option, *path)))?;
        let Some(folder) = &self.html else {
            return Ok(());
        };
        let real = real_path(folder)?;
        let mut within = known.iter().filter(|(_, file)| file.starts_with(&real));
        match within.find(|(_, file)| !is_beside_pages(file, &real)) {
            Some((option, file)) => Err(both(option, "--html", file)),
            None => atomic::is_replaceable(&real).map(drop),
        }
    }

    /// Refuses `--per-test` without a report that names tests. `is_html_written` is true for
    /// commands that write HTML by default.
    ///
    /// # Errors
    /// `H0606`.
    pub fn check_per_test(&self, is_html_written: bool) -> Result<(), Error> {
        let has_room = self.html.is_some() || self.lcov.is_some() || self.json.is_some();
        if !self.per_test || has_room || is_html_written && !self.any() {
            return Ok(());
        }
        let problem = Error::mistake(codes::H0606, "--per-test needs a report that names tests");
        Err(problem.with("expected", "--html, --lcov or --json"))
    }

    /// Checks before a program runs whether the reports can be written.
    ///
    /// # Errors
    /// `H0620`.
    pub fn check_writable(&self) -> Result<(), Error> {
        self.html.as_deref().map_or(Ok(()), preflight::folder)?;
        preflight::files(self.files().map(|(_, path)| path))
    }

    /// Returns the report's title.
    #[must_use]
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or("Code coverage")
    }

    /// Writes each report that has an option, and `exec` as execution data.
    #[must_use]
    pub fn write(&self, report: &Report<'_>, exec: &[ExecutionData]) -> Files {
        let mut made = Files::default();
        // HTML is first: it replaces a whole folder, which may hold the other files.
        if let Some(folder) = &self.html {
            made.folder(folder, "index.html", &|folder| {
                report::html::write(report, folder)
            });
        }
        let files: [(&Option<PathBuf>, Content<'_>); 9] = [
            (&self.exec, &|out| {
                report::exec::write(out, report.sessions, exec)
            }),
            (&self.xml, &|out| report::xml::write(report, out)),
            (&self.csv, &|out| report::csv::write(report, out)),
            (&self.lcov, &|out| report::lcov::write(report, out)),
            (&self.cobertura, &|out| {
                report::cobertura::write(report, out)
            }),
            (&self.sonar, &|out| report::sonar::write(report, out)),
            (&self.json, &|out| report::json::write(report, out)),
            (&self.badge, &|out| report::badge::write(report, out)),
            (&self.markdown, &|out| match report.changed {
                Some(changed) => report::markdown::write_changed(report, changed, out),
                None => report::markdown::write(report, out),
            }),
        ];
        for (path, content) in files {
            if let Some(path) = path {
                made.file(path, content);
            }
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_files::distinct_outputs::MATERIAL;

    #[test]
    fn two_reports_in_one_file_are_refused() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", root.path().join("b")).unwrap();
        let path = |name: &str| Some(root.path().join(name));
        let outputs = |xml, csv, html| Outputs {
            xml: path(xml),
            csv: path(csv),
            html: path(html),
            ..Outputs::default()
        };
        assert!(outputs("a/x", "a/y", "a/html").check(&[]).is_ok());
        assert!(outputs("html/x.xml", "y", "html").check(&[]).is_ok());
        for (outputs, options) in [
            (outputs("x", "x", "html"), "--xml and --csv"),
            (outputs("a/x", "b/x", "html"), "--xml and --csv"),
            (outputs("x", "html", "html"), "--csv and --html"),
            (outputs("x", "html/index.html", "html"), "--csv and --html"),
            (outputs("x", "html/pkg/c.csv", "html"), "--csv and --html"),
        ] {
            let error = outputs.check(&[]).unwrap_err();
            assert_eq!(error.exit(), 2);
            assert!(error.to_string().contains(options), "{error}");
        }
        let folded = path("x");
        let error = outputs("x", "y", "z")
            .check(&[("--folded", &folded)])
            .unwrap_err();
        assert!(error.to_string().contains("--xml and --folded"), "{error}");
    }

    #[test]
    fn report_does_not_replace_its_inputs() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        let outputs = Outputs {
            xml: Some(file.clone()),
            ..Outputs::default()
        };
        std::fs::write(&file, "<report/>").unwrap();
        assert!(outputs.check(&[]).is_ok(), "an earlier report");
        for begin in MATERIAL {
            std::fs::write(&file, begin).unwrap();
            let error = outputs.check(&[]).unwrap_err().to_string();
            assert!(error.contains("--xml would replace"), "{error}");
        }
    }
}
