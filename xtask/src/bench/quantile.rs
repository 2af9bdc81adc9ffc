//! Quantiles of measured times.

use std::time::Duration;

/// A quantile in milliseconds, between neighbours where it falls between two.
pub fn quantile(times: &[Duration], percent: u32) -> f64 {
    let mut sorted: Vec<f64> = times
        .iter()
        .map(|time| time.as_secs_f64() * 1_000.0)
        .collect();
    sorted.sort_by(f64::total_cmp);
    let place = f64::from(u32::try_from(sorted.len().saturating_sub(1)).unwrap_or(0))
        * f64::from(percent)
        / 100.0;
    let below = sorted
        .get(place.floor() as usize)
        .copied()
        .unwrap_or(f64::NAN);
    let above = sorted
        .get(place.ceil() as usize)
        .copied()
        .unwrap_or(f64::NAN);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_lies_between_neighbours() {
        let times = [4, 1, 3, 2].map(Duration::from_millis);
        assert_eq!(quantile(&times, 0), 1.0);
        assert_eq!(quantile(&times, 50), 2.5);
        assert_eq!(quantile(&times, 100), 4.0);
    }
}
