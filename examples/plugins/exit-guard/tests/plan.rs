//! The plan of the plugin, without a JVM.

use classhook_testkit::Harness;
use exit_guard::ExitGuard;

const EXITS: &[u8] = include_bytes!("../program/Exits.class");

#[test]
fn calls_that_end_the_jvm_throw_before() {
    let transformed = Harness::<ExitGuard>::default().transform(EXITS);
    transformed.assert_plan_file("tests/Exits.plan");
    assert!(!transformed.splice().is_empty());
}

#[test]
fn allowed_methods_are_patterns() {
    Harness::<ExitGuard>::new(r#"allowed = ["Exits.fin*"]"#)
        .transform(EXITS)
        .assert_plan("");
    Harness::<ExitGuard>::try_config(r#"allowed = ["com.acme."]"#).unwrap_err();
}
