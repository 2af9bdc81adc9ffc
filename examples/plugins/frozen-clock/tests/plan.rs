//! The plan of the plugin, without a JVM.

use classhook_testkit::Harness;
use frozen_clock::FrozenClock;

const RECEIPT: &[u8] = include_bytes!("../program/Receipt.class");

#[test]
fn each_read_of_the_clock_returns_the_same_time() {
    let transformed = Harness::<FrozenClock>::new("millis = 1767225600000").transform(RECEIPT);
    transformed.assert_plan_file("tests/Receipt.plan");
    assert!(!transformed.splice().is_empty());
}

#[test]
fn class_that_is_loaded_keeps_its_methods() {
    Harness::<FrozenClock>::default()
        .retransform(RECEIPT)
        .assert_error("loaded");
}
