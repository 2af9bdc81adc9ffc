//! The folders and jars from which the loaders of a class have loaded classes. Plug-ins are not on
//! the class path.

use std::path::{Path, PathBuf};

use agent_connection::agent::Agent;
use control::classes::Details;
use control::message::Class;
use errors::{Error, Warning, codes};
use standard_streams::show::complain;

/// Returns the class locations of each class's loader and its parents, parents first as in
/// delegation. Unloaded classes and the JVM's own loaders add no location.
///
/// # Errors
/// If the agent does not answer.
pub fn of(
    agent: &mut Agent,
    classes: &[String],
    loader: Option<&str>,
) -> Result<Vec<PathBuf>, Error> {
    let mut loaders: Vec<(String, String)> = Vec::new();
    for name in classes {
        let details = Details {
            loaders: true,
            ..Details::default()
        };
        let mut found = agent.listed(Some(name), details)?;
        found.retain(|class| class.name == *name && is_meant(loader, &class.loader));
        for class in found {
            let chain = class.loaders.unwrap_or_default().into_iter().rev();
            let chain = chain.map(|loader| {
                (
                    loader.class.clone(),
                    format!("{}@{}", loader.class, loader.hash),
                )
            });
            for loader in chain {
                if !loaders.contains(&loader) {
                    loaders.push(loader);
                }
            }
        }
    }
    let mut places = Vec::new();
    for (class, identity) in loaders {
        let details = Details {
            source: true,
            ..Details::default()
        };
        let mut found = agent.listed(Some(&format!("loader:{class}")), details)?;
        found.retain(|class| class.loader == identity);
        for source in found.into_iter().filter_map(|class| class.source) {
            let place = file_of(&host::code_source::path(&source));
            let place = place.map(|place| agent.path(&place.to_string_lossy()));
            places.extend(place.filter(|place| !places.contains(place)));
        }
    }
    Ok(places)
}

/// Fails if the named classes are loaded, but by other loaders, and the wanted loader has no class
/// at all. Unloaded classes may wait for a future loader; a warning reports that.
///
/// # Errors
/// `H0729`, with the loaders of the classes, or if the agent does not answer.
pub fn check(agent: &mut Agent, wanted: &str, names: &[String]) -> Result<(), Error> {
    let mut named = Vec::new();
    for name in names {
        let mut found = agent.listed(Some(name), Details::default())?;
        found.retain(|class| class.name == *name);
        named.extend(found);
    }
    let is_wanted = |class: &Class| is_meant(Some(wanted), &class.loader);
    // In most cases the wanted loader has one of them, and no further request is needed.
    if named.iter().any(is_wanted) {
        return Ok(());
    }
    let class = wanted.split('@').next().unwrap_or(wanted);
    let of_loader = agent.listed(Some(&format!("loader:{class}")), Details::default())?;
    match unknown(of_loader.iter().any(is_wanted), &named) {
        None => Ok(()),
        Some(by) if by.is_empty() => {
            let warning = Warning::new(
                codes::H0729,
                format!("no class is loaded by a loader {wanted} now"),
            );
            let help = "the patch waits for such a loader; `classhook rollback` removes it";
            complain(warning.with("help", help));
            Ok(())
        }
        Some(by) => {
            let problem = Error::mistake(
                codes::H0729,
                format!("no class is loaded by a loader {wanted}"),
            );
            let problem = by
                .into_iter()
                .fold(problem, |problem, found| problem.with("found", found));
            Err(problem.with(
                "help",
                "name one of these loaders, or leave out --loader for all of them",
            ))
        }
    }
}

/// Returns the loaders of the named classes, unless the wanted loader has classes, too.
fn unknown(is_there: bool, named: &[Class]) -> Option<Vec<String>> {
    let line = |class: &Class| format!("{} is loaded by {}", class.name, class.loader);
    (!is_there).then(|| named.iter().map(line).collect())
}

/// Checks whether the user's text matches a loader, as displayed.
fn is_meant(wanted: Option<&str>, displayed: &str) -> bool {
    let class = displayed.split('@').next();
    wanted.is_none_or(|wanted| wanted == displayed || Some(wanted) == class)
}

/// Returns the folder or archive of a path, which may continue within an archive, or nothing for a
/// text that is no path.
fn file_of(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    path.is_absolute().then(|| {
        let outer = path.ancestors().find(|outer| outer.is_file());
        outer.unwrap_or(path).to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_archive_resolves_to_the_outer_file() {
        let folder = tempfile::tempdir().unwrap();
        let jar = folder.path().join("a.jar");
        std::fs::write(&jar, "").unwrap();
        let within = format!("{}/lib/b.jar", jar.display());
        assert_eq!(file_of(&within), Some(jar));
        assert_eq!(file_of("/no/such/folder"), Some("/no/such/folder".into()));
        assert_eq!(file_of("jrt:/java.base"), None);
    }

    #[test]
    fn loaders_of_the_classes_are_named_unless_the_wanted_loader_has_classes() {
        let class = |name: &str, loader: &str| Class {
            name: name.to_owned(),
            loader: loader.to_owned(),
            ..Class::default()
        };
        let named = [class("App", "app"), class("App", "a.L@1f")];
        let by = ["App is loaded by app", "App is loaded by a.L@1f"].map(str::to_owned);
        assert_eq!(unknown(false, &named), Some(by.to_vec()));
        assert_eq!(unknown(true, &named), None);
        assert_eq!(unknown(false, &[]), Some(vec![]));
    }

    #[test]
    fn loaders_match_by_class_or_identity() {
        assert!(is_meant(None, "app") && is_meant(Some("a.L"), "a.L@1f"));
        assert!(is_meant(Some("a.L@1f"), "a.L@1f") && !is_meant(Some("a.L@2"), "a.L@1f"));
    }
}
