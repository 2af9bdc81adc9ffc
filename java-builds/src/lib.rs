//! Build tools on the command line: separates the own classes of a project from those of the tool.
//!
//! | module | holds |
//! |---|---|
//! | `command` | the build tool in a command, also behind `env` or in a script |
//! | `tool` | the tools, and their marks in a folder |
//! | `selection` | the projects that the arguments select |
//! | `folders` | the class folders of the projects |
//!
//! [`Build::of`] returns `None` for a command without a build tool. No function fails.
//!
//! ```
//! use java_builds::Build;
//!
//! let command = ["mvn", "-q", "test"].map(Into::into);
//! let build = Build::of(&command).expect("Maven is a build tool");
//! assert!(build.exclusions().iter().any(|it| it.starts_with("!loader:")));
//! assert!(!build.is_partial());
//!
//! assert_eq!(Build::of(&["true"].map(Into::into)), None);
//! ```
#![forbid(unsafe_code)]

mod command;
mod folders;
mod selection;
mod tool;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use local_files::programs::find_program;
use trace::numbers::counted;

use self::command::Call;
use self::tool::Tool;

/// A build that is about to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    tool: Tool,
    /// The project's folder.
    folder: PathBuf,
    /// Folders of the projects that the command names; absent if it builds all projects.
    selected: Option<Vec<PathBuf>>,
    /// Folders of the tool itself.
    homes: Vec<PathBuf>,
}

impl Build {
    /// Finds the build in a command: a build tool, also behind `env` and similar programs or in a
    /// script, or any program that is started in a project's folder.
    #[must_use]
    pub fn of(command: &[OsString]) -> Option<Self> {
        let call = Call::of(command)?;
        let (tool, named) = (call.tool, folder_of(call.tool, &call.arguments));
        let folder = match (
            call.folder.as_os_str().is_empty(),
            named.as_os_str().is_empty(),
        ) {
            (true, _) => named,
            (false, true) => call.folder,
            (false, false) => call.folder.join(named),
        };
        let folder = match folder.is_file() {
            true => folder.parent().map(Path::to_owned).unwrap_or_default(),
            false => folder,
        };
        Some(Self {
            tool,
            selected: selection::selected(tool, &folder, &call.arguments),
            folder,
            homes: homes(tool, &call.program),
        })
    }

    /// Returns the selectors that exclude the tool's own classes.
    #[must_use]
    pub fn exclusions(&self) -> Vec<String> {
        let outside = |home: &PathBuf| {
            let path = home.to_str()?.replace(';', "?");
            Some(format!("!location:{path}"))
        };
        let mut selectors: Vec<String> = self.homes.iter().filter_map(outside).collect();
        if self.tool == Tool::Maven {
            // Excludes Maven's core and all plugins. Tests have loaders of their own, also within
            // Maven's JVM.
            selectors.push("!loader:org.codehaus.plexus.classworlds.realm.**".to_owned());
        }
        selectors
    }

    /// Returns the existing folders and jars with the project's own classes, without tests.
    #[must_use]
    pub fn classes(&self) -> Vec<String> {
        let found = match self.tool {
            Tool::Maven => folders::below(&folders::maven_modules(&self.folder), "target/classes"),
            Tool::Gradle => folders::gradle_classes(&self.folder),
            Tool::Ant => folders::ant_classes(&self.folder),
            Tool::Bazel => folders::bazel_libraries(&self.folder),
        };
        let texts = found.iter().map(|path| path.display().to_string());
        texts.collect()
    }

    /// Checks whether the command names some of the projects.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.selected.is_some()
    }

    /// Returns the class locations of a project if the command names the project, the build wrote
    /// there after `since`, or a JVM loaded its classes. The second result counts the other
    /// locations.
    #[must_use]
    pub fn used_classes(
        &self,
        since: SystemTime,
        is_loaded: &dyn Fn(&str) -> bool,
    ) -> (Vec<String>, usize) {
        let all = self.classes();
        let Some(selected) = &self.selected else {
            return (all, 0);
        };
        let is_used = |place: &String| {
            let place = Path::new(place);
            let is_selected = selected.iter().any(|project| self.holds(project, place));
            is_selected || selection::is_used(place, since, is_loaded)
        };
        let (used, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_used);
        (used, others.len())
    }

    /// Checks whether a class location belongs to a project itself, and not to a project within it.
    fn holds(&self, project: &Path, place: &Path) -> bool {
        let Ok(within) = place.strip_prefix(project) else {
            return false;
        };
        let first = within.components().next();
        let first = first
            .map(|part| part.as_os_str().to_owned())
            .unwrap_or_default();
        match self.tool {
            Tool::Maven => first == "target",
            Tool::Gradle => first == "build",
            Tool::Ant | Tool::Bazel => true,
        }
    }

    /// Returns the source folders of the build, with the folders of generated sources.
    #[must_use]
    pub fn sources(&self) -> Vec<PathBuf> {
        let modules = match self.tool {
            Tool::Maven => folders::maven_modules(&self.folder),
            Tool::Gradle => folders::gradle_projects(&self.folder),
            Tool::Ant => return folders::below(std::slice::from_ref(&self.folder), "src"),
            Tool::Bazel => return Vec::new(),
        };
        let mut sources = folders::main_sources(&modules);
        sources.extend(match self.tool {
            Tool::Maven => folders::generated_by_maven(&modules),
            _ => folders::generated_by_gradle(&modules),
        });
        sources
    }

    /// Returns the project's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the default folder for recordings. The tool's `clean` removes it.
    #[must_use]
    pub fn output_folder(&self) -> Option<PathBuf> {
        match self.tool {
            Tool::Maven => Some(self.folder.join("target/classhook")),
            Tool::Gradle => Some(self.folder.join("build/classhook")),
            Tool::Ant | Tool::Bazel => None,
        }
    }

    /// Returns the tool's name.
    #[must_use]
    pub fn tool(&self) -> &'static str {
        self.tool.name()
    }

    /// Returns a hint for a build in which no JVM had the agent.
    #[must_use]
    pub fn without_agent(&self) -> &'static str {
        match self.tool {
            Tool::Maven | Tool::Ant => {
                "check that the build starts a JVM, and passes its environment (JAVA_TOOL_OPTIONS) on to it"
            }
            Tool::Gradle => {
                "add --no-daemon: a running Gradle daemon does not get the agent; add --rerun-tasks: up-to-date tests do not run"
            }
            Tool::Bazel => {
                "Bazel passes no variables on to tests: add --test_env=JAVA_TOOL_OPTIONS, --cache_test_results=no and --sandbox_writable_path= with the output folder"
            }
        }
    }
}

impl Build {
    /// Returns the likely causes if no JVM of the build loaded one of the project's classes, with
    /// remedies.
    #[must_use]
    pub fn without_classes(&self) -> &'static str {
        match self.tool {
            Tool::Maven => {
                "check that tests exist and were not skipped (-DskipTests, -Dmaven.test.skip). A JVM without JAVA_TOOL_OPTIONS in its environment is not measured"
            }
            Tool::Gradle => {
                "add --rerun-tasks: up-to-date tests do not run. Stop a running daemon, which has no agent: gradle --stop"
            }
            Tool::Ant => "check that the target runs tests, in a separate JVM or in Ant's",
            Tool::Bazel => {
                "cached tests do not run: add --cache_test_results=no, and --test_env=JAVA_TOOL_OPTIONS, which Bazel withholds by default"
            }
        }
    }
}

/// Formats the note about the classes that a report of this build covers.
#[must_use]
pub fn classes_note(tool: &str, classes: &[String]) -> String {
    match classes {
        [] => format!(
            "{tool}: no folder with the project's classes was found, so the report covers all loaded classes, without {tool} itself; --classes names others"
        ),
        [first, rest @ ..] => {
            let more = match rest.len() {
                0 => String::new(),
                count => format!(" and {}", counted(count, "more location")),
            };
            format!(
                "{tool}: the report covers the classes in {first}{more}, without tests and {tool} itself; --classes names others"
            )
        }
    }
}

fn folder_of(tool: Tool, arguments: &[OsString]) -> PathBuf {
    let mut arguments = arguments.iter().filter_map(|argument| argument.to_str());
    let mut named = None;
    while let Some(argument) = arguments.next() {
        for option in tool.folder_options() {
            let value = match argument.strip_prefix(option) {
                Some("") => arguments.next(),
                Some(value) => value.strip_prefix('='),
                None => None,
            };
            named = value.or(named);
        }
    }
    PathBuf::from(named.unwrap_or_default())
}

/// Returns the folders of the tool's installation, and those for downloaded parts of the tool
/// itself.
fn homes(tool: Tool, program: &OsStr) -> Vec<PathBuf> {
    let variable = |name: &&str| std::env::var_os(name).map(PathBuf::from);
    let mut homes: Vec<PathBuf> = tool.home_variables().iter().filter_map(variable).collect();
    if let Some(path) = find_program(program).and_then(|path| path.canonicalize().ok()) {
        let bin = path.parent().filter(|folder| folder.ends_with("bin"));
        let home = bin.and_then(Path::parent);
        homes.extend(
            home.filter(|home| home.join("lib").is_dir())
                .map(Path::to_owned),
        );
    }
    if let Some((variable, folder, parts)) = tool.user_folder() {
        let user = std::env::var_os(variable).map(PathBuf::from);
        let user = user.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(folder)));
        homes.extend(
            user.iter()
                .flat_map(|user| parts.iter().map(|part| user.join(part))),
        );
    }
    let linked = homes
        .clone()
        .into_iter()
        .flat_map(|home| folders::links(&home));
    homes.extend(linked.collect::<Vec<_>>());
    homes.retain(|home| home.is_absolute() && home.components().count() > 2);
    homes.sort();
    homes.dedup();
    homes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(words: &[&str]) -> Option<Build> {
        Build::of(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn build_tools_are_recognised_by_their_names() {
        for (words, tool, folder) in [
            (&["mvn", "test"][..], Tool::Maven, ""),
            (
                &["./mvnw", "-f", "/nowhere/core", "test"],
                Tool::Maven,
                "/nowhere/core",
            ),
            (
                &["mvn", "--file=/nowhere/core"],
                Tool::Maven,
                "/nowhere/core",
            ),
            (&["/w/gradlew", "-p", "app", "check"], Tool::Gradle, "app"),
            (&["ant"], Tool::Ant, ""),
            (&["bazel", "test", "//..."], Tool::Bazel, ""),
        ] {
            let build = build(words).unwrap();
            assert_eq!(
                (build.tool, build.folder),
                (tool, PathBuf::from(folder)),
                "{words:?}"
            );
        }
        assert_eq!(build(&["java", "mvn"]), None);
        assert_eq!(build(&[]), None);
    }

    #[test]
    fn the_tools_own_classes_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().canonicalize().unwrap().join("maven");
        std::fs::create_dir_all(home.join("bin")).unwrap();
        std::fs::create_dir_all(home.join("lib")).unwrap();
        let mvn = home.join("bin/mvn");
        std::fs::write(&mvn, "").unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&mvn, std::fs::Permissions::from_mode(0o755)).unwrap();
        let build = build(&[mvn.to_str().unwrap(), "test"]).unwrap();
        let selectors = build.exclusions();
        assert!(
            selectors.contains(&format!("!location:{}", home.display())),
            "{selectors:?}"
        );
        assert!(
            selectors.iter().any(|it| it.ends_with(".m2/wrapper")),
            "{selectors:?}"
        );
        assert!(
            selectors.iter().any(|it| it.starts_with("!loader:")),
            "{selectors:?}"
        );
    }
}
