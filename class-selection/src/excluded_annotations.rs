//! Annotations whose classes and methods a report leaves out: `--exclude-annotation`.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coverage::class::ClassDescription;
use coverage::model::{ClassCoverage, MethodCoverage};
use errors::{Error, codes};
use globs::Glob;
use jvms::names;

/// Patterns over annotations.
#[derive(Debug, Clone, Default)]
pub struct ExcludedAnnotations(Vec<Pattern>);

#[derive(Debug, Clone)]
struct Pattern {
    /// The pattern as written.
    text: String,
    /// True once an annotation matched; copies of the pattern share it.
    has_matched: Arc<AtomicBool>,
    glob: Glob,
    /// True for a name without package, which matches in any package.
    is_simple: bool,
}

impl ExcludedAnnotations {
    /// Parses `NoCoverage`, `com.acme.NoCoverage` or `com.acme.**.No*`, with or without an `@`.
    ///
    /// # Errors
    /// `H0606` for a text that is no such name.
    pub fn parse(texts: &[String]) -> Result<Self, Error> {
        let patterns = texts.iter().map(|text| {
            let name = text.strip_prefix('@').unwrap_or(text);
            let is_name = |char: char| char.is_alphanumeric() || "_$.*?".contains(char);
            let is_part = |part: &str| !part.is_empty() && part.chars().all(is_name);
            if !name.split('.').all(is_part) {
                let message = format!("`{text}` is no name of an annotation");
                return Err(Error::mistake(codes::H0606, message)
                    .with("expected", "NoCoverage, com.acme.NoCoverage or com.acme.**"));
            }
            Ok(Pattern {
                text: text.clone(),
                has_matched: Arc::default(),
                glob: Glob::of_class(name),
                is_simple: !name.contains('.'),
            })
        });
        patterns.collect::<Result<_, _>>().map(Self)
    }

    /// Checks whether one of these annotations, given as descriptors, excludes its class or method.
    #[must_use]
    pub fn any(&self, annotations: &[&str]) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let names = annotations.iter();
        let mut names =
            names.filter_map(|descriptor| descriptor.strip_prefix('L')?.strip_suffix(';'));
        names.any(|name| {
            // Each pattern notes its match.
            let matching = self.0.iter().filter(|pattern| pattern.notes(name));
            matching.count() > 0
        })
    }

    /// Returns the patterns, as written, that no annotation has matched so far.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        let patterns = self.0.iter();
        let unmatched = patterns.filter(|pattern| !pattern.has_matched.load(Ordering::Relaxed));
        unmatched.map(|pattern| pattern.text.as_str())
    }

    /// Removes the methods with these annotations from a class, and the methods that the compiler
    /// derived from them: lambdas, and Kotlin's methods for default arguments.
    pub fn leave_out(&self, class: &ClassDescription<'_>, coverage: &mut ClassCoverage) {
        let methods = class.methods.iter();
        let excluded = methods.filter(|method| self.any(method.annotations));
        let excluded: HashSet<(&str, &str)> = excluded
            .map(|method| (method.name, method.descriptor))
            .collect();
        if excluded.is_empty() {
            return;
        }
        let names: HashSet<&str> = excluded.iter().map(|(name, _)| *name).collect();
        let is_kept = |name: &str| {
            let mut all = class.methods.iter().filter(|method| method.name == name);
            all.any(|method| !excluded.contains(&(method.name, method.descriptor)))
        };
        let is_excluded = |method: &MethodCoverage| {
            let (name, descriptor) = (method.name.as_str(), method.descriptor.as_str());
            let made_of = origin(name).filter(|origin| names.contains(origin) && !is_kept(origin));
            excluded.contains(&(name, descriptor)) || made_of.is_some()
        };
        let before = coverage.methods.len();
        coverage.remove_methods(is_excluded);
        coverage.excluded = (before - coverage.methods.len()) as u32;
    }
}

impl Pattern {
    /// Matches an internal name, and notes a match.
    fn notes(&self, name: &str) -> bool {
        let matches = self.matches(name);
        if matches {
            self.has_matched.store(true, Ordering::Relaxed);
        }
        matches
    }

    /// Matches an internal name.
    fn matches(&self, name: &str) -> bool {
        match self.is_simple {
            true => {
                let simple = names::without_package(name);
                let simple = simple.rsplit('$').next().unwrap_or(simple);
                self.glob.matches(simple)
            }
            false => self.glob.matches(name),
        }
    }
}

/// Returns the source of a compiler-generated method: `lambda$run$0`, `run$lambda$0`,
/// `run$default`.
fn origin(name: &str) -> Option<&str> {
    if let Some(rest) = name.strip_prefix("lambda$") {
        return rest.rsplit_once('$').map(|(origin, _)| origin);
    }
    name.strip_suffix("$default")
        .or_else(|| name.split_once("$lambda").map(|(origin, _)| origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(texts: &[&str]) -> ExcludedAnnotations {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        ExcludedAnnotations::parse(&texts).unwrap()
    }

    #[test]
    fn annotations_are_named_with_or_without_their_package() {
        let annotation = ["Lcom/acme/Marks$NoCoverage;"];
        for text in ["NoCoverage", "@No*", "com.acme.Marks$NoCoverage", "com.**"] {
            assert!(excluded(&[text]).any(&annotation), "{text}");
        }
        for text in ["Coverage", "acme.NoCoverage", "com.*", "Marks"] {
            assert!(!excluded(&[text]).any(&annotation), "{text}");
        }
        assert!(!excluded(&[]).any(&annotation));
        for wrong in ["", "@", "a..b", "a-b", "a/b"] {
            let error = ExcludedAnnotations::parse(&[wrong.to_owned()]).unwrap_err();
            assert_eq!(error.code(), "H0606", "{wrong}");
        }
    }

    #[test]
    fn patterns_without_a_match_are_known() {
        let all = excluded(&["No*", "com.acme.NoCoverage", "@Generated"]);
        assert_eq!(all.unmatched().count(), 3);
        assert!(all.clone().any(&["Lcom/acme/NoCoverage;"]));
        assert_eq!(all.unmatched().collect::<Vec<_>>(), ["@Generated"]);
    }

    #[test]
    fn compiler_generated_methods_name_their_origin() {
        assert_eq!(origin("lambda$run$0"), Some("run"));
        assert_eq!(origin("run$lambda$0"), Some("run"));
        assert_eq!(origin("run$default"), Some("run"));
        assert_eq!(origin("run"), None);
    }
}
