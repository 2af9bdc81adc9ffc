//! Names in class files (JVMS 4.2), as the bytes of modified UTF-8.
//!
//! The characters with a meaning are all of one byte, so none of these
//! functions decodes anything.

/// The name of instance initialization methods (JVMS 2.9.1).
pub const INIT: &str = "<init>";
/// The name of class initialization methods (JVMS 2.9.2).
pub const CLINIT: &str = "<clinit>";

/// Whether a field, local variable or formal parameter may have this name: it
/// is not empty and holds none of `.`, `;`, `[` and `/` (JVMS 4.2.2).
#[must_use]
pub fn is_unqualified(name: &[u8]) -> bool {
    let forbidden = |byte: &u8| matches!(byte, b'.' | b';' | b'[' | b'/');
    !name.is_empty() && !name.iter().any(forbidden)
}

/// Whether a method may have this name: one that is called by it, or one of
/// [`INIT`] and [`CLINIT`] (JVMS 4.2.2).
#[must_use]
pub fn is_method(name: &[u8]) -> bool {
    let special = [INIT, CLINIT].iter().any(|it| it.as_bytes() == name);
    special || is_called_by_name(name)
}

/// Whether a method that is called by its name may have this one: an
/// unqualified name without `<` and `>` (JVMS 4.2.2).
#[must_use]
pub fn is_called_by_name(name: &[u8]) -> bool {
    is_unqualified(name) && !name.iter().any(|byte| matches!(byte, b'<' | b'>'))
}

/// Whether this is the name of a class or interface in internal form:
/// unqualified names with `/` between them (JVMS 4.2.1).
#[must_use]
pub fn is_internal(name: &[u8]) -> bool {
    internal_ends(name).is_none()
}

/// Where a text stops being the name of a class in internal form; none where
/// it is one.
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

/// Whether this is an identifier of Java, as class files before version 49 need
/// them for names: each part of a class's name, and the names of members.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    let starts = |letter: char| letter.is_alphabetic() || matches!(letter, '_' | '$');
    name.starts_with(starts) && name.chars().all(|it| starts(it) || it.is_alphanumeric())
}

/// `java.util.Map$Entry` of `java/util/Map$Entry` (JVMS 4.2.1).
#[must_use]
pub fn binary(internal: &str) -> String {
    internal.replace('/', ".")
}

/// `java/util/Map$Entry` of `java.util.Map$Entry` (JVMS 4.2.1).
#[must_use]
pub fn internal(binary: &str) -> String {
    binary.replace('.', "/")
}

/// The package of a class, `java/util` of `java/util/Map$Entry`; empty for the
/// unnamed one.
#[must_use]
pub fn package(internal: &str) -> &str {
    internal.rsplit_once('/').map_or("", |(package, _)| package)
}

/// A class's name without its package, `Map$Entry` of `java/util/Map$Entry`.
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
    fn where_an_internal_name_ends_is_known() {
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
