//! `java/lang/$Classhook` and its siblings: the classes whose arrays the probes write.

use host::storage::array_owner;
use std::ffi::CString;

/// The class file up to the length of its name, made by the build script.
const HEAD: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/helper_head.bin"));
/// The class file after its name.
const TAIL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/helper_tail.bin"));

/// A probe class, ready to be defined.
#[derive(Debug)]
pub(crate) struct ProbeClass {
    /// Internal name.
    pub name: CString,
    /// The class file.
    pub bytes: Vec<u8>,
}

impl ProbeClass {
    /// The class that holds array number `array`; `None` if its name were no C string, which
    /// cannot be.
    pub fn new(array: u16) -> Option<Self> {
        let name = array_owner(array);
        let length = u16::try_from(name.len()).ok()?;
        let bytes = [HEAD, &length.to_be_bytes(), name.as_bytes(), TAIL].concat();
        Some(Self {
            name: CString::new(name).ok()?,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_class;

    #[test]
    fn siblings_differ_in_their_name_only() {
        for array in [0, 1, 9, 10, 4_095] {
            let class = ProbeClass::new(array).expect("a class");
            assert_eq!(class.bytes[..8], *b"\xCA\xFE\xBA\xBE\x00\x00\x00\x34");
            assert_eq!(
                this_class::internal_name(&class.bytes),
                Some(array_owner(array).as_bytes())
            );
            assert!(class.bytes.ends_with(TAIL));
        }
        assert_eq!(
            ProbeClass::new(0).expect("a class").name.to_bytes(),
            b"java/lang/$Classhook"
        );
    }

    #[test]
    fn the_array_has_as_many_slots_as_the_probe_table_counts_on() {
        let class = ProbeClass::new(0).expect("a class").bytes;
        let constant = [
            &[3][..],
            &u32::try_from(probes::ARRAY_LENGTH)
                .expect("fits")
                .to_be_bytes(),
        ]
        .concat();
        assert!(class.windows(5).any(|window| window == constant));
        assert!(
            class
                .windows(4)
                .any(|window| window == host::storage::HITS_FIELD.as_bytes())
        );
    }
}
