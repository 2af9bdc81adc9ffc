//! What the plugin asks for, without a JVM.

use caught_exceptions::CaughtExceptions;
use classhook_testkit::Harness;

#[test]
fn class_without_handlers_stays_as_it_is() {
    Harness::<CaughtExceptions>::default()
        .transform(include_bytes!("Counter.class"))
        .assert_plan("");
}
