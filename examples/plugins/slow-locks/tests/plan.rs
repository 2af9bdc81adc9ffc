//! The plan of the plugin, without a JVM.

use classhook_testkit::Harness;
use slow_locks::SlowLocks;

const QUEUE: &[u8] = include_bytes!("../program/Queue.class");

#[test]
fn locks_are_timed_at_monitorenter() {
    let transformed = Harness::<SlowLocks>::new("millis = 50").transform(QUEUE);
    transformed.assert_plan_file("tests/Queue.plan");
    assert!(!transformed.splice().is_empty());
}

#[test]
fn misspelt_setting_is_refused() {
    let error = Harness::<SlowLocks>::try_config("milis = 5").unwrap_err();
    assert!(error.to_string().contains("`milis`"), "{error}");
}
