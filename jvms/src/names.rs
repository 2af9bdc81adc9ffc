//! Names in class files (JVMS 4.2), as bytes of modified UTF-8.
//!
//! All characters with a meaning take one byte, so these functions decode nothing.

/// The name of instance initialization methods (JVMS 2.9.1).
pub const INIT: &str = "<init>";
/// The name of class initialization methods (JVMS 2.9.2).
pub const CLINIT: &str = "<clinit>";

/// Checks whether this is an unqualified name, as fields, local variables and formal parameters have: not empty, and
/// without `.`, `;`, `[` and `/` (JVMS 4.2.2).
#[must_use]
pub fn is_unqualified(name: &[u8]) -> bool {
    let forbidden = |byte: &u8| matches!(byte, b'.' | b';' | b'[' | b'/');
    !name.is_empty() && !name.iter().any(forbidden)
}

/// Checks whether this is a method name: one that invocations use, [`INIT`] or [`CLINIT`] (JVMS 4.2.2).
#[must_use]
pub fn is_method(name: &[u8]) -> bool {
    let special = [INIT, CLINIT].iter().any(|it| it.as_bytes() == name);
    special || is_called_by_name(name)
}

/// Checks whether invocations may use this method name: unqualified, and without `<` and `>` (JVMS 4.2.2).
#[must_use]
pub fn is_called_by_name(name: &[u8]) -> bool {
    is_unqualified(name) && !name.iter().any(|byte| matches!(byte, b'<' | b'>'))
}

/// Checks whether this is a class name in internal form: unqualified names separated by `/` (JVMS 4.2.1).
#[must_use]
pub fn is_internal(name: &[u8]) -> bool {
    internal_ends(name).is_none()
}

/// Returns the offset at which a text stops being a class name in internal form; `None` if it is one.
#[must_use]
pub fn internal_ends(name: &[u8]) -> Option<usize> {
    let mut empty = true;
    for (at, byte) in name.iter().enumerate() {
        match byte {
            b'/' if empty => return Some(at),
            b'.' | b';' | b'[' => return Some(at),
            byte => empty = *byte == b'/',
        }
    }
    empty.then_some(name.len())
}

/// Checks whether this is a Java identifier. Class files before version 49 require identifiers for member names and for
/// each part of a class name.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    let starts = |letter: char| letter.is_alphabetic() || matches!(letter, '_' | '$');
    name.starts_with(starts) && name.chars().all(|it| starts(it) || it.is_alphanumeric())
}

/// Returns the binary name: `java.util.Map$Entry` for `java/util/Map$Entry` (JVMS 4.2.1).
#[must_use]
pub fn binary(internal: &str) -> String {
    internal.replace('/', ".")
}

/// Returns the internal form: `java/util/Map$Entry` for `java.util.Map$Entry` (JVMS 4.2.1).
#[must_use]
pub fn internal(binary: &str) -> String {
    binary.replace('.', "/")
}

/// Returns the package of a class: `java/util` for `java/util/Map$Entry`, empty for the unnamed package.
#[must_use]
pub fn package(internal: &str) -> &str {
    internal.rsplit_once('/').map_or("", |(package, _)| package)
}

/// Returns the class name without its package: `Map$Entry` for `java/util/Map$Entry`.
#[must_use]
pub fn without_package(internal: &str) -> &str {
    internal.rsplit_once('/').map_or(internal, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unqualified_names_hold_almost_anything() {
        for name in ["a", "<a>", "a b", ")", "(I)V", "$", "1", "a-b", "é", "\0"] {
            assert!(is_unqualified(name.as_bytes()), "{name}");
            assert!(is_internal(name.as_bytes()), "{name}");
        }
        for name in ["", "a.b", "a;", "[a", "a/b", "/", "."] {
            assert!(!is_unqualified(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn methods_have_no_angle_brackets_but_the_special_two() {
        for name in ["run", "<init>", "<clinit>", "lambda$0", "a b"] {
            assert!(is_method(name.as_bytes()), "{name}");
        }
        for name in ["", "<a>", "<init", "a>", "<init>x", "a/b"] {
            assert!(!is_method(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn internal_names_have_no_empty_segment() {
        for name in ["a/B", "a/b/C$D", "package-info", "a/package-info"] {
            assert!(is_internal(name.as_bytes()), "{name}");
        }
        for name in ["", "/", "a/", "/a", "a//b", "a.B", "[La/B;", "La/B;"] {
            assert!(!is_internal(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn end_of_an_internal_name_is_found() {
        let cases: [(&[u8], Option<usize>); 7] = [
            (b"a/B", None),
            (b"", Some(0)),
            (b"/", Some(0)),
            (b"a//b", Some(2)),
            (b"a/", Some(2)),
            (b"java.lang", Some(4)),
            (b"a;", Some(1)),
        ];
        for (name, end) in cases {
            assert_eq!(internal_ends(name), end, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn identifiers_begin_with_no_digit_and_hold_no_marks() {
        for name in ["a", "_1", "$a", "é", "a1"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "1a", "a-b", "a b", "package-info", "a/b"] {
            assert!(!is_identifier(name), "{name}");
        }
    }

    #[test]
    fn parts_of_names() {
        assert_eq!(binary("java/util/Map$Entry"), "java.util.Map$Entry");
        assert_eq!(internal("java.util.Map$Entry"), "java/util/Map$Entry");
        assert_eq!(package("java/util/Map$Entry"), "java/util");
        assert_eq!(without_package("java/util/Map$Entry"), "Map$Entry");
        assert_eq!((package("Main"), without_package("Main")), ("", "Main"));
    }
}
