//! Formats parts of the agent's answers as text.

use control::message::{Change, Failure, Plugin, PluginState};
use trace::numbers::counted;

/// Maximum number of classes with one cause of failure that get a line each.
const SINGLE: usize = 3;

/// Formats the result of a change.
#[must_use]
pub fn change(change: &Change) -> String {
    format!(
        "{} retransformed\n{}{}",
        counted(change.retransformed, "class"),
        failures_of(change),
        plugins(&change.plugins)
    )
}

/// Formats the failures of a change, and counts those without a line.
#[must_use]
pub fn failures_of(change: &Change) -> String {
    format!("{}{}", failures(&change.failed), more(change.more_failed))
}

/// Formats the number of classes that failed and are in no list.
#[must_use]
pub fn more(failed: u64) -> String {
    match failed {
        0 => String::new(),
        count => format!(
            "failed: {}, without a line here\n",
            counted(count, "more class")
        ),
    }
}

/// Formats one line per plugin.
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

/// Lists the native methods that keep a wrapper method.
#[must_use]
pub fn natives(natives: &[String]) -> String {
    kept("native methods that keep a wrapper method", natives)
}

/// Lists the classes whose structure plugins changed.
#[must_use]
pub fn structures(classes: &[String]) -> String {
    kept("classes that keep added or renamed members", classes)
}

fn kept(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let lines: String = names.iter().map(|name| format!("  {name}\n")).collect();
    format!("{what} until the JVM ends: {}\n{lines}", names.len())
}

/// Formats a line per class that could not be changed. Many failures with one cause share a line.
#[must_use]
pub fn failures(failures: &[Failure]) -> String {
    let is_alike = |one: &Failure, other: &Failure| {
        (&one.code, &one.plugin, &one.cause) == (&other.code, &other.plugin, &other.cause)
    };
    let mut kinds: Vec<Vec<&Failure>> = Vec::new();
    for failure in failures {
        match kinds.iter_mut().find(|kind| is_alike(kind[0], failure)) {
            Some(kind) => kind.push(failure),
            None => kinds.push(vec![failure]),
        }
    }
    let lines = |kind: &Vec<&Failure>| match kind.len() {
        1..=SINGLE => kind.iter().map(|failure| line(failure, 0)).collect(),
        count => line(kind[0], count - 1),
    };
    kinds.iter().map(lines).collect()
}

/// Describes a class that could not be changed, and counts `more` classes with the same cause.
fn line(failure: &Failure, more: usize) -> String {
    let by = match failure.plugin.as_str() {
        "" => String::new(),
        plugin => format!(" (plugin {plugin})"),
    };
    let others = match more {
        0 => String::new(),
        more => format!(" and {}", counted(more as u64, "more class")),
    };
    let class = failure.class.replace('/', ".");
    format!(
        "failed: {} {class}{others}{by}: {}\n",
        failure.code, failure.cause
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(class: &str, cause: &str) -> Failure {
        Failure {
            code: "H0306".into(),
            class: class.into(),
            cause: cause.into(),
            ..Failure::default()
        }
    }

    /// For example when the JVM has no memory left.
    #[test]
    fn failures_with_one_cause_share_a_line() {
        let mut all: Vec<Failure> = (0..200)
            .map(|number| failure(&format!("a/B{number}"), "no memory left"))
            .collect();
        all.push(failure("a/C", "trap"));
        let expected = "failed: H0306 a.B0 and 199 more classes: no memory left\n\
                        failed: H0306 a.C: trap\n";
        assert_eq!(failures(&all), expected);
        let change = Change {
            failed: all.clone(),
            more_failed: 30,
            ..Change::default()
        };
        let more = "failed: 30 more classes, without a line here\n";
        assert_eq!(failures_of(&change), format!("{expected}{more}"));
        let few = &all[..SINGLE];
        assert_eq!(failures(few).lines().count(), SINGLE);
        assert_eq!(failures(&[]), "");
    }
}
