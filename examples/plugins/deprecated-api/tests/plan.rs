//! The notes of the plugin, without a JVM.

use classhook_testkit::Harness;
use deprecated_api::DeprecatedApi;

const LEGACY: &[u8] = include_bytes!("../program/Legacy.class");

#[test]
fn calls_get_notes_and_no_edits() {
    let transformed = Harness::<DeprecatedApi>::default().transform(LEGACY);
    transformed.assert_plan_file("tests/Legacy.plan");
    assert!(transformed.plan().edits().is_empty());
}

#[test]
fn own_methods_are_patterns() {
    let harness = Harness::<DeprecatedApi>::new(r#"methods = ["java.io.PrintStream.print*"]"#);
    let found = harness.transform(LEGACY).to_string();
    assert!(
        found.contains("java.io.PrintStream.println is deprecated\n"),
        "{found}"
    );
    Harness::<DeprecatedApi>::try_config(r#"methods = ["com.acme."]"#).unwrap_err();
}
