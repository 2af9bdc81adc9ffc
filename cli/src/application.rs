//! The application in a running JVM: the classes that a command changes by default.
//!
//! The application is everything but the JDK, the libraries of the class path, and servers with
//! their libraries. Classes of child loaders belong to it, such as those of web applications,
//! wherever they are loaded from.

mod class_path;
mod jvm_properties;

use std::ffi::OsString;

use attach::Attachment;
use errors::Error;
use jvm_properties::JvmProperties;
use serde_json::Value;

use crate::args::{PluginSettings, Settings};
use crate::show::say;

/// The plugins that select every class by default.
const GREEDY: [&str; 4] = ["coverage", "coverage-lines", "coverage-counts", "trace"];
/// Limit on the bytes of the selectors: before JDK 24 an agent takes 1,023 bytes of options when it
/// attaches.
const MOST: usize = 600;
/// Selectors that exclude classes of no application: the JDK, and libraries within archives of
/// Spring Boot and the web.
const NEVER: &str = "!location:jrt:/java.*;!location:jrt:/jdk.*;!location:BOOT-INF/lib;\
                     !location:WEB-INF/lib;!location:WEB-INF/lib-provided;!org.springframework.boot.loader.**";

/// Returns the settings with selectors for the application of the JVM `pid`, if these plugins would
/// change every class. Prints a note about them.
///
/// # Errors
/// If the JVM cannot be reached (`H05xx`).
pub fn restricted(pid: i32, plugins: &[OsString], settings: &Settings) -> Result<Settings, Error> {
    let mut narrowed = settings.clone();
    let configuration = &mut narrowed.change.configuration;
    if configuration.file.is_none() && wants_everything(plugins, &configuration.plugins) {
        let selectors = selectors(&Attachment::open(pid).map_err(Error::from)?)?;
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

/// Returns the selectors for the application, separated by `;`.
fn selectors(jvm: &Attachment) -> Result<String, Error> {
    let properties = jvm.properties().map_err(Error::from)?;
    let process = jvm.process();
    let described = JvmProperties::new(&properties, process.command_line());
    let in_root = |path: &str| process.path_in_root(path);
    Ok(of(&described, &in_root))
}

/// As [`selectors`], for a described JVM. `in_root` turns the JVM's paths into ours.
fn of(jvm: &JvmProperties, in_root: &dyn Fn(&str) -> std::path::PathBuf) -> String {
    let found = class_path::of(jvm, in_root);
    let mut parts = vec![NEVER.to_owned()];
    parts.extend(found.packages.iter().map(|package| format!("{package}.**")));
    let left_out = found
        .left_out
        .iter()
        .map(|place| format!("!location:{place}"));
    parts.extend(left_out);
    let exact = parts.join(";");
    if exact.len() <= MOST {
        return exact;
    }
    // Too many libraries to name: the selectors name the application instead.
    let named = match &found.organisation {
        Some(organisation) => vec![format!("{organisation}.**")],
        None => found
            .own
            .iter()
            .map(|place| format!("location:{place}"))
            .collect(),
    };
    let mut short = NEVER.to_owned();
    for part in named {
        if short.len() + part.len() < MOST {
            short = format!("{short};{part}");
        }
    }
    short
}

#[cfg(test)]
mod tests;
