//! `sdk/wit/plugin.wit` against its frozen copies in `tests/conformance`. Imports of a released plugin must stay as they
//! were, and the host must not demand further exports.
//!
//! Items are compared as texts without comments and with single spaces. Any other difference is a change.

use super::finding::Finding;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The interface of this version.
const CURRENT: &str = "sdk/wit/plugin.wit";
/// The folder that holds, for each release, a folder with a copy of the interface.
const FROZEN: &str = "tests/conformance";

/// Functions, types, imports and exports, by their path: `class-file.class-view.name`.
type Items = BTreeMap<String, String>;

/// Compares the interface with each of its frozen copies.
pub fn check(root: &Path, files: &[PathBuf], findings: &mut Vec<Finding>) -> Result<()> {
    let read = |file: &Path| {
        let text = std::fs::read_to_string(root.join(file));
        text.with_context(|| format!("failed to read {}", file.display()))
    };
    let text = read(Path::new(CURRENT))?;
    let current = items(&text);
    let mut released = Items::new();
    let frozen = files
        .iter()
        .filter(|file| file.starts_with(FROZEN) && file.ends_with("plugin.wit"));
    let before = findings.len();
    let mut count = 0;
    for file in frozen {
        count += 1;
        let frozen = items(&read(file)?);
        let differences = differences(&frozen, &current);
        released.extend(frozen);
        findings.extend(differences.into_iter().map(|what| {
            Finding::new(
                CURRENT,
                format!(
                    "{what}; plugins built with {} would not load",
                    file.display()
                ),
            )
        }));
    }
    let unmarked = unmarked(&text, &released).into_iter();
    findings.extend(unmarked.map(|path| {
        let what =
            "is newer than the frozen interfaces: its comment names the version after `@since`";
        Finding::new(CURRENT, format!("`{path}` {what}"))
    }));
    if count == 0 && findings.len() == before {
        findings.push(Finding::new(
            FROZEN,
            "expected a frozen plugin.wit, found none",
        ));
    }
    Ok(())
}

/// Returns the differences that keep a plugin built with `frozen` from loading.
fn differences(frozen: &Items, current: &Items) -> Vec<String> {
    let changed = frozen
        .iter()
        .filter_map(|(path, was)| match current.get(path) {
            None => Some(format!("`{path}` is gone, which was `{was}`")),
            Some(is) if is != was => Some(format!("`{path}` was `{was}` and is `{is}`")),
            Some(_) => None,
        });
    let demanded = current.keys().filter(|path| {
        let is_exported = |interface: &str| {
            let end = format!(".export {interface}");
            frozen.keys().any(|path| path.ends_with(&end))
        };
        let of_exported = path
            .split_once('.')
            .is_some_and(|(interface, _)| is_exported(interface));
        // No released plugin implements a new world.
        let world = path.split_once(".export ").map(|(world, _)| world);
        let is_export = world.is_some_and(|world| frozen.contains_key(world));
        (of_exported || is_export) && !path.contains(".use ") && !frozen.contains_key(*path)
    });
    let demanded = demanded.map(|path| format!("`{path}` is demanded of plugins"));
    changed.chain(demanded).collect()
}

/// Returns the items that no frozen interface has and whose comment lacks `@since`. The content of a new interface needs
/// no mark.
fn unmarked(text: &str, frozen: &Items) -> Vec<String> {
    let (mut at, mut is_marked, mut found) = (Vec::new(), false, Vec::new());
    for line in text.lines().map(str::trim) {
        if line.starts_with("///") {
            is_marked |= line.contains("@since");
            continue;
        }
        let head = line.split([':', '(', '=', '{']).next().unwrap_or_default();
        let mut words = head.split_whitespace();
        let name = match words.next() {
            Some(
                "interface" | "resource" | "world" | "record" | "variant" | "enum" | "flags"
                | "type",
            ) => words.next(),
            first if line.contains(": func(") || line.starts_with("constructor(") => first,
            _ => None,
        };
        if let Some(name) = name {
            let path = [&at[..], &[name]].concat().join(".");
            let is_within_new = !at.is_empty() && !frozen.contains_key(&at.join("."));
            if !is_marked && !is_within_new && !frozen.contains_key(&path) {
                found.push(path);
            }
        }
        is_marked = false;
        if line == "}" {
            at.pop();
        } else if line.ends_with('{') {
            at.extend(name);
        }
    }
    found
}

/// Parses a WIT text into its items.
fn items(text: &str) -> Items {
    let lines = text
        .lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let text: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let mut items = Items::new();
    let text = text.join(" ");
    let mut rest = text.as_str();
    let mut at = String::new();
    while let Some(next) = step(&mut at, rest, &mut items) {
        rest = next;
    }
    items
}

/// Reads one item, or enters or leaves a block. Returns the rest of the text; `None` at the end.
fn step<'t>(at: &mut String, text: &'t str, items: &mut Items) -> Option<&'t str> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('}') {
        let outer = at.trim_end_matches('.').rfind('.').map_or(0, |dot| dot + 1);
        at.truncate(outer);
        return Some(rest);
    }
    let end = text.find([';', '{'])?;
    let head = text.get(..end)?.trim();
    let opens = text.get(end..)?.starts_with('{');
    let (kind, name) = head.split_once(' ').unwrap_or((head, ""));
    if opens && matches!(kind, "interface" | "resource" | "world") {
        items.insert(format!("{at}{name}"), kind.to_owned());
        *at += name;
        *at += ".";
        return text.get(end + 1..);
    }
    let close = match (opens, kind) {
        (true, "use") => ';',
        (true, _) => '}',
        _ => ';',
    };
    let end = end + text.get(end..)?.find(close)?;
    let whole = text.get(..end + usize::from(close == '}'))?.trim();
    add(at, kind, whole, items);
    text.get(end + 1..)
}

/// Adds an item. A `use` becomes one item for each name, since adding names is no change.
fn add(at: &str, kind: &str, whole: &str, items: &mut Items) {
    let head = whole
        .split([':', '(', '=', '{'])
        .next()
        .unwrap_or(whole)
        .trim();
    match (kind, whole.split_once('{')) {
        ("use", Some((from, names))) => {
            let names = names.trim_end_matches('}').split(',').map(str::trim);
            items.extend(names.map(|name| (format!("{at}{from}{name}"), String::new())));
        }
        ("import" | "export" | "package", _) => {
            items.insert(format!("{at}{whole}"), String::new());
        }
        ("record" | "variant" | "enum" | "flags" | "type", _) => {
            let name = head.strip_prefix(kind).unwrap_or(head).trim();
            items.insert(format!("{at}{name}"), whole.to_owned());
        }
        _ => {
            items.insert(format!("{at}{head}"), whole.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROZEN: &str = "\
        package a:b@0.1.0;\n\
        /// Words; and { braces }.\n\
        interface host { use types.{site, failure}; log: func(level: u8); resource view { name: func() -> string; } }\n\
        interface work { record pair { one: u8, two: u8 } type line = u32; go: func() -> result<_, failure>; }\n\
        world transform-plugin { import host; export work; }\n";

    fn found(change: impl Fn(String) -> String) -> Vec<String> {
        differences(&items(FROZEN), &items(&change(FROZEN.to_owned())))
    }

    #[test]
    fn items_have_paths() {
        let items = items(FROZEN);
        let paths: Vec<&str> = items.keys().map(String::as_str).collect();
        let expected = [
            "host",
            "host.log",
            "host.use types.failure",
            "host.use types.site",
            "host.view",
            "host.view.name",
            "package a:b@0.1.0",
            "transform-plugin",
            "transform-plugin.export work",
            "transform-plugin.import host",
            "work",
            "work.go",
            "work.line",
            "work.pair",
        ];
        assert_eq!(paths, expected);
        assert_eq!(items["work.pair"], "record pair { one: u8, two: u8 }");
    }

    #[test]
    fn newer_items_name_their_version() {
        let text = "\
            interface host {\n\
            /// Logs.\n\
            log: func(level: u8);\n\
            enum colour {\n\
            red,\n\
            }\n\
            /// Warns. @since 0.1.1\n\
            warn: func();\n\
            }\n\
            /// @since 0.1.1\n\
            interface more {\n\
            x: func();\n\
            }\n";
        assert_eq!(unmarked(text, &items(FROZEN)), ["host.colour"]);
    }

    #[test]
    fn additions_to_imports_and_words_are_no_change() {
        assert_eq!(found(|text| text), [""; 0]);
        let grown = |text: String| {
            text.replace("log:", "// new\n  warn:   func();\nlog:  ")
                .replace("{site, failure}", "{ site, bci, failure }")
                .replace("name: func", "super-name: func(); name: func")
                .replace("import host;", "import host; import more;")
                + "interface more { x: func(); } world another { export more; }"
        };
        assert_eq!(found(grown), [""; 0]);
    }

    #[test]
    fn removed_and_changed_items_are_found() {
        for (was, is, expected) in [
            ("log: func(level: u8);", "", "`host.log` is gone"),
            (
                "level: u8",
                "level: u16",
                "`host.log` was `log: func(level: u8)`",
            ),
            ("-> string", "-> option<string>", "`host.view.name` was"),
            ("two: u8", "two: u16", "`work.pair` was"),
            ("line = u32", "line = u64", "`work.line` was"),
            (
                "import host",
                "import hosts",
                "`transform-plugin.import host` is gone",
            ),
            ("a:b@0.1.0", "a:b@0.2.0", "`package a:b@0.1.0` is gone"),
            (
                "failure>; }",
                "failure>; more: func(); }",
                "`work.more` is demanded",
            ),
            (
                "export work;",
                "export work; export rest;",
                "`transform-plugin.export rest` is demanded",
            ),
        ] {
            let found = found(|text| text.replace(was, is));
            assert!(found.iter().any(|it| it.starts_with(expected)), "{found:?}");
        }
    }
}
