//! Formats names as a Java programmer writes them.

use jvms::descriptor::Parameters;
use jvms::names;

use crate::model::{ClassCoverage, MethodCoverage};

/// Returns `java.util`, or `default` for the unnamed package.
#[must_use]
pub fn package(internal: &str) -> String {
    if internal.is_empty() {
        "default".to_owned()
    } else {
        names::binary(internal)
    }
}

/// Returns `Map.Entry`, or `Main.new Runnable() {...}` for an anonymous class.
pub(super) fn class(class: &ClassCoverage) -> String {
    let super_type = class.interfaces.first().or(class.super_name.as_ref());
    match (anonymous(&class.name), super_type) {
        (Some(outer), Some(super_type)) => {
            format!("{}.new {}() {{...}}", simple(outer), simple(super_type))
        }
        _ => simple(&class.name),
    }
}

/// Returns `put(Object, int)`; `Map(int)` for a constructor, `static {...}` for `<clinit>`.
pub(super) fn method(class: &ClassCoverage, method: &MethodCoverage) -> String {
    method_with(class, method, simple)
}

/// Returns `java.util.Map.Entry`.
#[must_use]
pub fn qualified_class(internal: &str) -> String {
    names::binary(internal).replace('$', ".")
}

/// Returns `java.util.Map.put(java.lang.Object, int)`.
#[must_use]
pub fn qualified_method(class: &ClassCoverage, method: &MethodCoverage) -> String {
    let name = method_with(class, method, qualified_class);
    format!("{}.{name}", qualified_class(&class.name))
}

/// Returns the name of a method with its parameters; `class_name` formats the classes.
fn method_with(
    class: &ClassCoverage,
    method: &MethodCoverage,
    class_name: fn(&str) -> String,
) -> String {
    let name = match method.name.as_str() {
        names::CLINIT => return "static {...}".to_owned(),
        names::INIT if anonymous(&class.name).is_some() => return "{...}".to_owned(),
        names::INIT => simple(&class.name),
        name => name.to_owned(),
    };
    let types = Parameters::of(method.descriptor.as_bytes());
    let types: Vec<String> = types.map(|found| found.to_java(class_name)).collect();
    format!("{name}({})", types.join(", "))
}

/// Returns the enclosing class of an anonymous class.
fn anonymous(name: &str) -> Option<&str> {
    let (outer, inner) = name.rsplit_once('$')?;
    let first = inner.chars().next()?;
    (!is_identifier_start(first)).then_some(outer)
}

fn is_identifier_start(first: char) -> bool {
    first.is_alphabetic() || matches!(first, '_' | '$' | '¢'..='¥' | '€')
}

fn simple(name: &str) -> String {
    names::without_package(name).replace('$', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_named(name: &str, interface: Option<&str>) -> ClassCoverage {
        let mut class = ClassCoverage::new(0, name);
        class.super_name = Some("java/lang/Object".into());
        class.interfaces = interface.into_iter().map(str::to_owned).collect();
        class
    }

    fn method_named(name: &str, descriptor: &str) -> MethodCoverage {
        MethodCoverage::new(name, descriptor, None)
    }

    #[test]
    fn classes() {
        assert_eq!(
            class(&class_named("java/util/Map$Entry", None)),
            "Map.Entry"
        );
        assert_eq!(
            class(&class_named("Main$1", Some("java/lang/Runnable"))),
            "Main.new Runnable() {...}"
        );
        assert_eq!(
            class(&class_named("a/Main$A$2", None)),
            "Main.A.new Object() {...}"
        );
        assert_eq!(class(&class_named("a/Odd$", None)), "Odd.");
        assert_eq!(package(""), "default");
        assert_eq!(package("java/util"), "java.util");
    }

    #[test]
    fn methods() {
        let map = class_named("a/Map$Entry", None);
        let put = method_named("put", "(Ljava/util/Map$Entry;[[IJ[Ljava/lang/String;)V");
        assert_eq!(
            method(&map, &put),
            "put(Map.Entry, int[][], long, String[])"
        );
        assert_eq!(
            qualified_method(&map, &put),
            "a.Map.Entry.put(java.util.Map.Entry, int[][], long, java.lang.String[])"
        );
        assert_eq!(
            method(&map, &method_named("<init>", "(I)V")),
            "Map.Entry(int)"
        );
        assert_eq!(
            method(&map, &method_named("<clinit>", "()V")),
            "static {...}"
        );
        assert_eq!(
            method(
                &class_named("a/Map$1", None),
                &method_named("<init>", "(I)V")
            ),
            "{...}"
        );
    }

    #[test]
    fn malformed_descriptors_terminate() {
        let class = class_named("A", None);
        assert_eq!(method(&class, &method_named("a", "([Lunclosed")), "a()");
        assert_eq!(method(&class, &method_named("a", "([[)V")), "a()");
        assert_eq!(
            method(&class, &method_named("a", "(ILunclosed)V")),
            "a(int)"
        );
        assert_eq!(method(&class, &method_named("a", "")), "a()");
    }
}
