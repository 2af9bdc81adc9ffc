//! Tags of constant pool entries (JVMS 4.4).

/// Defines each tag with the length of its entry: tag included, the text of a `CONSTANT_Utf8` excluded.
macro_rules! tags {
    ($($tag:literal $constant:ident $name:literal $length:literal;)*) => {
        $(#[doc = concat!("`CONSTANT_", $name, "`, ", $tag, ".")]
        pub const $constant: u8 = $tag;)*

        static LENGTHS: [u8; 256] = {
            let mut table = [0; 256];
            $(table[$tag] = $length;)*
            table
        };

        /// Returns the name of an entry kind without `CONSTANT_`, such as `Utf8`. `None` for an unassigned tag.
        #[must_use]
        pub fn name(tag: u8) -> Option<&'static str> {
            match tag {
                $($tag => Some($name),)*
                _ => None,
            }
        }
    };
}

// Table 4.4-A, in the order of the tags.
tags! {
    1 UTF8 "Utf8" 3;
    3 INTEGER "Integer" 5;
    4 FLOAT "Float" 5;
    5 LONG "Long" 9;
    6 DOUBLE "Double" 9;
    7 CLASS "Class" 3;
    8 STRING "String" 3;
    9 FIELD_REF "Fieldref" 5;
    10 METHOD_REF "Methodref" 5;
    11 INTERFACE_METHOD_REF "InterfaceMethodref" 5;
    12 NAME_AND_TYPE "NameAndType" 5;
    15 METHOD_HANDLE "MethodHandle" 4;
    16 METHOD_TYPE "MethodType" 3;
    17 DYNAMIC "Dynamic" 5;
    18 INVOKE_DYNAMIC "InvokeDynamic" 5;
    19 MODULE "Module" 3;
    20 PACKAGE "Package" 3;
}

/// Returns the bytes of an entry, tag included, the text of a [`UTF8`] excluded. 0 for an unassigned tag.
#[must_use]
#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "a table of 256 entries, indexed with a byte"
)]
pub fn length(tag: u8) -> u8 {
    LENGTHS[usize::from(tag)]
}

/// Checks whether an entry takes two indices (JVMS 4.4.5).
#[must_use]
#[inline]
pub fn is_wide(tag: u8) -> bool {
    matches!(tag, LONG | DOUBLE)
}

/// Checks whether an entry is loadable: by `ldc`, or as a static argument of a bootstrap method (table 4.4-C).
#[must_use]
pub fn is_loadable(tag: u8) -> bool {
    matches!(
        tag,
        INTEGER..=STRING | METHOD_HANDLE | METHOD_TYPE | DYNAMIC
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_structures() {
        let of_length = |wanted: u8| (0..=255).filter(|tag| length(*tag) == wanted).collect();
        let tags: [Vec<u8>; 4] = [of_length(3), of_length(4), of_length(5), of_length(9)];
        assert_eq!(tags[0], [1, 7, 8, 16, 19, 20]);
        assert_eq!(tags[1], [15]);
        assert_eq!(tags[2], [3, 4, 9, 10, 11, 12, 17, 18]);
        assert_eq!(tags[3], [5, 6]);
        let known = (0..=255).filter(|tag| name(*tag).is_some()).count();
        assert_eq!(known, tags.iter().map(Vec::len).sum::<usize>());
    }

    #[test]
    fn wide_and_loadable_entries() {
        let wide: Vec<u8> = (0..=255).filter(|tag| is_wide(*tag)).collect();
        assert_eq!(wide, [LONG, DOUBLE]);
        let loadable: Vec<u8> = (0..=255).filter(|tag| is_loadable(*tag)).collect();
        assert_eq!(loadable, [3, 4, 5, 6, 7, 8, 15, 16, 17]);
    }
}
