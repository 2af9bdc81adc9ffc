//! The common parts of all pages: head, path, summary, filter, foot.

use std::fmt::Write as _;

use crate::filter::Counting;
use crate::model::{Counter, Counters};
use crate::report::changed::Changed;
use crate::report::table::percent;
use crate::report::{Report, append};

/// A step of the path above the title.
pub(super) struct Crumb {
    label: String,
    link: Option<String>,
}

impl Crumb {
    /// Creates a step with a link.
    pub(super) fn new(label: &str, link: &str) -> Self {
        Self {
            label: label.to_owned(),
            link: Some(link.to_owned()),
        }
    }

    /// Creates the step of the page itself.
    pub(super) fn here(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            link: None,
        }
    }
}

/// The names in the heads of all pages of a bundle.
#[derive(Clone, Copy)]
pub(super) struct Head<'a> {
    /// The report.
    pub(super) report: &'a str,
    /// The module, if the report is of a group.
    pub(super) module: Option<&'a str>,
    /// The changed lines that limit the report.
    pub(super) changed: Option<&'a Changed>,
    /// The code that the counters count.
    pub(super) counting: Counting,
}

impl<'a> Head<'a> {
    /// Returns the head of pages that belong to no single module.
    pub(super) fn of(report: &Report<'a>) -> Self {
        Self {
            report: report.name,
            module: None,
            changed: report.changed,
            counting: report.counting,
        }
    }

    /// Formats `Account.java – changed since origin/main – core – Shop – coverage`.
    fn title(&self, page: &str) -> String {
        let since = self.changed.map(since);
        let outer = [self.module, Some(self.report)].into_iter().flatten();
        let mut parts = vec![page];
        parts.extend(outer.filter(|name| *name != page));
        parts.push("coverage");
        parts.splice(1..1, since.as_deref());
        parts.join(" – ")
    }
}

/// Formats `changed since origin/main`.
fn since(changed: &Changed) -> String {
    format!("changed since {}", changed.range)
}

/// A page under construction.
pub(super) struct Page {
    /// The document so far.
    pub(super) body: String,
    root: &'static str,
    counting: Counting,
}

impl Page {
    /// Starts a page; `root` leads from it to the report's folder.
    pub(super) fn new(head: Head<'_>, page: &str, root: &'static str, path: &[Crumb]) -> Self {
        let mut body = String::with_capacity(16 << 10);
        let _ = write!(
            body,
            "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n\
             <meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
             <link rel=stylesheet href=\"{root}report.css\">\n<script src=\"{root}report.js\" data-root=\"{root}\"></script>\n\
             <header><nav aria-label=Path><ol>",
            text(&head.title(page))
        );
        let since = head.changed.map(since);
        let since = since.map(|since| format!(" <small>{}</small>", text(&since)));
        let since = since.unwrap_or_default();
        for crumb in path {
            let label = text(&crumb.label);
            let _ = match &crumb.link {
                Some(link) => write!(body, "<li><a href=\"{link}\">{label}</a>"),
                None => write!(body, "<li aria-current=page><h1>{label}{since}</h1>"),
            };
        }
        let _ = write!(
            body,
            "</ol></nav><div class=tools><a href=\"{root}sessions.html\">Sessions</a>\
             <button type=button id=theme hidden>Theme</button></div></header>\n<main>\n"
        );
        if let Some(changed) = head.changed {
            only_changed(&mut body, changed);
        }
        Self {
            body,
            root,
            counting: head.counting,
        }
    }

    /// Writes the notes about changed files that the report does not contain.
    pub(super) fn not_reported(&mut self, changed: Option<&Changed>) {
        let notes = changed.map_or(&[][..], |changed| &changed.notes);
        if notes.is_empty() {
            return;
        }
        self.body.push_str("<ul class=under>");
        for note in notes {
            let _ = write!(self.body, "<li>{}", text(note));
        }
        self.body.push_str("</ul>");
    }

    /// Writes the five main counters.
    pub(super) fn summary(&mut self, counters: &Counters) {
        self.body.push_str("<dl class=summary>");
        for (label, counter) in [
            ("Lines", counters.line),
            ("Branches", counters.branch),
            ("Instructions", counters.instruction),
            ("Methods", counters.method),
            ("Classes", counters.class),
        ] {
            card(&mut self.body, label, counter);
        }
        self.body.push_str("</dl>\n");
    }

    /// Writes the input that filters the table below it, and finds classes if `search`.
    pub(super) fn filter(&mut self, label: &str, search: bool) {
        let search = if search {
            format!(" data-search=\"{}classes.js\"", self.root)
        } else {
            String::new()
        };
        let _ = write!(
            self.body,
            "<div class=filter hidden><label for=filter>{label}</label><input type=search id=filter placeholder=\" \" \
             autocomplete=off spellcheck=false{search}><kbd>/</kbd><output for=filter aria-live=polite></output></div>\n\
             <div id=found></div>\n"
        );
    }

    /// Ends the page.
    pub(super) fn finish(mut self) -> String {
        let counters = match self.counting {
            Counting::Jacoco => "counters as in JaCoCo",
            Counting::Source => "counters of the source code",
        };
        let _ = write!(
            self.body,
            "</main>\n<footer>Classhook {} · {counters}</footer>\n",
            env!("CARGO_PKG_VERSION")
        );
        self.body
    }
}

fn card(body: &mut String, label: &str, counter: Counter) {
    let Some(percent) = percent(counter) else {
        let _ = write!(
            body,
            "<div><dt>{label}</dt><dd><b>–</b><small>none</small></dd></div>"
        );
        return;
    };
    let _ = write!(
        body,
        "<div><dt>{label}</dt><dd><b>{}<span>%</span></b>{}<small>{} of {}<span> covered</span></small></dd></div>",
        text(&percent),
        bar(counter),
        grouped(counter.covered),
        grouped(counter.total()),
    );
}

/// Returns a bar whose filled part is covered; the number always accompanies it.
fn bar(counter: Counter) -> String {
    match filled(counter) {
        Some(percent) => format!("<i class=\"bar w{percent}\"></i>"),
        None => "<i class=bar></i>".to_owned(),
    }
}

/// Returns the filled part of a bar in whole percent, which selects a class of the style sheet. A bar is full, or
/// empty, only if all items, or no items, are covered.
pub(super) fn filled(counter: Counter) -> Option<u64> {
    let (covered, total) = (u64::from(counter.covered), u64::from(counter.total()));
    let percent = (covered * 100).checked_div(total)?;
    (covered > 0).then_some(percent.max(1))
}

/// Returns the style sheet rules for the widths of bars. Jenkins's default policy forbids styles within pages.
pub(super) fn widths() -> String {
    let rule = |percent| format!(".w{percent} {{ --c: {percent}%; }}\n");
    (1..=100).map(rule).collect()
}

/// Writes the notice at the start of a report of changed lines.
fn only_changed(body: &mut String, changed: &Changed) {
    let range = text(&changed.range);
    let _ = write!(
        body,
        "<aside class=notice><p><strong>Only changed lines count here:</strong> the lines changed since \
         <code>{range}</code>, and their methods and classes.</aside>"
    );
}

/// Formats `1,234`.
pub(super) fn grouped(number: u32) -> String {
    let mut out = String::new();
    append::grouped(number, &mut out);
    out
}

/// Formats `1 class`, `2 classes`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!(
        "{} {noun}",
        grouped(u32::try_from(number).unwrap_or(u32::MAX))
    )
}

/// Escapes text for HTML, in content or a quoted attribute.
pub(super) fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    text_into(text, &mut escaped);
    escaped
}

/// Appends the result of [`text`]. Control characters, and marks that reverse the direction of text and so disguise
/// code, become U+FFFD.
pub(super) fn text_into(text: &str, out: &mut String) {
    append::escaped(text, out, |character, out| match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => out.push('\u{FFFD}'),
        other if other.is_control() && other != '\t' => out.push('\u{FFFD}'),
        other => out.push(other),
    });
}
