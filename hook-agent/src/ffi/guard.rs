//! The panic guard between the JVM and Rust.

use crate::messages::{self, Code};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// The number of active guards on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Runs `body`. A panic is written to standard error and counted, and `fallback` is returned.
pub(super) fn guard<R>(fallback: R, body: impl FnOnce() -> R) -> R {
    install_quiet_hook();
    let entered = DEPTH.try_with(|depth| depth.set(depth.get() + 1)).is_ok();
    let outcome = catch_unwind(AssertUnwindSafe(body));
    if entered {
        let _ = DEPTH.try_with(|depth| depth.set(depth.get().saturating_sub(1)));
    }
    match outcome {
        Ok(result) => result,
        Err(payload) => {
            // The payload's own drop may panic; it is small and panics are bugs, so it is leaked.
            std::mem::forget(payload);
            let _ = catch_unwind(messages::count_panic);
            fallback
        }
    }
}

/// Checks whether this thread executes code of the agent.
pub(super) fn is_open() -> bool {
    DEPTH.try_with(|depth| depth.get() > 0).unwrap_or(false)
}

/// Installs a panic hook. While a guard is active on a thread, it prints one line instead of a symbolised backtrace,
/// which may need more stack than a Java thread has left.
fn install_quiet_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if DEPTH.try_with(Cell::get).unwrap_or(1) == 0 {
                return previous(panic);
            }
            let at = panic
                .location()
                .map_or_else(String::new, |at| format!(" at {at}"));
            let what = panic.payload_as_str().unwrap_or("panic");
            messages::error(
                Code::Panic,
                format_args!("internal error{at}: {what}; please report it"),
            );
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, PoisonError};

    /// The count of panics is global in the process, so tests that panic take turns.
    static TURN: Mutex<()> = Mutex::new(());

    #[test]
    fn panic_in_a_callback_becomes_the_fallback() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let before = messages::panics();
        assert_eq!(guard(7, || panic!("forced")), 7);
        assert_eq!(messages::panics(), before + 1);
        assert_eq!(guard(7, || 8), 8);
    }

    #[test]
    fn nested_panic_leaves_the_outer_body_running() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let result = guard(0, || guard(1, || panic!("forced")) + 1);
        assert_eq!(result, 2);
    }
}
