//! Copies of the pages, with links that lead out of `docs` to the repository.

use anyhow::{Context, Result};
use std::path::{Component, Path, PathBuf};

/// The first page of a folder on GitHub, and its name in the book.
const FIRST: (&str, &str) = ("README.md", "index.md");

/// Copies a folder of pages and other files.
pub fn copy(from: &Path, to: &Path, repository: &str) -> Result<()> {
    copy_below(from, Path::new(""), to, repository)
}

fn copy_below(root: &Path, below: &Path, to: &Path, repository: &str) -> Result<()> {
    let folder = root.join(below);
    let entries = std::fs::read_dir(&folder);
    for entry in entries.with_context(|| format!("failed to read {}", folder.display()))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            std::fs::create_dir_all(to.join(&name))?;
            copy_below(root, &name, to, repository)?;
        } else if name.extension().is_some_and(|it| it == "md") {
            let text = std::fs::read_to_string(entry.path())?;
            let page = with_links(&text, &|target| in_book(target, below, repository));
            std::fs::write(to.join(renamed(&name)), page)?;
        } else {
            std::fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}

fn renamed(page: &Path) -> PathBuf {
    match page == Path::new(FIRST.0) {
        true => PathBuf::from(FIRST.1),
        false => page.to_path_buf(),
    }
}

/// Returns a page with other targets of its links. Code blocks stay.
fn with_links(text: &str, target: &dyn Fn(&str) -> String) -> String {
    let mut page = String::with_capacity(text.len());
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence {
            page.push_str(line);
            continue;
        }
        let mut parts = line.split("](");
        page.push_str(parts.next().unwrap_or_default());
        for part in parts {
            page.push_str("](");
            match part.split_once(')') {
                Some((link, rest)) => {
                    page.push_str(&target(link));
                    page.push(')');
                    page.push_str(rest);
                }
                None => page.push_str(part),
            }
        }
    }
    page
}

/// Returns the target of a link of a page in the folder `below`, as it is in the book.
fn in_book(link: &str, below: &Path, repository: &str) -> String {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    if file.is_empty() || link.contains("://") || link.starts_with("mailto:") {
        return link.to_owned();
    }
    let anchor = match anchor {
        "" => String::new(),
        anchor => format!("#{anchor}"),
    };
    match normal(&Path::new("docs").join(below).join(file)).strip_prefix("docs") {
        Ok(page) if page == Path::new(FIRST.0) => {
            let start = file.strip_suffix(FIRST.0).unwrap_or_default();
            format!("{start}{}{anchor}", FIRST.1)
        }
        Ok(_) => link.to_owned(),
        Err(_) => {
            let path = normal(&Path::new("docs").join(below).join(file));
            format!("{repository}/blob/main/{}{anchor}", path.display())
        }
    }
}

/// Resolves `..` within a relative path.
fn normal(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            part => resolved.push(part),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_guide_lead_to_the_repository() {
        let of = |link: &str, below: &str| in_book(link, Path::new(below), "https://there");
        assert_eq!(
            of("../sdk/wit/plugin.wit", ""),
            "https://there/blob/main/sdk/wit/plugin.wit"
        );
        assert_eq!(
            of("../../examples/bank", "how-to"),
            "https://there/blob/main/examples/bank"
        );
        assert_eq!(
            of("../../README.md#try", "how-to"),
            "https://there/blob/main/README.md#try"
        );
        for same in ["trace.md#files", "#here", "https://a/b.md", "images/a.png"] {
            assert_eq!(of(same, ""), same);
        }
        assert_eq!(of("../coverage.md", "how-to"), "../coverage.md");
    }

    #[test]
    fn first_page_is_the_index() {
        let of = |link: &str, below: &str| in_book(link, Path::new(below), "");
        assert_eq!(of("README.md", ""), "index.md");
        assert_eq!(of("../README.md#a", "how-to"), "../index.md#a");
        assert_eq!(renamed(Path::new("README.md")), Path::new("index.md"));
    }

    #[test]
    fn links_in_code_stay() {
        let page = "[a](x.md), [b](x.md)\n```text\n[c](x.md)\n```\n[d](\n";
        let expected = "[a](y), [b](y)\n```text\n[c](x.md)\n```\n[d](\n";
        assert_eq!(with_links(page, &|_| "y".to_owned()), expected);
    }
}
