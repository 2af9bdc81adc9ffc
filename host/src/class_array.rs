//! Statically instrumented classes, which get their probe array without an agent.
//!
//! Such a class requests its probe array from the class [`RUNTIME`]. The argument is a text with
//! all data that the runtime needs:
//!
//! ```text
//! 0123456789abcdef/2/7/coverage/1/count-calls/com/acme/A
//! fingerprint      |         probes of each plugin    name
//!                  number of plugins
//! ```
//!
//! The array holds the probes of the plugins one after the other. Numbers and plugin names contain
//! no slash, so the text can be parsed from the front.

use std::fmt::Write;

use jvms::modified_utf8::{self, Utf8};
use probes::ARRAY_LENGTH;
use rewriter::{ClassFile, PoolIndex};

/// Internal name of the class in the runtime jar that hands out arrays.
pub const RUNTIME: &str = "classhook/runtime/Probes";
/// The package of the runtime; its classes are never transformed.
pub const PACKAGE: &str = "classhook/runtime/";

/// The probes of one plugin in a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassProbes {
    /// Name of the plugin.
    pub plugin: String,
    /// Number of probes.
    pub count: u32,
}

/// Checks whether a class is statically instrumented already.
#[must_use]
pub fn is_instrumented(class: &ClassFile<'_>) -> bool {
    let pool = class.pool();
    let asks = |index| {
        let member = pool.member_ref(PoolIndex(index));
        member.is_some_and(|member| member.owner == RUNTIME && member.name == "array")
    };
    pool.holds(RUNTIME.as_bytes()) && (1..pool.count()).any(asks)
}

/// Builds the argument for the runtime, in modified UTF-8. Returns `None` if the probes do not fit
/// into one array.
pub(crate) fn key(fingerprint: u64, probes: &[ClassProbes], name: Utf8<'_>) -> Option<Vec<u8>> {
    let total = probes
        .iter()
        .map(|probes| u64::from(probes.count))
        .sum::<u64>();
    if total > ARRAY_LENGTH as u64 {
        return None;
    }
    let mut text = format!("{fingerprint:016x}/{}/", probes.len());
    for ClassProbes { plugin, count } in probes {
        let _ = write!(text, "{count}/{plugin}/"); // a String never fails
    }
    let mut key = modified_utf8::encode(&text);
    key.extend_from_slice(name.as_bytes());
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes(plugin: &str, count: u32) -> ClassProbes {
        ClassProbes {
            plugin: plugin.to_owned(),
            count,
        }
    }

    #[test]
    fn key_has_fingerprint_plugins_and_name() {
        let both = [probes("coverage", 7), probes("count-calls", 1)];
        let found = key(0x123, &both, Utf8::new(b"com/acme/A")).unwrap();
        assert_eq!(
            found,
            b"0000000000000123/2/7/coverage/1/count-calls/com/acme/A"
        );
    }

    #[test]
    fn characters_beyond_the_basic_plane_are_two_surrogates() {
        let found = key(0, &[probes("\u{1F600}\u{e9}", 1)], Utf8::new(b"A")).unwrap();
        assert_eq!(
            found,
            b"0000000000000000/1/1/\xED\xA0\xBD\xED\xB8\x80\xC3\xA9/A"
        );
    }

    #[test]
    fn more_probes_than_an_array_holds_have_no_key() {
        let many = |count| key(0, &[probes("a", count), probes("b", 1)], Utf8::new(b"A"));
        assert!(many(65_535).is_some() && many(65_536).is_none() && many(u32::MAX).is_none());
    }
}
