//! Compiles Java sources for a running JVM.

use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

use attach::Attachment;
use control::patch::ClassBytes;
use errors::{Error, codes};
use local_files::temporary;
use tempfile::TempDir;
use zip::ZipArchive;

use crate::compile_path::CompilePath;
use crate::compiler_options::CompilerOptions;

/// Properties of the JVM that will load the classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// `java.home`.
    pub(crate) home: PathBuf,
    /// `java.specification.version`: `17`.
    pub(crate) release: String,
    /// `java.class.path`, with every entry absolute.
    pub(crate) class_path: Vec<PathBuf>,
    /// `jdk.module.path`, likewise.
    pub(crate) module_path: Vec<PathBuf>,
}

/// Without the optimising compiler, `javac` finishes a few sources in half of the time.
const QUICK_START: [&str; 2] = [
    "-J-XX:+IgnoreUnrecognizedVMOptions",
    "-J-XX:TieredStopAtLevel=1",
];

/// The oldest release that every compiler compiles for.
const OLDEST: u16 = 8;

/// The classes of the JVM, by names with dots.
pub trait LoadedClasses {
    /// Returns the class locations of the loaders of the named classes.
    ///
    /// # Errors
    /// If the agent does not answer.
    fn places(&mut self, classes: &[String]) -> Result<Vec<PathBuf>, Error>;

    /// Returns the class files of the named classes, except classes that their loaders do not find.
    ///
    /// # Errors
    /// If the agent does not answer.
    fn files(&mut self, classes: &[String]) -> Result<Vec<ClassBytes>, Error>;
}

/// Compiles sources into a temporary folder of class files, as the JVM `pid` would have them.
///
/// `class_path` replaces the JVM's own class path and module path. Nested jars and class folders
/// within jars are unpacked. If the JVM's own path lacks the classes or does not compile them, the
/// locations of their loaders are searched behind it. The compiler is that of the JVM's JDK, or of
/// `JAVA_HOME`, or the first in `PATH`. Its options follow the JVM's class files: release, names of
/// parameters, debug tables. Compilers differ in the accessors between inner classes, and so in the
/// members of a class, so another release would create other members.
///
/// # Errors
/// If the JVM does not describe itself (`H05xx`), no compiler exists (`H0725`), or it rejects the
/// sources (`H0726`).
pub fn compile(
    pid: i32,
    sources: &[PathBuf],
    class_path: Option<&OsString>,
    loaded: &mut dyn LoadedClasses,
) -> Result<TempDir, Error> {
    let facts = Facts::of(pid)?;
    let (javac, own) = facts.compiler()?;
    let mut path = match class_path {
        Some(given) => CompilePath::new(std::env::split_paths(given), [])?,
        None => CompilePath::new(facts.class_path, facts.module_path)?,
    };
    let names = class_names(sources)?;
    let is_there = |name: &String| {
        let file = PathBuf::from(format!("{}.class", name.replace('.', "/")));
        path.places().iter().any(|place| holds(place, &file))
    };
    let mut may_ask = class_path.is_none();
    if may_ask && !names.iter().all(is_there) {
        path.extend(loaded.places(&names)?)?;
        may_ask = false;
    }
    let release = facts.release.parse().ok();
    let known = |files: &[ClassBytes]| {
        let mut options = CompilerOptions::of(files).unwrap_or_default();
        options.release = options.release.or(release);
        options.release = options.release.map(|release| release.max(OLDEST));
        options
    };
    let options = known(&loaded.files(&names)?);
    let compiled = |path: &CompilePath, options: CompilerOptions| {
        let compiler = Compiler {
            javac: &javac,
            path,
            sources,
            options: options.arguments(release.filter(|_| own)),
        };
        compiler.run()
    };
    let classes = match compiled(&path, options) {
        Err(refused) if may_ask && lacks_something(&refused) => {
            let known = path.places().len();
            path.extend(loaded.places(&names)?)?;
            if path.places().len() == known {
                return Err(refused);
            }
            compiled(&path, options)?
        }
        outcome => outcome?,
    };
    // Only now all classes of the sources are known; nested ones may show more options.
    let all = known(&loaded.files(&compiled_classes(classes.path()))?);
    match all == options {
        true => Ok(classes),
        false => compiled(&path, all),
    }
}

/// Returns the entries of a JVM's class path and module path.
///
/// # Errors
/// If the JVM does not describe itself (`H05xx`).
pub fn class_path(pid: i32) -> Result<Vec<PathBuf>, Error> {
    let facts = Facts::of(pid)?;
    Ok([facts.class_path, facts.module_path].concat())
}

/// A run of the compiler.
pub(crate) struct Compiler<'c> {
    pub(crate) javac: &'c Path,
    pub(crate) path: &'c CompilePath,
    pub(crate) sources: &'c [PathBuf],
    pub(crate) options: Vec<String>,
}

/// The compiler's output folder, or its messages.
pub(crate) type CompileResult = Result<TempDir, String>;

impl Compiler<'_> {
    fn run(&self) -> Result<TempDir, Error> {
        let said = match self.attempt(self.sources, None)? {
            Ok(folder) => return Ok(folder),
            Err(said) => said,
        };
        // Classes of a JDK module compile only as part of that module.
        let said = match named_module(&said) {
            Some(module) => match self.in_module(module)? {
                Ok(folder) => return Ok(folder),
                Err(said) => said,
            },
            None => said,
        };
        Err(self.refused(&said))
    }

    /// Compiles sources as part of a module of the compiler's JDK, which replaces the JVM's.
    fn in_module(&self, module: &str) -> Result<CompileResult, Error> {
        let root = temporary::usual_folder()?;
        let mut copies = Vec::new();
        for source in self.sources {
            let text = std::fs::read_to_string(source)
                .map_err(|error| Error::unreadable(source, &error))?;
            let folder = root.path().join(package(&text).replace('.', "/"));
            let copy = folder.join(source.file_name().unwrap_or_default());
            std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::write(&copy, text))
                .map_err(|error| Error::unwritable(&copy, &error))?;
            copies.push(copy);
        }
        let mut patched = OsString::from(format!("{module}="));
        patched.push(root.path());
        self.attempt(&copies, Some(&patched))
    }

    pub(crate) fn attempt(
        &self,
        sources: &[PathBuf],
        module: Option<&OsString>,
    ) -> Result<CompileResult, Error> {
        let folder = temporary::usual_folder()?;
        let mut command = Command::new(self.javac);
        command
            .env_remove("JAVA_TOOL_OPTIONS") // without the agent
            .args(QUICK_START)
            .args(["-J-Duser.language=en", "-nowarn", "-d"])
            .arg(folder.path())
            .arg("-classpath")
            .arg(self.path.to_class_path());
        let mut options = self.options.clone();
        if let Some(module) = module {
            command.arg("--patch-module").arg(module);
            // The compiler accepts no other release for a module of its own.
            if let Some(at) = options.iter().position(|option| option == "--release") {
                options.drain(at..at + 2);
            }
        }
        command.args(options);
        let output = command.args(sources).output().map_err(|error| {
            Error::mistake(
                codes::H0725,
                format!("cannot start {}", self.javac.display()),
            )
            .with("found", error.to_string())
        })?;
        Ok(match output.status.success() {
            true => Ok(folder),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        })
    }

    fn refused(&self, said: &str) -> Error {
        let problem = Error::mistake(
            codes::H0726,
            "the sources do not compile; nothing was changed",
        )
        .with("javac", said.trim());
        if is_too_old(said) {
            let javac = self.javac.display();
            let help = format!("{javac} is older than the JVM: set JAVA_HOME to a newer JDK");
            return problem.with("help", help);
        }
        let path = format!(
            "the class path has {} locations, {} of them unpacked: those of the JVM's class path and module path, and of the classes' loaders. --class-path names another path",
            self.path.places().len(),
            self.path.unpacked(),
        );
        problem.with("help", path)
    }
}

/// Checks whether the compiler does not support the target release.
fn is_too_old(said: &str) -> bool {
    said.contains("release version ") && said.contains(" not supported")
}

/// Checks whether the compiler's class path may be incomplete.
fn lacks_something(refused: &Error) -> bool {
    let said = refused.to_string();
    let signs = ["cannot find symbol", "does not exist", "cannot access"];
    signs.iter().any(|sign| said.contains(sign))
}

/// Returns the module that the compiler names for the package of a source.
fn named_module(said: &str) -> Option<&str> {
    let (_, behind) = said.split_once("package exists in another module: ")?;
    let end = behind.find(|c: char| !(c.is_alphanumeric() || "._".contains(c)));
    Some(&behind[..end.unwrap_or(behind.len())])
}

/// Returns the classes that sources are named after.
fn class_names(sources: &[PathBuf]) -> Result<Vec<String>, Error> {
    let name = |source: &PathBuf| {
        let text = std::fs::read(source).map_err(|error| Error::unreadable(source, &error))?;
        let package = package(&String::from_utf8_lossy(&text));
        let class = source.file_stem().unwrap_or_default().to_string_lossy();
        Ok(match package.as_str() {
            "" => class.into_owned(),
            package => format!("{package}.{class}"),
        })
    };
    sources.iter().map(name).collect()
}

/// Returns the package that a source declares; empty for the unnamed one.
fn package(source: &str) -> String {
    let mut rest = source.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        let comment = [("/*", "*/"), ("//", "\n")]
            .into_iter()
            .find_map(|(begin, end)| rest.strip_prefix(begin)?.split_once(end));
        match comment {
            Some((_, behind)) => rest = behind,
            None => break,
        }
    }
    let declared = rest
        .strip_prefix("package")
        .and_then(|text| text.split_once(';'));
    let name = declared.map_or("", |(name, _)| name);
    name.split_whitespace().collect()
}

/// Returns the names of the class files in a folder, with dots.
fn compiled_classes(root: &Path) -> Vec<String> {
    let (mut folders, mut names) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let within = path.strip_prefix(root).ok().and_then(Path::to_str);
            let class = within.and_then(|path| path.strip_suffix(".class"));
            match class {
                Some(class) => names.push(class.replace('/', ".")),
                None if path.is_dir() => folders.push(path),
                None => {}
            }
        }
    }
    names.sort_unstable();
    names
}

/// Checks whether a folder or jar has a file.
fn holds(place: &Path, file: &Path) -> bool {
    if place.is_dir() {
        return place.join(file).is_file();
    }
    let jar = File::open(place).ok();
    let jar = jar.and_then(|jar| ZipArchive::new(BufReader::new(jar)).ok());
    let name = file.to_str().unwrap_or_default();
    jar.is_some_and(|jar| jar.index_for_name(name).is_some())
}

impl Facts {
    pub(crate) fn of(pid: i32) -> Result<Self, Error> {
        let jvm = Attachment::open(pid).map_err(Error::from)?;
        let text = jvm.properties().map_err(Error::from)?;
        let value = |key: &str| property(&text, key).unwrap_or_default();
        let working_directory = jvm.process().working_directory();
        let paths = |key: &str| {
            let entries = value(key);
            let named = entries.split(':').filter(|entry| !entry.is_empty());
            named.map(|entry| working_directory.join(entry)).collect()
        };
        Ok(Self {
            home: PathBuf::from(value("java.home")),
            release: value("java.specification.version")
                .trim_start_matches("1.")
                .to_owned(),
            class_path: paths("java.class.path"),
            module_path: paths("jdk.module.path"),
        })
    }

    /// Returns the compiler, and true if it is the JVM's own.
    pub(crate) fn compiler(&self) -> Result<(PathBuf, bool), Error> {
        // A JDK 8 has its JVM in a folder `jre`.
        let around = self.home.parent().filter(|_| self.home.ends_with("jre"));
        let is_known = |home: &&Path| !home.as_os_str().is_empty();
        let homes = [Some(self.home.as_path()), around].into_iter().flatten();
        let homes = homes.filter(is_known);
        let mut own = homes.map(|home| home.join("bin/javac"));
        if let Some(own) = own.find(|javac| javac.is_file()) {
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
            .ok_or_else(|| no_compiler(&self.home.join("bin/javac")))
    }
}

fn no_compiler(own: &Path) -> Error {
    Error::mistake(codes::H0725, "no Java compiler was found")
        .with("looked", format!("{}, JAVA_HOME and PATH", own.display()))
        .with(
            "help",
            "set JAVA_HOME to a JDK, or compile the sources yourself and name the class files",
        )
}

/// Returns a value from the text of `java.util.Properties`, with its escapes resolved.
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
    fn property_escapes_are_decoded() {
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
    fn package_is_found_behind_comments() {
        let text = "/* package a; */\n// package b;\npackage com . acme.shop ;\nclass A {}";
        assert_eq!(package(text), "com.acme.shop");
        assert_eq!(package("import java.util.List; class A {}"), "");
    }

    #[test]
    fn module_is_read_from_compiler_messages() {
        let said =
            "A.java:1: error: package exists in another module: java.base\npackage java.util;";
        assert_eq!(named_module(said), Some("java.base"));
        assert_eq!(named_module("cannot find symbol"), None);
        assert!(is_too_old("error: release version 21 not supported\n"));
        assert!(!is_too_old("error: cannot find symbol\n"));
    }

    #[test]
    fn compiler_of_the_jvm_takes_precedence() {
        let home = tempfile::tempdir().unwrap();
        let javac = home.path().join("bin/javac");
        std::fs::create_dir_all(home.path().join("bin")).unwrap();
        std::fs::write(&javac, "").unwrap();
        let facts = Facts {
            home: home.path().to_owned(),
            release: "17".into(),
            class_path: Vec::new(),
            module_path: Vec::new(),
        };
        assert_eq!(facts.compiler().unwrap(), (javac, true));
    }
}
