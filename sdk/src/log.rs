//! Log lines for the user, printed if the agent's `log` level permits.

/// Logs an error that ends the work on a class.
pub fn error(text: &str) {
    write(0, text);
}

/// Logs a warning.
pub fn warn(text: &str) {
    write(1, text);
}

/// Logs a completed action.
pub fn info(text: &str) {
    write(2, text);
}

/// Logs a single step.
pub fn debug(text: &str) {
    write(3, text);
}

/// Returns whether [`debug`] lines are printed; check this before you build an expensive text.
#[must_use]
pub fn debug_enabled() -> bool {
    enabled(3)
}

#[cfg(target_family = "wasm")]
fn write(level: u8, text: &str) {
    crate::bindings::classhook::plugin::host::log(level, text);
}

#[cfg(target_family = "wasm")]
fn enabled(level: u8) -> bool {
    crate::bindings::classhook::plugin::host::log_enabled(level)
}

/// Native tests print lines to the test's output.
#[cfg(not(target_family = "wasm"))]
fn write(level: u8, text: &str) {
    eprintln!("plugin, level {level}: {text}");
}

#[cfg(not(target_family = "wasm"))]
fn enabled(_level: u8) -> bool {
    true
}
