//! The projects that a build's command line selects, and those that the build used as well.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use coverage_inputs::class_files;

use super::folders;
use super::tool::Tool;

/// Options of Gradle whose value is the next word.
const GRADLE_VALUES: [&str; 14] = [
    "-x",
    "--exclude-task",
    "--tests",
    "-p",
    "--project-dir",
    "-I",
    "--init-script",
    "-g",
    "--gradle-user-home",
    "-c",
    "--settings-file",
    "-b",
    "--build-file",
    "--console",
];

/// Returns the folders of the projects that a command names, or nothing if it builds all.
pub(super) fn selected(tool: Tool, folder: &Path, arguments: &[OsString]) -> Option<Vec<PathBuf>> {
    let words = arguments.iter().filter_map(|word| word.to_str());
    let words: Vec<&str> = words.collect();
    match tool {
        Tool::Maven => maven(folder, &words),
        Tool::Gradle => gradle(folder, &words),
        Tool::Bazel => bazel(folder, &words),
        Tool::Ant => None,
    }
}

/// Returns the modules of `-pl one,:two,!three`, and the module at which `-rf` resumes.
fn maven(folder: &Path, words: &[&str]) -> Option<Vec<PathBuf>> {
    let values = |short: &str, long: &str| -> Vec<String> {
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let value = match *word == short || *word == long {
                true => words.get(at + 1).copied(),
                false => word
                    .strip_prefix(long)
                    .and_then(|rest| rest.strip_prefix('=')),
            };
            let parts = value.into_iter().flat_map(|value| value.split(','));
            found.extend(parts.map(|part| part.trim().to_owned()));
        }
        found
    };
    let (named, resumed) = (values("-pl", "--projects"), values("-rf", "--resume-from"));
    if named.is_empty() && resumed.is_empty() {
        return None;
    }
    let modules = folders::maven_modules(folder);
    let excluded = |part: &&String| part.starts_with(['!', '-']);
    let (out, within): (Vec<_>, Vec<_>) = named.iter().chain(&resumed).partition(excluded);
    let meant = |module: &PathBuf, parts: &[&String]| {
        let mut names = parts
            .iter()
            .map(|part| part.trim_start_matches(['!', '-', '+', '?']));
        names.any(|name| is_module(folder, module, name))
    };
    let is_selected = |module: &PathBuf| {
        let is_within = within.is_empty() || meant(module, &within);
        is_within && !meant(module, &out)
    };
    Some(modules.into_iter().filter(is_selected).collect())
}

/// Checks whether a module has this path or `group:artifact`.
fn is_module(folder: &Path, module: &Path, name: &str) -> bool {
    if let Some((_, artifact)) = name.split_once(':') {
        return artifact_of(module).as_deref() == Some(artifact);
    }
    let path = folder.join(name);
    let path = match path.is_file() {
        true => path.parent().map(Path::to_owned).unwrap_or_default(),
        false => path,
    };
    let real = |path: &Path| Path::new(".").join(path).canonicalize().ok();
    real(&path).is_some_and(|path| real(module) == Some(path))
}

/// Returns the `artifactId` of a module, not that of its parent.
fn artifact_of(module: &Path) -> Option<String> {
    let pom = fs::read_to_string(module.join("pom.xml")).ok()?;
    let (before, behind) = pom.split_once("<parent>").unwrap_or((&pom, ""));
    let behind = behind
        .split_once("</parent>")
        .map_or("", |(_, behind)| behind);
    let own = [before, behind].concat();
    let own = own.split("<dependencies>").next()?;
    let (_, rest) = own.split_once("<artifactId>")?;
    Some(rest.split('<').next()?.trim().to_owned())
}

/// Returns the projects of tasks such as `:web:test`, or nothing if a task covers all projects.
fn gradle(folder: &Path, words: &[&str]) -> Option<Vec<PathBuf>> {
    let mut words = words.iter();
    let mut projects = Vec::new();
    while let Some(word) = words.next() {
        if GRADLE_VALUES.contains(word) {
            words.next();
        } else if !word.starts_with('-') {
            let (project, _) = word.rsplit_once(':')?;
            let project = project.trim_start_matches(':').replace(':', "/");
            projects.push(folder.join(project));
        }
    }
    (!projects.is_empty()).then_some(projects)
}

/// Returns the packages of `//web:all` and `//web/...` in `bazel-bin`, or nothing if a target covers
/// all.
fn bazel(folder: &Path, words: &[&str]) -> Option<Vec<PathBuf>> {
    let targets = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    let mut packages = Vec::new();
    for target in targets {
        let path = target.trim_start_matches('/');
        let path = path
            .split(':')
            .next()?
            .trim_end_matches("...")
            .trim_end_matches('/');
        if path.is_empty() {
            return None;
        }
        packages.push(folder.join("bazel-bin").join(path));
    }
    (!packages.is_empty()).then_some(packages)
}

/// Checks whether a build used a class location: it wrote one of its files, or a JVM loaded one of
/// its classes.
pub(super) fn is_used(place: &Path, since: SystemTime, is_loaded: &dyn Fn(&str) -> bool) -> bool {
    let is_new = |path: &Path| {
        let changed = path.metadata().and_then(|found| found.modified());
        changed.is_ok_and(|changed| changed >= since)
    };
    if place.is_file() && is_new(place) {
        return true;
    }
    let names = class_files::names(place);
    names
        .iter()
        .any(|(file, class)| is_loaded(class) || file.as_deref().is_some_and(is_new))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: Tool, folder: &Path, words: &[&str]) -> Option<Vec<String>> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let found = selected(tool, folder, &words)?.into_iter();
        let found = found.map(|path| path.strip_prefix(folder).unwrap().display().to_string());
        Some(found.collect())
    }

    #[test]
    fn maven_modules_are_selected_by_path_and_artifact() {
        let root = tempfile::tempdir().unwrap();
        let pom = |folder: &str, text: &str| {
            fs::create_dir_all(root.path().join(folder)).unwrap();
            fs::write(root.path().join(folder).join("pom.xml"), text).unwrap();
        };
        pom(
            "",
            "<artifactId>all</artifactId><module>one</module><module>two</module><module>three</module>",
        );
        let parent = "<parent><artifactId>all</artifactId></parent>";
        for name in ["one", "two", "three"] {
            pom(
                name,
                &format!("{parent}<artifactId>the-{name}</artifactId>"),
            );
        }
        let of = |words: &[&str]| of(Tool::Maven, root.path(), words);
        let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(of(&["test"]), None);
        assert_eq!(of(&["-pl", "one", "test"]), named(&["one"]));
        assert_eq!(
            of(&["test", "--projects=one, :the-three"]),
            named(&["one", "three"])
        );
        assert_eq!(
            of(&["-pl", "g:the-two,?./one/pom.xml", "-am"]),
            named(&["one", "two"])
        );
        assert_eq!(of(&["-pl", "!two", "test"]), named(&["", "one", "three"]));
        assert_eq!(of(&["-rf", ":the-two", "test"]), named(&["two"]));
    }

    #[test]
    fn gradle_projects_and_bazel_packages_are_selected_by_tasks() {
        let root = Path::new("/w");
        let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let gradle = |words: &[&str]| of(Tool::Gradle, root, words);
        assert_eq!(gradle(&["test"]), None);
        assert_eq!(gradle(&[":web:test"]), named(&["web"]));
        assert_eq!(
            gradle(&["-x", "lint", "web:ui:test", ":core:test", "--tests", "a"]),
            named(&["web/ui", "core"])
        );
        assert_eq!(gradle(&[":web:test", "check"]), None);
        assert_eq!(gradle(&[":test"]), named(&[""]));
        let bazel = |words: &[&str]| of(Tool::Bazel, root, words);
        assert_eq!(bazel(&["test", "//..."]), None);
        assert_eq!(
            bazel(&["test", "-k", "//web/ui/...", "core:all"]),
            named(&["bazel-bin/web/ui", "bazel-bin/core"])
        );
    }

    #[test]
    fn location_is_used_if_it_was_built_or_loaded() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/B.class"), "x").unwrap();
        let written = root
            .path()
            .join("a/B.class")
            .metadata()
            .unwrap()
            .modified()
            .unwrap();
        let later = written + std::time::Duration::from_secs(1);
        assert!(is_used(root.path(), written, &|_| false));
        assert!(!is_used(root.path(), later, &|class| class == "a/C"));
        assert!(is_used(root.path(), later, &|class| class == "a/B"));
    }
}
