//! Build tools: their names, options and folders.

use std::ffi::OsStr;
use std::path::Path;

/// A build tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// Apache Maven.
    Maven,
    /// Gradle.
    Gradle,
    /// Apache Ant.
    Ant,
    /// Bazel.
    Bazel,
}

impl Tool {
    /// Returns the tool with this program name.
    pub(super) fn of(command: &OsStr) -> Option<Self> {
        let name = Path::new(command).file_name()?.to_str()?;
        Some(match name {
            "mvn" | "mvnw" => Self::Maven,
            "gradle" | "gradlew" => Self::Gradle,
            "ant" => Self::Ant,
            "bazel" | "bazelisk" => Self::Bazel,
            _ => return None,
        })
    }

    /// The program's name in `PATH`.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Maven => "mvn",
            Self::Gradle => "gradle",
            Self::Ant => "ant",
            Self::Bazel => "bazel",
        }
    }

    /// The name for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Maven => "Maven",
            Self::Gradle => "Gradle",
            Self::Ant => "Ant",
            Self::Bazel => "Bazel",
        }
    }

    /// The options that name the project's folder, or a file in it.
    pub(super) fn folder_options(self) -> &'static [&'static str] {
        match self {
            Self::Maven => &["-f", "--file"],
            Self::Gradle => &["-p", "--project-dir"],
            Self::Ant => &["-f", "-file", "-buildfile"],
            Self::Bazel => &[],
        }
    }

    /// The variables that name the tool's folder.
    pub(super) fn home_variables(self) -> &'static [&'static str] {
        match self {
            Self::Maven => &["MAVEN_HOME", "M2_HOME"],
            Self::Gradle => &["GRADLE_HOME"],
            Self::Ant => &["ANT_HOME"],
            Self::Bazel => &[],
        }
    }

    /// The variable with the folder for the tool's downloads, that folder's name in the user's
    /// home, and its sub-folders with parts of the tool itself.
    pub(super) fn user_folder(
        self,
    ) -> Option<(&'static str, &'static str, &'static [&'static str])> {
        match self {
            Self::Maven => Some(("MAVEN_USER_HOME", ".m2", &["wrapper"])),
            Self::Gradle => Some((
                "GRADLE_USER_HOME",
                ".gradle",
                &[
                    "wrapper",
                    "daemon",
                    "caches/*/workerMain",
                    "caches/*/generated-gradle-jars",
                ],
            )),
            Self::Ant => None,
            Self::Bazel => Some(("TEST_TMPDIR", ".cache/bazel", &["*/install"])),
        }
    }
}
