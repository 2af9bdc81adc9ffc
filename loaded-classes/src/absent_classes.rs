//! Errors about classes of a patch that no loader finds, with the nearest existing name.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use agent_connection::agent::Agent;
use class_selection::nearest;
use coverage_inputs::archive::Entries;
use errors::{Error, codes};
use java_compiler::javac;
use jvms::names::binary;
use standard_streams::show;
use zip::ZipArchive;

/// Limit on the names that are compared.
const MOST_NAMES: usize = 200_000;

/// Returns the error for a patch whose classes no loader finds, with the nearest existing names.
#[must_use]
pub fn problem(agent: &mut Agent, absent: &[String]) -> Error {
    let names = names(agent, absent);
    let problem = Error::mistake(
        codes::H0730,
        "no loader finds this class; nothing was changed",
    );
    let problem = absent.iter().fold(problem, |problem, class| {
        let problem = problem.with("class", class);
        match nearest(class, &names) {
            Some(name) => problem.with("nearest", show::name(&name).into_owned()),
            None => problem,
        }
    });
    problem.with(
        "help",
        "correct the name, leave the class out with --partial, or wait for it with --force",
    )
}

/// Returns the class with the same simple name, or else the class with the most similar name.
fn nearest(class: &str, names: &[String]) -> Option<String> {
    let simple = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let wanted = simple(class);
    let same = names.iter().find(|name| simple(name) == wanted);
    same.cloned().or_else(|| nearest::nearest(class, names))
}

/// Returns the names of the loaded classes and of the classes on the class path. A JVM that does
/// not answer adds no names.
fn names(agent: &mut Agent, absent: &[String]) -> Vec<String> {
    let absent: HashSet<&String> = absent.iter().collect();
    let loaded = agent.classes().unwrap_or_default();
    let mut names: Vec<String> = loaded.into_iter().map(|class| class.name).collect();
    for place in javac::class_path(agent.pid()).unwrap_or_default() {
        match place.is_dir() {
            true => in_folder(&place, &mut names),
            false => in_archive(&place, &mut names),
        }
    }
    names.retain(|name| !absent.contains(name));
    names.sort_unstable();
    names.dedup();
    names
}

/// Adds the classes of a folder. Symbolic links are not followed.
fn in_folder(root: &Path, names: &mut Vec<String>) {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path();
            if names.len() >= MOST_NAMES {
                return;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ => names.extend(path.strip_prefix(root).ok().and_then(class_of)),
            }
        }
    }
}

fn in_archive(place: &Path, names: &mut Vec<String>) {
    let Ok(file) = File::open(place) else {
        return;
    };
    let Ok(archive) = ZipArchive::new(BufReader::new(file)) else {
        return;
    };
    let room = MOST_NAMES.saturating_sub(names.len());
    let entries = Entries::of(&archive).map(PathBuf::from);
    names.extend(entries.filter_map(|path| class_of(&path)).take(room));
}

/// Returns the class of a file, from its path below an entry of a class path.
fn class_of(path: &Path) -> Option<String> {
    let name = path.to_str()?.strip_suffix(".class")?;
    let within = ["BOOT-INF/classes/", "WEB-INF/classes/"];
    let name = within
        .iter()
        .find_map(|root| name.strip_prefix(root))
        .unwrap_or(name);
    Some(binary(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_simple_name_in_another_package_is_the_nearest_class() {
        let names = ["shop.Accounts", "com.acme.shop.Account", "App"].map(str::to_owned);
        let near = |class: &str| nearest(class, &names);
        assert_eq!(
            near("shop.Account").as_deref(),
            Some("com.acme.shop.Account")
        );
        assert_eq!(near("shop.Acounts").as_deref(), Some("shop.Accounts"));
        assert_eq!(near("zzz.Q"), None);
    }

    #[test]
    fn class_names_follow_from_file_paths() {
        let class = |path: &str| class_of(Path::new(path));
        assert_eq!(class("a/B$C.class").as_deref(), Some("a.B$C"));
        assert_eq!(class("BOOT-INF/classes/a/B.class").as_deref(), Some("a.B"));
        assert_eq!(class("a/B.java"), None);
    }
}
