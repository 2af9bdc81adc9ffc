//! What the plugin asks for, without a JVM.

use allocations::Allocations;
use classhook_testkit::Harness;

#[test]
fn objects_and_arrays_are_counted_at_their_sites() {
    Harness::<Allocations>::default()
        .transform(include_bytes!("../program/Words.class"))
        .assert_plan_file("tests/Words.plan");
}
