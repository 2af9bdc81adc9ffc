//! `cargo xtask docs`: the documentation of all crates, with a page that leads to them.

use crate::metadata::{self, Package};
use crate::workspace::{Workspace, say, step, write_atomically};
use anyhow::Result;
use std::fmt::Write;

/// Builds the documentation and its first page, `target/doc/index.html`. A warning is an error.
pub fn run(workspace: &Workspace) -> Result<()> {
    let mut command = workspace.cargo(["doc", "--workspace", "--no-deps", "--release", "--quiet"]);
    step(
        "documentation",
        command.env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    let page = workspace.target("doc/index.html");
    let packages = metadata::packages(workspace)?;
    write_atomically(&page, index(&packages).as_bytes())?;
    say(format!("documentation: open {}", page.display()));
    Ok(())
}

/// The first page: a table of the crates for users, and one of the others.
fn index(packages: &[Package]) -> String {
    let documented = packages.iter().filter(|package| package.plugin.is_none());
    let (public, internal): (Vec<_>, Vec<_>) =
        documented.partition(|package| package.is_published());
    let mut page = "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Classhook: crates</title>\n\
        <style>body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em } \
        td { padding: .2em 2em .2em 0; vertical-align: top }</style>\n<h1>Classhook</h1>\n"
        .to_owned();
    table(
        "For plugins: the SDK, its test kit and their parts",
        &public,
        &mut page,
    );
    table("For contributors", &internal, &mut page);
    page
}

/// Appends the crates under a heading, each with a link to its documentation.
fn table(heading: &str, packages: &[&Package], page: &mut String) {
    let _ = writeln!(page, "<h2>{heading}</h2>\n<table>");
    for package in packages {
        let Some(target) = package.targets.iter().find(|target| target.is_product()) else {
            continue;
        };
        let folder = target.name.replace('-', "_");
        let description = escaped(package.description.as_deref().unwrap_or_default());
        let _ = writeln!(
            page,
            "<tr><td><a href=\"{folder}/index.html\">{}</a><td>{description}",
            package.name
        );
    }
    page.push_str("</table>\n");
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Target;

    fn package(name: &str, kind: &str, description: &str) -> Package {
        Package {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            publish: (!name.starts_with("classhook-")).then(Vec::new),
            targets: vec![Target {
                name: name.to_owned(),
                kind: vec![kind.to_owned()],
                src_path: "src/lib.rs".into(),
            }],
            ..Package::default()
        }
    }

    #[test]
    fn first_page_leads_to_the_crates_of_users_and_then_to_the_others() {
        let page = index(&[
            package("a-b", "lib", "Reads <T> & more"),
            package("classhook-x", "lib", "For users"),
            package("only-tests", "test", ""),
        ]);
        let users = page.find("<a href=\"classhook_x/index.html\">classhook-x</a><td>For users");
        let other = page.find("<a href=\"a_b/index.html\">a-b</a><td>Reads &lt;T&gt; &amp; more");
        assert!(users.is_some() && users < other, "{page}");
        assert!(!page.contains("only-tests"));
    }
}
