//! Classes that are never transformed, whatever is selected.

/// After the first changed class of a named module HotSpot calls `Modules.transformedByAgent` while
/// that class is still being defined; a class which that call itself needs would end in a
/// `ClassCircularityError`. The probe classes must not probe themselves.
const PREFIXES: [&[u8]; 4] = [
    b"java/lang/$Classhook",
    b"java/lang/Module$ReflectionData",
    b"java/lang/WeakPairMap",
    b"jdk/internal/module/Modules",
];

/// Whether a class, by its internal name, is left alone in any case.
pub(crate) fn is_excluded(name: &[u8]) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_classes_and_the_module_path_are_excluded() {
        assert!(is_excluded(b"java/lang/$Classhook"));
        assert!(is_excluded(b"java/lang/$Classhook12"));
        assert!(is_excluded(b"java/lang/WeakPairMap$Pair$Weak"));
        assert!(is_excluded(b"java/lang/Module$ReflectionData"));
        assert!(!is_excluded(b"java/lang/Module"));
        assert!(!is_excluded(b"com/acme/Main"));
        assert!(!is_excluded(b""));
    }
}
