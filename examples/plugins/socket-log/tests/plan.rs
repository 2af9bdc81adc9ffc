//! The plan of the plugin, without a JVM.

use classhook_testkit::Harness;
use socket_log::SocketLog;

#[test]
fn no_class_but_the_socket_is_changed() {
    Harness::<SocketLog>::default()
        .transform(include_bytes!("../program/Knock.class"))
        .assert_plan("");
}

#[test]
fn misspelt_setting_is_refused() {
    let error = Harness::<SocketLog>::try_config("stacks = true").unwrap_err();
    assert!(error.to_string().contains("`stacks`"), "{error}");
}
