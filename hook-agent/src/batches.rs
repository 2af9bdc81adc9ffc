//! How many classes the JVM is given at once to be retransformed.
//!
//! Each retransformation has a cost of its own: the JVM stops the program, walks all loaded classes and, as with ZGC, all
//! compiled code. Where that is what takes the time, smaller batches stop the program no shorter, only more often.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Classes of one retransformation.
const SIZE: RangeInclusive<usize> = 64..=2048;
/// Classes of the first one.
const FIRST: usize = 128;
/// How long one retransformation is to take; the pause of the program is a part of it.
const TIME: f64 = 0.1;
/// How many times its own cost it takes, if that is longer.
const COST_TIMES: f64 = 6.0;
/// What an earlier batch counts beside the next.
const DECAY: f64 = 0.85;
/// From this variance of the sizes on, as a part of their square, the cost is told from that of the classes.
const VARIANCE: f64 = 0.01;

/// The size of the next batch, after what the ones before took.
#[derive(Debug)]
pub(crate) struct Batches {
    size: usize,
    seen: Seen,
    /// The cost of a retransformation, in seconds.
    cost: f64,
}

/// Sums over the batches so far, later ones weighted more: of ones, sizes, times and their products.
#[derive(Debug, Default)]
struct Seen {
    weight: f64,
    sizes: f64,
    times: f64,
    squares: f64,
    products: f64,
}

impl Batches {
    /// There was none yet.
    pub fn new() -> Self {
        Self {
            size: FIRST,
            seen: Seen::default(),
            cost: 0.0,
        }
    }

    /// How many classes the next batch has.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A batch of so many classes took so long.
    pub fn took(&mut self, classes: usize, time: Duration) {
        self.seen.add(size(classes), time.as_secs_f64());
        self.cost = self.seen.cost().unwrap_or(self.cost);
        let wanted = TIME.max(COST_TIMES * self.cost);
        let share = (wanted - self.cost) / self.seen.per_class(self.cost);
        // A single batch that was disturbed changes the size by no more than this.
        let next = share.clamp(size(self.size) * 0.7, size(self.size) * 2.0);
        let next = next.clamp(size(*SIZE.start()), size(*SIZE.end()));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it was clamped to SIZE"
        )]
        let next = next as usize;
        self.size = next;
    }
}

impl Seen {
    fn add(&mut self, size: f64, time: f64) {
        self.weight = self.weight * DECAY + 1.0;
        self.sizes = self.sizes * DECAY + size;
        self.times = self.times * DECAY + time;
        self.squares = self.squares * DECAY + size * size;
        self.products = self.products * DECAY + size * time;
    }

    /// The part of a batch's time that does not depend on its size, by least squares; none while all sizes are alike.
    fn cost(&self) -> Option<f64> {
        let (size, time) = (self.sizes / self.weight, self.times / self.weight);
        let variance = self.squares / self.weight - size * size;
        if variance < VARIANCE * size * size {
            return None;
        }
        let slope = (self.products / self.weight - size * time) / variance;
        Some((time - slope.max(0.0) * size).max(0.0))
    }

    /// What a class takes besides this cost; some of the time is always its own.
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

    /// The sizes of batches that take `cost` ms and `per_class` µs for each class.
    fn sizes(cost: u64, per_class: u64) -> Vec<usize> {
        let mut batches = Batches::new();
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
    fn batches_grow_while_they_are_quick_and_shrink_when_their_classes_are_slow() {
        assert_eq!(last(0, 1), 2048);
        assert!((90..=110).contains(&last(0, 1_000)), "{}", last(0, 1_000));
        assert_eq!(last(0, 100_000), 64);
        assert!((180..=200).contains(&last(5, 500)), "{}", last(5, 500));
    }

    #[test]
    fn batches_do_not_shrink_where_each_costs_much_by_itself() {
        // As measured with ZGC, other agents and 18,000 loaded classes: five times the cost for the classes.
        let size = last(75, 1_000);
        assert!((350..=400).contains(&size), "{size}");
        assert!(sizes(75, 1_000).iter().all(|size| *size >= 80));
        assert_eq!(last(1_000, 100), 2048);
    }

    #[test]
    fn one_batch_that_was_disturbed_is_made_up_for() {
        let mut batches = Batches::new();
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
