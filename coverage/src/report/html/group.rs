//! The first page of a group, with its modules.

use std::collections::HashSet;

use super::links::unique;
use super::page::{Crumb, Head, Page};
use super::rows::{self, Columns, Row};
use super::sessions;
use crate::report::Report;

/// Returns the folder of each module.
pub(super) fn folders(report: &Report<'_>) -> Vec<String> {
    let mut taken = HashSet::new();
    let modules = report.modules.iter();
    modules
        .map(|module| unique("mod-", &module.bundle.name, "", &mut taken))
        .collect()
}

/// Returns the page.
pub(super) fn index(report: &Report<'_>, folders: &[String]) -> String {
    let path = [Crumb::here(report.name)];
    let mut page = Page::new(Head::of(report), report.name, "", &path);
    page.not_reported(report.changed);
    sessions::incomplete(&mut page.body, report.incomplete());
    page.summary(&report.counters);
    page.filter("Filter modules, find classes", true);
    let rows = report
        .modules
        .iter()
        .zip(folders)
        .map(|(module, folder)| Row {
            name: module.bundle.name.clone(),
            link: Some(format!("{folder}/index.html")),
            note: None,
            title: None,
            counters: module.bundle.counters,
        });
    rows::write(
        &mut page.body,
        "Module",
        Columns::Packages,
        rows,
        &report.counters,
    );
    page.finish()
}
