//! Every code in the sources is in `docs/errors.md`, and every code there is in the sources.

use e2e_tests::workspace::root;
use std::collections::BTreeSet;
use std::path::Path;

/// Crates with error codes.
const SOURCES: [&str; 30] = [
    "plan-rules/src",
    "host/src",
    "hook-agent/src",
    "attach/src",
    "control/src",
    "errors/src",
    "cli/src",
    "relay/src",
    "local-files/src",
    "coverage-inputs/src",
    "class-selection/src",
    "coverage-rules/src",
    "differential-coverage/src",
    "java-compiler/src",
    "static-instrumentation/src",
    "coverage-analysis/src",
    "otlp/src",
    "class-readers/src",
    "java-builds/src",
    "plugin-projects/src",
    "standard-streams/src",
    "agent-launch/src",
    "application-classes/src",
    "agent-connection/src",
    "environment-checks/src",
    "loaded-classes/src",
    "trace-reports/src",
    "live-traces/src",
    "profiles/src",
    "runtime/src",
];

/// Returns the codes in a text: `H` and exactly four digits.
fn codes(text: &str, begin: &str) -> BTreeSet<String> {
    let after = text.split(begin).skip(1);
    let code = after.filter_map(|rest| {
        let digits = rest.get(..4)?;
        let ends = !rest[4..].starts_with(|next: char| next.is_ascii_alphanumeric());
        (ends && digits.bytes().all(|digit| digit.is_ascii_digit())).then(|| format!("H{digits}"))
    });
    code.collect()
}

fn in_sources(folder: &Path, all: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            in_sources(&path, all);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "java")
        {
            let text = std::fs::read_to_string(&path).expect("a source in UTF-8");
            let product = text
                .split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or_default();
            all.extend(codes(product, "\"H"));
        }
    }
}

#[test]
fn codes_are_documented_and_documented_codes_exist() {
    let mut used = BTreeSet::new();
    SOURCES
        .iter()
        .for_each(|folder| in_sources(&root().join(folder), &mut used));
    let text = std::fs::read_to_string(root().join("docs/errors.md")).expect("docs/errors.md");
    let documented = codes(&text, "\n| H");
    assert!(used.len() > 50, "the search finds codes: {used:?}");
    assert_eq!(used, documented);
}
