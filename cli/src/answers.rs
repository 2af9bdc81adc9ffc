//! Parts of the agent's answers as text.

use control::message::{Change, Failure, Plugin, PluginState};
use trace::numbers::counted;

/// What a change did.
#[must_use]
pub fn change(change: &Change) -> String {
    format!(
        "{} retransformed\n{}{}",
        counted(change.retransformed, "class"),
        failures(&change.failed),
        plugins(&change.plugins)
    )
}

/// A line per plugin.
#[must_use]
pub fn plugins(plugins: &[Plugin]) -> String {
    let line = |plugin: &Plugin| {
        let state = match plugin.state {
            PluginState::On => "on",
            PluginState::Off => "off",
            PluginState::Failed => "off, as it failed on most classes or took too long",
        };
        let select = match plugin.select.as_slice() {
            [] => "the default selection".to_owned(),
            select => select.join(" "),
        };
        format!(
            "plugin {}: {state}, {} changed, {select}\n",
            plugin.name,
            counted(plugin.changed, "class")
        )
    };
    plugins.iter().map(line).collect()
}

/// The native methods that have a method in front of them.
#[must_use]
pub fn natives(natives: &[String]) -> String {
    kept(
        "native methods that keep a method in front of them",
        natives,
    )
}

/// The classes whose structure plugins changed.
#[must_use]
pub fn structures(classes: &[String]) -> String {
    kept("classes that keep what was added or renamed", classes)
}

fn kept(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let lines: String = names.iter().map(|name| format!("  {name}\n")).collect();
    format!("{what} until the JVM ends: {}\n{lines}", names.len())
}

/// A line per class that could not be changed.
#[must_use]
pub fn failures(failures: &[Failure]) -> String {
    let line = |failure: &Failure| {
        let by = if failure.plugin.is_empty() {
            String::new()
        } else {
            format!(" (plugin {})", failure.plugin)
        };
        format!(
            "failed: {} {}{by}: {}\n",
            failure.code,
            failure.class.replace('/', "."),
            failure.cause
        )
    };
    failures.iter().map(line).collect()
}
