//! Decimal numbers of JaCoCo's limits: exact, with the decimal places as written.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Digit limit, above that of any ratio of two counters.
const MOST_DIGITS: usize = 40;

/// A non-negative number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    /// All digits, more than there are decimal places.
    digits: String,
    /// Number of decimal places among the digits.
    scale: usize,
}

/// Rounding of surplus decimal places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Rounds down.
    Floor,
    /// Rounds up.
    Ceiling,
}

impl Decimal {
    fn new(digits: &str, scale: usize) -> Self {
        let digits = digits.trim_start_matches('0');
        let digits = format!("{digits:0>width$}", width = scale.saturating_add(1));
        Self { digits, scale }
    }

    /// Returns the digits before and after the point.
    fn parts(&self) -> (&str, &str) {
        let point = self.digits.len().saturating_sub(self.scale);
        self.digits.split_at(point)
    }

    /// Checks whether the number exceeds 1.
    #[must_use]
    pub fn exceeds_one(&self) -> bool {
        *self > Self::new("1", 0)
    }

    /// Returns the number with as many decimal places as `other`.
    #[must_use]
    pub fn rounded_as(&self, other: &Self, rounding: Rounding) -> Self {
        let (whole, part) = self.parts();
        let (kept, cut) = part.split_at(other.scale.min(part.len()));
        let digits = format!("{whole}{kept:0<width$}", width = other.scale);
        let is_more = cut.bytes().any(|digit| digit != b'0');
        let digits = match rounding {
            Rounding::Ceiling if is_more => incremented(&digits),
            _ => digits,
        };
        Self::new(&digits, other.scale)
    }
}

/// Returns the digits of the next integer.
fn incremented(digits: &str) -> String {
    let before = digits.trim_end_matches('9');
    let zeros = "0".repeat(digits.len() - before.len());
    let mut rest = before.chars();
    let last = rest.next_back().and_then(|last| last.to_digit(10));
    format!("{}{}{zeros}", rest.as_str(), last.unwrap_or(0) + 1)
}

impl From<u32> for Decimal {
    fn from(number: u32) -> Self {
        Self::new(&number.to_string(), 0)
    }
}

impl From<f64> for Decimal {
    /// Converts to the shortest decimal number that reads back as this value, as Java's
    /// `BigDecimal.valueOf`.
    fn from(number: f64) -> Self {
        let text = number.abs().to_string();
        let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
        Self::new(&format!("{whole}{part}"), part.len())
    }
}

impl FromStr for Decimal {
    type Err = ();

    /// Parses a number with or without decimal places; `80%` is `0.80`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (number, shift) = match text.strip_suffix('%') {
            Some(number) => (number, 2),
            None => (text, 0),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{part}");
        let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
        if digits.is_empty() || !is_number || digits.len() > MOST_DIGITS {
            return Err(());
        }
        Ok(Self::new(&digits, part.len() + shift))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((whole, part), (others_whole, others_part)) = (self.parts(), other.parts());
        let significant = |part: &str| part.trim_end_matches('0').to_owned();
        let by_length = whole.len().cmp(&others_whole.len());
        by_length
            .then_with(|| whole.cmp(others_whole))
            .then_with(|| significant(part).cmp(&significant(others_part)))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (whole, "") => f.write_str(whole),
            (whole, part) => write!(f, "{whole}.{part}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn decimal_places_are_preserved() {
        for (text, shown) in [
            ("0.80", "0.80"),
            (".8", "0.8"),
            ("80%", "0.80"),
            ("8%", "0.08"),
            ("99.5%", "0.995"),
            ("007", "7"),
            ("0", "0"),
        ] {
            assert_eq!(decimal(text).to_string(), shown);
        }
        for wrong in ["", ".", "%", "-1", "1e2", "0,8", "80 %"] {
            assert_eq!(wrong.parse::<Decimal>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn comparison_ignores_trailing_zeros() {
        assert_eq!(decimal("0.8").cmp(&decimal("80%")), Ordering::Equal);
        assert!(decimal("10") > decimal("9.99"));
        assert!(decimal("0.09") < decimal("0.1"));
        assert!(Decimal::from(2.0 / 3.0) < decimal("0.6666666666666667"));
        assert_eq!(Decimal::from(0.5), decimal("0.5"));
        assert!(decimal("1.01").exceeds_one() && !decimal("100%").exceeds_one());
    }

    #[test]
    fn displayed_values_are_rounded_away_from_the_limit() {
        let rounded = |number: f64, limit, rounding| {
            let rounded = Decimal::from(number).rounded_as(&decimal(limit), rounding);
            rounded.to_string()
        };
        assert_eq!(rounded(2.0 / 3.0, "0.80", Rounding::Floor), "0.66");
        assert_eq!(rounded(2.0 / 3.0, "0.10", Rounding::Ceiling), "0.67");
        assert_eq!(rounded(0.999, "0.1", Rounding::Ceiling), "1.0");
        assert_eq!(rounded(0.5, "0.800", Rounding::Floor), "0.500");
        assert_eq!(rounded(1.0 / 3e9, "0.1", Rounding::Ceiling), "0.1");
        assert_eq!(
            Decimal::from(12)
                .rounded_as(&decimal("9"), Rounding::Floor)
                .to_string(),
            "12"
        );
    }
}
