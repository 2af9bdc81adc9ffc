//! Waits for conditions that a fast machine meets at once and a busy one late.
//!
//! A test that waits for a condition does not depend on the speed of the machine.
//! The limit only ends a test whose condition never comes.

use std::time::{Duration, Instant};

/// The longest time that a test waits for a condition.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The pause between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until a value exists, and returns it.
///
/// # Panics
/// If no value appears within [`PATIENCE`]; the message names `what` was awaited.
#[track_caller]
pub fn await_value<T>(what: &str, mut value: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = value() {
            return value;
        }
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(PAUSE);
    }
}

/// Waits until a condition holds.
///
/// # Panics
/// If the condition does not hold within [`PATIENCE`]; the message names `what` was awaited.
#[track_caller]
pub fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    await_value(what, || holds().then_some(()));
}
