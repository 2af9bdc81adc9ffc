//! Restricts plugins that would change every class to the application of the JVM.

use std::ffi::OsString;

use agent_launch::attachment;
use agent_launch::settings::{PluginSettings, Settings};
use errors::Error;
use serde_json::Value;
use standard_streams::show::say;

/// The plugins that select every class by default.
const GREEDY: [&str; 4] = ["coverage", "coverage-lines", "coverage-counts", "trace"];

/// Returns the settings with selectors for the application of the JVM `pid`, if these plugins would
/// change every class. Prints a note about them.
///
/// # Errors
/// If the JVM cannot be reached (`H05xx`).
pub fn restricted(pid: i32, plugins: &[OsString], settings: &Settings) -> Result<Settings, Error> {
    let mut narrowed = settings.clone();
    let configuration = &mut narrowed.change.configuration;
    if configuration.file.is_none() && wants_everything(plugins, &configuration.plugins) {
        let selectors =
            application_classes::selectors(&attachment::open(pid).map_err(Error::from)?)?;
        configuration.plugins.select.push(selectors);
        say(
            "only classes of the application are changed, not those of its libraries and servers; \
             --select '**' changes all",
        );
    }
    Ok(narrowed)
}

/// Checks whether every plugin is bundled and would change every class. An empty list means
/// `coverage`.
fn wants_everything(plugins: &[OsString], settings: &PluginSettings) -> bool {
    let is_greedy = |plugin: &OsString| GREEDY.iter().any(|name| plugin == name);
    settings.select.is_empty()
        && plugins.iter().all(is_greedy)
        && !names_methods(settings.plugin_settings.as_deref())
}

/// Checks whether the settings of a trace name methods.
fn names_methods(settings: Option<&str>) -> bool {
    let settings: Option<Value> = settings.and_then(|text| serde_json::from_str(text).ok());
    let is_given = |key: &str| {
        let list = settings.as_ref().map(|settings| &settings[key]);
        list.and_then(Value::as_array)
            .is_some_and(|list| !list.is_empty())
    };
    is_given("methods") || is_given("annotated")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plugins_that_change_every_class_are_narrowed() {
        let with = |select: &[&str], json: Option<&str>| PluginSettings {
            select: select.iter().map(|text| (*text).to_owned()).collect(),
            plugin_settings: json.map(str::to_owned),
            ..PluginSettings::default()
        };
        let none = with(&[], None);
        assert!(wants_everything(&[], &none));
        assert!(wants_everything(
            &["trace".into(), "coverage".into()],
            &none
        ));
        assert!(!wants_everything(&["own.wasm".into()], &none));
        assert!(!wants_everything(&[], &with(&["**"], None)));
        let methods = Some(r#"{"methods": ["a.B.c"]}"#);
        assert!(!wants_everything(&["trace".into()], &with(&[], methods)));
        assert!(wants_everything(
            &["trace".into()],
            &with(&[], Some(r#"{"mode": "count"}"#))
        ));
    }
}
