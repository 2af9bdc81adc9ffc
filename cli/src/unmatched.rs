//! Rules and patterns that no class matches, told with the names of classes that may be meant.

use control::Request;
use control::classes::Details;
use control::message::{Classes, Status};

use crate::agent::Agent;
use crate::problem::Problem;
use crate::select::Filter;
use crate::show::complain;
use crate::warnings::Warning;

/// How like a name must be to be meant, from 0 to 1.
const LIKE: f64 = 0.8;

/// Warns of each class that a plugin's rules or patterns name and that is not among the loaded ones.
///
/// # Errors
/// As [`Agent::connect`] and [`Agent::ask`].
pub fn warn(pid: i32) -> Result<(), Problem> {
    let mut agent = Agent::connect(pid)?;
    let status: Status = agent.ask_for(&Request::Status)?;
    if status
        .plugins
        .iter()
        .all(|plugin| plugin.unmatched.is_empty())
    {
        return Ok(());
    }
    let classes: Classes = agent.ask_for(&Request::Classes {
        filter: None,
        changed: false,
        skip: 0,
        limit: usize::MAX,
        details: Details::default(),
    })?;
    let names: Vec<String> = classes
        .classes
        .into_iter()
        .map(|class| class.name)
        .collect();
    for plugin in status.plugins {
        for class in plugin.unmatched {
            let text = format!("plugin {}: no loaded class matches {class}", plugin.name);
            let warning = Warning::new("H0652", text);
            let warning = match nearest(&class, &names) {
                Some(name) => warning.with("nearest", name),
                None => warning,
            };
            let help = "what names it has no effect before such a class is loaded; the agent's last words say if none was";
            complain(warning.with("help", help));
        }
    }
    Ok(())
}

/// The class whose name is most like this selector, if one is.
#[must_use]
pub fn nearest(class: &str, classes: &[String]) -> Option<String> {
    let wanted = class.trim_end_matches(['*', '.']);
    let likeness = |name: &String| strsim::jaro_winkler(wanted, name);
    let best = classes
        .iter()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(best) > LIKE).then(|| best.clone())
}

/// The problem that a filter selects none of the classes: which they are nearest to, or what was forgotten.
#[must_use]
pub fn selection(filter: &Filter, classes: &[String], loaders: &[String]) -> Problem {
    let selectors = filter.texts();
    let mut problem = Problem::user("H0671", "the selection matches no class").with(
        "found",
        selectors
            .iter()
            .map(|text| format!("--select {text}"))
            .collect::<Vec<_>>()
            .join(" "),
    );
    for selector in selectors.iter().filter(|text| !text.starts_with('!')) {
        let names = match selector.split_once(':') {
            Some(("loader", loader)) => nearest(loader, loaders).or_else(|| listed(loaders)),
            Some(_) => None,
            None if selector.starts_with('@') => None,
            None => within(selector, classes).or_else(|| nearest(selector, classes)),
        };
        if let Some(name) = names {
            problem = problem.with("nearest", name);
        }
    }
    let help = match classes.len() {
        0 => "no class of the application was loaded at all".to_owned(),
        count => format!("{count} classes are there to select from"),
    };
    problem.with("help", help)
}

/// A pattern that covers classes where `selector` names their package, and how many.
#[must_use]
pub fn within(selector: &str, classes: &[String]) -> Option<String> {
    let package = format!("{}.", selector.trim_end_matches(['*', '.']));
    let count = classes
        .iter()
        .filter(|class| class.starts_with(&package))
        .count();
    (count > 0).then(|| format!("{package}** ({count} classes)"))
}

/// The loaders there are, if any.
fn listed(loaders: &[String]) -> Option<String> {
    (!loaders.is_empty()).then(|| format!("loaders: {}", loaders.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(selector: &str) -> String {
        let filter = Filter::new(&[selector.to_owned()]).unwrap();
        let names = [
            "org.apache.commons.csv.Lexer",
            "org.apache.commons.csv.Token",
        ];
        let classes = names.map(str::to_owned);
        selection(&filter, &classes, &["app".to_owned()]).to_string()
    }

    #[test]
    fn what_is_nearest_to_a_selection_of_nothing_is_told() {
        let nearest = |selector| {
            let told = told(selector);
            let line = told
                .lines()
                .find_map(|line| line.trim().strip_prefix("nearest"));
            line.map(|line| line.trim().to_owned())
        };
        assert_eq!(
            nearest("org.apache.commons").as_deref(),
            Some("org.apache.commons.** (2 classes)")
        );
        assert_eq!(
            nearest("org.apache.comons.csv.Lexer").as_deref(),
            Some("org.apache.commons.csv.Lexer")
        );
        assert_eq!(nearest("loader:foo").as_deref(), Some("loaders: app"));
        assert_eq!(nearest("loader:ap").as_deref(), Some("app"));
        assert_eq!(nearest("zzz.**"), None);
        assert!(told("zzz.**").contains("2 classes are there"));
    }
}
