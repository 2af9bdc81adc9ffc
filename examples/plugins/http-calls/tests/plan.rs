//! The plan of the plugin, without a JVM.

use classhook_testkit::Harness;
use http_calls::HttpCalls;

#[test]
fn requests_are_counted_and_their_callers_timed() {
    Harness::<HttpCalls>::default()
        .transform(include_bytes!("../program/Fetch.class"))
        .assert_plan_file("tests/Fetch.plan");
}
