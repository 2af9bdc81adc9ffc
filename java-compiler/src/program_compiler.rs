//! Compiles sources that belong to no loaded class, for the JVM of a program: advice.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use errors::{Error, codes};
use tempfile::TempDir;

use crate::compile_path::CompilePath;
use crate::compiler_options::CompilerOptions;
use crate::javac::{Compiler, Facts};

/// The program whose JVM will load the classes.
#[derive(Debug, Clone, Copy)]
pub enum Program<'p> {
    /// A running JVM.
    Jvm(i32),
    /// A command that starts JVMs. That of `java` names the JDK and the class path; for another
    /// one, the JDK is that of `JAVA_HOME`, or the first in `PATH`.
    Command(&'p [OsString]),
    /// Class files, for any JVM.
    Files(&'p [PathBuf]),
}

/// The options of the user.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// The class path, in place of the program's own.
    pub class_path: Option<OsString>,
    /// The release of the classes (`--release`), in place of that of the program's JVM.
    pub release: Option<u16>,
}

/// The release of classes for any JVM.
const FOR_ANY: u16 = 8;

/// Compiles sources into a temporary folder of class files. `first` is in front of the class path.
///
/// Annotation processors of the program do not run.
///
/// # Errors
/// If the JVM does not describe itself (`H05xx`), no compiler exists (`H0725`), or it rejects the
/// sources (`H0726`).
pub fn compile(
    program: Program<'_>,
    chosen: &Chosen,
    first: &Path,
    sources: &[PathBuf],
) -> Result<TempDir, Error> {
    let facts = facts(program)?;
    let (javac, own) = facts.compiler()?;
    let mut places = vec![first.to_owned()];
    let mut modules = Vec::new();
    match &chosen.class_path {
        Some(given) => places.extend(std::env::split_paths(given)),
        None => {
            places.extend(facts.class_path);
            modules = facts.module_path;
        }
    }
    let path = CompilePath::new(places, modules)?;
    let release = facts.release.parse().ok();
    let wanted = match program {
        Program::Files(_) => Some(FOR_ANY),
        _ => release.filter(|_| !own).filter(|it| *it <= newest(&javac)),
    };
    let options = CompilerOptions {
        release: chosen.release.or(wanted),
        ..CompilerOptions::default()
    };
    let mut arguments = options.arguments(release.filter(|_| own));
    arguments.extend(["-proc:none".to_owned(), "-Xlint:-options".to_owned()]);
    let compiler = Compiler {
        javac: &javac,
        path: &path,
        sources,
        options: arguments,
    };
    compiler.attempt(sources, None)?.map_err(|said| {
        let help = match &chosen.class_path {
            Some(_) => "the class path is that of --advice-class-path",
            None => "--advice-class-path names the classes of the program, if its command does not; --advice-release sets the release of the source",
        };
        Error::mistake(codes::H0726, "the advice does not compile; nothing was changed")
            .with("javac", said.trim())
            .with("help", help)
    })
}

/// Returns the newest release that a compiler knows, its own. A newer JVM runs classes of that release, too.
fn newest(javac: &Path) -> u16 {
    let home = home_of(javac.as_os_str());
    let release = home.and_then(|home| release_of(&home));
    release
        .and_then(|release| release.parse().ok())
        .unwrap_or(u16::MAX)
}

fn facts(program: Program<'_>) -> Result<Facts, Error> {
    let none = Facts {
        home: PathBuf::new(),
        release: String::new(),
        class_path: Vec::new(),
        module_path: Vec::new(),
    };
    Ok(match program {
        Program::Jvm(pid) => Facts::of(pid)?,
        Program::Files(files) => Facts {
            class_path: files.to_vec(),
            ..none
        },
        Program::Command(command) => match command.split_first() {
            Some((first, arguments))
                if Path::new(first).file_name() == Some(OsStr::new("java")) =>
            {
                let home = home_of(first).unwrap_or_default();
                let [class_path, module_path] = paths(arguments);
                Facts {
                    release: release_of(&home)
                        .or_else(|| asked(first))
                        .unwrap_or_default(),
                    home,
                    class_path,
                    module_path,
                }
            }
            _ => none,
        },
    })
}

/// Returns the `java.home` of a `java` that the user names.
fn home_of(java: &OsStr) -> Option<PathBuf> {
    let named = Path::new(java);
    let java = match named.components().count() {
        1 => {
            let path = std::env::var_os("PATH")?;
            let mut places = std::env::split_paths(&path).map(|folder| folder.join(named));
            places.find(|java| java.is_file())?
        }
        _ => named.to_owned(),
    };
    let java = java.canonicalize().ok()?;
    java.parent()?.parent().map(Path::to_owned)
}

/// Reads the release from the file that describes a JDK or JRE: `JAVA_VERSION="17.0.2"`.
fn release_of(home: &Path) -> Option<String> {
    let around = home.parent().filter(|_| home.ends_with("jre"));
    let homes = [Some(home), around].into_iter().flatten();
    let text = homes
        .filter_map(|home| std::fs::read_to_string(home.join("release")).ok())
        .next()?;
    let version = text
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    feature(version)
}

/// Asks a `java` for its release; the packages of some systems have no such file.
fn asked(java: &OsStr) -> Option<String> {
    let output = Command::new(java)
        .env_remove("JAVA_TOOL_OPTIONS") // without the agent
        .arg("-version")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let (_, version) = text.split_once(" version \"")?;
    feature(version)
}

/// Returns the feature release of a version: 17 of `17.0.2`, 8 of `1.8.0_392`.
fn feature(version: &str) -> Option<String> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(digits.to_owned())
}

/// Returns the class path and the module path in the arguments of `java`.
fn paths(arguments: &[OsString]) -> [Vec<PathBuf>; 2] {
    let mut found: [Option<Vec<PathBuf>>; 2] = [None, None];
    let mut left = arguments.iter();
    while let Some(argument) = left.next() {
        let text = argument.to_string_lossy();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (&*text, None),
        };
        let mut value = || {
            value
                .clone()
                .map(OsString::from)
                .or_else(|| left.next().cloned())
        };
        match name {
            "-cp" | "-classpath" | "--class-path" => {
                found[0] = value().map(|path| std::env::split_paths(&path).collect());
            }
            "-p" | "--module-path" => {
                found[1] = value().map(|path| std::env::split_paths(&path).collect());
            }
            "-jar" => {
                found[0] = value().map(|jar| vec![PathBuf::from(jar)]);
                break;
            }
            "--add-modules" | "--add-exports" | "--add-opens" | "--add-reads"
            | "--patch-module" | "--limit-modules" => drop(value()),
            "-m" | "--module" => break,
            name if name.starts_with('-') || name.starts_with('@') => {}
            _ => break, // the main class
        }
    }
    let [class_path, module_path] = found;
    let class_path = class_path.unwrap_or_else(|| {
        let variable = std::env::var_os("CLASSPATH");
        variable.map_or_else(
            || vec![PathBuf::from(".")],
            |path| std::env::split_paths(&path).collect(),
        )
    });
    [
        class_path.into_iter().flat_map(expanded).collect(),
        module_path.unwrap_or_default(),
    ]
}

/// Replaces `FOLDER/*` by the jars of the folder, as `java` does.
fn expanded(place: PathBuf) -> Vec<PathBuf> {
    if place.file_name() != Some(OsStr::new("*")) {
        return vec![place];
    }
    let folder = place
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let paths = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut jars: Vec<PathBuf> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|it| it.eq_ignore_ascii_case("jar"))
        })
        .collect();
    jars.sort();
    jars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> [Vec<PathBuf>; 2] {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        paths(&arguments)
    }

    #[test]
    fn paths_are_those_that_java_uses() {
        let places = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let found = of(&["-Xmx1g", "-cp", "a:b.jar", "Main", "-cp", "x"]);
        assert_eq!(found, [places(&["a", "b.jar"]), places(&[])]);
        let found = of(&["-cp", "a", "-jar", "app.jar", "-cp", "x"]);
        assert_eq!(found[0], places(&["app.jar"]));
        let found = of(&[
            "--class-path=a",
            "-p",
            "mods",
            "--add-opens",
            "a/b=c",
            "-m",
            "a/B",
        ]);
        assert_eq!(found, [places(&["a"]), places(&["mods"])]);
    }

    #[test]
    fn a_star_means_the_jars_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.jar", "a.JAR", "c.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = expanded(folder.path().join("*"));
        let expected = ["a.JAR", "b.jar"].map(|name| folder.path().join(name));
        assert_eq!(found, expected);
    }

    #[test]
    fn release_is_read_from_the_description_of_a_jdk() {
        let home = tempfile::tempdir().unwrap();
        for (text, release) in [
            ("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.2\"\n", "17"),
            ("JAVA_VERSION=\"1.8.0_392\"\n", "8"),
            ("JAVA_VERSION=\"25\"\n", "25"),
        ] {
            std::fs::write(home.path().join("release"), text).unwrap();
            assert_eq!(release_of(home.path()).as_deref(), Some(release));
        }
        assert_eq!(release_of(&home.path().join("none")), None);
    }
}
