//! Display names of methods: `com.acme.Service.find`, with parameters for overloaded methods.

use std::collections::{HashMap, HashSet};
use std::fmt;

use jvms::descriptor::Parameters;
use jvms::names;
use probes::events::{SpanInfo, Trace};

/// Chooses the display names of methods.
#[derive(Debug, Default)]
pub struct Names {
    /// The descriptors by class and method.
    descriptors: HashMap<(String, String), HashSet<String>>,
}

/// The parts of a method's name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MethodName {
    /// `com.acme.shop`; empty for the unnamed package.
    pub package: String,
    /// `Store`, `Store$Item`.
    pub class: String,
    /// `find`.
    pub method: String,
    /// `(String, int[])` for an overloaded method, else empty.
    pub parameters: String,
}

impl Names {
    /// Collects the methods of these traces.
    #[must_use]
    pub fn of<'t>(traces: impl IntoIterator<Item = &'t Trace>) -> Self {
        let mut names = Self::default();
        for span in traces.into_iter().flat_map(|trace| trace.spans.values()) {
            let key = (span.class.clone(), span.method.clone());
            let descriptors = names.descriptors.entry(key).or_default();
            descriptors.insert(span.descriptor.clone());
        }
        names
    }

    /// Returns `com.acme.Service.find`, or `com.acme.Service.find(String, int)` if the class has another `find`.
    #[must_use]
    pub fn get(&self, span: &SpanInfo) -> String {
        self.method(span).to_string()
    }

    /// Returns the parts of the name.
    #[must_use]
    pub fn method(&self, span: &SpanInfo) -> MethodName {
        let key = (span.class.clone(), span.method.clone());
        let overloaded = self.descriptors.get(&key).is_some_and(|all| all.len() > 1);
        let parameters = if overloaded {
            parameters(&span.descriptor)
        } else {
            String::new()
        };
        MethodName {
            package: class(names::package(&span.class)),
            class: printable(names::without_package(&span.class)),
            method: printable(&span.method),
            parameters,
        }
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.package.is_empty() {
            write!(f, "{}.", self.package)?;
        }
        write!(f, "{}.{}{}", self.class, self.method, self.parameters)
    }
}

impl MethodName {
    /// Shortens the name to `width` characters. Packages are reduced to initials, outermost first, and then omitted,
    /// then parameters; finally the end is cut.
    #[must_use]
    pub fn shortened(&self, width: usize) -> String {
        let fits = |text: &String| text.chars().count() <= width;
        let mut parts: Vec<&str> = self.package.split('.').collect();
        let with = |package: String, parameters: &str| {
            let name = Self {
                package,
                parameters: parameters.to_owned(),
                ..self.clone()
            };
            name.to_string()
        };
        let whole = self.to_string();
        if fits(&whole) {
            return whole;
        }
        for at in 0..parts.len() {
            let part = parts[at];
            parts[at] = part
                .split_at_checked(part.chars().next().map_or(0, char::len_utf8))
                .map_or(part, |(initial, _)| initial);
            let text = with(parts.join("."), &self.parameters);
            if fits(&text) {
                return text;
            }
        }
        let text = with(String::new(), &self.parameters);
        if fits(&text) {
            return text;
        }
        let text = self.shortest();
        if fits(&text) {
            return text;
        }
        let start: String = text.chars().take(width.saturating_sub(1)).collect();
        format!("{start}…")
    }

    /// Returns class and method.
    #[must_use]
    pub fn shortest(&self) -> String {
        let parameters = if self.parameters.len() > "()".len() {
            "(…)"
        } else {
            &self.parameters
        };
        format!("{}.{}{parameters}", self.class, self.method)
    }
}

/// Returns `com.acme.Service` for `com/acme/Service`.
#[must_use]
pub fn class(internal: &str) -> String {
    printable(&names::binary(internal))
}

/// Maximum length of a displayed command line, in characters.
const LONGEST_COMMAND: usize = 90;

/// Formats a command line for display: without observing agents, and shortened.
#[must_use]
pub fn command(line: &str) -> String {
    let words = line
        .split(' ')
        .filter(|word| !word.starts_with("-agentpath:"));
    let words: Vec<&str> = words.collect();
    let text = printable(&words.join(" "));
    if text.chars().count() <= LONGEST_COMMAND {
        return text;
    }
    let start: String = text.chars().take(LONGEST_COMMAND - 1).collect();
    format!("{start}…")
}

/// Escapes a name for display: names in class files may contain almost any character.
#[must_use]
pub fn printable(text: &str) -> String {
    escape::line(text).into_owned()
}

/// Formats the parameters of a descriptor as `(String, int[])`, with simple class names.
fn parameters(descriptor: &str) -> String {
    let simple = |name: &str| printable(names::without_package(name));
    let types = Parameters::of(descriptor.as_bytes());
    let types: Vec<String> = types.map(|found| found.to_java(simple)).collect();
    format!("({})", types.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_read_as_in_java() {
        assert_eq!(parameters("()V"), "()");
        assert_eq!(
            parameters("(Ljava/lang/String;[[IJ[LB;)V"),
            "(String, int[][], long, B[])"
        );
        assert_eq!(parameters("(Lno/end"), "()");
    }

    #[test]
    fn command_line_is_shown_shortened_and_without_agents() {
        let line = "java -agentpath:/a/b.so=plugin=trace,run=1 -cp app.jar com.acme.Main";
        assert_eq!(command(line), "java -cp app.jar com.acme.Main");
        let long = command(&"x".repeat(500));
        assert!(long.chars().count() == LONGEST_COMMAND && long.ends_with('…'));
    }

    #[test]
    fn names_are_shortened_from_the_packages_on() {
        let name = MethodName {
            package: "com.acme.shop".to_owned(),
            class: "Store".to_owned(),
            method: "find".to_owned(),
            parameters: "(String, int[])".to_owned(),
        };
        for (width, expected) in [
            (99, "com.acme.shop.Store.find(String, int[])"),
            (38, "c.acme.shop.Store.find(String, int[])"),
            (36, "c.a.shop.Store.find(String, int[])"),
            (32, "c.a.s.Store.find(String, int[])"),
            (30, "Store.find(String, int[])"),
            (24, "Store.find(…)"),
            (12, "Store.find(…"),
            (6, "Store…"),
        ] {
            assert_eq!(name.shortened(width), expected);
        }
    }

    #[test]
    fn parameters_are_shown_for_overloaded_methods() {
        let span = |id, method: &str, descriptor: &str| SpanInfo {
            id,
            class: "a/B".to_owned(),
            method: method.to_owned(),
            descriptor: descriptor.to_owned(),
            ..SpanInfo::default()
        };
        let spans = [
            span(0, "f", "()V"),
            span(1, "f", "(I)V"),
            span(2, "g", "(I)V"),
        ];
        let trace = Trace {
            spans: spans.iter().map(|span| (span.id, span.clone())).collect(),
            ..Trace::default()
        };
        let names = Names::of(&[trace]);
        assert_eq!(
            spans.map(|span| names.get(&span)),
            ["a.B.f()", "a.B.f(int)", "a.B.g"]
        );
    }
}
