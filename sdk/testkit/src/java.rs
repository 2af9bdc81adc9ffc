//! Compiles Java source to classes for tests, with the JDK's compiler.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles Java source with `javac`, that of `$JAVA_HOME` if it is set, and returns the classes.
///
/// ```no_run
/// use classhook_testkit::java;
///
/// let greeter = java! { r#"
///     class Greeter {
///         Runnable greeting(String name) { return () -> System.out.println("Hello " + name); }
///     }
/// "# };
/// assert_eq!(&greeter[..4], b"\xca\xfe\xba\xbe");
///
/// let shapes = java! { "sealed interface Shape { record Circle(double radius) implements Shape {} }", "--release", "17" };
/// assert_eq!(shapes.names().collect::<Vec<_>>(), ["Shape", "Shape$Circle"]);
/// assert!(shapes.class("Shape$Circle").len() > 100);
/// ```
///
/// Options of `javac` may follow the source. Without options, the source is compiled with `-g`, so
/// that lines and local variables have names. The classes are stored beside the tests' program
/// until source, options or compiler change.
#[macro_export]
macro_rules! java {
    ($source:expr $(,)?) => {
        $crate::java::compile($source, &["-g"])
    };
    ($source:expr, $($option:expr),+ $(,)?) => {
        $crate::java::compile($source, &[$($option),+])
    };
}

/// The classes compiled from a source. As bytes, the value is the class of its first type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JavaClasses {
    first: String,
    classes: BTreeMap<String, Vec<u8>>,
}

impl JavaClasses {
    /// Returns the class with this internal name, `Outer$Inner`.
    ///
    /// # Panics
    /// If the source has no such class.
    #[must_use]
    pub fn class(&self, name: &str) -> &[u8] {
        let found = self.classes.get(name);
        let names = || self.names().collect::<Vec<_>>().join(", ");
        found.unwrap_or_else(|| panic!("expected a class {name}, found {}", names()))
    }

    /// Iterates over the internal names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.classes.keys().map(String::as_str)
    }
}

impl Deref for JavaClasses {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.class(&self.first)
    }
}

/// The function behind [`java!`].
///
/// # Panics
/// If the source does not compile, with the compiler's message, or no compiler exists.
#[must_use]
pub fn compile(source: &str, options: &[&str]) -> JavaClasses {
    let (package, name) = first_type(source);
    let javac = javac();
    let mut digest = DefaultHasher::new();
    (source, options, &javac).hash(&mut digest);
    // Detects another compiler at the same path.
    let compiled = fs::metadata(&javac).and_then(|found| found.modified());
    compiled.ok().hash(&mut digest);
    let kept = folder().join(format!("{:016x}", digest.finish()));
    if !kept.is_dir() {
        compile_into(source, &name, options, &javac, &kept);
    }
    let mut classes = BTreeMap::new();
    collect(&kept, "", &mut classes)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", kept.display()));
    let first = match package.as_str() {
        "" => name,
        package => format!("{}/{name}", package.replace('.', "/")),
    };
    JavaClasses { first, classes }
}

/// Compiles into a temporary folder, which is renamed to `kept` when it is complete.
fn compile_into(source: &str, name: &str, options: &[&str], javac: &Path, kept: &Path) {
    let failed = |what: &Path, error: &io::Error| -> ! { panic!("{}: {error}", what.display()) };
    let id = format!("{}-{:?}", std::process::id(), std::thread::current().id());
    let own = kept.with_extension(id);
    let out = own.join("classes");
    let file = own.join(format!("{name}.java"));
    let written = fs::create_dir_all(&out).and_then(|()| fs::write(&file, source));
    written.unwrap_or_else(|error| failed(&file, &error));
    let mut command = Command::new(javac);
    command.args(options).arg("-proc:none").arg("-d").arg(&out);
    let run = command.arg(&file).output().unwrap_or_else(|error| {
        panic!(
            "{} cannot be started: {error}; set JAVA_HOME to a JDK, or put its javac into the PATH",
            javac.display()
        )
    });
    if !run.status.success() {
        let _ = fs::remove_dir_all(&own);
        let said = String::from_utf8_lossy(&run.stderr);
        panic!("the Java source does not compile:\n{said}");
    }
    // Another process may have been faster.
    let moved = fs::rename(&out, kept);
    let _ = fs::remove_dir_all(&own);
    if let Err(error) = moved
        && !kept.is_dir()
    {
        failed(kept, &error);
    }
}

/// Returns the path of `javac` in `$JAVA_HOME`, or its name for a search in the `PATH`.
fn javac() -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    if let Some(home) = home {
        return Path::new(&home).join("bin/javac");
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join("javac"));
    all.find(|javac| javac.is_file())
        .unwrap_or_else(|| PathBuf::from("javac"))
}

/// Returns a folder beside the tests' program.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().unwrap_or(Path::new("."));
    folder.join("java-classes")
}

fn collect(
    folder: &Path,
    package: &str,
    classes: &mut BTreeMap<String, Vec<u8>>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let last = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{package}{last}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), classes)?;
        } else {
            classes.insert(name, fs::read(&path)?);
        }
    }
    Ok(())
}

/// Returns the package of a source, and the name of its first type. The file must have this name if
/// the type is public.
fn first_type(source: &str) -> (String, String) {
    let source = without_comments(source);
    let is_name = |letter: char| letter.is_alphanumeric() || "_$.".contains(letter);
    let mut words = source
        .split(|letter| !is_name(letter))
        .filter(|word| !word.is_empty());
    let mut package = String::new();
    while let Some(word) = words.next() {
        match word {
            "package" => package = words.next().unwrap_or_default().to_owned(),
            "class" | "interface" | "enum" | "record" => {
                let name = words.next().unwrap_or_default().to_owned();
                return (package, name);
            }
            _ => {}
        }
    }
    panic!("the Java source declares no type");
}

fn without_comments(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        let (before, comment) = rest.split_at(at);
        code += before;
        code.push(' ');
        let end = match comment.starts_with("/*") {
            true => comment.find("*/").map(|end| end + 2),
            false => comment.find('\n'),
        };
        rest = end.map_or("", |end| &comment[end..]);
    }
    code + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_type_names_the_file() {
        for (source, expected) in [
            ("class A {}", ("", "A")),
            (
                "// a class B\npackage com.acme; /* class C */ public final class D { class E {} }",
                ("com.acme", "D"),
            ),
            ("import java.util.*;\n@interface Mark {}", ("", "Mark")),
            ("record Point(int x) {}", ("", "Point")),
        ] {
            let (package, name) = first_type(source);
            assert_eq!((package.as_str(), name.as_str()), expected);
        }
    }
}
