//! The folders and jars that the loaders of a class have loaded classes from: plug-ins are not on the class path.

use std::path::{Path, PathBuf};

use control::Request;
use control::classes::Details;
use control::message::{Class, Classes};

use crate::agent::Agent;
use crate::problem::Problem;

/// Classes that are asked for at once.
const PAGE: usize = 2_000;

/// Where the loaders of these classes, and the parents of those, have classes from: parents first, as they are asked
/// first. Nothing for classes that are not loaded, and nothing of the JVM's own loaders, whose paths are known.
///
/// # Errors
/// If the agent does not answer.
pub fn of(
    agent: &mut Agent,
    classes: &[String],
    loader: Option<&str>,
) -> Result<Vec<PathBuf>, Problem> {
    let mut loaders: Vec<(String, String)> = Vec::new();
    for name in classes {
        let details = Details {
            loaders: true,
            ..Details::default()
        };
        let mut found = listed(agent, name, details)?;
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
        let mut found = listed(agent, &format!("loader:{class}"), details)?;
        found.retain(|class| class.loader == identity);
        for source in found.into_iter().filter_map(|class| class.source) {
            let place = file_of(&host::code_location::path(&source));
            let place = place.map(|place| agent.path(&place.to_string_lossy()));
            places.extend(place.filter(|place| !places.contains(place)));
        }
    }
    Ok(places)
}

/// All loaded classes that a selector matches.
fn listed(agent: &mut Agent, filter: &str, details: Details) -> Result<Vec<Class>, Problem> {
    let mut all = Vec::new();
    loop {
        let page: Classes = agent.ask_for(&Request::Classes {
            filter: Some(filter.to_owned()),
            changed: false,
            skip: all.len(),
            limit: PAGE,
            details,
        })?;
        let count = page.classes.len();
        all.extend(page.classes);
        if count < PAGE {
            return Ok(all);
        }
    }
}

/// Whether the user means a loader, as it is displayed.
fn is_meant(wanted: Option<&str>, displayed: &str) -> bool {
    let class = displayed.split('@').next();
    wanted.is_none_or(|wanted| wanted == displayed || Some(wanted) == class)
}

/// The folder or archive of a path, which may go on within an archive. None of what is no path.
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
    fn archive_around_an_archive_is_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let jar = folder.path().join("a.jar");
        std::fs::write(&jar, "").unwrap();
        let within = format!("{}/lib/b.jar", jar.display());
        assert_eq!(file_of(&within), Some(jar));
        assert_eq!(file_of("/no/such/folder"), Some("/no/such/folder".into()));
        assert_eq!(file_of("jrt:/java.base"), None);
    }

    #[test]
    fn loaders_are_meant_by_class_or_identity() {
        assert!(is_meant(None, "app") && is_meant(Some("a.L"), "a.L@1f"));
        assert!(is_meant(Some("a.L@1f"), "a.L@1f") && !is_meant(Some("a.L@2"), "a.L@1f"));
    }
}
