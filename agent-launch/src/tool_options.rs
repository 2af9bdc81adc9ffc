//! Formats `JAVA_TOOL_OPTIONS` by the rules of the JVM that splits it.
//!
//! HotSpot splits at white space (`Arguments::parse_options_buffer`). Within a word, `'` and `"`
//! quote up to the same character. Quotes are removed, no escape exists, and quoted and plain parts
//! may follow each other in one word.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Appends one option to `existing`.
pub(crate) fn append(existing: Option<&OsStr>, option: &OsStr) -> OsString {
    let mut all = existing.map(OsStr::to_owned).unwrap_or_default();
    if !all.is_empty() {
        all.push(" ");
    }
    all.push(quote(option));
    all
}

/// Quotes one word so that the JVM reads it back as `option`.
fn quote(option: &OsStr) -> OsString {
    let bytes = option.as_bytes();
    if !bytes
        .iter()
        .any(|byte| is_space(*byte) || matches!(byte, b'"' | b'\''))
    {
        return option.to_owned();
    }
    let mut word = Vec::new();
    for part in bytes.split_inclusive(|byte| *byte == b'"') {
        let (plain, quote) = match part.split_last() {
            Some((b'"', plain)) => (plain, true),
            _ => (part, false),
        };
        if !plain.is_empty() {
            word.push(b'"');
            word.extend_from_slice(plain);
            word.push(b'"');
        }
        if quote {
            word.extend_from_slice(b"'\"'");
        }
    }
    OsString::from_vec(word)
}

/// Checks for white space as C's `isspace`.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0B | 0x0C | b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Splits options as HotSpot does. Returns nothing for an unmatched quote, at which HotSpot
    /// refuses to start.
    fn split_as_hotspot_does(text: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut words = Vec::new();
        let mut rest = text.iter().copied().peekable();
        loop {
            while rest.next_if(|byte| is_space(*byte)).is_some() {}
            rest.peek()?;
            let mut word = Vec::new();
            while let Some(byte) = rest.next_if(|byte| !is_space(*byte)) {
                if !matches!(byte, b'"' | b'\'') {
                    word.push(byte);
                    continue;
                }
                loop {
                    match rest.next()? {
                        end if end == byte => break,
                        quoted => word.push(quoted),
                    }
                }
            }
            words.push(word);
            if rest.peek().is_none() {
                return Some(words);
            }
        }
    }

    #[test]
    fn plain_option_stays_as_it_is() {
        assert_eq!(
            append(None, "-agentpath:/x.so=a,b".as_ref()),
            "-agentpath:/x.so=a,b"
        );
        assert_eq!(
            append(Some("-Xmx1g".as_ref()), "-Dx".as_ref()),
            "-Xmx1g -Dx"
        );
    }

    #[test]
    fn spaces_and_quotes_are_quoted() {
        assert_eq!(quote("a b".as_ref()), "\"a b\"");
        assert_eq!(quote("it's \"x\"".as_ref()), "\"it's \"'\"'\"x\"'\"'");
    }

    proptest! {
        #[test]
        fn jvm_reads_back_what_was_appended(option in "[a-z '\"\\\\\t]{1,20}") {
            let all = append(Some("-Dfirst".as_ref()), option.as_ref());
            let words = split_as_hotspot_does(all.as_bytes()).expect("quotes match");
            prop_assert_eq!(words, vec![b"-Dfirst".to_vec(), option.into_bytes()]);
        }
    }
}
