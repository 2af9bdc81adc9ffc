//! Values as they are written in `classhook.toml` and in the agent's option string.

use super::settings::{CAPABILITIES, LogLevel, OnError};
use super::suggest;
use crate::error::HostError;
use crate::selector::Selection;

pub(super) fn parse_on_error(value: &str) -> Result<OnError, HostError> {
    match value {
        "warn" => Ok(OnError::Warn),
        "strict" => Ok(OnError::Strict),
        _ => Err(wrong_value("on-error", value, &["warn", "strict"])),
    }
}

pub(super) fn parse_switch(key: &'static str, value: &str) -> Result<bool, HostError> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(wrong_value(key, value, &["on", "off"])),
    }
}

pub(super) fn parse_log(value: &str) -> Result<LogLevel, HostError> {
    Ok(match value {
        "off" => LogLevel::Off,
        "error" => LogLevel::Error,
        "warn" => LogLevel::Warn,
        "info" => LogLevel::Info,
        "debug" => LogLevel::Debug,
        "trace" => LogLevel::Trace,
        _ => {
            return Err(wrong_value(
                "log",
                value,
                &["off", "error", "warn", "info", "debug", "trace"],
            ));
        }
    })
}

pub(super) fn check_grant(value: &str) -> Result<(), HostError> {
    let name = value.strip_prefix('!').unwrap_or(value);
    if CAPABILITIES.contains(&name) {
        return Ok(());
    }
    let error = HostError::new("H0201", format!("there is no capability `{name}`"));
    Err(suggest::expected(error, name, &CAPABILITIES))
}

pub(super) fn check_selector(value: &str) -> Result<(), HostError> {
    let Err(error) = Selection::parse(&[value]) else {
        return Ok(());
    };
    Err(HostError::new("H0110", error.to_string())
        .with("expected", "a name such as `com.acme.**`, `@annotation`, `<:supertype`, `loader:app`, `location:target/classes`; `!` in front excludes"))
}

/// `value` for `key` is none of `expected`.
fn wrong_value(key: &str, value: &str, expected: &[&str]) -> HostError {
    suggest::expected(
        HostError::new("H0105", format!("`{key}` cannot be `{value}`")),
        value,
        expected,
    )
}
