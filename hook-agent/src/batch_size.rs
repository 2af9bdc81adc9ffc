//! The number of classes in one call of `RetransformClasses`.
//!
//! Each call has a fixed cost: the JVM stops the program, walks all loaded classes and, with ZGC, all compiled code. If
//! this cost dominates, smaller batches do not shorten the pauses, and only make them more frequent.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Smallest and largest batch, in classes.
const SIZE: RangeInclusive<usize> = 64..=2048;
/// The first batch, in classes.
const FIRST: usize = 128;
/// Target time of one batch in seconds; it includes the pause of the program.
const TIME: f64 = 0.1;
/// Target time as a multiple of the fixed cost, if that is longer.
const COST_TIMES: f64 = 6.0;
/// Weight of an earlier batch beside the next.
const DECAY: f64 = 0.85;
/// Smallest variance of the sizes, relative to their square, from which the fixed cost can be estimated.
const VARIANCE: f64 = 0.01;

/// The size of the next batch, estimated from the times of the batches before.
#[derive(Debug)]
pub(crate) struct BatchSize {
    size: usize,
    batch_times: BatchTimes,
    /// The fixed cost of a retransformation, in seconds.
    cost: f64,
}

/// Weighted sums over the batches so far: weights, sizes, times and their products. Later batches weigh more.
#[derive(Debug, Default)]
struct BatchTimes {
    weight: f64,
    sizes: f64,
    times: f64,
    squares: f64,
    products: f64,
}

impl BatchSize {
    /// The state before the first batch.
    pub fn new() -> Self {
        Self {
            size: FIRST,
            batch_times: BatchTimes::default(),
            cost: 0.0,
        }
    }

    /// The number of classes of the next batch.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Notes the time of a batch of this many classes.
    pub fn took(&mut self, classes: usize, time: Duration) {
        self.batch_times.add(size(classes), time.as_secs_f64());
        self.cost = self.batch_times.cost().unwrap_or(self.cost);
        let wanted = TIME.max(COST_TIMES * self.cost);
        let share = (wanted - self.cost) / self.batch_times.per_class(self.cost);
        // Limits the effect of a single disturbed batch.
        let next = share.clamp(size(self.size) * 0.7, size(self.size) * 2.0);
        let next = next.clamp(size(*SIZE.start()), size(*SIZE.end()));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the value is clamped to SIZE"
        )]
        let next = next as usize;
        self.size = next;
    }
}

impl BatchTimes {
    fn add(&mut self, size: f64, time: f64) {
        self.weight = self.weight * DECAY + 1.0;
        self.sizes = self.sizes * DECAY + size;
        self.times = self.times * DECAY + time;
        self.squares = self.squares * DECAY + size * size;
        self.products = self.products * DECAY + size * time;
    }

    /// The time of a batch that does not depend on its size, by least squares; `None` while all sizes are similar.
    fn cost(&self) -> Option<f64> {
        let (size, time) = (self.sizes / self.weight, self.times / self.weight);
        let variance = self.squares / self.weight - size * size;
        if variance < VARIANCE * size * size {
            return None;
        }
        let slope = (self.products / self.weight - size * time) / variance;
        Some((time - slope.max(0.0) * size).max(0.0))
    }

    /// The time of a class beyond the fixed cost. It is never 0: at least 1 % of the time counts as that of the
    /// classes.
    fn per_class(&self, cost: f64) -> f64 {
        ((self.times - cost * self.weight).max(self.times / 100.0) / self.sizes)
            .max(f64::MIN_POSITIVE)
    }
}

fn size(classes: usize) -> f64 {
    u32::try_from(classes).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of 30 batches that take `cost` ms and `per_class` µs for each class.
    fn sizes(cost: u64, per_class: u64) -> Vec<usize> {
        let mut batches = BatchSize::new();
        let sizes = (0..30).map(|_| {
            let size = batches.size();
            let micros = cost * 1_000 + per_class * size as u64;
            batches.took(size, Duration::from_micros(micros));
            size
        });
        sizes.collect()
    }

    fn last(cost: u64, per_class: u64) -> usize {
        sizes(cost, per_class).pop().expect("thirty")
    }

    #[test]
    fn batches_grow_while_they_are_fast_and_shrink_for_slow_classes() {
        assert_eq!(last(0, 1), 2048);
        assert!((90..=110).contains(&last(0, 1_000)), "{}", last(0, 1_000));
        assert_eq!(last(0, 100_000), 64);
        assert!((180..=200).contains(&last(5, 500)), "{}", last(5, 500));
    }

    #[test]
    fn batches_do_not_shrink_if_the_fixed_cost_is_high() {
        // As measured with ZGC, other agents and 18,000 loaded classes: the classes take five times the fixed cost.
        let size = last(75, 1_000);
        assert!((350..=400).contains(&size), "{size}");
        assert!(sizes(75, 1_000).iter().all(|size| *size >= 80));
        assert_eq!(last(1_000, 100), 2048);
    }

    #[test]
    fn batch_size_recovers_from_one_disturbed_batch() {
        let mut batches = BatchSize::new();
        for turn in 0..40 {
            let size = batches.size();
            let disturbed = if turn == 20 { 3_000 } else { 0 };
            let micros = 5_000 + 500 * size as u64;
            batches.took(
                size,
                Duration::from_micros(micros) + Duration::from_millis(disturbed),
            );
        }
        assert!((100..=220).contains(&batches.size()), "{}", batches.size());
    }
}
