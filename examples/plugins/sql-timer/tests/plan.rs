//! What the plugin asks for, without a JVM.

use classhook_testkit::Harness;
use sql_timer::SqlTimer;

#[test]
fn callers_of_jdbc_are_counted() {
    Harness::<SqlTimer>::default()
        .transform(include_bytes!("../program/Shop.class"))
        .assert_plan_file("tests/Shop.plan");
}
