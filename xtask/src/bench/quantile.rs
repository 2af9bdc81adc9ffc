//! Quantiles of measured times.

use super::figures;
use std::time::Duration;

/// A quantile in milliseconds, between neighbours where it falls between two.
pub fn quantile(times: &[Duration], percent: u32) -> f64 {
    let mut sorted: Vec<f64> = times
        .iter()
        .map(|time| time.as_secs_f64() * 1_000.0)
        .collect();
    sorted.sort_by(f64::total_cmp);
    figures::quantile(&sorted, percent)
}
