//! Messages about rules and patterns that match no class, with similar names.

use std::collections::BTreeSet;

use control::Request;
use control::message::{Class, Plugin, Status};
use errors::{Error, Warning};
use trace::numbers::counted;

use crate::agent::Agent;
use crate::args::PluginSettings;
use crate::select::Filter;
use crate::show::complain;
use crate::unchanged_classes::UnchangedClasses;

/// Minimum similarity of a suggested name, from 0 to 1.
const LIKE: f64 = 0.8;

/// Warns of each class that a plugin's rules or patterns name and that is not loaded.
///
/// # Errors
/// As [`Agent::connect`] and [`Agent::ask`].
pub fn warn(pid: i32, settings: &PluginSettings) -> Result<(), Error> {
    let mut agent = Agent::connect(pid)?;
    let status: Status = agent.ask_for(&Request::Status)?;
    if status
        .plugins
        .iter()
        .all(|plugin| plugin.unmatched.is_empty())
    {
        return Ok(());
    }
    let classes = agent.classes()?.into_iter();
    let names: Vec<String> = classes.map(|class| class.name).collect();
    for plugin in status.plugins {
        for class in plugin.unmatched {
            let withheld = UnchangedClasses::find(&mut agent, &class, settings);
            let what = match withheld {
                Some(_) => "sees no matching class",
                None => "no loaded class matches",
            };
            let text = format!("plugin {}: {what} {class}", plugin.name);
            let warning = Warning::new("H0652", text);
            let warning = match (withheld, nearest(&class, &names)) {
                (Some(found), _) => warning
                    .with("found", found.found())
                    .with("help", found.help()),
                (None, Some(name)) => warning.with("nearest", name),
                (None, None) => warning,
            };
            let help = "its rules have no effect before such a class is loaded; the agent's last message reports if none was";
            complain(warning.with("help", help));
        }
    }
    Ok(())
}

/// Warns if no plugin has changed a loaded class, although each named class is loaded.
///
/// # Errors
/// As [`Agent::connect`] and [`Agent::ask`].
pub fn warn_of_nothing(pid: i32, settings: &PluginSettings) -> Result<(), Error> {
    let select = settings.select.as_slice();
    let mut agent = Agent::connect(pid)?;
    let status: Status = agent.ask_for(&Request::Status)?;
    let is_idle = |plugin: &Plugin| plugin.changed == 0 && plugin.unmatched.is_empty();
    if status.plugins.is_empty() || !status.plugins.iter().all(is_idle) {
        return Ok(());
    }
    let names: Vec<String> = match select {
        [] => Vec::new(),
        _ => agent
            .classes()?
            .into_iter()
            .map(|class| class.name)
            .collect(),
    };
    let mut parts = select
        .iter()
        .flat_map(|text| text.split(';'))
        .map(str::trim);
    let is_name = |part: &&str| !part.starts_with(['!', '@', '<']) && !part.contains(':');
    let withheld = parts.find_map(|part| {
        let glob = Some(part).filter(is_name)?;
        UnchangedClasses::find(&mut agent, glob, settings)
    });
    match withheld {
        Some(found) => complain(
            nothing_changed(select, &[])
                .with("found", found.found())
                .with("help", found.help()),
        ),
        None => complain(nothing_changed(select, &names)),
    }
    Ok(())
}

/// Returns the warning that no loaded class is changed, with names similar to `select`.
fn nothing_changed(select: &[String], classes: &[String]) -> Warning {
    let warning = Warning::new("H0650", "no loaded class is changed");
    let warning = match select {
        [] => warning,
        _ => warning.with("found", format!("--select {}", select.join(" "))),
    };
    let parts = select.iter().flat_map(|text| text.split(';'));
    let nearest = parts.filter_map(|part| meant(part.trim(), classes, &[]));
    let warning = nearest.fold(warning, |warning, name| warning.with("nearest", name));
    let help =
        "selected classes that load later are changed; `classhook classes` lists the loaded ones";
    warning.with("help", help)
}

/// Returns the class with the name most similar to this selector, if it is similar enough. A
/// selector without a package may match a class in any.
#[must_use]
pub fn nearest(class: &str, classes: &[String]) -> Option<String> {
    let wanted = class.trim_end_matches(['*', '.']);
    let likeness = |name: &String| {
        let whole = strsim::jaro_winkler(wanted, name);
        let simple = name.rsplit(['.', '$']).next().unwrap_or(name);
        match wanted.contains('.') {
            true => whole,
            false => whole.max(strsim::jaro_winkler(wanted, simple)),
        }
    };
    let best = classes
        .iter()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(best) > LIKE).then(|| best.clone())
}

/// Returns the error for a filter that selects no class, with the nearest names or a hint.
#[must_use]
pub fn selection(filter: &Filter, classes: &[String], loaders: &[String]) -> Error {
    let selectors = filter.texts();
    let found = selectors.iter().map(|text| format!("--select {text}"));
    let found = found.collect::<Vec<_>>().join(" ");
    let problem = nothing(
        "the selection matches no class",
        found,
        selectors,
        classes,
        loaders,
    );
    let help = match classes.len() {
        0 => "no class to measure was loaded; classes from `classhook instrument` record by themselves"
            .to_owned(),
        1 => "1 class can be selected".to_owned(),
        count => format!("{} can be selected", counted(count, "class")),
    };
    problem.with("help", help)
}

/// Returns the error for a selector that matches no class loaded in a JVM.
#[must_use]
pub fn among_loaded(selector: &str, classes: &[Class]) -> Error {
    let names: Vec<String> = classes.iter().map(|class| class.name.clone()).collect();
    let loaders = classes.iter().map(|class| {
        let loader = class.loader.split('@').next();
        loader.unwrap_or_default().to_owned()
    });
    let loaders: BTreeSet<String> = loaders.collect();
    let loaders: Vec<String> = loaders.into_iter().collect();
    let selectors: Vec<String> = selector
        .split(';')
        .map(|part| part.trim().to_owned())
        .collect();
    nothing(
        "no loaded class matches",
        selector.to_owned(),
        &selectors,
        &names,
        &loaders,
    )
    .with(
        "help",
        format!(
            "loaded: {}; classes that load later are not among them",
            counted(names.len(), "class")
        ),
    )
}

/// Returns the error for selectors without a match, with the nearest names.
fn nothing(
    message: &str,
    found: String,
    selectors: &[String],
    classes: &[String],
    loaders: &[String],
) -> Error {
    let problem = Error::mistake("H0671", message).with("found", found);
    let meant = selectors
        .iter()
        .filter_map(|selector| meant(selector, classes, loaders));
    meant.fold(problem, |problem, name| problem.with("nearest", name))
}

/// Returns the name nearest to a selector.
fn meant(selector: &str, classes: &[String], loaders: &[String]) -> Option<String> {
    if selector.starts_with('!') {
        return None;
    }
    match selector.split_once(':') {
        Some(("loader", loader)) => nearest(loader, loaders).or_else(|| listed(loaders)),
        Some(_) => None,
        None if selector.starts_with('@') => None,
        None => within(selector, classes).or_else(|| nearest(selector, classes)),
    }
}

/// Returns a pattern and the number of its classes, if `selector` names their package.
#[must_use]
pub fn within(selector: &str, classes: &[String]) -> Option<String> {
    let package = format!("{}.", selector.trim_end_matches(['*', '.']));
    let count = classes
        .iter()
        .filter(|class| class.starts_with(&package))
        .count();
    (count > 0).then(|| format!("{package}** ({})", counted(count, "class")))
}

/// Lists the loaders, if any.
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
    fn selector_without_a_loaded_class_names_the_nearest() {
        let class = |name: &str, loader: &str| Class {
            name: name.to_owned(),
            loader: loader.to_owned(),
            ..Class::default()
        };
        let classes = [class("App", "app"), class("a.B", "a.Loader@1f")];
        let problem = among_loaded("Appp", &classes);
        assert_eq!(problem.exit(), 2);
        let text = problem.to_string();
        assert!(
            text.contains("error[H0671]: no loaded class matches"),
            "{text}"
        );
        assert!(text.contains("nearest  App\n"), "{text}");
        let text = among_loaded("loader:a.Laoder", &classes).to_string();
        assert!(text.contains("nearest  a.Loader\n"), "{text}");
    }

    #[test]
    fn simple_name_matches_a_class_in_any_package() {
        let classes = ["shop.Orders", "shop.Customer$Order", "a.b.Ordner"].map(str::to_owned);
        let nearest = |class| nearest(class, &classes);
        assert_eq!(nearest("Orders").as_deref(), Some("shop.Orders"));
        assert_eq!(nearest("Order").as_deref(), Some("shop.Customer$Order"));
        assert_eq!(nearest("Ordners").as_deref(), Some("a.b.Ordner"));
        assert_eq!(nearest("Warehouse"), None);
    }

    #[test]
    fn unused_plugins_are_reported_with_the_nearest_class() {
        let select = ["Appp.**".to_owned()];
        let text = nothing_changed(&select, &["App".to_owned()]).to_string();
        assert!(text.contains("warning[H0650]"), "{text}");
        assert!(text.contains("nearest  App\n"), "{text}");
    }

    #[test]
    fn empty_selection_names_the_nearest_class() {
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
        assert!(told("zzz.**").contains("2 classes can be"));
    }
}
