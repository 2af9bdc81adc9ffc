//! JSON documents with a checksum, so that a reader detects a damaged file.
//!
//! The last field of the document is `"crc32"`: the CRC-32 (ISO-HDLC) of all bytes before its comma, as eight
//! hexadecimal digits. The file stays one JSON document.

use serde::Serialize;

/// The beginning and the end of the field.
const FIELD: (&[u8], &[u8]) = (b",\"crc32\":\"", b"\"}");
/// Number of hexadecimal digits.
const DIGITS: usize = 8;

/// Serializes a struct with at least one field as a document with its checksum.
///
/// # Errors
/// If the content cannot be serialized.
pub fn seal(content: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut document = serde_json::to_vec(content)?;
    document.pop(); // the closing brace
    let checksum = format!("{:0DIGITS$x}", crc32fast::hash(&document));
    for part in [FIELD.0, checksum.as_bytes(), FIELD.1] {
        document.extend_from_slice(part);
    }
    Ok(document)
}

/// Checks the checksum of a document.
///
/// # Errors
/// A message that describes the damage.
pub fn check(document: &[u8]) -> Result<(), String> {
    let text = document.trim_ascii_end();
    let split = text.strip_suffix(FIELD.1).and_then(|text| {
        let (text, checksum) = text.split_at_checked(text.len().checked_sub(DIGITS)?)?;
        Some((text.strip_suffix(FIELD.0)?, checksum))
    });
    let Some((content, expected)) = split else {
        return Err("expected a checksum at the end, found none: the file was cut off, or another release wrote it".to_owned());
    };
    let found = format!("{:0DIGITS$x}", crc32fast::hash(content));
    if found.as_bytes() != expected {
        let expected = String::from_utf8_lossy(expected);
        return Err(format!("expected the checksum {expected}, found {found}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn each_changed_or_missing_byte_of_a_document_is_detected() {
        let sealed = seal(&json!({"a": [1, 2, 30], "b": "text"})).unwrap();
        assert_eq!(check(&sealed), Ok(()));
        assert_eq!(check(&[&sealed[..], b"\n"].concat()), Ok(()));
        let read: Value = serde_json::from_slice(&sealed).unwrap();
        assert_eq!((&read["a"][2], &read["b"]), (&json!(30), &json!("text")));
        for index in 0..sealed.len() {
            assert!(check(&sealed[..index]).is_err(), "{index}");
            for bit in 0..8 {
                let mut damaged = sealed.clone();
                damaged[index] ^= 1 << bit;
                assert!(check(&damaged).is_err(), "{index}");
            }
        }
        assert!(check(b"{\"a\":1}").unwrap_err().contains("found none"));
        assert!(check(b"").is_err());
    }
}
