//! The plan of the plugin, without a JVM.

use caught_exceptions::CaughtExceptions;
use classhook_testkit::Harness;

#[test]
fn handlers_are_counted_by_caught_type() {
    Harness::<CaughtExceptions>::default()
        .transform(include_bytes!("../program/Numbers.class"))
        .assert_plan_file("tests/Numbers.plan");
}

#[test]
fn plugin_without_settings_rejects_any_key() {
    let error = Harness::<CaughtExceptions>::try_config("only = 3").unwrap_err();
    assert!(error.to_string().contains("`only`"), "{error}");
}
