//! What the plugin asks for, without a JVM.

use classhook_testkit::Harness;
use exit_guard::ExitGuard;

#[test]
fn class_that_ends_nothing_stays_as_it_is() {
    Harness::<ExitGuard>::default()
        .transform(include_bytes!("Counter.class"))
        .assert_plan("");
}

#[test]
fn allowed_methods_are_patterns() {
    Harness::<ExitGuard>::try_config(r#"allowed = ["com.acme.Main.main"]"#).unwrap();
    Harness::<ExitGuard>::try_config(r#"allowed = ["com.acme."]"#).unwrap_err();
}
