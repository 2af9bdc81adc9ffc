//! Tests of the plugin's plan, without a JVM: `cargo test`, or `classhook plugin test`.

use classhook_testkit::Harness;
use my_plugin::MyPlugin;

/// Compiled from Counter.java.
const COUNTER: &[u8] = include_bytes!("Counter.class");

#[test]
fn matching_methods_are_counted() {
    Harness::<MyPlugin>::new(r#"methods = ["Counter.increment"]"#)
        .transform(COUNTER)
        .assert_plan(
            "increment(I)I entry: count 0 row of calls: class \"Counter\" method \"increment\"\n",
        );
}

#[test]
fn invalid_pattern_is_refused() {
    let error = Harness::<MyPlugin>::try_config(r#"methods = ["Counter."]"#).unwrap_err();
    assert!(error.to_string().contains("`Counter.`"), "{error}");
}
