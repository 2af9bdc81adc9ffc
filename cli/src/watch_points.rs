//! Lines and fields of `classhook watch`, in place of methods.

use std::collections::{BTreeMap, BTreeSet};

use agent_connection::attached::AttachedPlugin;
use agent_launch::settings::Settings;
use clap::Args;
use conditions::{About, Show};
use control::message::MethodRemark;
use errors::{Error, Warning, codes};
use serde_json::{Map, Value, json};
use standard_streams::show::{complain, say};

use crate::heading;

/// Maximum number of named causes.
const MOST: usize = 5;

/// Watched lines and field writes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::CALLS)]
pub struct WatchPoints {
    /// Show each execution of this line: Orders.java:120, com.acme.Orders.total:120; repeatable
    #[arg(long, value_name = "LINE", conflicts_with_all = ["config", "min_duration", "field"])]
    pub at: Vec<String>,
    /// Show each write of this field by Java code: com.acme.Order.status; repeatable
    #[arg(long, value_name = "CLASS.FIELD", conflicts_with_all = ["config", "min_duration"])]
    pub field: Vec<String>,
}

impl WatchPoints {
    /// Returns the subject of the watch.
    #[must_use]
    pub fn about(&self) -> About {
        match (self.at.is_empty(), self.field.is_empty()) {
            (true, true) => About::Calls,
            (false, _) => About::Places,
            (true, false) => About::Writes,
        }
    }

    /// Checks whether any line or field is watched.
    #[must_use]
    pub fn any(&self) -> bool {
        self.about() != About::Calls
    }

    /// Returns the default list of values.
    #[must_use]
    pub fn shown(&self) -> &'static str {
        match self.about() {
            About::Calls => "arg, returned",
            About::Places => "locals",
            About::Writes => "object, old, new",
        }
    }

    /// Returns the displayed values. Invalid lists were refused before.
    #[must_use]
    pub fn show(&self, list: Option<&str>) -> Vec<String> {
        let list = list.unwrap_or(self.shown());
        let list = Show::parse_list_about(list, self.about()).unwrap_or_default();
        list.iter().map(Show::to_string).collect()
    }

    /// Adds the lines and fields to the settings of the plugin.
    ///
    /// # Errors
    /// `H0105` if the given settings are no JSON object.
    pub fn add_to(&self, settings: &mut Settings) -> Result<(), Error> {
        if !self.any() {
            return Ok(());
        }
        let plugins = &mut settings.change.configuration.plugins;
        let mut table: Map<String, Value> = match &plugins.plugin_settings {
            None => Map::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Error::mistake(codes::H0105, "--plugin-settings is no JSON object")
                    .with("found", error.to_string())
            })?,
        };
        let lists = [("at", &self.at), ("fields", &self.field)];
        for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            table.insert(key.to_owned(), json!(list));
        }
        plugins.plugin_settings = Some(Value::Object(table).to_string());
        plugins.watch.about = Some(match self.about() {
            About::Writes => format!("writes:{}", self.field.join(";")),
            _ => "places".to_owned(),
        });
        Ok(())
    }

    /// Prints a note about the writes of a field that the agent cannot see.
    pub fn note_unseen_writes(&self) {
        if self.about() == About::Writes {
            say("writes by reflection, VarHandle, Unsafe and JNI are not seen");
        }
    }

    /// Returns the noun for counts.
    #[must_use]
    pub fn counted(&self) -> &'static str {
        match self.about() {
            About::Calls => "call",
            About::Places => "moment",
            About::Writes => "write",
        }
    }

    /// Returns the noun for messages.
    fn name(&self) -> &'static str {
        match self.about() {
            About::Calls => "method",
            About::Places => "line",
            About::Writes => "write of the field",
        }
    }

    /// Warns if no loaded class has such a line or field, with the cause and the nearest lines with
    /// code.
    ///
    /// # Errors
    /// If no watched line or field has a requested value.
    pub fn warn_of_nothing(&self, visit: &mut AttachedPlugin) -> Result<(), Error> {
        if visit.instrumented() > 0 {
            return Ok(());
        }
        let left_alone = visit.left_alone();
        if !left_alone.is_empty() {
            let message = format!("no {} can be watched so", self.name());
            let problem = Error::mistake(codes::H0650, message);
            visit.has_told_left_alone();
            let causes = causes(&left_alone).into_iter().take(MOST);
            return Err(causes.fold(problem, |problem, cause| problem.with("found", cause)));
        }
        let message = format!("no {} of a loaded class is watched", self.name());
        let warning = Warning::new(codes::H0650, message);
        let found = self.found(visit).into_iter();
        let warning = found.fold(warning, |warning, note| warning.with("found", note));
        let help = "classes that load later are watched if they have one";
        complain(warning.with("help", help));
        Ok(())
    }

    /// Returns the nearest lines with code for each line, from the plugin's notes on the candidate
    /// classes.
    #[must_use]
    pub fn found(&self, visit: &AttachedPlugin) -> Vec<String> {
        let lines = self.at.iter();
        lines
            .filter_map(|line| nearest(line, visit.notes()))
            .collect()
    }

    /// Returns the error for a visit in which nothing was watched.
    #[must_use]
    pub fn nothing(&self, found: &[String]) -> Error {
        let places = self.at.iter().chain(&self.field);
        let places: Vec<&str> = places.map(String::as_str).collect();
        let problem = Error::mistake(codes::H0650, format!("no {} was watched", self.name())).with(
            "expected",
            format!(
                "at least one {} in a class that is loaded, or was meanwhile",
                self.name()
            ),
        );
        let problem = problem.with("found", places.join(" "));
        found
            .iter()
            .fold(problem, |problem, note| problem.with("found", note))
    }
}

/// Returns the causes for methods that were left alone, each once. For several locations of a line,
/// the one with the most variables in scope counts.
fn causes(left_alone: &[MethodRemark]) -> Vec<String> {
    let cause = |remark: &MethodRemark| remark.text.split(';').next().map(str::to_owned);
    let mut longest: BTreeMap<Option<String>, &MethodRemark> = BTreeMap::new();
    for remark in left_alone {
        let known = longest.entry(cause(remark)).or_insert(remark);
        if known.text.len() < remark.text.len() {
            *known = remark;
        }
    }
    let causes = longest.into_values();
    causes
        .map(|it| format!("{}.{}: {}", it.class, it.method, it.text))
        .collect()
}

/// Returns the nearest lines in all classes that may have a line.
fn nearest(line: &str, notes: &[String]) -> Option<String> {
    let begin = format!(" {line} has no code");
    let notes = notes.iter().filter_map(|note| note.split_once(&begin));
    let mut known: BTreeSet<u16> = BTreeSet::new();
    let mut unnumbered = None;
    for (_, note) in notes {
        let numbers = note.split(|char: char| !char.is_ascii_digit());
        known.extend(numbers.filter_map(|number| number.parse::<u16>().ok()));
        if !note.contains("nearest") {
            unnumbered = Some(format!("{line} has no code{note}"));
        }
    }
    let number: u16 = line.rsplit_once(':')?.1.parse().ok()?;
    let below = known.range(..number).next_back();
    let above = known.range(number..).next();
    match (below, above) {
        (None, None) => unnumbered,
        (Some(one), None) | (None, Some(one)) => Some(format!(
            "{line} has no code; the nearest line with code is {one}"
        )),
        (Some(one), Some(other)) => Some(format!(
            "{line} has no code; the nearest lines with code are {one} and {other}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_lines_combine_all_classes_of_the_file() {
        let note = |text: &str| {
            format!("trace: A.<init>()V: A.java:71 has no code here; the nearest {text}")
        };
        let notes = [
            note("line with code is 12"),
            note("lines with code are 70 and 90"),
            note("line with code is 107"),
            "trace: B.<init>()V: B.java:71 has no code here; the nearest line with code is 72"
                .to_owned(),
        ];
        let found = nearest("A.java:71", &notes);
        let expected = "A.java:71 has no code; the nearest lines with code are 70 and 90";
        assert_eq!(found.as_deref(), Some(expected));
        assert_eq!(nearest("C.java:71", &notes), None);
    }
}
