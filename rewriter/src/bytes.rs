//! Pieces of a class file copied and overwritten.

use crate::arithmetic::Exact;

pub(crate) fn copy(bytes: &[u8], from: usize, to: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(bytes.get(from..to).unwrap_or_default());
}

/// Overwrites bytes that are there.
#[inline]
pub(crate) fn write_at(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at.plus(bytes.len())) {
        place.copy_from_slice(bytes);
    }
}
