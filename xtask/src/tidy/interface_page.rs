//! The reference of the interface between host and plugins, generated from the comments in `sdk/wit/plugin.wit`.

use super::documents;
use super::finding::Finding;
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::path::Path;

const WIT: &str = "sdk/wit/plugin.wit";
const PAGE: &str = "docs/plugin-interface.md";

/// The text in front of the generated part, for a reader of the guide.
const OPENING: &str = r"# The interface of plugins

You look up here each function between Classhook and a plugin: its parameters, its result, and the conditions under which it is refused.
The page is for authors of plugins in any language.
Begin with [Write a plugin](plugins.md), and return for a single function.

| you want to | read |
|---|---|
| write a first plugin, and test it | [Write a plugin](plugins.md) |
| insert or replace code | [Change code](how-to/change-code.md), with `rewrite`, `structure`, `raw` and `helpers` |
| count and time calls, and make tables of the results | [Tables](plugins.md#tables) and [computed tables](plugins.md#computed-tables), with `probes`, `types.row` and `recorded` |
| get events of the JVM, or ask it | [Events of the JVM](how-to/jvm-events.md), with `observer`, `jvm-events` and `jvm-requests` |
| write in C, Python or JavaScript | [Languages](how-to/plugin-languages.md) |
| grant a plugin its imports | [Capabilities](options.md#capabilities) |

## How to read it

Each section is an interface of the [WIT](https://component-model.bytecodealliance.org/design/wit.html) package `classhook:plugin`.
The imports of a plugin decide which [capabilities](options.md#capabilities) its user grants.
`transformer`, `reporter` and `observer` are exported: the plugin implements these, and Classhook calls them.
The worlds at the end list the imports and exports of each kind of plugin.

A `resource` is an object of Classhook, which the plugin gets for one call and whose methods have its name in front, such as `plan.note`.
A function with `result<_, refusal>` can be refused; the refusal has a stable code and a text for the user.
Numbers with several parts, such as an insertion point, have [layouts](plugin-layouts.md), and each SDK has functions for the parts.

The names are in the form of WIT; languages change their form:

| language | `probes.count` | `class-view.super-name` |
|---|---|---|
| Rust | `Plan::count` of the SDK | `super_name` |
| C | `probes_count` | `class_file_method_class_view_super_name` |
| Python | `probes.count` | `super_name` |
| JavaScript | `count` of the module `classhook:plugin/probes@0.1.0` | `superName` |

This page is generated from the comments in [sdk/wit/plugin.wit](../sdk/wit/plugin.wit).

## The package
";

/// Checks that the page equals the generated one; `BLESS=1` writes it.
pub fn check(root: &Path, findings: &mut Vec<Finding>) -> Result<()> {
    let wit = std::fs::read_to_string(root.join(WIT));
    let page = page(&wit.with_context(|| format!("failed to read {WIT}"))?);
    let there = std::fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    if there == page {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        return std::fs::write(root.join(PAGE), page).context("failed to write the page");
    }
    let what = format!("it differs from {WIT}: `BLESS=1 cargo xtask tidy` writes it");
    findings.push(Finding::new(PAGE, what));
    Ok(())
}

/// Generates the page.
fn page(wit: &str) -> String {
    let mut page = OPENING.to_owned();
    let (mut comment, mut item) = (String::new(), String::new());
    let mut resource = None;
    for line in wit.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
            comment.push('\n');
            continue;
        }
        let line = line.split(" //").next().unwrap_or(line).trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            _ if line.starts_with("//") || line.is_empty() => {}
            ["package", name] => {
                let _ = write!(page, "\n`{}`\n", name.trim_end_matches(';'));
                describe(&mut comment, &mut page);
            }
            [kind @ ("interface" | "world"), name, "{"] => {
                let _ = writeln!(page, "\n## {kind} `{name}`");
                describe(&mut comment, &mut page);
            }
            ["resource", name, "{"] => {
                let _ = writeln!(page, "\n### resource `{name}`");
                describe(&mut comment, &mut page);
                resource = Some((*name).to_owned());
            }
            ["}"] if item.is_empty() => resource = None,
            ["use", ..] if item.is_empty() => {}
            _ => {
                item.push_str(line);
                item.push('\n');
                if line.ends_with([';', '}']) {
                    show(&mut item, resource.as_deref(), &mut page);
                    describe(&mut comment, &mut page);
                }
            }
        }
    }
    page
}

/// Adds an item, in the words of the interface, under its name.
fn show(item: &mut String, resource: Option<&str>, page: &mut String) {
    let item = std::mem::take(item);
    let head = item.split([':', '(', '=', '{', ';']).next().unwrap_or("");
    let is_kind = |word: &&str| ["record", "variant", "type"].contains(word);
    let words: Vec<&str> = head.split_whitespace().collect();
    let name = match words.as_slice() {
        ["import" | "export", ..] => {
            let _ = writeln!(page, "\n`{}`", item.trim_end().trim_end_matches(';'));
            return;
        }
        [kind, name] if is_kind(kind) => (*name).to_owned(),
        _ => resource.map_or(head.to_owned(), |resource| format!("{resource}.{head}")),
    };
    let _ = write!(page, "\n#### `{name}`\n\n```wit\n{item}```\n");
}

/// Adds the sentences of a comment, one a line.
fn describe(comment: &mut String, page: &mut String) {
    for paragraph in std::mem::take(comment).split("\n\n") {
        let text: Vec<&str> = paragraph.split_whitespace().collect();
        let text = text.join(" ");
        if !text.is_empty() {
            let _ = writeln!(page, "\n{}", documents::sentences(&text).join("\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_prose_and_items_code() {
        let wit = "/// One. Two,\n/// e.g. X.\n///\n/// Three.\npackage a:b@0.1.0;\n\
                   /// Work.\ninterface work {\n  use types.{site};\n  /// A pair.\n  record pair { one: u8 } // no\n\
                   resource plan {\n    constructor();\n    /// Notes.\n    note: func(at: site);\n  }\n\
                   variant v {\n    a(u8),\n  }\n}\nworld w {\n  import work;\n}\n";
        let page = page(wit);
        let body = page.strip_prefix(OPENING).expect("the opening");
        let expected = "\n`a:b@0.1.0`\n\nOne.\nTwo, e.g. X.\n\nThree.\n\n## interface `work`\n\nWork.\n\
                        \n#### `pair`\n\n```wit\nrecord pair { one: u8 }\n```\n\nA pair.\n\
                        \n### resource `plan`\n\n#### `plan.constructor`\n\n```wit\nconstructor();\n```\n\
                        \n#### `plan.note`\n\n```wit\nnote: func(at: site);\n```\n\nNotes.\n\
                        \n#### `v`\n\n```wit\nvariant v {\na(u8),\n}\n```\n\
                        \n## world `w`\n\n`import work`\n";
        assert_eq!(body, expected);
    }
}
