//! Values as bytes: a trait, and a macro that implements it.
//!
//! The bytes are valid only for this version of the sources, so the caller stores a version of the sources with them.
//! Reading invalid bytes fails, or returns another value. It never panics, and its memory is bounded by a multiple of
//! the length.

#![forbid(unsafe_code)]

/// A value with a byte form.
pub trait Stored: Sized {
    /// Appends the bytes of the value.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads a value from the front; fails on invalid bytes.
    fn take(from: &mut &[u8]) -> Option<Self>;

    /// Appends values after their number.
    fn put_all(all: &[Self], out: &mut Vec<u8>) {
        put_number(all.len() as u64, out);
        all.iter().for_each(|value| value.put(out));
    }

    /// Reads the values that [`Stored::put_all`] appended.
    fn take_all(from: &mut &[u8]) -> Option<Vec<Self>> {
        let count = take_count(from)?;
        // Each value takes at least one byte.
        let mut all = Vec::with_capacity(count.min(from.len()));
        for _ in 0..count {
            all.push(Self::take(from)?);
        }
        Some(all)
    }
}

/// Writes a number as LEB128.
#[inline(never)]
fn put_number(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
fn take_number(from: &mut &[u8]) -> Option<u64> {
    match from.split_first() {
        Some((first, rest)) if *first < 0x80 => {
            *from = rest;
            Some(u64::from(*first))
        }
        _ => take_long_number(from),
    }
}

#[inline(never)]
fn take_long_number(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = u8::take(from)?;
        value |= u64::from(byte & 0x7f).unbounded_shl(shift);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take_count(from: &mut &[u8]) -> Option<usize> {
    usize::try_from(take_number(from)?).ok()
}

impl Stored for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (first, rest) = from.split_first()?;
        *from = rest;
        Some(*first)
    }

    #[inline(never)]
    fn put_all(all: &[Self], out: &mut Vec<u8>) {
        put_number(all.len() as u64, out);
        out.extend_from_slice(all);
    }

    #[inline(never)]
    fn take_all(from: &mut &[u8]) -> Option<Vec<Self>> {
        let count = take_count(from)?;
        let (all, rest) = from.split_at_checked(count)?;
        *from = rest;
        Some(all.to_vec())
    }
}

/// Implements [`Stored`] for numbers; signed ones are stored by their bits.
macro_rules! numbers {
    ($($plain:ident $signed:ident;)*) => {$(
        impl Stored for $plain {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                put_number(u64::from(*self), out);
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                take_number(from)?.try_into().ok()
            }
        }

        impl Stored for $signed {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                self.cast_unsigned().put(out);
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some($plain::take(from)?.cast_signed())
            }
        }
    )*};
}

numbers! {
    u16 i16;
    u32 i32;
    u64 i64;
}

/// Implements [`Stored`] for floating point numbers, by their bits.
macro_rules! floats {
    ($($float:ident $bits:ident;)*) => {$(
        impl Stored for $float {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                self.to_bits().put(out);
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                $bits::take(from).map($float::from_bits)
            }
        }
    )*};
}

floats! {
    f32 u32;
    f64 u64;
}

impl Stored for i8 {
    fn put(&self, out: &mut Vec<u8>) {
        self.cast_unsigned().put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(u8::take(from)?.cast_signed())
    }
}

impl Stored for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Stored for usize {
    fn put(&self, out: &mut Vec<u8>) {
        put_number(*self as u64, out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        take_count(from)
    }
}

impl Stored for String {
    fn put(&self, out: &mut Vec<u8>) {
        u8::put_all(self.as_bytes(), out);
    }

    #[inline(never)]
    fn take(from: &mut &[u8]) -> Option<Self> {
        String::from_utf8(u8::take_all(from)?).ok()
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put_all(self, out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        T::take_all(from)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match bool::take(from)? {
            false => Some(None),
            true => Some(Some(T::take(from)?)),
        }
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

/// Implements [`Stored`] for a type: field after field, variants by their numbers.
#[macro_export]
macro_rules! impl_stored {
    (struct $name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::Stored for $name {
            #[inline(never)]
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($crate::Stored::put($field, out);)*
            }

            #[inline(never)]
            fn take(from: &mut &[u8]) -> Option<Self> {
                $(let $field = $crate::Stored::take(from)?;)*
                Some(Self { $($field),* })
            }
        }
    };
    (struct $name:ident($field:ident)) => {
        impl $crate::Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let Self($field) = self;
                $crate::Stored::put($field, out);
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(Self($crate::Stored::take(from)?))
            }
        }
    };
    (enum $name:ident { $(
        $number:literal $variant:ident $(($($part:ident),*))? $({ $($field:ident),* })?
    ),* $(,)? }) => {
        impl $crate::Stored for $name {
            #[inline(never)]
            fn put(&self, out: &mut Vec<u8>) {
                match self {$(
                    Self::$variant $(($($part),*))? $({ $($field),* })? => {
                        out.push($number);
                        $($($crate::Stored::put($part, out);)*)?
                        $($($crate::Stored::put($field, out);)*)?
                    }
                )*}
            }

            #[inline(never)]
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(match <u8 as $crate::Stored>::take(from)? {
                    $($number => {
                        $($(let $part = $crate::Stored::take(from)?;)*)?
                        $($(let $field = $crate::Stored::take(from)?;)*)?
                        Self::$variant $(($($part),*))? $({ $($field),* })?
                    })*
                    _ => return None,
                })
            }
        }
    };
}

/// Defines types of indices with 16 bits, each with its number as text and as [`Stored`] value.
#[macro_export]
macro_rules! index {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u16);

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }

        $crate::impl_stored!(struct $name(index));

        impl From<$name> for usize {
            fn from(value: $name) -> usize {
                usize::from(value.0)
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: Stored + PartialEq + std::fmt::Debug>(value: &T) {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        let mut rest = &bytes[..];
        assert_eq!(T::take(&mut rest).as_ref(), Some(value));
        assert_eq!(rest, b"", "{value:?}");
        for end in 0..bytes.len() {
            assert_eq!(T::take(&mut &bytes[..end]), None, "{value:?}, {end}");
        }
    }

    #[test]
    fn numbers_and_texts_round_trip_and_truncated_ones_are_refused() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::MAX] {
            check(&number);
            check(&number.cast_signed());
        }
        check(&(i32::MIN, i16::MIN));
        check(&(u16::MAX, i8::MIN));
        check(&vec![Some("é".to_owned()), None]);
        check(&(vec![0_u8, 255], vec![true, false]));
    }

    #[test]
    fn invalid_bytes_are_refused() {
        assert_eq!(u64::take(&mut &[0xff; 11][..]), None);
        assert_eq!(
            u16::take(&mut &[0xff, 0xff, 4][..]),
            None,
            "more than 16 bits"
        );
        assert_eq!(bool::take(&mut &[2][..]), None);
        assert_eq!(String::take(&mut &[1, 0xff][..]), None);
        let endless = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert_eq!(Vec::<String>::take(&mut &endless[..]), None);
        assert_eq!(Vec::<u8>::take(&mut &endless[..]), None);
    }
}
