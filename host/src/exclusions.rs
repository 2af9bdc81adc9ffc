//! Classes that are never changed, whatever is selected.
//!
//! The list belongs to the host, because both the agent and the command that instruments files need
//! it.

use crate::class_array;
use crate::storage::HELPER;
use plan_rules::{is_helper_class, is_probed_helper};

/// Name prefixes of excluded classes, besides the helper classes of plugins without probes:
///
/// * the probe classes and the runtime, which must not probe themselves;
/// * classes that HotSpot calls while it defines the first changed class of a named module
///   (`Modules.transformedByAgent`); a changed class that this call needs ends in a
///   `ClassCircularityError`;
/// * the classes of `java.lang.instrument`;
/// * code generated for reflection.
const PREFIXES: [&str; 9] = [
    HELPER,
    class_array::PACKAGE,
    "java/lang/Module$ReflectionData",
    "java/lang/WeakPairMap",
    "jdk/internal/module/",
    "java/lang/instrument/",
    "sun/instrument/",
    "jdk/internal/reflect/Generated",
    "sun/reflect/Generated",
];

/// Checks whether a class, by its internal name, is never changed.
#[must_use]
pub fn is_excluded(name: &[u8]) -> bool {
    let mut prefixes = PREFIXES.iter();
    prefixes.any(|prefix| name.starts_with(prefix.as_bytes()))
        || is_helper_class(name) && !is_probed_helper(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_classes_and_the_module_path_are_excluded() {
        for name in [
            "java/lang/$Classhook",
            "java/lang/$Classhook12",
            "java/lang/$ClasshookCounts",
            class_array::RUNTIME,
            "java/lang/Module$ReflectionData",
            "java/lang/WeakPairMap$Pair$Weak",
            "jdk/internal/module/Modules",
            "sun/instrument/InstrumentationImpl",
            "jdk/internal/reflect/GeneratedMethodAccessor1",
            "com/acme/$Classhook$0123456789abcdef$Log",
            "$Classhook$0123456789abcdef$Log",
            "$Classhook$0123456789abcdef$LogProbed",
        ] {
            assert!(is_excluded(name.as_bytes()), "{name}");
        }
        for name in [
            "com/acme/$Classhook$0123456789abcdef$ProbedRows",
            "java/lang/Module",
            "com/acme/Main",
            "com/$Classhook$/Main",
            "jdk/internal/reflect/Reflection",
            "",
        ] {
            assert!(!is_excluded(name.as_bytes()), "{name}");
        }
    }
}
