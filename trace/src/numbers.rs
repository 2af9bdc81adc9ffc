//! Formats numbers.

/// Formats `1,234,567`.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats seconds: one decimal, three below a tenth.
#[must_use]
pub fn seconds(value: f64) -> String {
    match value < 0.1 {
        true => format!("{value:.3}"),
        false => format!("{value:.1}"),
    }
}

/// Formats `1 call`, `2 calls`, `3 classes`, `14,000 methods`.
#[must_use]
pub fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{plural}", thousands(number))
}
