//! The lines of a source file.

use std::fmt::Write as _;

use super::executed_by::ExecutedBy;
use super::highlight::Highlighter;
use super::page::text;
use crate::model::{Counter, LineCoverage, Lines, PackageCoverage, SourceFileCoverage, Status};
use crate::report::append::push_all;
use crate::report::decisions::Decisions;

/// Writes the lines, with their text if it is available.
pub(super) fn write(
    body: &mut String,
    package: &PackageCoverage,
    file: &SourceFileCoverage,
    source: Option<&str>,
    tests: Option<&ExecutedBy<'_>>,
) {
    let decisions = Decisions::of(package, file);
    match source {
        Some(source) => with_text(body, file, &decisions, source, tests),
        None => without_text(body, package, file, &decisions, tests),
    }
}

/// Checks for lines that [`write()`] shows.
pub(super) fn has_lines(file: &SourceFileCoverage, source: Option<&str>) -> bool {
    source.is_some() || !file.lines.is_empty()
}

fn with_text(
    body: &mut String,
    file: &SourceFileCoverage,
    decisions: &Decisions<'_>,
    source: &str,
    tests: Option<&ExecutedBy<'_>>,
) {
    let length = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
    if let Some(last) = file.lines.last().filter(|&last| last > length) {
        let _ = write!(
            body,
            "<aside class=notice><p><strong>This source does not match the class file:</strong> it has {length} lines, but there is coverage for line {last}. Use the sources of the version that ran.</aside>"
        );
    }
    legend(body);
    body.push_str("<pre id=code class=source translate=no>");
    let mut highlighter = Highlighter::for_file(&file.name);
    for (number, line) in (1..).zip(source.lines()) {
        let coverage = file
            .lines
            .line(number)
            .filter(|line| line.status() != Status::Empty);
        let branches = coverage.and_then(|line| branches(number, line.branches, decisions));
        gutter(body, number, coverage, branches, times(&file.lines, number));
        if let Some(tests) = tests {
            tests.write(body, number);
        }
        body.push_str("<code>");
        highlighter.line(line, body);
        body.push_str("</code></div>");
    }
    body.push_str("</pre>\n");
}

fn legend(body: &mut String) {
    body.push_str(
        "<p class=legend><span class=f>covered</span><span class=p>partly covered</span><span class=n>missed</span>\
         <span class=keys hidden><kbd>n</kbd> <kbd>p</kbd> next and previous gap</span>",
    );
}

/// Writes the line's number and its branches.
fn gutter(
    body: &mut String,
    number: u32,
    coverage: Option<&LineCoverage>,
    branches: Option<(&'static str, String)>,
    times: Option<String>,
) {
    let Some(line) = coverage else {
        let _ = write!(
            body,
            "<div id=L{number}><a href=#L{number}>{number}</a><i></i>"
        );
        return;
    };
    let class = status(line);
    let _ = write!(
        body,
        "<div id=L{number} class={class}><a href=#L{number}{}>{number}</a>",
        times.map_or_else(String::new, |times| format!(" title=\"{times}\""))
    );
    match branches {
        Some((class, words)) => {
            let words = text(&words);
            let _ = write!(
                body,
                "<i class={class} tabindex=0 role=img aria-label=\"{words}\" data-tip=\"{words}\">◆</i>"
            );
        }
        None => body.push_str("<i></i>"),
    }
}

/// Returns the number of executions of a line, if it was counted.
fn times(lines: &Lines, number: u32) -> Option<String> {
    lines.begun(number)?;
    Some(match lines.executions(number) {
        0 => "not executed".to_owned(),
        1 => "executed once".to_owned(),
        times => format!("executed {times} times"),
    })
}

/// Returns the mark of a line, which the legend explains; the script adds a tooltip.
fn status(line: &LineCoverage) -> &'static str {
    match line.status() {
        Status::FullyCovered => "f",
        Status::PartlyCovered => "p",
        Status::NotCovered | Status::Empty => "n",
    }
}

/// Writes mark and description of a line's branches; the description names those that were never taken.
fn branches(
    number: u32,
    counter: Counter,
    decisions: &Decisions<'_>,
) -> Option<(&'static str, String)> {
    let (missed, total) = (counter.missed, counter.total());
    Some(match counter.status() {
        Status::Empty => return None,
        Status::NotCovered => ("n", format!("all {total} branches missed")),
        Status::FullyCovered => ("f", format!("all {total} branches covered")),
        Status::PartlyCovered => {
            let words = format!("{missed} of {total} branches missed");
            let never_taken = decisions.never_taken(number, counter);
            let which = never_taken.map_or_else(String::new, |which| format!(": {which}"));
            ("p", words + &which)
        }
    })
}

fn without_text(
    body: &mut String,
    package: &PackageCoverage,
    file: &SourceFileCoverage,
    decisions: &Decisions<'_>,
    tests: Option<&ExecutedBy<'_>>,
) {
    let path = if package.name.is_empty() {
        file.name.clone()
    } else {
        format!("{}/{}", package.name, file.name)
    };
    let _ = write!(
        body,
        "<aside class=notice><p><strong>The source text is missing.</strong> Name the folder that contains <code>{}</code> with <code>--sources FOLDER</code> to see its lines.</aside>",
        text(&path)
    );
    if file.lines.is_empty() {
        body.push_str("<p class=under>The class files have no line numbers either.");
        return;
    }
    legend(body);
    body.push_str("<ol id=code class=lines>");
    let mut digits = itoa::Buffer::new();
    for (number, line) in file.lines.iter() {
        let class = status(line);
        let digits = digits.format(number);
        push_all(
            body,
            ["<li id=L", digits, " class=", class, "><a href=#L", digits],
        );
        let (branches, times) = (
            branches(number, line.branches, decisions),
            times(&file.lines, number),
        );
        let mark = branches.as_ref().map_or("", |_| "◆");
        let words = branches.map(|(_, words)| words).into_iter().chain(times);
        if let Some(words) = words.reduce(|words, more| format!("{words}; {more}")) {
            push_all(body, [" title=\"", &text(&words), "\""]);
        }
        push_all(body, [">", digits, mark, "</a>"]);
        if let Some(tests) = tests {
            tests.write(body, number);
        }
    }
    body.push_str("</ol>\n");
}
