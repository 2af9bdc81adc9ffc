//! Decimal numbers of any length, as `BigInteger` and `BigDecimal` print them.

use super::text::TextWriter;
use std::fmt::Write;

/// Largest number of 32-bit words of a number. The work grows with their square.
pub(crate) const MOST_WORDS: usize = 128;
/// Maximum number of decimal digits for a number of that many words, and for a 64-bit number.
const MOST_DIGITS: usize = 1_240;
/// The decimal digits that one division takes off.
const DIGITS: usize = 9;
const DIVISOR: u64 = 1_000_000_000;

/// The decimal digits of a number without its sign: at least one.
#[derive(Debug)]
pub(crate) struct Decimals {
    digits: [u8; MOST_DIGITS],
    first: usize,
}

impl Decimals {
    /// Converts a number of 32-bit words, the most significant first. The words become 0.
    pub fn of_words(words: &mut [u32; MOST_WORDS], length: usize) -> Self {
        let mut number = Self {
            digits: [b'0'; MOST_DIGITS],
            first: MOST_DIGITS,
        };
        let words = words.get_mut(..length).unwrap_or_default();
        let mut above = 0;
        while let Some(nonzero) = words.iter().skip(above).position(|word| *word != 0) {
            above += nonzero;
            let mut rest = 0;
            for word in words.iter_mut().skip(above) {
                let dividend = rest << u32::BITS | u64::from(*word);
                *word = (dividend / DIVISOR) as u32;
                rest = dividend % DIVISOR;
            }
            number.put(rest);
        }
        number.trim();
        number
    }

    /// Converts the magnitude of a number.
    pub fn of(value: u64) -> Self {
        let mut words = [0; MOST_WORDS];
        (words[0], words[1]) = ((value >> u32::BITS) as u32, value as u32);
        Self::of_words(&mut words, 2)
    }

    /// Puts nine digits in front of the others.
    fn put(&mut self, mut value: u64) {
        let end = self.first;
        self.first = end.saturating_sub(DIGITS);
        for digit in self.digits.iter_mut().take(end).skip(self.first).rev() {
            *digit = b'0' + (value % 10) as u8;
            value /= 10;
        }
    }

    /// Takes leading zeros away, but for the last digit.
    fn trim(&mut self) {
        let shown = self.digits.iter().take(MOST_DIGITS - 1).skip(self.first);
        let zeros = shown.take_while(|digit| **digit == b'0').count();
        self.first = (self.first + zeros).min(MOST_DIGITS - 1);
    }

    fn text(&self) -> &str {
        let digits = self.digits.get(self.first..).unwrap_or_default();
        std::str::from_utf8(digits).unwrap_or_default()
    }
}

/// Writes an integer.
pub(crate) fn write_integer(out: &mut TextWriter<'_>, is_negative: bool, number: &Decimals) {
    if is_negative {
        out.push('-');
    }
    let _ = out.write_str(number.text());
}

/// Writes a number with a scale, as `BigDecimal.toString` does: with an exponent for a negative scale, and for numbers
/// with more than five zeros behind the point.
pub(crate) fn write_decimal(
    out: &mut TextWriter<'_>,
    is_negative: bool,
    number: &Decimals,
    scale: i32,
) {
    if is_negative {
        out.push('-');
    }
    let (digits, scale) = (number.text(), i64::from(scale));
    let length = digits.len() as i64;
    let exponent = length - 1 - scale;
    let parts = if scale == 0 {
        (digits, "", 0)
    } else if scale < 0 || exponent < -6 {
        let (first, rest) = digits.split_at(1);
        (first, rest, exponent)
    } else if scale < length {
        let point = usize::try_from(length - scale).unwrap_or(0);
        let (whole, fraction) = digits.split_at(point);
        (whole, fraction, 0)
    } else {
        let _ = out.write_str("0.");
        (length..scale).for_each(|_| out.push('0'));
        (digits, "", 0)
    };
    let (whole, fraction, exponent) = parts;
    let _ = out.write_str(whole);
    if !fraction.is_empty() {
        out.push('.');
        let _ = out.write_str(fraction);
    }
    if exponent != 0 {
        let _ = write!(out, "E{exponent:+}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::written;
    use super::*;

    fn decimal(value: i64, scale: i32) -> String {
        let number = Decimals::of(value.unsigned_abs());
        written(|out| write_decimal(out, value < 0, &number, scale))
    }

    #[test]
    fn decimals_have_the_point_and_the_exponent_of_their_scale() {
        for (value, scale, expected) in [
            (0, 0, "0"),
            (0, 2, "0.00"),
            (0, 7, "0E-7"),
            (0, -3, "0E+3"),
            (1_250, 2, "12.50"),
            (-5, 2, "-0.05"),
            (-123, -1, "-1.23E+3"),
            (1, 6, "0.000001"),
            (1, 7, "1E-7"),
            (123, 9, "1.23E-7"),
            (123, 8, "0.00000123"),
            (i64::MIN, 0, "-9223372036854775808"),
            (i64::MIN, 18, "-9.223372036854775808"),
            (10, i32::MIN, "1.0E+2147483649"),
            (10, i32::MAX, "1.0E-2147483646"),
        ] {
            assert_eq!(decimal(value, scale), expected);
        }
    }

    #[test]
    fn integers_of_many_words_have_all_their_digits() {
        let number = |words: &[u32]| {
            let mut all = [0; MOST_WORDS];
            all[..words.len()].copy_from_slice(words);
            let number = Decimals::of_words(&mut all, words.len());
            written(|out| write_integer(out, true, &number))
        };
        assert_eq!(number(&[]), "-0");
        assert_eq!(number(&[1, 0, 0]), "-18446744073709551616");
        assert_eq!(number(&[0x3B9A_CA00]), "-1000000000");
        assert_eq!(number(&[0xDE0_B6B3, 0xA764_0000]), "-1000000000000000000");
        let largest = number(&[u32::MAX; MOST_WORDS]);
        assert_eq!(largest.len(), 1_235);
        assert!(largest.starts_with("-10443888814131525066"), "{largest}");
        assert!(largest.ends_with("708340403154190335"), "{largest}");
    }
}
