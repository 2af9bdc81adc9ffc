//! The tests that execute each line of a source file: a few beside the line, and all on a separate page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::page::{Crumb, Head, Page, count, text};
use crate::report::per_test::{FileTests, LineTests, PerTest};

/// Maximum number of tests named beside a line.
const SHOWN: usize = 10;

/// The tests of a source file.
pub(super) struct ExecutedBy<'a> {
    per_test: &'a PerTest<'a>,
    lines: Option<&'a FileTests>,
    /// The tests of lines with more tests than are shown, with their line numbers.
    long: BTreeMap<&'a LineTests, Vec<u32>>,
    /// The page that names all tests of these lines.
    page: String,
}

impl<'a> ExecutedBy<'a> {
    /// Prepares the tests of a file's lines; `source` is the page of the file.
    pub(super) fn new(
        per_test: &'a PerTest<'a>,
        lines: Option<&'a FileTests>,
        source: &str,
    ) -> Self {
        let mut long = BTreeMap::<&LineTests, Vec<u32>>::new();
        let all = lines.into_iter().flatten();
        for (number, tests) in all.filter(|(_, line)| line.tests.len() > SHOWN) {
            long.entry(tests).or_default().push(*number);
        }
        Self {
            per_test,
            lines,
            long,
            page: page_beside(source),
        }
    }

    /// Writes the tests beside a line.
    pub(super) fn write(&self, body: &mut String, line: u32) {
        let found = self.lines.and_then(|lines| lines.get(&line));
        let Some(tests) = found else {
            body.push_str("<span class=tests></span>");
            return;
        };
        if tests.tests.is_empty() {
            body.push_str("<span class=tests>no test</span>");
            return;
        }
        let number = count(tests.tests.len(), "test", "tests");
        let _ = write!(
            body,
            "<details class=tests><summary aria-label=\"Line {line}: {number}\">{number}</summary><ul>"
        );
        tests
            .tests
            .iter()
            .take(SHOWN)
            .for_each(|test| self.item(body, *test));
        let more = tests.tests.len().saturating_sub(SHOWN);
        if more > 0 {
            let more = count(more, "more", "more");
            let _ = write!(body, "<li><a href=\"{}#L{line}\">and {more}</a>", self.page);
        }
        outside(body, tests);
        body.push_str("</ul></details>");
    }

    /// Returns name and content of the page with all tests; `None` if each line has few.
    pub(super) fn all(&self, head: Head<'_>, file: &str, path: &[Crumb]) -> Option<(&str, String)> {
        if self.long.is_empty() {
            return None;
        }
        let title = format!("Tests of {file}");
        let mut page = Page::new(head, &title, "../../", path);
        for (tests, lines) in &self.long {
            self.section(&mut page.body, tests, lines);
        }
        Some((&self.page, page.finish()))
    }

    /// Writes the tests that executed all of these lines.
    fn section(&self, body: &mut String, tests: &LineTests, lines: &[u32]) {
        body.push_str("<section class=tests><h2>");
        body.push_str(if lines.len() == 1 { "Line" } else { "Lines" });
        for (place, line) in lines.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let _ = write!(body, "{comma} <span id=L{line}>{line}</span>");
        }
        let number = count(tests.tests.len(), "test", "tests");
        let _ = write!(body, ": {number}</h2><ul>");
        tests.tests.iter().for_each(|test| self.item(body, *test));
        outside(body, tests);
        body.push_str("</ul></section>\n");
    }

    fn item(&self, body: &mut String, number: u32) {
        let Some(test) = self.per_test.test(number) else {
            return;
        };
        let _ = write!(body, "<li>{}", text(&test.name));
        if test.is_together {
            body.push_str(" <small>or a test at the same time</small>");
        }
    }
}

fn outside(body: &mut String, tests: &LineTests) {
    if tests.is_outside {
        body.push_str("<li><small>and outside tests</small>");
    }
}

/// Returns `tests-Sum.java.html` for `src-Sum.java.html`.
fn page_beside(source: &str) -> String {
    format!("tests-{}", source.strip_prefix("src-").unwrap_or(source))
}
