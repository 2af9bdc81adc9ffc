//! Selectors, which choose the classes that a plugin sees.
//!
//! | selector | a class matches if |
//! |---|---|
//! | `com.acme.**` | its name matches: `**` any text, `*` within one package level, `?` one character |
//! | `@com.acme.Marked` | it has this annotation (same globs) |
//! | `<:com.acme.Base` | it names this as its superclass or a superinterface (same globs) |
//! | `source:Orders.java` | it is compiled from a file of this name, by its class file (`*` and `?` as in a text) |
//! | `loader:app` | its loader is `boot`, `platform`, `app` or of this class (same globs) |
//! | `location:target/classes` | it came from this folder or archive, or one in it ([`CodeSource`]) |
//! | `location:any` | always; also accepts classes without a known location |
//!
//! A `!` in front excludes matching classes, and has priority. A class is selected if it matches
//! one of the name, `@`, `<:` and `source:` selectors, one of the `loader:` selectors, and one of
//! the `location:` selectors. An empty group matches every class.
//!
//! As far as name and loader decide, the match uses only the JVM's bytes and allocates nothing.

use globs::Glob;
use plan_rules::HELPER_PREFIX;

use crate::code_source::{CodeSource, LocationGlob};
use crate::outcome::Loader;

/// An invalid selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("selector `{selector}` {problem}")]
pub struct SelectorError {
    /// The selector as written.
    pub selector: String,
    /// The fault in the selector.
    pub problem: &'static str,
}

/// The decision about a class by name and loader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Not selected, whatever the class file contains.
    No,
    /// Selected, whatever the class file contains.
    Yes,
    /// The class file decides; call [`Selection::matches_class`].
    NeedsClass,
}

/// The names in a class file that selectors match: internal names in modified UTF-8.
pub trait SelectableClass {
    /// Checks whether any annotation of the class passes `test`, which gets the name without `L`
    /// and `;`.
    fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool;
    /// Checks whether the superclass or any direct superinterface passes `test`.
    fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool;
    /// Checks whether the name of the source file (JVMS 4.7.10) is known and passes `test`.
    fn source_file(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool;
}

/// A parsed list of selectors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    include: Patterns,
    exclude: Patterns,
    any_location: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Patterns {
    names: Vec<Glob>,
    annotations: Vec<Glob>,
    supertypes: Vec<Glob>,
    sources: Vec<Glob>,
    loaders: Vec<Glob>,
    locations: Vec<LocationGlob>,
    /// The names that contain [`HELPER_PREFIX`].
    helpers: Vec<Glob>,
}

impl Selection {
    /// Parses a list of selectors; an empty list selects every class.
    ///
    /// # Errors
    /// The first invalid selector.
    pub fn parse<S: AsRef<str>>(selectors: &[S]) -> Result<Self, SelectorError> {
        let mut selection = Self::default();
        for selector in selectors {
            selection.add(selector.as_ref())?;
        }
        Ok(selection)
    }

    fn add(&mut self, selector: &str) -> Result<(), SelectorError> {
        let fail = |problem| SelectorError {
            selector: selector.to_owned(),
            problem,
        };
        let (patterns, rest) = match selector.strip_prefix('!') {
            Some(rest) => (&mut self.exclude, rest),
            None => (&mut self.include, selector),
        };
        if let Some(location) = rest.strip_prefix("location:") {
            match (location, selector == rest) {
                ("any", true) => self.any_location = true,
                ("any", false) => return Err(fail("would exclude every class")),
                (location, _) => {
                    Glob::parse_path(location).map_err(fail)?;
                    patterns.locations.push(LocationGlob::new(location));
                }
            }
            return Ok(());
        }
        if let Some(file) = rest.strip_prefix("source:") {
            if file.is_empty() || file.contains('/') {
                return Err(fail("names no source file, such as `source:Orders.java`"));
            }
            patterns.sources.push(Glob::of_text(file));
            return Ok(());
        }
        let (list, glob) = if let Some(rest) = rest.strip_prefix('@') {
            (&mut patterns.annotations, rest)
        } else if let Some(rest) = rest.strip_prefix("<:") {
            (&mut patterns.supertypes, rest)
        } else if let Some(rest) = rest.strip_prefix("loader:") {
            (&mut patterns.loaders, rest)
        } else {
            (&mut patterns.names, rest)
        };
        list.push(Glob::parse_class(glob).map_err(fail)?);
        if glob == selector && glob.contains(HELPER_PREFIX) {
            self.include.helpers.push(Glob::of_class(glob));
        }
        Ok(())
    }

    /// Returns whether classes without a known location are selected too.
    #[must_use]
    pub fn any_location(&self) -> bool {
        self.any_location
    }

    /// Returns whether any selector needs a class's location.
    #[must_use]
    pub fn needs_location(&self) -> bool {
        !(self.include.locations.is_empty() && self.exclude.locations.is_empty())
    }

    /// Checks whether the selectors on locations accept a class. Allocates nothing.
    #[must_use]
    pub fn matches_location(&self, location: CodeSource<'_>) -> bool {
        let covered = |globs: &[LocationGlob], paths: [&str; 2]| {
            globs
                .iter()
                .any(|glob| paths.iter().any(|path| glob.covers(path)))
        };
        let included = &self.include.locations;
        let any = self.any_location || included.is_empty();
        match location.paths() {
            None if location == CodeSource::Unread => true,
            None => any,
            Some(paths) => {
                (any || covered(included, paths)) && !covered(&self.exclude.locations, paths)
            }
        }
    }

    /// Checks whether a selector names this helper class of a plugin. Allocates nothing.
    #[must_use]
    pub fn matches_helper(&self, name: &[u8]) -> bool {
        any(&self.include.helpers, name)
    }

    /// Decides by name and loader. Allocates nothing.
    #[must_use]
    pub fn matches_name(&self, name: &[u8], loader: &Loader) -> Verdict {
        let loader = loader.as_str().as_bytes();
        let by_loader = self.include.loaders.is_empty() || any(&self.include.loaders, loader);
        if !by_loader || any(&self.exclude.loaders, loader) || any(&self.exclude.names, name) {
            return Verdict::No;
        }
        let included = self.include.any_class() || any(&self.include.names, name);
        match (included, self.exclude.asks_class()) {
            (true, false) => Verdict::Yes,
            (true, true) => Verdict::NeedsClass,
            (false, _) if self.include.asks_class() => Verdict::NeedsClass,
            (false, _) => Verdict::No,
        }
    }

    /// Decides with the class file, after [`Verdict::NeedsClass`].
    #[must_use]
    pub fn matches_class(&self, name: &[u8], class: &dyn SelectableClass) -> bool {
        self.may_match(name, class) && !self.exclude.class_matches(class)
    }

    /// Checks whether a class of which these names are known may be selected, after
    /// [`Verdict::NeedsClass`]. `names` may have more names than the class file.
    #[must_use]
    pub fn may_match(&self, name: &[u8], names: &dyn SelectableClass) -> bool {
        self.include.any_class()
            || any(&self.include.names, name)
            || self.include.class_matches(names)
    }
}

impl Patterns {
    fn any_class(&self) -> bool {
        self.names.is_empty() && !self.asks_class()
    }

    fn asks_class(&self) -> bool {
        !(self.annotations.is_empty() && self.supertypes.is_empty() && self.sources.is_empty())
    }

    fn class_matches(&self, class: &dyn SelectableClass) -> bool {
        (!self.annotations.is_empty()
            && class.any_annotation(&mut |name| any(&self.annotations, name)))
            || (!self.supertypes.is_empty()
                && class.any_supertype(&mut |name| any(&self.supertypes, name)))
            || (!self.sources.is_empty() && class.source_file(&mut |name| any(&self.sources, name)))
    }
}

fn any(globs: &[Glob], name: &[u8]) -> bool {
    globs.iter().any(|glob| glob.matches(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The annotations and supertypes of a class.
    struct Facts(&'static [&'static str], &'static [&'static str]);

    /// A class compiled from this file.
    struct From(&'static str);

    impl SelectableClass for From {
        fn any_annotation(&self, _: &mut dyn FnMut(&[u8]) -> bool) -> bool {
            false
        }
        fn any_supertype(&self, _: &mut dyn FnMut(&[u8]) -> bool) -> bool {
            false
        }
        fn source_file(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
            test(self.0.as_bytes())
        }
    }

    impl SelectableClass for Facts {
        fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
            self.0.iter().any(|name| test(name.as_bytes()))
        }
        fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
            self.1.iter().any(|name| test(name.as_bytes()))
        }
        fn source_file(&self, _: &mut dyn FnMut(&[u8]) -> bool) -> bool {
            false
        }
    }

    fn name_verdict(selectors: &[&str], name: &str) -> Verdict {
        Selection::parse(selectors)
            .unwrap()
            .matches_name(name.as_bytes(), &Loader::App)
    }

    #[test]
    fn helper_classes_are_selected_by_their_prefix_alone() {
        let helper = b"com/acme/$Classhook$0123456789abcdef$ProbedRows";
        for (selector, expected) in [
            ("**$Classhook$*$ProbedRows", true),
            ("**$Classhook$*$ProbedLog", false),
            ("com.acme.**", false),
            ("!**$Classhook$*$ProbedRows", false),
        ] {
            let selection = Selection::parse(&[selector]).unwrap();
            assert_eq!(selection.matches_helper(helper), expected, "{selector}");
        }
    }

    #[test]
    fn exclusion_wins_at_any_position() {
        assert_eq!(
            name_verdict(&["!com.acme.gen.**", "com.acme.**"], "com/acme/gen/A"),
            Verdict::No
        );
        assert_eq!(
            name_verdict(&["com.acme.**", "!com.acme.gen.**"], "com/acme/A"),
            Verdict::Yes
        );
        assert_eq!(name_verdict(&["!com.acme.gen.**"], "org/A"), Verdict::Yes);
    }

    #[test]
    fn annotations_and_supertypes_need_the_class() {
        let selection =
            Selection::parse(&["@com.acme.Marked", "<:**.Base", "!<:com.acme.Secret"]).unwrap();
        assert_eq!(
            selection.matches_name(b"x/A", &Loader::App),
            Verdict::NeedsClass
        );
        assert!(selection.matches_class(b"x/A", &Facts(&["com/acme/Marked"], &[])));
        assert!(selection.matches_class(b"x/A", &Facts(&[], &["q/Base"])));
        assert!(
            !selection.matches_class(b"x/A", &Facts(&["com/acme/Marked"], &["com/acme/Secret"]))
        );
        assert!(!selection.matches_class(b"x/A", &Facts(&[], &[])));
    }

    #[test]
    fn source_files_need_the_class() {
        let selection = Selection::parse(&["source:Orders.java", "!source:*.kt"]).unwrap();
        let verdict = selection.matches_name(b"x/Refund", &Loader::App);
        assert_eq!(verdict, Verdict::NeedsClass);
        for (file, expected) in [("Orders.java", true), ("Others.java", false)] {
            assert_eq!(selection.matches_class(b"x/Refund", &From(file)), expected);
            assert_eq!(selection.may_match(b"x/Refund", &From(file)), expected);
        }
        let excluding = Selection::parse(&["!source:*.kt"]).unwrap();
        assert!(!excluding.matches_class(b"x/A", &From("A.kt")));
        assert!(excluding.matches_class(b"x/A", &From("A.java")));
        let either = Selection::parse(&["source:A.java", "@a.B"]).unwrap();
        assert!(either.may_match(b"x/A", &Facts(&["a/B"], &[])));
        assert!(!either.may_match(b"x/A", &Facts(&["a/C"], &[])));
    }

    #[test]
    fn loaders_narrow_what_names_select() {
        let selection = Selection::parse(&["com.acme.**", "loader:com.acme.Loader*"]).unwrap();
        let other = Loader::Other("com/acme/Loader2".into());
        assert_eq!(selection.matches_name(b"com/acme/A", &other), Verdict::Yes);
        assert_eq!(selection.matches_name(b"org/A", &other), Verdict::No);
        assert_eq!(
            selection.matches_name(b"com/acme/A", &Loader::App),
            Verdict::No
        );
        let not_app = Selection::parse(&["!loader:app"]).unwrap();
        assert_eq!(not_app.matches_name(b"A", &Loader::App), Verdict::No);
        assert_eq!(not_app.matches_name(b"A", &Loader::Boot), Verdict::Yes);
    }

    #[test]
    fn locations_narrow_what_names_select() {
        let at = |selectors: &[&str], location| {
            let selection = Selection::parse(selectors).unwrap();
            selection.matches_location(location)
        };
        let classes = CodeSource::At("/w/core/target/classes");
        let tests = CodeSource::At("/w/core/target/test-classes");
        let only = ["location:target/classes", "a.**"];
        assert!(at(&only, classes) && !at(&only, tests) && !at(&only, CodeSource::None));
        assert!(at(&only, CodeSource::Unread));
        let linked = CodeSource::Linked {
            through: "/w/link",
            to: "/w/core/target/classes",
        };
        assert!(at(&only, linked) && at(&["location:/w/link"], linked));
        assert!(!at(&["!location:/w/link"], linked) && !at(&["!location:core"], linked));
        let but = ["!location:test-classes"];
        assert!(at(&but, classes) && !at(&but, tests) && at(&but, CodeSource::None));
        let any = ["location:any", "!location:test-classes"];
        assert!(at(&any, CodeSource::None) && at(&any, classes) && !at(&any, tests));
        assert!(Selection::parse(&only).unwrap().needs_location());
        assert!(
            !Selection::parse(&["location:any"])
                .unwrap()
                .needs_location()
        );
    }

    #[test]
    fn invalid_filters_are_rejected_with_their_reason() {
        for bad in [
            "",
            "!",
            "@",
            "<:",
            "loader:",
            "a***",
            "a b",
            "location:",
            "source:",
            "source:a/B.java",
            "!location:any",
            "location:a***",
            "!!a",
        ] {
            assert!(Selection::parse(&[bad]).is_err(), "{bad}");
        }
        let error = Selection::parse(&["com.***"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "selector `com.***` has more than two `*` in a row"
        );
    }

    #[test]
    fn hostile_patterns_end_quickly() {
        let glob = Glob::of_class(&"**a".repeat(50));
        assert!(!glob.matches([b'a'; 40]));
        assert!(!glob.matches([b'b'; 4_000]));
    }
}
