//! Lines for the user, shown where the agent's `log` level lets them through.

/// What stops the work on a class.
pub fn error(text: &str) {
    write(0, text);
}

/// What the user should know.
pub fn warn(text: &str) {
    write(1, text);
}

/// What was done.
pub fn info(text: &str) {
    write(2, text);
}

/// Each step.
pub fn debug(text: &str) {
    write(3, text);
}

/// Whether [`debug`] would be shown; ask before making an expensive text.
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

/// In native tests, lines go where the test's own output goes.
#[cfg(not(target_family = "wasm"))]
fn write(level: u8, text: &str) {
    eprintln!("plugin, level {level}: {text}");
}

#[cfg(not(target_family = "wasm"))]
fn enabled(_level: u8) -> bool {
    true
}
