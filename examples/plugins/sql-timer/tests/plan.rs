//! What the plugin asks for, without a JVM.

use classhook_testkit::Harness;
use sql_timer::SqlTimer;

#[test]
fn class_without_statements_stays_as_it_is() {
    Harness::<SqlTimer>::default()
        .transform(include_bytes!("Counter.class"))
        .assert_plan("");
}
