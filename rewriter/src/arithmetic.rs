//! Arithmetic on checked numbers: offsets, lengths, counts and bcis.
//!
//! A class file is shorter than 4 GiB and a code array than 64 KiB. Reading bounds every count by the bytes present, so
//! sums do not overflow. An overflow is a defect of this crate; debug builds panic on it.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "debug builds check every operation"
)]

/// Plain arithmetic, checked in debug builds.
pub(crate) trait Exact: Sized {
    /// Returns the sum.
    fn plus(self, other: Self) -> Self;
    /// Returns the difference.
    fn minus(self, other: Self) -> Self;
    /// Returns the product.
    fn times(self, other: Self) -> Self;
}

macro_rules! exact {
    ($($number:ty)*) => {$(
        impl Exact for $number {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

exact!(u8 u16 u32 usize i32 i64);

/// A value whose presence was checked before.
pub(crate) trait Known<T> {
    /// Returns the value; debug builds panic without one.
    fn known(self) -> T;
}

impl<T: Default> Known<T> for Option<T> {
    #[inline(always)]
    #[track_caller]
    fn known(self) -> T {
        debug_assert!(self.is_some(), "what was there before is not there");
        self.unwrap_or_default()
    }
}

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
