//! Numbers that are known to be right: arithmetic on offsets, lengths, counts
//! and bcis, and values that were checked before.
//!
//! A class file is shorter than 4 GiB and a code array than 64 KiB, and what is
//! read is bounded by what is there, so sums of them do not overflow. Where that
//! is wrong the number is, and debug builds panic instead of going on with it.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "debug builds check every operation"
)]

/// Plain arithmetic, checked in debug builds.
pub(crate) trait Exact: Sized {
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The difference.
    fn minus(self, other: Self) -> Self;
    /// The product.
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

/// What has been shown to be there: it was read or checked before.
pub(crate) trait Known<T> {
    /// The value; where there is none, debug builds panic.
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

/// How far it is from one position of a code array to another.
#[inline]
pub(crate) fn distance(from: u32, to: u32) -> i32 {
    let distance = i64::from(to) - i64::from(from);
    debug_assert!(i32::try_from(distance).is_ok());
    distance as i32
}

/// The same for an instruction with an operand of 16 bits, which reaches.
#[inline]
pub(crate) fn short_distance(from: u32, to: u32) -> i16 {
    let distance = distance(from, to);
    debug_assert!(i16::try_from(distance).is_ok());
    distance as i16
}

/// What stood at `old` and has moved by `shift`.
#[inline(always)]
pub(crate) fn moved(old: u32, shift: i32) -> u32 {
    debug_assert!(old.checked_add_signed(shift).is_some());
    old.wrapping_add_signed(shift)
}

/// A number that fits into a `u2`, because what it counts or measures does.
#[inline(always)]
pub(crate) fn u2(number: u32) -> u16 {
    debug_assert!(u16::try_from(number).is_ok());
    number as u16
}
