//! The plan and the report of the plugin, without a JVM.

use allocations::{ALLOCATED, Allocations};
use classhook_testkit::{Harness, Recording};

#[test]
fn objects_and_arrays_are_counted_at_their_sites() {
    let words = include_bytes!("../program/Words.class");
    let transformed = Harness::<Allocations>::default().transform(words);
    transformed.assert_plan_file("tests/Words.plan");
    assert!(transformed.splice().len() > words.len());
}

#[test]
fn report_sums_up_by_type() {
    let recording = Recording::default()
        .counted(&ALLOCATED, &["char[]", "Words.<init>", "4"], 3)
        .counted(&ALLOCATED, &["java.lang.String", "Words.main", "13"], 3)
        .counted(&ALLOCATED, &["char[]", "Words.main", "15"], 1);
    Harness::<Allocations>::default()
        .report(&recording)
        .assert_table(
            "types",
            "what,sites,allocated\nchar[],2,4\njava.lang.String,1,3\n",
        );
}
