//! Tasks that a trace follows to the calls that submitted them.

use agent_launch::settings::Settings;
use clap::Args;
use errors::{Error, codes};
use serde_json::{Map, Value, json};

use crate::heading;

/// The grant for changes to classes of the JDK, in which tasks are submitted and run.
const CAPABILITY: &str = "boot";
/// Selectors for the JDK classes that submit and run tasks. The plugin chooses among them.
const CLASSES: [&str; 3] = [
    "java.util.concurrent.*",
    "java.util.Timer*",
    "java.lang.*Thread",
];

/// The option that follows tasks to other threads.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = heading::CALLS)]
pub struct FollowOptions {
    /// Show each task below the call that submitted it: executors, CompletableFuture, timers, new threads; needs --grant boot
    #[arg(long, requires = "methods", conflicts_with_all = ["config", "aggregate", "count"])]
    pub follow: bool,
}

impl FollowOptions {
    /// Returns the agent's settings for a trace that follows tasks.
    ///
    /// # Errors
    /// `H0639` if the plugin lacks the grant for classes of the JDK, or the selectors exclude them.
    pub fn added(self, mut settings: Settings) -> Result<Settings, Error> {
        if !self.follow {
            return Ok(settings);
        }
        let plugins = &mut settings.change.configuration.plugins;
        if !plugins.grant.iter().any(|grant| grant == CAPABILITY) {
            return Err(Error::mistake(
                codes::H0639,
                "--follow needs the grant for classes of the JDK",
            )
            .with("expected", "--grant boot")
            .with(
                "help",
                "tasks are submitted and run in java.util.concurrent and java.lang.Thread",
            ));
        }
        plugins.select = selected(&plugins.select)?;
        let given = plugins.plugin_settings.as_deref().unwrap_or("{}");
        let mut table: Map<String, Value> = serde_json::from_str(given).unwrap_or_default();
        table.insert("follow".to_owned(), json!(true));
        plugins.plugin_settings = Some(Value::Object(table).to_string());
        Ok(settings)
    }
}

/// Adds the JDK's classes to the selectors, if these name classes at all.
fn selected(given: &[String]) -> Result<Vec<String>, Error> {
    let parts = given.iter().flat_map(|text| text.split(';'));
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    let mut names_classes = false;
    for part in parts.filter(|part| !part.starts_with('!')) {
        match part.split_once(':').map(|(kind, _)| kind) {
            Some("loader" | "location") if part != "location:any" => {
                let message = "--follow needs classes of the JDK, which --select leaves out";
                return Err(Error::mistake(codes::H0639, message)
                    .with(
                        "found",
                        format!("--select {}", standard_streams::show::name(part)),
                    )
                    .with("help", "select classes by their names"));
            }
            Some("loader" | "location") => {}
            _ => names_classes = true,
        }
    }
    let more = CLASSES.map(str::to_owned);
    let more = more.into_iter().filter(|_| names_classes);
    Ok(given.iter().cloned().chain(more).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_over_names_are_extended_by_jdk_classes() {
        let select = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
            selected(&given).map(|all| all.len() - given.len())
        };
        assert_eq!(select(&[]).unwrap(), 0);
        assert_eq!(select(&["!a.B", "location:any"]).unwrap(), 0);
        assert_eq!(select(&["a.**;!a.B"]).unwrap(), CLASSES.len());
        assert_eq!(select(&["<:a.B"]).unwrap(), CLASSES.len());
        for wrong in ["loader:app", "a.**; location:target/classes"] {
            assert_eq!(select(&[wrong]).unwrap_err().code(), "H0639");
        }
    }

    #[test]
    fn following_is_enabled_with_the_grant_for_the_jdk() {
        let following = FollowOptions { follow: true };
        let mut settings = Settings::default();
        let refused = following.added(settings.clone()).unwrap_err();
        assert_eq!((refused.code(), refused.exit()), ("H0639", 2));
        let plugins = &mut settings.change.configuration.plugins;
        plugins.grant.push("boot".to_owned());
        plugins.plugin_settings = Some(r#"{"methods":["a.**"]}"#.to_owned());
        let added = following.added(settings.clone()).unwrap();
        let table = added.plugins().plugin_settings.as_deref();
        assert_eq!(table, Some(r#"{"follow":true,"methods":["a.**"]}"#));
        let without = FollowOptions::default().added(settings).unwrap();
        let table = without.plugins().plugin_settings.as_deref();
        assert_eq!(table, Some(r#"{"methods":["a.**"]}"#));
    }
}
