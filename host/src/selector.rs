//! Selectors: which classes a plugin gets to see.
//!
//! | selector | a class matches if |
//! |---|---|
//! | `com.acme.**` | its name matches: `**` any text, `*` within one package level, `?` one character |
//! | `@com.acme.Marked` | it has this annotation (same globs) |
//! | `<:com.acme.Base` | it names this as its superclass or a superinterface (same globs) |
//! | `loader:app` | its loader is `boot`, `platform`, `app` or of this class (same globs) |
//! | `location:any` | always; also classes without a known source location are let through |
//!
//! `!` in front excludes what matches, and always wins. Otherwise a class is
//! selected when it matches one of the name, `@` and `<:` selectors (or there
//! are none), and one of the `loader:` selectors (or there are none).
//!
//! Everything that can be decided by name and loader is decided so, on the
//! bytes the JVM hands over, without allocation.

use crate::Loader;

/// Why a selector makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("selector `{selector}` {problem}")]
pub struct SelectorError {
    /// The selector as written.
    pub selector: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// What name and loader say about a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Not selected, whatever is in the class file.
    No,
    /// Selected, whatever is in the class file.
    Yes,
    /// Annotations or supertypes decide: ask [`Selection::matches_class`].
    AskClass,
}

/// Names in a class file that selectors look at: internal names in modified UTF-8.
pub trait ClassFacts {
    /// Whether any annotation of the class passes `test`; given the name without `L` and `;`.
    fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool;
    /// Whether the superclass or any direct superinterface passes `test`.
    fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool;
}

/// A list of selectors, ready to match.
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
    loaders: Vec<Glob>,
}

impl Selection {
    /// Parses a list of selectors; an empty list selects everything.
    ///
    /// # Errors
    /// For the first selector that makes no sense.
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
            return match (location, selector == rest) {
                ("any", true) => {
                    self.any_location = true;
                    Ok(())
                }
                _ => Err(fail(
                    "is not known: the only one of its kind is `location:any`",
                )),
            };
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
        list.push(Glob::parse(glob).map_err(fail)?);
        Ok(())
    }

    /// Whether classes without a known source location are selected too.
    #[must_use]
    pub fn any_location(&self) -> bool {
        self.any_location
    }

    /// What name and loader alone say. Allocates nothing.
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
            (true, true) => Verdict::AskClass,
            (false, _) if self.include.asks_class() => Verdict::AskClass,
            (false, _) => Verdict::No,
        }
    }

    /// The verdict once the class file is known; only after [`Verdict::AskClass`].
    #[must_use]
    pub fn matches_class(&self, name: &[u8], facts: &dyn ClassFacts) -> bool {
        let included = self.include.any_class()
            || any(&self.include.names, name)
            || self.include.class_matches(facts);
        included && !self.exclude.class_matches(facts)
    }
}

impl Patterns {
    fn any_class(&self) -> bool {
        self.names.is_empty() && !self.asks_class()
    }

    fn asks_class(&self) -> bool {
        !(self.annotations.is_empty() && self.supertypes.is_empty())
    }

    fn class_matches(&self, facts: &dyn ClassFacts) -> bool {
        (!self.annotations.is_empty()
            && facts.any_annotation(&mut |name| any(&self.annotations, name)))
            || (!self.supertypes.is_empty()
                && facts.any_supertype(&mut |name| any(&self.supertypes, name)))
    }
}

fn any(globs: &[Glob], name: &[u8]) -> bool {
    globs.iter().any(|glob| glob.matches(name))
}

/// A pattern over internal names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Glob {
    /// Text before the first wildcard: most names are told apart by it alone.
    prefix: Box<[u8]>,
    rest: Box<[Token]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// `?`
    One,
    /// `*`
    Level,
    /// `**`
    Any,
}

impl Glob {
    fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("names nothing");
        }
        let mut tokens = Vec::with_capacity(text.len());
        for byte in text.bytes() {
            let token = match (byte, tokens.last()) {
                (b'*', Some(Token::Any)) => return Err("has more than two `*` in a row"),
                (b'*', Some(Token::Level)) => {
                    tokens.pop();
                    Token::Any
                }
                (b'*', _) => Token::Level,
                (b'?', _) => Token::One,
                (b'.' | b'/', _) => Token::Byte(b'/'),
                (b' ' | b'!' | b';' | b'[', _) => {
                    return Err("has a character that no class name can have");
                }
                (byte, _) => Token::Byte(byte),
            };
            tokens.push(token);
        }
        let literal = tokens
            .iter()
            .take_while(|token| matches!(token, Token::Byte(_)))
            .count();
        let rest = tokens.split_off(literal);
        let prefix = tokens.iter().filter_map(|token| {
            if let Token::Byte(byte) = token {
                Some(*byte)
            } else {
                None
            }
        });
        Ok(Self {
            prefix: prefix.collect(),
            rest: rest.into(),
        })
    }

    fn matches(&self, name: &[u8]) -> bool {
        match (name.strip_prefix(&*self.prefix), &*self.rest) {
            (None, _) => false,
            (Some(_), [Token::Any]) => true,
            (Some(rest), tokens) => wildcards(tokens, rest),
        }
    }
}

/// Greedy matching with one place to go back to per kind of star: the latest.
fn wildcards(tokens: &[Token], name: &[u8]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut level: Option<(usize, usize)> = None;
    let mut any: Option<(usize, usize)> = None;
    loop {
        match (tokens.get(token), name.get(at)) {
            (None, None) => return true,
            (Some(Token::Any), _) => {
                (any, level) = (Some((token + 1, at)), None);
                token += 1;
                continue;
            }
            (Some(Token::Level), _) => {
                level = Some((token + 1, at));
                token += 1;
                continue;
            }
            (Some(Token::Byte(wanted)), Some(found)) if wanted == found => {
                (token, at) = (token + 1, at + 1);
                continue;
            }
            (Some(Token::One), Some(found)) if *found != b'/' => {
                (token, at) = (token + 1, at + 1);
                continue;
            }
            _ => {}
        }
        match (&mut level, &mut any) {
            (Some((after, from)), _) if name.get(*from).is_some_and(|byte| *byte != b'/') => {
                *from += 1;
                (token, at) = (*after, *from);
            }
            (_, Some((after, from))) if *from < name.len() => {
                *from += 1;
                (token, at) = (*after, *from);
                level = None;
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Facts(&'static [&'static str], &'static [&'static str]);

    impl ClassFacts for Facts {
        fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
            self.0.iter().any(|name| test(name.as_bytes()))
        }
        fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
            self.1.iter().any(|name| test(name.as_bytes()))
        }
    }

    fn name_verdict(selectors: &[&str], name: &str) -> Verdict {
        Selection::parse(selectors)
            .unwrap()
            .matches_name(name.as_bytes(), &Loader::App)
    }

    #[test]
    fn stars_respect_package_levels() {
        for (glob, name, expected) in [
            ("com.acme.**", "com/acme/A", true),
            ("com.acme.**", "com/acme/a/b/C", true),
            ("com.acme.**", "com/acmes/A", false),
            ("com.acme.*", "com/acme/A$B", true),
            ("com.acme.*", "com/acme/a/B", false),
            ("**.gen.**", "com/acme/gen/a/B", true),
            ("**.gen.**", "com/acme/genes/B", false),
            ("com/*/A?", "com/x/AB", true),
            ("com/*/A?", "com/x/A", false),
            ("com/*/A?", "com/x/y/AB", false),
            ("**.*Test", "a/b/FooTest", true),
            ("**.*Test", "a/Test/Foo", false),
            ("*.b*.c", "a/bb/c", true),
            ("**", "anything/At$all", true),
            ("com.acme.A", "com/acme/A", true),
            ("com.acme.A", "com/acme/AB", false),
        ] {
            let verdict = if expected { Verdict::Yes } else { Verdict::No };
            assert_eq!(name_verdict(&[glob], name), verdict, "{glob} on {name}");
        }
    }

    #[test]
    fn an_exclusion_wins_wherever_it_stands() {
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
            Verdict::AskClass
        );
        assert!(selection.matches_class(b"x/A", &Facts(&["com/acme/Marked"], &[])));
        assert!(selection.matches_class(b"x/A", &Facts(&[], &["q/Base"])));
        assert!(
            !selection.matches_class(b"x/A", &Facts(&["com/acme/Marked"], &["com/acme/Secret"]))
        );
        assert!(!selection.matches_class(b"x/A", &Facts(&[], &[])));
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
    fn nonsense_is_refused_with_its_reason() {
        for bad in [
            "",
            "!",
            "@",
            "<:",
            "loader:",
            "a***",
            "a b",
            "location:here",
            "!location:any",
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
        let glob = Glob::parse(&"**a".repeat(50)).unwrap();
        assert!(!glob.matches(&[b'a'; 40]));
        assert!(!glob.matches(&[b'b'; 4_000]));
    }
}
