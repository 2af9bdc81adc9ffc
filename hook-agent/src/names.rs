//! Names of classes, in the form of the JVM and in display form.

use jvms::descriptor::FieldType;
use jvms::modified_utf8::Utf8;
use jvms::names::binary;
use rewriter::ClassHeader;

/// The internal name in the signature of a class: `Lcom/acme/Main;` → `com/acme/Main`; `None` for an
/// array or a primitive type (JVMS 4.3.2).
pub(crate) fn internal_name(signature: &[u8]) -> Option<&[u8]> {
    signature.strip_prefix(b"L")?.strip_suffix(b";")
}

/// The internal name in a class file; `None` if the bytes before and including the name are no class file.
pub(crate) fn name_in(class_file: &[u8]) -> Option<&[u8]> {
    let header = ClassHeader::read(class_file).ok()?;
    Some(header.this_class().as_bytes())
}

/// The class name in a signature: `Lcom/acme/Loader;` → `com/acme/Loader`. Any other signature stays as it is.
pub(crate) fn display_name(signature: &[u8]) -> String {
    decode(internal_name(signature).unwrap_or(signature))
}

/// An internal name as the Java language writes it: `com/acme/Main` → `com.acme.Main`.
pub(crate) fn dotted(name: &[u8]) -> String {
    binary(&decode(name))
}

/// Decodes modified UTF-8 (JVMS 4.4.7), and escapes invalid bytes and lone surrogates.
pub(crate) fn decode(name: &[u8]) -> String {
    Utf8::new(name).to_str_lossless().into_owned()
}

/// The class of a signature as Java writes it: `byte[]`, `com.acme.Store`.
pub(crate) fn class_name(signature: &[u8]) -> String {
    match FieldType::parse(signature) {
        Ok(found) => found.to_java(binary),
        // A hidden class: `Lcom/acme/Main$$Lambda.0x0001;`
        Err(_) => binary(
            decode(signature)
                .trim_start_matches('L')
                .trim_end_matches(';'),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_as_in_java() {
        for (signature, expected) in [
            ("[B", "byte[]"),
            ("Lcom/acme/Store$Item;", "com.acme.Store$Item"),
            ("[[Ljava/lang/String;", "java.lang.String[][]"),
            ("La/B$$Lambda.0x01;", "a.B$$Lambda.0x01"),
        ] {
            assert_eq!(class_name(signature.as_bytes()), expected);
        }
    }

    #[test]
    fn names_are_decoded_from_modified_utf8() {
        assert_eq!(decode(b"com/acme/Main"), "com/acme/Main");
        // U+1F600 as two surrogates of three bytes each
        assert_eq!(decode(&[0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]), "\u{1F600}");
        // a lone surrogate is no text
        assert_eq!(decode(&[b'a', 0xED, 0xA0, 0xBD]), r"a\uD83D");
    }

    #[test]
    fn truncated_class_files_have_no_name() {
        let class = crate::probe_class::ProbeClass::new(7, false)
            .expect("a class")
            .bytes;
        assert_eq!(name_in(&class), Some(&b"java/lang/$Classhook7"[..]));
        for length in 0..80 {
            assert_eq!(name_in(&class[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn class_has_an_internal_name_and_an_array_has_none() {
        assert_eq!(internal_name(b"La/B;"), Some(&b"a/B"[..]));
        assert_eq!(internal_name(b"[La/B;"), None);
        assert_eq!(internal_name(b"I"), None);
        assert_eq!(display_name(b"La/B;"), "a/B");
        assert_eq!(display_name(b"[La/B;"), "[La/B;");
        assert_eq!(dotted(b"a/B$C"), "a.B$C");
    }
}
