//! Durations on the command line.

use std::time::Duration;

/// Parses a positive duration, as in conditions: `500ms`, `1.5s`, `5m`, `2h`.
///
/// # Errors
/// The expected form.
pub fn duration(text: &str) -> Result<Duration, String> {
    match conditions::duration(text) {
        Some(0) => Err(format!("expected a positive duration, found `{text}`")),
        Some(nanos) => Ok(Duration::from_nanos(nanos)),
        None => Err(format!(
            "expected a number with ns, us, ms, s, m or h behind it, found `{text}`"
        )),
    }
}

/// As [`duration`], of at least a second: sums are written each second.
///
/// # Errors
/// The expected form.
pub fn interval(text: &str) -> Result<Duration, String> {
    let found = duration(text)?;
    if found < Duration::from_secs(1) {
        return Err(format!("expected at least 1s, found `{text}`"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        let read =
            ["500ms", "30s", "5m", "2h"].map(|text| duration(text).map(|time| time.as_millis()));
        assert_eq!(read, [Ok(500), Ok(30_000), Ok(300_000), Ok(7_200_000)]);
        let read =
            ["0.5s", "1.25m", "500us", "500µs"].map(|text| duration(text).map(|it| it.as_micros()));
        assert_eq!(read, [Ok(500_000), Ok(75_000_000), Ok(500), Ok(500)]);
        for wrong in [
            "",
            "5",
            "s",
            "-1s",
            "5 s",
            "0s",
            "0.0s",
            ".5s",
            "1.s",
            "1.2.3s",
            "99999999999999999999h",
            "18446744073709551615h",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert!(interval("1s").is_ok());
        let short = interval("0.5s").unwrap_err();
        assert_eq!(short, "expected at least 1s, found `0.5s`");
    }
}
