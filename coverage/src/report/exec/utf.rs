//! Text as `DataOutput.writeUTF` stores it: a length in bytes, then modified
//! UTF-8 (JVMS 4.4.7).

use std::io;

/// Appends `text`.
pub(super) fn write(text: &str, bytes: &mut Vec<u8>) -> io::Result<()> {
    let start = bytes.len();
    bytes.extend([0, 0]);
    for unit in text.encode_utf16() {
        match unit {
            1..=0x7F => bytes.push(unit as u8),
            0 | 0x80..=0x7FF => bytes.extend([0xC0 | (unit >> 6) as u8, continued(unit)]),
            _ => bytes.extend([
                0xE0 | (unit >> 12) as u8,
                continued(unit >> 6),
                continued(unit),
            ]),
        }
    }
    let length = bytes.len() - start - 2;
    let length = u16::try_from(length).map_err(|_| {
        let text = format!("a text of {length} bytes where the format allows 65535");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })?;
    bytes[start..start + 2].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

fn continued(unit: u16) -> u8 {
    0x80 | (unit & 0x3F) as u8
}

/// Decodes modified UTF-8 without its length; surrogates that stand alone become
/// U+FFFD. None if the bytes are malformed.
pub(super) fn decode(bytes: &[u8]) -> Option<String> {
    if bytes.is_ascii() {
        return Some(String::from_utf8_lossy(bytes).into_owned());
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().map(|&byte| u16::from(byte));
    while let Some(first) = rest.next() {
        let mut next = || {
            rest.next()
                .filter(|byte| byte & 0xC0 == 0x80)
                .map(|byte| byte & 0x3F)
        };
        units.push(match first {
            0..=0x7F => first,
            0xC0..=0xDF => (first & 0x1F) << 6 | next()?,
            0xE0..=0xEF => (first & 0x0F) << 12 | next()? << 6 | next()?,
            _ => return None,
        });
    }
    Some(String::from_utf16_lossy(&units))
}
