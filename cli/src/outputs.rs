//! Writes reports to disk: each appears whole or not at all.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use coverage::report::{self, ExecutionData, Report};
use errors::Error;
use local_files::absolute_path::absolute;
use local_files::atomic;
use local_files::output_files::{Content, Files};
use local_files::preflight;
use local_files::stdout::is_stdout;

use crate::args::Outputs;

/// Returns a path without links, also for a file that does not exist yet, so that equal files have
/// equal paths.
fn real_path(path: &Path) -> Result<PathBuf, Error> {
    let path = absolute(path)?;
    let there = path
        .ancestors()
        .find_map(|part| Some((part, part.canonicalize().ok()?)));
    Ok(match there {
        Some((part, real)) => match path.strip_prefix(part) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => path,
        },
        None => path,
    })
}

fn both(one: &str, other: &str, path: &Path) -> Error {
    let message = match is_stdout(path) {
        true => format!("{one} and {other} would both write to standard output"),
        false => format!("{one} and {other} would both write {}", path.display()),
    };
    Error::mistake("H0670", message).with("help", "name a different file for one output")
}

/// Checks whether a file is directly in the folder of an HTML report, as JaCoCo's XML is, under a
/// name of no page.
fn is_beside_pages(file: &Path, folder: &Path) -> bool {
    let extension = file.extension();
    file.parent() == Some(folder)
        && extension.is_some_and(|found| ["html", "css", "js"].iter().all(|own| found != *own))
}

/// Magic bytes of the inputs of reports: snapshots, event files, class files, jars.
const MATERIAL: [&[u8]; 4] = [
    &probes::format::MAGIC,
    &probes::events::MAGIC,
    b"\xCA\xFE\xBA\xBE",
    b"PK\x03\x04",
];

/// Returns the first bytes of a file, or nothing for a missing or unreadable one. Writing reports
/// the cause.
fn begin_of(path: &Path) -> Option<Vec<u8>> {
    let mut begin = Vec::new();
    let file = path.is_file().then(|| File::open(path).ok())??;
    file.take(8).read_to_end(&mut begin).ok()?;
    Some(begin)
}

/// Refuses to replace an input of reports by a report.
fn check_is_no_material(option: &str, path: &Path) -> Result<(), Error> {
    let begin = begin_of(path).unwrap_or_default();
    if !MATERIAL.iter().any(|magic| begin.starts_with(magic)) {
        return Ok(());
    }
    let message = format!("{option} would replace {}", path.display());
    Err(Error::mistake("H0689", message)
        .with(
            "found",
            "an input of reports: a run file, a class file or a jar",
        )
        .with("help", "name another file"))
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
        let mut known: Vec<(&str, PathBuf)> = Vec::new();
        for (option, path) in self.files().iter().chain(others) {
            let Some(path) = path else { continue };
            let real = real_path(path)?;
            if let Some((other, _)) = known.iter().find(|(_, known)| *known == real) {
                return Err(both(other, option, path));
            }
            check_is_no_material(option, &real)?;
            known.push((option, real));
        }
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
        let problem = Error::mistake("H0606", "--per-test needs a report that names tests");
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
