//! The probe classes, `java/lang/$Classhook` and its siblings. Probes write to their arrays, and instrumented code
//! calls the methods of the first to record spans.

use host::storage::{array_owner, counts_owner};
use std::ffi::CString;

/// A class file from the build script without its name: the bytes before and after the name.
type Template = (&'static [u8], &'static [u8]);

macro_rules! template {
    ($name:literal) => {
        (
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".head")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".tail")),
        )
    };
}

/// The array of hits, and the methods that spans call.
const FIRST: Template = template!("first");
/// The same for JVMs with `Thread.threadId`.
const FIRST_WITH_IDS: Template = template!("first_with_ids");
/// An array of hits.
const HITS: Template = template!("hits");
/// An array of counters.
const COUNTS: Template = template!("counts");

/// A probe class, ready to be defined.
#[derive(Debug)]
pub(crate) struct ProbeClass {
    /// Its internal name.
    pub name: CString,
    /// The class file.
    pub bytes: Vec<u8>,
}

impl ProbeClass {
    /// The class with the array number `array`. `thread_ids` is true if the JVM has `Thread.threadId`. Returns `None`
    /// if its name is no C string, which cannot happen.
    pub fn new(array: u16, thread_ids: bool) -> Option<Self> {
        let template = match (array, thread_ids) {
            (0, false) => FIRST,
            (0, true) => FIRST_WITH_IDS,
            _ => HITS,
        };
        Self::named(array_owner(array), template)
    }

    /// The class with the array of counters number `array`.
    pub fn counters(array: u16) -> Option<Self> {
        Self::named(counts_owner(array), COUNTS)
    }

    fn named(name: String, (head, tail): Template) -> Option<Self> {
        let length = u16::try_from(name.len()).ok()?;
        let bytes = [head, &length.to_be_bytes(), name.as_bytes(), tail].concat();
        Some(Self {
            name: CString::new(name).ok()?,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::name_in;

    /// Every kind of class, with its expected name.
    fn all() -> Vec<(ProbeClass, &'static str)> {
        let first = [false, true].map(|ids| (ProbeClass::new(0, ids), "java/lang/$Classhook"));
        let more = [
            (ProbeClass::new(1, true), "java/lang/$Classhook1"),
            (ProbeClass::new(4_095, true), "java/lang/$Classhook4095"),
            (ProbeClass::counters(0), "java/lang/$ClasshookCounts"),
            (ProbeClass::counters(7), "java/lang/$ClasshookCounts7"),
        ];
        let all = first.into_iter().chain(more);
        all.map(|(class, name)| (class.expect("a class"), name))
            .collect()
    }

    #[test]
    fn every_probe_class_has_its_name_and_the_version_of_java_8() {
        for (class, name) in all() {
            assert_eq!(class.bytes[..8], *b"\xCA\xFE\xBA\xBE\x00\x00\x00\x34");
            assert_eq!(name_in(&class.bytes), Some(name.as_bytes()));
            assert_eq!(class.name.to_bytes(), name.as_bytes());
        }
    }

    #[test]
    fn arrays_have_the_length_that_the_probe_table_expects() {
        for (class, name) in all() {
            let length = match name.contains("Counts") {
                true => probes::COUNTS_LENGTH,
                false => probes::ARRAY_LENGTH,
            };
            let length = u32::try_from(length).expect("fits");
            let constant = [&[3][..], &length.to_be_bytes()].concat();
            let holds = |part: &[u8]| class.bytes.windows(part.len()).any(|window| window == part);
            assert!(holds(&constant), "{name}");
            let counts = name.contains("Counts");
            assert_eq!(holds(b"counts"), counts);
            assert_eq!(holds(host::storage::HITS_FIELD.as_bytes()), !counts);
            let last = format!(
                "{}{}",
                host::storage::HIT_METHOD,
                probes::ARRAY_LENGTH / 256 - 1
            );
            assert_eq!(holds(last.as_bytes()), !counts);
        }
    }

    #[test]
    fn only_the_first_class_has_native_methods_and_only_newer_jvms_use_thread_ids() {
        for ((class, name), index) in all().into_iter().zip(0..) {
            let holds = |part: &[u8]| class.bytes.windows(part.len()).any(|window| window == part);
            assert_eq!(holds(b"enter0"), index < 2, "{name}");
            assert_eq!(holds(b"threadId"), index == 1, "{name}");
        }
    }
}
