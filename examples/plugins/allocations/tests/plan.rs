//! What the plugin asks for, without a JVM.

use allocations::Allocations;
use classhook_testkit::Harness;

#[test]
fn objects_and_arrays_are_counted_at_their_sites() {
    let words = include_bytes!("../program/Words.class");
    let transformed = Harness::<Allocations>::default().transform(words);
    transformed.assert_plan_file("tests/Words.plan");
    assert!(transformed.splice().len() > words.len());
}
