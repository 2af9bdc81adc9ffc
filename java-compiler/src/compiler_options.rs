//! The compiler options of a class, which its class file shows.

use control::patch::ClassBytes;
use jvms::access_flags::{ACC_MANDATED, ACC_SYNTHETIC};
use rewriter::{ClassFile, Method};

/// Options of `javac` that change class files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompilerOptions {
    /// The release of the classes (`--release`); absent if only the compiler's own is known.
    pub release: Option<u16>,
    /// Preview features (`--enable-preview`).
    pub preview: bool,
    /// Names of parameters for reflection (`-parameters`).
    pub parameters: bool,
    /// The tables for debugging: lines, variables, and the name of the source (`-g`).
    pub debug: [bool; 3],
}

/// The names of the debug tables in `-g`.
const TABLES: [&str; 3] = ["lines", "vars", "source"];

/// Without a known class file, the compiler generates all debug tables.
impl Default for CompilerOptions {
    fn default() -> Self {
        Self {
            release: None,
            preview: false,
            parameters: false,
            debug: [true; 3],
        }
    }
}

impl CompilerOptions {
    /// Returns the options of classes that were compiled together, or nothing without a readable class.
    #[must_use]
    pub fn of(files: &[ClassBytes]) -> Option<Self> {
        let classes = files
            .iter()
            .filter_map(|file| ClassFile::read(&file.0).ok());
        let classes: Vec<ClassFile<'_>> = classes.collect();
        let first = classes.first()?;
        let any = |has: fn(&ClassFile<'_>) -> bool| classes.iter().any(has);
        Some(Self {
            release: first.major_version().checked_sub(44),
            preview: first.minor_version() == u16::MAX,
            parameters: any(names_parameters),
            debug: [
                any(has_lines),
                any(has_variables) || !any(could_have_variables),
                any(|class| class.source_file().is_some()),
            ],
        })
    }

    /// Formats the options as arguments of a compiler with release `own`. A compiler of the same
    /// release needs no `--release`.
    #[must_use]
    pub fn arguments(&self, own: Option<u16>) -> Vec<String> {
        let mut arguments = Vec::new();
        let tables = TABLES
            .iter()
            .zip(self.debug)
            .filter(|(_, is_made)| *is_made);
        let tables: Vec<&str> = tables.map(|(name, _)| *name).collect();
        arguments.push(match tables.len() {
            0 => "-g:none".to_owned(),
            3 => "-g".to_owned(),
            _ => format!("-g:{}", tables.join(",")),
        });
        if self.parameters {
            arguments.push("-parameters".to_owned());
        }
        if self.preview {
            arguments.push("--enable-preview".to_owned());
        }
        if let Some(release) = self
            .release
            .filter(|release| self.preview || own != Some(*release))
        {
            arguments.extend(["--release".to_owned(), release.to_string()]);
        }
        arguments
    }
}

/// Checks whether a method names parameters of the source. The constructor of a record always does.
fn names_parameters(class: &ClassFile<'_>) -> bool {
    let is_record = class.record_components().is_some();
    class.methods().any(|method| {
        let declared = method.access_flags() & ACC_SYNTHETIC == 0;
        let of_record = is_record && method.name() == "<init>";
        declared
            && !of_record
            && method.parameters().any(|parameter| {
                let made = parameter.access_flags & (ACC_SYNTHETIC | ACC_MANDATED) != 0;
                parameter.name.is_some() && !made
            })
    })
}

fn has_lines(class: &ClassFile<'_>) -> bool {
    has_row(class, |method| {
        method
            .code()
            .ok()
            .flatten()
            .is_some_and(|code| code.lines().next().is_some())
    })
}

fn has_variables(class: &ClassFile<'_>) -> bool {
    has_row(class, |method| {
        let code = method.code().ok().flatten();
        code.is_some_and(|code| code.local_variables().next().is_some())
    })
}

/// Checks whether a method needs a table of variables. Compiler-generated methods need none.
fn could_have_variables(class: &ClassFile<'_>) -> bool {
    has_row(class, |method| {
        let code = method.code().ok().flatten();
        method.access_flags() & ACC_SYNTHETIC == 0
            && method.name() != "<clinit>"
            && code.is_some_and(|code| code.max_locals() > 0)
    })
}

fn has_row(class: &ClassFile<'_>, has: fn(&Method<'_, '_>) -> bool) -> bool {
    class.methods().any(|method| has(&method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_match_those_of_a_compiler() {
        let options = CompilerOptions {
            release: Some(17),
            preview: false,
            parameters: true,
            debug: [true, false, true],
        };
        assert_eq!(
            options.arguments(Some(17)),
            ["-g:lines,source", "-parameters"]
        );
        let other = ["-g:lines,source", "-parameters", "--release", "17"];
        assert_eq!(options.arguments(Some(25)), other);
        let none = CompilerOptions {
            debug: [false; 3],
            ..CompilerOptions::default()
        };
        assert_eq!(none.arguments(None), ["-g:none"]);
        assert_eq!(CompilerOptions::default().arguments(Some(8)), ["-g"]);
        assert_eq!(CompilerOptions::of(&[]), None);
        assert_eq!(CompilerOptions::of(&[ClassBytes(vec![1])]), None);
    }
}
