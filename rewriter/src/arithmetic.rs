//! Conversions of checked numbers: offsets, lengths, counts and bcis.
//!
//! A class file is shorter than 4 GiB and a code array than 64 KiB. Reading bounds every count by the bytes present, so
//! plain operators do not overflow. An overflow is a defect of this crate; debug builds panic on it.

/// Returns the branch offset between two positions of a code array.
#[inline]
pub(crate) fn distance(from: u32, to: u32) -> i32 {
    let distance = i64::from(to) - i64::from(from);
    debug_assert!(i32::try_from(distance).is_ok());
    distance as i32
}

/// Returns the offset for a 16-bit branch whose target is known to be in range.
#[inline]
pub(crate) fn short_distance(from: u32, to: u32) -> i16 {
    let distance = distance(from, to);
    debug_assert!(i16::try_from(distance).is_ok());
    distance as i16
}

/// Returns the position `old` after a move by `shift`.
#[inline(always)]
pub(crate) fn moved(old: u32, shift: i32) -> u32 {
    debug_assert!(old.checked_add_signed(shift).is_some());
    old.wrapping_add_signed(shift)
}

/// Narrows a number that is known to fit into a `u2`.
#[inline(always)]
pub(crate) fn u2(number: u32) -> u16 {
    debug_assert!(u16::try_from(number).is_ok());
    number as u16
}
