//! Copying and overwriting of class-file bytes.

pub(crate) fn copy(bytes: &[u8], from: usize, to: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(bytes.get(from..to).unwrap_or_default());
}

/// Overwrites existing bytes.
#[inline]
pub(crate) fn write_at(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}
