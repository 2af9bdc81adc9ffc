//! The plan of the plugin, without a JVM.

use classhook_testkit::Harness;
use settings_log::SettingsLog;

#[test]
fn reads_of_settings_are_recorded_with_their_values() {
    Harness::<SettingsLog>::default()
        .transform(include_bytes!("../program/Configured.class"))
        .assert_plan_file("tests/Configured.plan");
}
