//! HotSpot's performance data (`/tmp/hsperfdata_USER/PID`): version and main class of a JVM without
//! talking to it.
//!
//! Layout (`perfMemory.hpp`): a prologue of 32 bytes, then entries of
//! `length, name offset, vector length: s4; type, flags, units, variability: u1; data offset: s4`.

/// The first bytes of the file, in this order for either byte order of the rest.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const PROLOGUE: usize = 32;
const ENTRY_HEADER: usize = 20;

/// Reads the string entries of complete performance data. Returns `None` for other bytes.
#[must_use]
pub fn strings(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    if bytes.get(..4)? != MAGIC {
        return None;
    }
    let little = *bytes.get(4)? == 1;
    let word = |at: usize| -> Option<usize> {
        let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        let value = if little {
            i32::from_le_bytes(four)
        } else {
            i32::from_be_bytes(four)
        };
        usize::try_from(value).ok()
    };
    let mut at = word(24)?.max(PROLOGUE);
    let mut found = Vec::new();
    for _ in 0..word(28)? {
        let (length, name, vector) = (word(at)?, word(at + 4)?, word(at + 8)?);
        let data = word(at + 16)?;
        if length < ENTRY_HEADER || at.checked_add(length)? > bytes.len() {
            break;
        }
        let entry = bytes.get(at..at + length)?;
        if vector > 0 && entry.get(12) == Some(&b'B') {
            let value = entry
                .get(data..data.saturating_add(vector).min(length))
                .unwrap_or_default();
            found.push((text(entry.get(name..).unwrap_or_default()), text(value)));
        }
        at += length;
    }
    Some(found)
}

/// The text up to the first NUL.
fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 2, 0, 1]);
        bytes.extend([0; 16]);
        bytes.extend(32_i32.to_le_bytes());
        bytes.extend(1_i32.to_le_bytes());
        let entry = [20 + 8 + 8, 20, 8].map(i32::to_le_bytes).concat();
        bytes.extend(entry);
        bytes.extend([b'B', 0, 5, 1]);
        bytes.extend(28_i32.to_le_bytes());
        bytes.extend(b"a.name\0\0");
        bytes.extend(b"Main x\0\0");
        bytes
    }

    #[test]
    fn string_entry_is_read() {
        assert_eq!(
            strings(&sample()),
            Some(vec![("a.name".to_owned(), "Main x".to_owned())])
        );
    }

    #[test]
    fn truncated_and_corrupted_data_causes_no_panic() {
        let whole = sample();
        for end in 0..whole.len() {
            let _ = strings(&whole[..end]);
        }
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 0xff;
            let _ = strings(&broken);
        }
    }
}
