//! Links within a built book.

use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The ids of each page, by its path.
type Ids = BTreeMap<PathBuf, BTreeSet<String>>;

/// Returns a line for each link to a missing file or anchor.
pub fn broken_links(book: &Path) -> Result<Vec<String>> {
    let book = &book.canonicalize()?;
    let mut pages = BTreeMap::new();
    read_pages(book, &mut pages)?;
    let ids: Ids = pages
        .iter()
        .map(|(path, text)| {
            let ids = values(text, "id").map(str::to_owned);
            (path.clone(), ids.collect())
        })
        .collect();
    let mut broken = Vec::new();
    for (path, text) in &pages {
        let links: BTreeSet<&str> = values(text, "href").chain(values(text, "src")).collect();
        let shown = path.strip_prefix(book).unwrap_or(path).display();
        let wrong = links
            .iter()
            .filter(|link| !leads_somewhere(path, link, &ids));
        broken.extend(wrong.map(|link| format!("{shown}: {link} leads nowhere")));
    }
    Ok(broken)
}

fn read_pages(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    let entries = std::fs::read_dir(folder);
    for entry in entries.with_context(|| format!("failed to read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            read_pages(&path, pages)?;
        } else if path.extension().is_some_and(|it| it == "html") && !is_for_servers(&path) {
            let text = std::fs::read_to_string(&path)?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

/// Checks for the page for missing addresses, whose links begin at a server's root.
fn is_for_servers(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "404.html")
}

/// Returns the values of an attribute.
fn values<'t>(text: &'t str, attribute: &str) -> impl Iterator<Item = &'t str> {
    let start = format!(" {attribute}=\"");
    let parts: Vec<&str> = text.split(start.as_str()).skip(1).collect();
    parts.into_iter().filter_map(|part| part.split('"').next())
}

fn leads_somewhere(page: &Path, link: &str, ids: &Ids) -> bool {
    let is_elsewhere = link.contains(':') || link.is_empty() || link.starts_with('/');
    if is_elsewhere {
        return true;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let file = file.split('?').next().unwrap_or_default();
    let target = match file {
        "" => page.to_path_buf(),
        file => page.with_file_name("").join(file),
    };
    let Ok(target) = target.canonicalize() else {
        return false;
    };
    anchor.is_empty() || ids.get(&target).is_none_or(|ids| ids.contains(anchor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_and_anchors_are_found() {
        let book = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = book.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write("a.png", "");
        write(
            "index.html",
            "<a id=\"top\" href=\"in/b.html#here\"> <img src=\"a.png\">",
        );
        write(
            "in/b.html",
            "<h2 id=\"here\"> <a href=\"../index.html#top\"> <a href=\"#gone\"> <a href=\"c.html\"> <a href=\"https://x/y\">",
        );
        let broken = broken_links(book.path()).expect("readable");
        assert_eq!(
            broken,
            [
                "in/b.html: #gone leads nowhere",
                "in/b.html: c.html leads nowhere"
            ]
        );
    }
}
