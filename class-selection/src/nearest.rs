//! The names nearest to rules and patterns that match no class.

use std::collections::BTreeSet;

use control::message::Class;
use errors::{Error, codes};
use trace::numbers::counted;

use crate::filter::Filter;

/// Minimum similarity of a suggested name, from 0 to 1.
const LIKE: f64 = 0.8;

/// Packages of the JDK. Among classes with one simple name, those of the application come first.
const OF_JDK: [&str; 6] = ["java.", "javax.", "jdk.", "sun.", "com.sun.", "org.xml."];

/// Returns the class with the name most similar to this selector, if it is similar enough. A
/// selector without a package may match a class in any package, and matches one with its simple name first.
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
    let is_of_jdk = |name: &String| OF_JDK.iter().any(|package| name.starts_with(package));
    let best = classes.iter().max_by(|one, other| {
        let by_likeness = likeness(one).total_cmp(&likeness(other));
        let by_origin = is_of_jdk(other).cmp(&is_of_jdk(one));
        let by_length = other.len().cmp(&one.len());
        by_likeness.then(by_origin).then(by_length)
    })?;
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
    let problem = Error::mistake(codes::H0671, message).with("found", found);
    let meant = selectors
        .iter()
        .filter_map(|selector| meant(selector, classes, loaders));
    meant.fold(problem, |problem, name| problem.with("nearest", name))
}

/// Returns the name nearest to a selector.
#[must_use]
pub fn meant(selector: &str, classes: &[String], loaders: &[String]) -> Option<String> {
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
    fn class_without_its_package_is_found_in_the_application_first() {
        let names = [
            "com.acme.parser.inner.Tool",
            "com.acme.Tool",
            "sun.Tool",
            "com.acme.Tools",
        ];
        let names = names.map(str::to_owned);
        for selector in ["Tool", "Tool*"] {
            assert_eq!(nearest(selector, &names).as_deref(), Some("com.acme.Tool"));
        }
        assert_eq!(nearest("Tol", &names).as_deref(), Some("com.acme.Tool"));
        assert_eq!(nearest("sun.Tol", &names).as_deref(), Some("sun.Tool"));
        assert_eq!(nearest("Other", &names), None);
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
