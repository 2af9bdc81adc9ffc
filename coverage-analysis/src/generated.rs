//! Classes that libraries generate while the program runs: they have no source.

use coverage::class::ClassDescription;

/// Substrings of the names of classes that CGLIB, Mockito, Hibernate, Byte Buddy, Javassist and
/// Weld generate.
const MARKS: [&str; 9] = [
    "CGLIB$$",
    "$$EnhancerBy",
    "$MockitoMock$",
    "$HibernateProxy$",
    "$ByteBuddy$",
    "_$$_jvst",
    "_$$_javassist",
    "$Proxy$_$$_",
    "_$$_Weld",
];
/// The name of proxies of the JDK, before their number.
const PROXY: &str = "$Proxy";
/// Name of the source file in classes of CGLIB.
const SOURCE: &str = "<generated>";

/// Checks whether a library generated this class at run time, by its name and source file.
pub(super) fn is_generated(class: &ClassDescription<'_>) -> bool {
    let name = jvms::names::without_package(class.name);
    let number = name.strip_prefix(PROXY).unwrap_or_default();
    let is_proxy = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    is_proxy || class.source_file == Some(SOURCE) || MARKS.iter().any(|mark| name.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_classes_are_recognised_by_their_names() {
        let of = |name| ClassDescription {
            name,
            ..ClassDescription::default()
        };
        for name in [
            "a/Bank$$EnhancerBySpringCGLIB$$1a2b",
            "a/Bank$$FastClassBySpringCGLIB$$3c",
            "a/Bank$$SpringCGLIB$$0",
            "a/Bank$$EnhancerByCGLIB$$4d",
            "a/Bank$MockitoMock$123",
            "a/Bank$HibernateProxy$x",
            "a/Bank_$$_jvst1_0",
            "com/sun/proxy/$Proxy12",
        ] {
            assert!(is_generated(&of(name)), "{name}");
        }
        for name in [
            "a/Bank",
            "a/Bank$1",
            "a/$Proxy",
            "a/$ProxyBank",
            "CGLIB$$/Bank",
        ] {
            assert!(!is_generated(&of(name)), "{name}");
        }
        let generated = ClassDescription {
            source_file: Some(SOURCE),
            ..of("a/Keys")
        };
        assert!(is_generated(&generated));
    }
}
