//! Which classes a report is about: the agent's selectors, applied to class files and to files of runs.

use coverage::class::ClassDescription;
use host::Loader;
use host::selector::{SelectableClass, Selection, Verdict};

use crate::problem::Problem;

/// Selectors over names, annotations and supertypes. What they say of loaders and locations
/// was for the agent; here it says nothing, because a class that was never loaded has neither.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    selection: Selection,
}

impl Filter {
    /// Parses selectors, each of which may be several separated by `;`. None select everything.
    ///
    /// # Errors
    /// If one makes no sense (`H0606`).
    pub fn new(selectors: &[String]) -> Result<Self, Problem> {
        let parts = selectors
            .iter()
            .flat_map(|selector| selector.split(';'))
            .map(str::trim);
        let kept: Vec<&str> = parts
            .filter(|part| !part.is_empty() && !concerns_loading(part))
            .collect();
        let selection = Selection::parse(&kept).map_err(|error| {
            Problem::user("H0606", error.to_string()).with(
                "expected",
                "com.acme.**, @com.acme.Annotation, <:com.acme.Base; `!` in front excludes",
            )
        })?;
        Ok(Self { selection })
    }

    /// Whether the report is about this class.
    #[must_use]
    pub fn wants(&self, class: &ClassDescription) -> bool {
        match self
            .selection
            .matches_name(class.name.as_bytes(), &Loader::App)
        {
            Verdict::No => false,
            Verdict::Yes => true,
            Verdict::AskClass => self
                .selection
                .matches_class(class.name.as_bytes(), &Facts(class)),
        }
    }
}

impl Filter {
    /// Whether the report is about the class of this internal name, of which nothing else is known.
    #[must_use]
    pub fn wants_name(&self, class: &str) -> bool {
        self.wants(&ClassDescription {
            name: class.to_owned(),
            ..ClassDescription::default()
        })
    }
}

fn concerns_loading(selector: &str) -> bool {
    let selector = selector.strip_prefix('!').unwrap_or(selector);
    selector.starts_with("loader:") || selector.starts_with("location:")
}

struct Facts<'a>(&'a ClassDescription);

impl SelectableClass for Facts<'_> {
    fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let names = self
            .0
            .annotations
            .iter()
            .filter_map(|name| name.strip_prefix('L')?.strip_suffix(';'));
        names.map(str::as_bytes).any(test)
    }

    fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.0
            .super_name
            .iter()
            .chain(&self.0.interfaces)
            .any(|name| test(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(selectors: &[&str], name: &str) -> bool {
        let selectors: Vec<String> = selectors.iter().map(|text| (*text).to_owned()).collect();
        let class = ClassDescription {
            name: name.to_owned(),
            super_name: Some("com/acme/Base".to_owned()),
            annotations: vec!["Lcom/acme/Marked;".to_owned()],
            ..ClassDescription::default()
        };
        Filter::new(&selectors).unwrap().wants(&class)
    }

    #[test]
    fn names_annotations_and_supertypes_select() {
        assert!(wanted(&[], "a/A"));
        assert!(wanted(&["a.**;b.**"], "b/B"));
        assert!(!wanted(&["a.**"], "b/B"));
        assert!(!wanted(&["!b.**"], "b/B"));
        assert!(wanted(&["@com.acme.Marked"], "b/B"));
        assert!(!wanted(&["<:com.acme.Other"], "b/B"));
        assert!(wanted(&["<:com.acme.Base"], "b/B"));
    }

    #[test]
    fn loaders_and_locations_say_nothing_here() {
        assert!(wanted(
            &["loader:boot", "!loader:app", "location:any"],
            "a/A"
        ));
    }

    #[test]
    fn senseless_selector_is_refused() {
        let error = Filter::new(&["a***".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("error[H0606]"), "{error}");
    }
}
