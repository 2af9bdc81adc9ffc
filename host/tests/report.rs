//! Tables that a plugin computes: they keep to the limits, and a failure affects no other tables.

#[path = "support/compiler.rs"]
mod compiler;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use compiler::compiler;
use host::config::{CAPABILITIES, PluginConfig};
use host::recorded::{PAGE, Recorded, RecordedEvent, RecordedSum, RecordedTable};
use host::report::{DEADLINE, Reported, report};

/// Number of rows of the table `calls`, which need several pages.
const ROWS: usize = 2 * PAGE + 7;

/// The recorded data.
struct Calls;

impl Recorded for Calls {
    fn tables(&self) -> Vec<RecordedTable> {
        vec![RecordedTable {
            name: "calls".to_owned(),
            is_events: false,
            columns: vec![("class".to_owned(), "class".to_owned())],
            values: Vec::new(),
            rows: ROWS,
            reached: 0,
        }]
    }

    fn sum(&self, table: usize, row: usize) -> Option<RecordedSum> {
        (table == 0 && row < ROWS).then(|| RecordedSum {
            cells: vec![format!("C{row}")],
            count: row as u64,
            times: Some((0, 1, 1)),
        })
    }

    fn event(&self, _: usize, _: usize) -> Option<RecordedEvent> {
        None
    }

    fn quantiles(&self, _: usize, rows: &[u32], of: &[f64]) -> Option<Vec<u64>> {
        assert_eq!((rows.len(), of), (ROWS, &[0.5][..]));
        Some(vec![77])
    }
}

/// Runs the report of `NAME.wasm` below `target/bundled` within this time.
fn reported(name: &str, config: serde_json::Value, deadline: Duration) -> Reported {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bundled");
    let plugin = PluginConfig {
        grant: CAPABILITIES.map(str::to_owned).to_vec(),
        config,
        ..PluginConfig::file(bundled.join(name))
    };
    report(&plugin, &compiler(), Arc::new(Calls), deadline)
        .expect("run `cargo xtask plugins` first")
}

fn misbehaved(deed: &str) -> Reported {
    let deed = serde_json::json!({ "deed": deed });
    reported("tests/misbehaving.wasm", deed, DEADLINE)
}

#[test]
fn all_pages_reach_the_plugin_and_its_rows_come_back() {
    let Reported::Tables(tables) = misbehaved("more") else {
        panic!("expected tables");
    };
    let [table] = tables.as_slice() else {
        panic!("expected one table, found {tables:?}");
    };
    assert_eq!(table.name, "copies");
    assert_eq!(table.rows.len(), 1 + ROWS + 1);
    assert_eq!(
        table.rows[ROWS],
        [format!("C{}", ROWS - 1), (ROWS - 1).to_string()]
    );
    assert_eq!(table.rows[ROWS + 1], ["median", "77"]);
}

#[test]
fn failed_report_has_its_cause_and_no_table() {
    for (deed, expected) in [
        ("trap", "panicked at "),
        ("recurse", "endless recursion"),
        ("out-of-bounds", "out of bounds"),
        ("allocate", "more than 64 MiB of memory"),
        (
            "flood",
            "at most 32 MiB of tables of one report (tests/plugins/misbehaving/src/lib.rs:",
        ),
        ("tags", "at most 64 tables"),
        ("no-number", "a decimal number in `count`"),
        ("fail", "it returned an error: failed on purpose"),
        ("fail-at-length", "bytes in all)"),
        ("panic-early", "on purpose, early"),
        ("refuse", "refused on purpose"),
    ] {
        match misbehaved(deed) {
            Reported::Failed(cause, _) => {
                assert!(cause.contains(expected), "{deed}: {cause}");
                assert!(cause.len() < 4_096, "{deed}");
            }
            other => panic!("{deed}: expected a failure, found {other:?}"),
        }
    }
}

#[test]
fn report_that_does_not_end_is_stopped() {
    let deed = serde_json::json!({ "deed": "loop" });
    let deadline = Duration::from_millis(100);
    let Reported::Failed(cause, help) = reported("tests/misbehaving.wasm", deed, deadline) else {
        panic!("expected a failure");
    };
    assert_eq!(cause, "it used more than 100 ms of CPU time");
    assert_eq!(
        help.as_deref(),
        Some("look for an endless loop, or for too much work per class")
    );
}

#[test]
fn plugin_without_a_report_has_none() {
    let nothing = reported("examples/socket-log.wasm", serde_json::json!({}), DEADLINE);
    assert!(matches!(nothing, Reported::Nothing), "{nothing:?}");
}
