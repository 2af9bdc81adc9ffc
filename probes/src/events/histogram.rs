//! Sums of one span, with a histogram of fixed size for quantiles.

/// Buckets of a [`Histogram`]: eight for each power of two up to 2^43 ns (2.4 hours).
pub const BUCKETS: usize = 8 * 42;

/// Returns the bucket of a duration: exact below 8, then eight steps for each power of two.
#[inline]
#[must_use]
pub fn bucket_of(nanos: u64) -> usize {
    let shift = (nanos | 8).ilog2() - 3;
    let bucket = (nanos >> shift) as usize + 8 * shift as usize; // eight of the steps 8 to 15 belong to lower powers
    bucket.min(BUCKETS - 1)
}

/// Returns the lowest duration of a bucket.
fn floor_of(bucket: usize) -> u64 {
    if bucket < 8 {
        return bucket as u64;
    }
    let (power, step) = (bucket / 8 + 2, bucket % 8);
    (8 + step as u64) << (power - 3)
}

/// Numbers of calls by duration. Empty buckets, the majority, take no memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Bucket numbers, ascending, with their counts.
    buckets: Vec<(u16, u64)>,
}

impl Histogram {
    /// Adds `count` calls to a bucket; one beyond the last counts as the last.
    pub fn add(&mut self, bucket: usize, count: u64) {
        if count == 0 {
            return;
        }
        let bucket = bucket.min(BUCKETS - 1) as u16;
        match self
            .buckets
            .binary_search_by_key(&bucket, |(bucket, _)| *bucket)
        {
            Ok(at) => self.buckets[at].1 = self.buckets[at].1.saturating_add(count),
            Err(at) => self.buckets.insert(at, (bucket, count)),
        }
    }

    /// Iterates over the non-empty buckets and their counts.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let filled = self.buckets.iter();
        filled.map(|(bucket, count)| (usize::from(*bucket), *count))
    }

    /// Returns the counts since `before`, an earlier state of the same histogram.
    #[must_use]
    fn since(&self, before: &Self) -> Self {
        let mut since = self.clone();
        let mut earlier = before.buckets.iter().peekable();
        for (bucket, count) in &mut since.buckets {
            while earlier.next_if(|(other, _)| other < bucket).is_some() {}
            if let Some((_, before)) = earlier.next_if(|(other, _)| other == bucket) {
                *count = count.saturating_sub(*before);
            }
        }
        since.buckets.retain(|(_, count)| *count > 0);
        since
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        let counts = self.filled();
        counts.fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Counts the calls shorter than `nanos`. The result is exact if a bucket starts there; else it lacks at most the
    /// calls of one bucket.
    #[must_use]
    pub fn below(&self, nanos: u64) -> u64 {
        let first = bucket_of(nanos);
        let below = self.filled().filter(|(bucket, _)| *bucket < first);
        below.fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Returns the duration in nanoseconds that the share `quantile` (0 to 1) of all calls did not exceed, within
    /// 6.25 %. `None` without calls.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let total = self.calls();
        if total == 0 {
            return None;
        }
        let wanted = (quantile.clamp(0.0, 1.0) * total as f64).ceil().max(1.0) as u64;
        let mut passed = 0;
        let (bucket, _) = self.filled().find(|(_, count)| {
            passed += count;
            passed >= wanted
        })?;
        let (floor, ceiling) = (floor_of(bucket), floor_of(bucket + 1));
        Some(floor + (ceiling - floor) / 2)
    }
}

/// All calls of one span since the start or the last reset. Times are nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aggregate {
    /// Number of completed calls.
    pub count: u64,
    /// Number of calls that ended by an exception.
    pub errors: u64,
    /// Time within the method and its callees. In recursion only the outermost call counts.
    pub total: u64,
    /// Time as `total`, without the spans that the method called.
    pub own: u64,
    /// The shortest call; 0 without calls.
    pub min: u64,
    /// The longest call.
    pub max: u64,
    /// Distribution of the durations.
    pub histogram: Histogram,
}

impl Aggregate {
    /// Adds the calls of another aggregate.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = match self.count {
            0 => other.min,
            _ => self.min.min(other.min),
        };
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.total = self.total.saturating_add(other.total);
        self.own = self.own.saturating_add(other.own);
        for (bucket, count) in other.histogram.filled() {
            self.histogram.add(bucket, count);
        }
    }

    /// Returns the calls since `before`, an earlier state of the same aggregate. Shortest and longest call are exact
    /// if they are the shortest and longest of all, else within 12.5 %.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let histogram = self.histogram.since(&before.histogram);
        let buckets = (histogram.filled().next(), histogram.filled().last());
        let (min, max) = match buckets {
            (Some((first, _)), Some((last, _))) => (floor_of(first), floor_of(last + 1) - 1),
            _ => (0, 0),
        };
        let is_new = |then, now| before.count == 0 || then != now;
        Self {
            count: self.count.saturating_sub(before.count),
            errors: self.errors.saturating_sub(before.errors),
            total: self.total.saturating_sub(before.total),
            own: self.own.saturating_sub(before.own),
            min: if is_new(before.min, self.min) {
                self.min
            } else {
                min.max(self.min)
            },
            max: if is_new(before.max, self.max) {
                self.max
            } else {
                max.min(self.max)
            },
            histogram,
        }
    }

    /// As [`Histogram::quantile`], clamped to the shortest and the longest call.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let found = self.histogram.quantile(quantile)?;
        let found = if quantile >= 1.0 { self.max } else { found };
        Some(found.min(self.max).max(self.min))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous() {
        for bucket in 1..BUCKETS {
            assert_eq!(bucket_of(floor_of(bucket)), bucket);
            assert_eq!(bucket_of(floor_of(bucket) - 1), bucket - 1);
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    fn sums_of(durations: &[u64]) -> Aggregate {
        let mut sums = Aggregate::default();
        for nanos in durations {
            let mut one = Aggregate {
                count: 1,
                total: *nanos,
                own: *nanos,
                min: *nanos,
                max: *nanos,
                ..Aggregate::default()
            };
            one.histogram.add(bucket_of(*nanos), 1);
            sums.merge(&one);
        }
        sums
    }

    #[test]
    fn increase_is_the_difference_of_two_states() {
        let all = [100, 5_000, 7, 300];
        let since = |before: usize| sums_of(&all).since(&sums_of(&all[..before]));
        assert_eq!(since(0), sums_of(&all));
        assert_eq!(since(2).min, 7, "the shortest of all");
        let last = since(3);
        assert_eq!((last.count, last.total, last.own), (1, 300, 300));
        assert!(
            (263..=300).contains(&last.min) && (300..=338).contains(&last.max),
            "{last:?}"
        );
        let none = since(4);
        assert_eq!((none.count, none.quantile(0.5)), (0, None));
        let [below, others] = [1 << 10, 1 << 13].map(|nanos| sums_of(&all).histogram.below(nanos));
        assert_eq!((below, others), (3, 4));
    }

    #[test]
    fn quantiles_are_near_the_true_ones() {
        let mut sums = Aggregate::default();
        for nanos in 1..=10_000_u64 {
            let mut one = Aggregate {
                count: 1,
                total: nanos,
                min: nanos,
                max: nanos,
                ..Aggregate::default()
            };
            one.histogram.add(bucket_of(nanos), 1);
            sums.merge(&one);
        }
        for (share, expected) in [(0.5, 5_000.0), (0.9, 9_000.0), (0.99, 9_900.0)] {
            let found = sums.quantile(share).unwrap() as f64;
            assert!((found / expected - 1.0).abs() < 0.0625, "{share}: {found}");
        }
        assert_eq!((sums.min, sums.max, sums.count), (1, 10_000, 10_000));
        assert_eq!(sums.quantile(1.0), Some(10_000));
        assert_eq!(Aggregate::default().quantile(0.5), None);
    }
}
