//! Log lines for the user, printed if the agent's `log` level permits.

use crate::bindings::classhook::plugin::host::Level;

/// Logs an error that ends the work on a class.
pub fn error(text: &str) {
    write(Level::Error, text);
}

/// Logs a warning.
pub fn warn(text: &str) {
    write(Level::Warn, text);
}

/// Logs a completed action.
pub fn info(text: &str) {
    write(Level::Info, text);
}

/// Logs a single step.
pub fn debug(text: &str) {
    write(Level::Debug, text);
}

/// Returns whether [`debug`] lines are printed; check this before you build an expensive text.
#[must_use]
pub fn debug_enabled() -> bool {
    enabled(Level::Debug)
}

#[cfg(target_family = "wasm")]
fn write(level: Level, text: &str) {
    crate::bindings::classhook::plugin::host::log(level, text);
}

#[cfg(target_family = "wasm")]
fn enabled(level: Level) -> bool {
    crate::bindings::classhook::plugin::host::log_enabled(level)
}

/// Native tests print lines to the test's output.
#[cfg(not(target_family = "wasm"))]
fn write(level: Level, text: &str) {
    eprintln!("plugin, level {level:?}: {text}");
}

#[cfg(not(target_family = "wasm"))]
fn enabled(_level: Level) -> bool {
    true
}
