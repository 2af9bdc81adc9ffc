//! Patterns over members: a class, a name and, if it matters, a descriptor.

use crate::Glob;

/// `com.acme.**.Service.find*(I*)*`: a class, a method and, if it matters, a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The part that names classes, as selectors for the host. A class has to match one selector.
    pub selectors: Vec<String>,
    /// The one class that it names (internal name), if it holds no wildcard there.
    pub only_class: Option<String>,
    /// The method's part as written.
    pub member: String,
    /// The descriptor's part as written, with its parenthesis.
    pub written_descriptor: Option<String>,
    classes: Vec<Glob>,
    method: Glob,
    descriptor: Option<Glob>,
    /// True if every method of the class matches.
    pub whole_class: bool,
}

/// A mistake in a pattern.
#[derive(Debug, PartialEq, Eq)]
pub struct PatternError {
    pattern: String,
    problem: &'static str,
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { pattern, problem } = self;
        write!(
            f,
            "the pattern `{pattern}` {problem}; expected `CLASS.METHOD` or `CLASS.METHOD(DESCRIPTOR`, \
             such as `com.acme.*.find*` or `com.acme.Service.find(I*`, or `com.acme.**` for every method below"
        )
    }
}

impl std::error::Error for PatternError {}

impl Pattern {
    /// Reads a pattern from its text, without `!`.
    ///
    /// # Errors
    /// The mistake, and an example.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let fail = |problem| PatternError {
            pattern: text.to_owned(),
            problem,
        };
        let (name, descriptor) = match text.find('(') {
            Some(at) => {
                let (name, descriptor) = text.split_at(at);
                (name, Some(descriptor))
            }
            None => (text, None),
        };
        let (class, method) = match name.rsplit_once('.') {
            Some((_, "**")) => (name, "*"),
            Some(parts) => parts,
            None if name == "**" => ("**", "*"),
            None => ("**", name),
        };
        if class.is_empty() || method.is_empty() {
            return Err(fail("names nothing"));
        }
        if text.contains("***") {
            return Err(fail("has more than two `*` in a row"));
        }
        crate::expect_no_braces(text).map_err(fail)?;
        if class.contains([' ', '!', ';', '[', ')', '<', '@'])
            || method.contains([' ', ';', '[', '/', ')'])
        {
            return Err(fail("has a character that no name can have"));
        }
        let mut selectors = vec![class.to_owned()];
        selectors.extend(class_before_stars(class).map(str::to_owned));
        Ok(Self {
            classes: selectors.iter().map(|it| Glob::of_class(it)).collect(),
            selectors,
            only_class: (!class.contains(['*', '?'])).then(|| class.replace('.', "/")),
            member: method.to_owned(),
            written_descriptor: descriptor.map(str::to_owned),
            method: Glob::of_member(method),
            descriptor: descriptor.map(Glob::of_member),
            whole_class: method == "*" && descriptor.is_none(),
        })
    }

    /// Checks whether any method of this class (internal name) may match.
    #[must_use]
    pub fn matches_class(&self, class: &str) -> bool {
        self.classes.iter().any(|glob| glob.matches(class))
    }

    /// Checks whether a method of a matching class matches.
    #[must_use]
    pub fn matches_method(&self, name: &str, descriptor: &str) -> bool {
        self.method.matches(name)
            && (self.descriptor.as_ref()).is_none_or(|glob| glob.matches(descriptor))
    }
}

/// The name before `.**` may be a package or a class. No name shows it, so the methods of such a class match, too.
fn class_before_stars(class: &str) -> Option<&str> {
    let before = class.strip_suffix(".**")?;
    let last = before.rsplit(['.', '/']).next().unwrap_or(before);
    (!last.is_empty() && !last.contains(['*', '?'])).then_some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_respect_packages_in_classes_and_nothing_in_methods() {
        for (glob, text, expected) in [
            ("a.*", "a/B", true),
            ("a.*", "a/b/C", false),
            ("a.**", "a/b/C", true),
            ("**.C", "a/b/C", true),
            ("**C", "C", true),
            ("a.?", "a/B", true),
            ("a?B", "a/B", false),
            ("*a*b*", "xaxbx", true),
            ("*a*b*", "xbxax", false),
            ("", "", true),
            ("**", "anything/at/All", true),
        ] {
            assert_eq!(
                Glob::of_class(glob).matches(text),
                expected,
                "{glob} {text}"
            );
        }
        assert!(Glob::of_member("(*)V").matches("(Ljava/lang/String;I)V"));
        assert!(!Glob::of_member("(*)V").matches("(I)VV"));
        assert!(Glob::of_class(&"*a".repeat(200)).matches("a".repeat(4_000)));
    }

    #[test]
    fn a_pattern_is_class_method_and_descriptor() {
        let matches = |pattern: &str, class, method, descriptor| {
            let pattern = Pattern::parse(pattern).unwrap();
            pattern.matches_class(class) && pattern.matches_method(method, descriptor)
        };
        assert!(matches(
            "com.acme.Service.find*",
            "com/acme/Service",
            "findAll",
            "()V"
        ));
        assert!(!matches(
            "com.acme.Service.find*",
            "com/acme/Other",
            "findAll",
            "()V"
        ));
        assert!(matches("com.acme.**", "com/acme/a/B", "<init>", "()V"));
        assert!(matches("com.acme.*.*", "com/acme/B", "f", "()V"));
        assert!(!matches("com.acme.*.*", "com/acme/a/B", "f", "()V"));
        assert!(matches("find*", "B", "find", "()V"));
        assert!(matches("**", "a/B", "f", "()V"));
        assert!(matches("B.f(I*", "B", "f", "(I)V"));
        assert!(matches(
            "B.f(Ljava.lang.String;)V",
            "B",
            "f",
            "(Ljava/lang/String;)V"
        ));
        assert!(!matches("B.f(I*", "B", "f", "(J)V"));
        assert!(matches("B.<init>", "B", "<init>", "()V"));
        assert!(matches("a.Ground$Work.**", "a/Ground$Work", "f", "()V"));
        assert!(!matches("a.Ground$Work.**", "a/Ground", "f", "()V"));
        assert!(matches("a.b.**", "a/b", "f", "()V"));
        assert!(matches("b.**", "b", "f", "()V"));
        assert!(!matches("a.b.**", "a/bc", "f", "()V"));
        assert!(!matches("a.*.**", "a/B", "f", "()V"));
        let pattern = Pattern::parse("a.Ground$Work.**").unwrap();
        assert_eq!(pattern.selectors, ["a.Ground$Work.**", "a.Ground$Work"]);
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for text in [
            "",
            ".f",
            "a.B.",
            "a.***",
            "a b.c",
            "a.[B.f",
            "a.B.f;",
            "java.net.URI.get{Path,Query}",
        ] {
            let error = Pattern::parse(text).unwrap_err().to_string();
            assert!(
                error.contains(&format!("`{text}`")) && error.contains("com.acme"),
                "{error}"
            );
        }
    }
}
