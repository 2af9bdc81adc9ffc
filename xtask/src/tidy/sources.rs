//! Rust sources: sizes, `unsafe`, module documentation, leftovers.
//!
//! A function of more than [`FUNCTION_LINES`] lines is allowed if it is one listing. A line with [`LISTING_MARK`] and
//! the reason must be directly above it.

use super::finding::Finding;
use super::unsafe_code;
use anyhow::{Context, Result};
use proc_macro2::Span;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

const FILE_LINES: usize = 1_000;
const FUNCTION_LINES: usize = 100;
const LISTING_MARK: &str = "// listing:";
/// Marks of unfinished work, split here so that this file does not report itself.
const LEFTOVERS: [&str; 3] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];

/// Findings about the project's sources as a whole.
pub struct Sources {
    pub sizes: Sizes,
    /// The files that hold unsafe code.
    pub with_unsafe: BTreeSet<String>,
}

/// Findings about one file.
#[derive(Default)]
struct Checked {
    /// The length of each function outside tests.
    functions: Vec<usize>,
    has_unsafe: bool,
}

/// The lengths of all functions of the workspace.
pub struct Sizes {
    lines: Vec<usize>,
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |share: usize| {
            self.lines
                .get(self.lines.len().saturating_sub(1) * share / 100)
                .copied()
                .unwrap_or(0)
        };
        let short = self.lines.iter().filter(|lines| **lines <= 30).count();
        write!(
            f,
            "{} functions: median {} lines, 90 % ≤ {}, longest {}; {} % have at most 30",
            self.lines.len(),
            at(50),
            at(90),
            at(100),
            short * 100 / self.lines.len().max(1)
        )
    }
}

/// Checks every Rust file of the project.
pub fn check(root: &Path, files: &[PathBuf], findings: &mut Vec<Finding>) -> Result<Sources> {
    let mut lines = Vec::new();
    let mut with_unsafe = BTreeSet::new();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
    {
        let text = std::fs::read_to_string(root.join(file))
            .with_context(|| format!("failed to read {}", file.display()))?;
        let name = file.to_string_lossy();
        let checked = check_file(&name, &text, findings);
        lines.extend(checked.functions);
        if checked.has_unsafe {
            with_unsafe.insert(name.into_owned());
        }
    }
    lines.sort_unstable();
    let sizes = Sizes { lines };
    Ok(Sources { sizes, with_unsafe })
}

/// Checks one file.
fn check_file(name: &str, text: &str, findings: &mut Vec<Finding>) -> Checked {
    let count = text.lines().count();
    if count > FILE_LINES {
        findings.push(Finding::new(
            name,
            format!("{count} lines, at most {FILE_LINES} are allowed"),
        ));
    }
    if name.ends_with("/mod.rs") {
        findings.push(Finding::new(
            name,
            "expected foo.rs beside foo/, found a mod.rs",
        ));
    }
    for (number, line) in text.lines().enumerate() {
        if let Some(word) = LEFTOVERS.iter().find(|word| line.contains(**word)) {
            findings.push(Finding::new(
                format!("{name}:{}", number + 1),
                format!("{word}: finish it or open an issue"),
            ));
        }
    }
    match syn::parse_file(text) {
        Ok(parsed) => check_syntax(name, text, &parsed, findings),
        Err(error) => {
            findings.push(Finding::new(name, format!("failed to parse: {error}")));
            Checked::default()
        }
    }
}

fn check_syntax(
    name: &str,
    text: &str,
    parsed: &syn::File,
    findings: &mut Vec<Finding>,
) -> Checked {
    let documented = parsed
        .attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("doc"));
    let excused = name.ends_with("/tests.rs") || name.starts_with("fuzz/");
    if !documented && !excused {
        findings.push(Finding::new(
            name,
            "expected a module documentation (//!) at the top, found none",
        ));
    }
    let mut visitor = Visitor {
        source: text.lines().collect(),
        ..Visitor::default()
    };
    visitor.visit_file(parsed);
    for (line, length) in visitor
        .functions
        .iter()
        .filter(|(_, length)| *length > FUNCTION_LINES)
    {
        if !visitor.listings.contains(line) {
            let what = format!(
                "a function of {length} lines, at most {FUNCTION_LINES} are allowed unless `{LISTING_MARK} reason` is above it"
            );
            findings.push(Finding::new(format!("{name}:{line}"), what));
        }
    }
    if !unsafe_code::is_allowed(name) {
        for line in &visitor.unsafes {
            findings.push(Finding::new(
                format!("{name}:{line}"),
                format!("unsafe code outside {}", unsafe_code::places()),
            ));
        }
    }
    Checked {
        functions: visitor
            .functions
            .iter()
            .map(|(_, length)| *length)
            .collect(),
        has_unsafe: !visitor.unsafes.is_empty(),
    }
}

#[derive(Default)]
struct Visitor<'t> {
    source: Vec<&'t str>,
    /// The line of each function's first attribute or word, and the function's length.
    functions: Vec<(usize, usize)>,
    listings: Vec<usize>,
    unsafes: Vec<usize>,
}

impl Visitor<'_> {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        if signature.unsafety.is_some() {
            self.unsafes.push(first);
        }
        if self.marked_as_listing(first) {
            self.listings.push(first);
        }
        self.functions.push((first, last + 1 - first));
    }

    /// Checks whether the mark is among the comments and attributes above the function.
    fn marked_as_listing(&self, line: usize) -> bool {
        let above = self
            .source
            .get(..line.saturating_sub(1))
            .unwrap_or_default();
        above
            .iter()
            .rev()
            .map(|text| text.trim_start())
            .take_while(|text| text.starts_with("//") || text.starts_with("#["))
            .any(|text| text.starts_with(LISTING_MARK))
    }

    fn unsafe_at(&mut self, span: Span) {
        self.unsafes.push(span.start().line);
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_expr_unsafe(&mut self, expression: &'ast syn::ExprUnsafe) {
        self.unsafe_at(expression.unsafe_token.span);
        visit::visit_expr_unsafe(self, expression);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let Some(word) = &item.unsafety {
            self.unsafe_at(word.span);
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        if item.unsafety.is_some() || !item.items.is_empty() {
            self.unsafe_at(item.abi.extern_token.span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        check_file(name, text, &mut findings);
        findings.iter().map(Finding::to_string).collect()
    }

    fn function_of(lines: usize, above: &str) -> String {
        format!(
            "//! A module.\n\n{above}fn f() {{\n{}}}\n",
            "    g();\n".repeat(lines - 2)
        )
    }

    #[test]
    fn longest_allowed_function_passes_and_one_more_line_is_found() {
        assert!(findings("a.rs", &function_of(100, "")).is_empty());
        let found = findings("a.rs", &function_of(101, ""));
        assert!(
            found[0].starts_with("a.rs:3: a function of 101 lines"),
            "{found:?}"
        );
    }

    #[test]
    fn marked_listing_may_be_long() {
        assert!(
            findings(
                "a.rs",
                &function_of(300, "// listing: one arm per opcode\n#[inline]\n")
            )
            .is_empty()
        );
    }

    #[test]
    fn unsafe_is_found_outside_the_allowed_places() {
        let text = "//! A module.\nfn f() { unsafe { g() } }\n";
        assert_eq!(findings("rewriter/src/a.rs", text).len(), 1);
        assert!(findings("hook-agent/src/ffi/a.rs", text).is_empty());
        assert_eq!(
            findings("cli/src/a.rs", "//! A module.\nunsafe fn f() {}\n").len(),
            1
        );
    }

    #[test]
    fn word_unsafe_in_text_is_not_code() {
        assert!(
            findings(
                "a.rs",
                "//! unsafe { }\nfn f() -> &'static str { \"unsafe { }\" }\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn module_without_documentation_is_found() {
        assert_eq!(findings("a.rs", "fn f() {}\n").len(), 1);
    }

    #[test]
    fn leftover_is_found_with_its_line() {
        let text = format!("//! A module.\n// {}: later\n", LEFTOVERS[0]);
        assert!(findings("a.rs", &text)[0].starts_with("a.rs:2:"));
    }

    #[test]
    fn too_long_file_is_found() {
        let text = format!("//! A module.\n{}", "// text\n".repeat(1_000));
        assert!(findings("a.rs", &text)[0].contains("1001 lines"));
    }
}
