//! Java sources compiled for a JVM that runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use attach::Attachment;
use tempfile::TempDir;

use crate::agent::unreached;
use crate::problem::Problem;

/// What there is to know of the JVM that the classes are for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    /// `java.home`.
    home: PathBuf,
    /// `java.specification.version`: `17`.
    release: String,
    /// `java.class.path`, with every entry absolute.
    class_path: OsString,
}

/// Compiles sources into a temporary folder of class files, as the JVM `pid` would have them.
///
/// `class_path` is used in place of the JVM's own. The compiler is that of the JVM's JDK, or of `JAVA_HOME`,
/// or the first in `PATH`; another one than the JVM's own is told to compile for the JVM's release.
///
/// # Errors
/// If the JVM does not tell of itself (`H05xx`), there is no compiler (`H0725`), or it refuses the sources (`H0726`).
pub fn compile(
    pid: i32,
    sources: &[PathBuf],
    class_path: Option<&OsString>,
) -> Result<TempDir, Problem> {
    let facts = Facts::of(pid)?;
    let (javac, own) = facts.compiler()?;
    let folder =
        tempfile::tempdir().map_err(|error| Problem::unwritable(&std::env::temp_dir(), &error))?;
    let mut command = Command::new(&javac);
    command
        .env_remove("JAVA_TOOL_OPTIONS") // no agent in this one
        .args(["-g", "-nowarn", "-d"])
        .arg(folder.path())
        .arg("-classpath")
        .arg(class_path.unwrap_or(&facts.class_path));
    if !own {
        command.args(["--release", &facts.release]);
    }
    let output = command.args(sources).output().map_err(|error| {
        Problem::user("H0725", format!("cannot start {}", javac.display()))
            .with("found", error.to_string())
    })?;
    if output.status.success() {
        return Ok(folder);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(
        Problem::user("H0726", "the sources do not compile; nothing was changed")
            .with("javac", said.trim())
            .with(
                "help",
                "sources are compiled on the JVM's class path; --class-path names another",
            ),
    )
}

impl Facts {
    fn of(pid: i32) -> Result<Self, Problem> {
        let jvm = Attachment::open(pid).map_err(unreached)?;
        let text = jvm.properties().map_err(unreached)?;
        let value = |key: &str| property(&text, key).unwrap_or_default();
        let working_directory = jvm.process().working_directory();
        let entries = value("java.class.path");
        let absolute = entries
            .split(':')
            .filter(|entry| !entry.is_empty())
            .map(|entry| working_directory.join(entry));
        Ok(Self {
            home: PathBuf::from(value("java.home")),
            release: value("java.specification.version"),
            class_path: std::env::join_paths(absolute).unwrap_or_default(),
        })
    }

    /// The compiler, and whether it is the JVM's own.
    fn compiler(&self) -> Result<(PathBuf, bool), Problem> {
        let own = self.home.join("bin/javac");
        if own.is_file() {
            return Ok((own, true));
        }
        let from_environment =
            std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = from_environment
            .into_iter()
            .chain(std::env::split_paths(&path));
        let mut places = folders.map(|folder| folder.join("javac"));
        let found = places.find(|javac| javac.is_file());
        found
            .map(|javac| (javac, false))
            .ok_or_else(|| no_compiler(&own))
    }
}

fn no_compiler(own: &Path) -> Problem {
    Problem::user("H0725", "there is no Java compiler")
        .with("looked", format!("{}, JAVA_HOME and PATH", own.display()))
        .with(
            "help",
            "set JAVA_HOME to a JDK, or compile the sources yourself and name the class files",
        )
}

/// A value in the text of `java.util.Properties`, its escapes undone.
fn property(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find_map(|line| {
        let (found, value) = line.split_once('=')?;
        (found == key).then_some(value)
    })?;
    let mut value = String::new();
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        let literal = match char {
            '\\' => match chars.next() {
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok();
                    code.and_then(char::from_u32).unwrap_or('?')
                }
                Some('t') => '\t',
                Some('n') => '\n',
                Some(escaped) => escaped,
                None => break,
            },
            char => char,
        };
        value.push(literal);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_properties_are_undone() {
        let text =
            "#Sat Nov 21\njava.home=/usr/lib/jvm\\:x\njava.class.path=a b\\\\c\\u00e9\nempty=\n";
        assert_eq!(
            property(text, "java.home").as_deref(),
            Some("/usr/lib/jvm:x")
        );
        assert_eq!(
            property(text, "java.class.path").as_deref(),
            Some("a b\\cé")
        );
        assert_eq!(property(text, "empty").as_deref(), Some(""));
        assert_eq!(property(text, "java"), None);
    }

    #[test]
    fn compiler_of_the_jvm_itself_comes_first() {
        let home = tempfile::tempdir().unwrap();
        let javac = home.path().join("bin/javac");
        std::fs::create_dir_all(home.path().join("bin")).unwrap();
        std::fs::write(&javac, "").unwrap();
        let facts = Facts {
            home: home.path().to_owned(),
            release: "17".into(),
            class_path: OsString::new(),
        };
        assert_eq!(facts.compiler().unwrap(), (javac, true));
    }
}
