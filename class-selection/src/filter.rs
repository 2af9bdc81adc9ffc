//! Selects the classes of a report: the agent's selectors, applied to class files and run files.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coverage::class::ClassDescription;
use errors::{Error, codes};
use host::selector::{SelectableClass, Selection, Verdict};
use host::{CodeSource, Loader, code_source};
use probes::events::ClassNames;

use crate::excluded_annotations::ExcludedAnnotations;

/// Selectors over names, annotations, supertypes and, if known, the location of a class file.
///
/// Selectors over loaders apply to event files alone, which record the loader of each class.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// All selectors except those over loaders.
    selection: Selection,
    /// All selectors except those over locations.
    of_events: Selection,
    /// All selectors, as written.
    texts: Vec<String>,
    /// Annotations that exclude their classes and methods.
    excluded: ExcludedAnnotations,
    /// Each selector by itself, except those over loaders.
    singly: Vec<SingleSelector>,
}

/// One of several selectors, without its `!`.
#[derive(Debug, Clone)]
struct SingleSelector {
    /// The selector as written.
    text: String,
    selection: Selection,
    /// True once a class matched; copies of the filter share it.
    has_matched: Arc<AtomicBool>,
}

impl Filter {
    /// Parses selectors in the agent's syntax. Each text may hold several, separated by `;`. An
    /// empty list selects everything.
    ///
    /// # Errors
    /// If a selector is invalid (`H0606`).
    pub fn new(selectors: &[String]) -> Result<Self, Error> {
        let without = |what: &str| {
            let kept = parts(selectors).filter(|part| !concerns(part, what));
            Selection::parse(&kept.collect::<Vec<_>>()).map_err(|error| {
                Error::mistake(codes::H0606, error.to_string()).with(
                    "expected",
                    "com.acme.**, @com.acme.Annotation, <:com.acme.Base, location:target/classes; `!` in front excludes",
                )
            })
        };
        let singly = parts(selectors).filter(|part| !concerns(part, "loader:"));
        let singly = singly.filter_map(|part| {
            let positive = part.strip_prefix('!').unwrap_or(part);
            Some(SingleSelector {
                text: part.to_owned(),
                selection: Selection::parse(&[positive]).ok()?, // the whole is parsed below
                has_matched: Arc::default(),
            })
        });
        Ok(Self {
            singly: singly.collect(),
            selection: without("loader:")?,
            of_events: without("location:")?,
            texts: parts(selectors).map(str::to_owned).collect(),
            excluded: ExcludedAnnotations::default(),
        })
    }

    /// Parses the selectors of a report on event files, which record loaders and no locations.
    ///
    /// # Errors
    /// As [`Filter::new`], and for a selector over locations or source files.
    pub fn of_event_files(selectors: &[String]) -> Result<Self, Error> {
        if let Some(part) = parts(selectors).find(|part| concerns(part, "source:")) {
            return Err(cannot(
                part,
                "event files have no source files of classes: select by name",
            ));
        }
        match parts(selectors).find(|part| concerns(part, "location:")) {
            Some(part) => Err(cannot(
                part,
                "event files have no locations of classes: select by location while recording, with `classhook trace`",
            )),
            None => Self::new(selectors),
        }
    }

    /// Returns a selector that the table of calls ignores: no event file has the location of a
    /// class.
    #[must_use]
    pub fn over_locations(&self) -> Option<&str> {
        let mut lacking = self.texts.iter().map(String::as_str);
        lacking.find(|part| concerns(part, "location:"))
    }

    /// Parses the selectors of a report on recorded data, with or without `--classes`.
    ///
    /// # Errors
    /// As [`Filter::new`], and for a selector over unknown data: loaders, or locations without
    /// class locations.
    pub fn of_report(selectors: &[String], has_places: bool) -> Result<Self, Error> {
        if let Some(part) = parts(selectors).find(|part| concerns(part, "loader:")) {
            return Err(cannot(
                part,
                "snapshots have no loaders of classes: select by loader while recording, with `classhook run` or `coverage`",
            ));
        }
        if let Some(part) = parts(selectors).find(|part| concerns(part, "location:") && !has_places)
        {
            return Err(cannot(
                part,
                "snapshots have no locations of classes: name folders and jars with --classes to report only their classes",
            ));
        }
        Self::new(selectors)
    }

    /// Adds annotations that exclude their classes and methods.
    ///
    /// # Errors
    /// `H0606` for an invalid name of an annotation.
    pub fn excluding(self, annotations: &[String]) -> Result<Self, Error> {
        Ok(Self {
            excluded: ExcludedAnnotations::parse(annotations)?,
            ..self
        })
    }

    /// Returns the annotations that exclude their classes and methods.
    #[must_use]
    pub fn excluded(&self) -> &ExcludedAnnotations {
        &self.excluded
    }

    /// Checks whether everything is selected.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the selectors, as written.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Checks whether the report covers this class, whose file is at `place`. Without a place, the
    /// agent has selected the class.
    #[must_use]
    pub fn wants(&self, class: &ClassDescription<'_>, place: Option<&str>) -> bool {
        for selector in &self.singly {
            if !selector.has_matched.load(Ordering::Relaxed)
                && selects(&selector.selection, class, place)
            {
                selector.has_matched.store(true, Ordering::Relaxed);
            }
        }
        selects(&self.selection, class, place)
    }

    /// Returns the selectors, as written, that have matched no class so far.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        let selectors = self.singly.iter();
        let unmatched = selectors.filter(|selector| !selector.has_matched.load(Ordering::Relaxed));
        unmatched.map(|selector| selector.text.as_str())
    }
}

/// Checks whether a selection covers a class, whose file is at `place`.
fn selects(selection: &Selection, class: &ClassDescription<'_>, place: Option<&str>) -> bool {
    let name = class.name.as_bytes();
    let is_there = || match place.filter(|_| selection.needs_location()) {
        Some(place) => selection.matches_location(CodeSource::At(&location_of(place))),
        None => true,
    };
    is_there()
        && match selection.matches_name(name, &Loader::App) {
            Verdict::No => false,
            Verdict::Yes => true,
            Verdict::NeedsClass => selection.matches_class(name, &Facts(class)),
        }
}

impl Filter {
    /// Parses the selectors for classes of which only names are known.
    ///
    /// # Errors
    /// As [`Filter::new`], and for a selector over anything else.
    pub fn of_names(selectors: &[String]) -> Result<Self, Error> {
        let others = ["@", "<:", "source:", "loader:", "location:"];
        let is_other = |part: &&str| others.iter().any(|what| concerns(part, what));
        match parts(selectors).find(is_other) {
            Some(part) => Err(cannot(
                part,
                "a recording has only the names of classes: select by name, com.acme.** or com.acme.Store",
            )),
            None => Self::new(selectors),
        }
    }

    /// Checks whether the report covers the class of this internal name, without further data.
    #[must_use]
    pub fn wants_name(&self, class: &str) -> bool {
        let class = ClassDescription {
            name: class,
            ..ClassDescription::default()
        };
        self.wants(&class, None)
    }

    /// Checks for a selector over annotations or supertypes.
    #[must_use]
    pub fn asks_class(&self) -> bool {
        let over_class = |text: &String| concerns(text, "@") || concerns(text, "<:");
        self.texts.iter().any(over_class)
    }

    /// Checks whether the report covers a class of an event file, by its internal name, its loader
    /// and the recorded names of its class file.
    #[must_use]
    pub fn wants_recorded(&self, class: &str, loader: &str, names: Option<&ClassNames>) -> bool {
        let loader = match loader {
            "boot" => Loader::Boot,
            "platform" => Loader::Platform,
            "app" => Loader::App,
            other => Loader::Other(other.into()),
        };
        let unknown = ClassNames::default();
        match self.of_events.matches_name(class.as_bytes(), &loader) {
            Verdict::No => false,
            Verdict::Yes => true,
            Verdict::NeedsClass => {
                let names = RecordedClass(names.unwrap_or(&unknown));
                self.of_events.matches_class(class.as_bytes(), &names)
            }
        }
    }
}

fn cannot(part: &str, help: &str) -> Error {
    let message = format!("the selector `{part}` has no effect in a report");
    Error::mistake(codes::H0606, message).with("help", help)
}

fn parts(selectors: &[String]) -> impl Iterator<Item = &str> {
    let parts = selectors.iter().flat_map(|selector| selector.split(';'));
    parts.map(str::trim).filter(|part| !part.is_empty())
}

fn concerns(selector: &str, what: &str) -> bool {
    let selector = selector.strip_prefix('!').unwrap_or(selector);
    selector.starts_with(what)
}

/// Returns the path of a class file for selectors over locations. Such a selector covers the files
/// within its location.
#[must_use]
pub fn location_of(place: &str) -> String {
    let path = std::path::absolute(place);
    let path = path.map_or_else(|_| place.to_owned(), |path| path.display().to_string());
    code_source::path(&path)
}

/// The recorded names of a class in an event file.
struct RecordedClass<'a>(&'a ClassNames);

impl SelectableClass for RecordedClass<'_> {
    fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let names = self.0.annotations.iter();
        names.map(String::as_bytes).any(test)
    }

    fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let names = self.0.supertypes.iter();
        names.map(String::as_bytes).any(test)
    }

    fn source_file(&self, _: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        false // an event file does not name it, see `of_events`
    }
}

struct Facts<'a>(&'a ClassDescription<'a>);

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
            .chain(self.0.interfaces)
            .any(|name| test(name.as_bytes()))
    }

    fn source_file(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.0.source_file.is_some_and(|name| test(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(selectors: &[&str], name: &str) -> bool {
        let selectors: Vec<String> = selectors.iter().map(|text| (*text).into()).collect();
        let class = ClassDescription {
            name,
            super_name: Some("com/acme/Base"),
            annotations: &["Lcom/acme/Marked;"],
            ..ClassDescription::default()
        };
        Filter::new(&selectors).unwrap().wants(&class, None)
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
    fn selectors_over_loaders_and_unknown_locations_are_ignored() {
        let agents = ["loader:boot", "!loader:app", "location:elsewhere"];
        assert!(wanted(&agents, "a/A"));
    }

    #[test]
    fn locations_of_class_files_select() {
        let selectors = ["location:target/classes".into()];
        let filter = Filter::of_report(&selectors, true).unwrap();
        let class = ClassDescription {
            name: "a/A",
            ..ClassDescription::default()
        };
        assert!(filter.wants(&class, Some("core/target/classes/a/A.class")));
        assert!(!filter.wants(&class, Some("core/target/test-classes/a/A.class")));
        let jar = Filter::of_report(&["location:core-*.jar".into()], true).unwrap();
        assert!(jar.wants(&class, Some("/lib/core-1.jar!/a/A.class")));
    }

    #[test]
    fn selectors_over_unknown_data_are_refused() {
        for (selector, help) in [("!loader:app", "no loaders"), ("location:lib", "--classes")] {
            let error = Filter::of_report(&[selector.to_owned()], false).unwrap_err();
            assert_eq!(error.exit(), 2);
            let text = error.to_string();
            assert!(text.contains(selector) && text.contains(help), "{text}");
        }
    }

    #[test]
    fn selectors_without_a_match_are_known() {
        let selectors = ["a.**;!a.b.**".to_owned(), "!loader:app".to_owned()];
        let filter = Filter::new(&selectors).unwrap();
        let wants = |name| {
            let class = ClassDescription {
                name,
                ..ClassDescription::default()
            };
            filter.wants(&class, None)
        };
        assert!(wants("a/A") && !wants("c/C"));
        assert_eq!(filter.unmatched().collect::<Vec<_>>(), ["!a.b.**"]);
        assert!(!wants("a/b/B"));
        assert_eq!(filter.unmatched().count(), 0);
    }

    #[test]
    fn invalid_selector_is_refused() {
        let error = Filter::new(&["a***".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("error[H0606]"), "{error}");
    }
}
