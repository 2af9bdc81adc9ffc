//! A project in Rust.

use super::files::Template;
use crate::sdk;

/// Names that cargo refuses or that have another meaning: Rust's keywords, its own crates, and
/// those that plugins are built with.
const RESERVED: [&str; 70] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "classhook-class-versions",
    "classhook-edits",
    "classhook-escape",
    "classhook-fingerprint",
    "classhook-globs",
    "classhook-jvm-event-table",
    "classhook-jvms",
    "classhook-plan-rules",
    "classhook-rewriter",
    "classhook-sdk",
    "classhook-sdk-macros",
    "classhook-stored",
    "classhook-testkit",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "jvm-event-table",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "none",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "serde",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

macro_rules! template {
    ($path:literal) => {
        include_bytes!(concat!("../../templates/rust/", $path))
    };
}

pub const RUST: Template = Template {
    sdk: sdk::RUST,
    texts: &[
        ("Cargo.toml", template!("manifest.toml")),
        (".cargo/config.toml", template!("cargo_config.toml")),
        ("README.md", template!("README.md")),
        ("src/lib.rs", template!("src/lib.rs")),
        ("tests/plan.rs", template!("tests/plan.rs")),
    ],
    reserved: &RESERVED,
};
