//! The sums of each span, as one thread computes them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::limits::MAX_SPANS;
use crate::events::{Aggregate, BUCKETS, bucket_of};

/// Number of spans on one page of the directory.
const PAGE: usize = 512;
/// Maximum number of sums of all threads: some 180 MiB, reached with 1,000 spans on each of 64 threads.
pub(crate) const MAX_SUMS: usize = 1 << 16;

/// The calls of one span on one thread. Only that thread writes, so additions need not be atomic.
#[derive(Debug)]
pub(crate) struct Sum {
    errors: AtomicU64,
    /// In ticks, as all times here.
    total: AtomicU64,
    own: AtomicU64,
    min: AtomicU64,
    max: AtomicU64,
    /// Set by the reader to request a reset, which the writer performs.
    stale: AtomicBool,
    /// `own` at the reader's last visit; each call increases it.
    seen: AtomicU64,
    /// Number of calls by duration; their sum is the number of calls.
    buckets: [AtomicU64; BUCKETS],
}

type Page = Box<[OnceLock<Box<Sum>>]>;

/// The sums of one thread, by span.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pages: OnceLock<Box<[OnceLock<Page>]>>,
}

impl Sum {
    fn new() -> Self {
        Self {
            errors: AtomicU64::new(0),
            total: AtomicU64::new(0),
            own: AtomicU64::new(0),
            min: AtomicU64::new(u64::MAX),
            max: AtomicU64::new(0),
            stale: AtomicBool::new(false),
            seen: AtomicU64::new(0),
            buckets: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }

    fn add(&self, call: Timed) {
        if self.is_stale() {
            self.forget();
        }
        self.add_fresh(call);
    }

    /// Adds a call to a sum without a pending reset.
    #[inline(always)]
    pub fn add_fresh(&self, call: Timed) {
        let ticks = call.ticks;
        if call.outermost {
            raise(&self.total, ticks);
        }
        if call.failed {
            raise(&self.errors, 1);
        }
        if ticks < self.min.load(Ordering::Relaxed) {
            self.min.store(ticks, Ordering::Relaxed);
        }
        if ticks > self.max.load(Ordering::Relaxed) {
            self.max.store(ticks, Ordering::Relaxed);
        }
        if let Some(bucket) = self.buckets.get(bucket_of(call.nanos)) {
            raise(bucket, 1);
        }
        // Written last: a reader that sees it grow sees the rest of the call, too.
        let own = self.own.load(Ordering::Relaxed).wrapping_add(call.own);
        self.own.store(own, Ordering::Release);
    }
}

impl Sum {
    #[inline(always)]
    fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Acquire)
    }

    #[cold]
    fn forget(&self) {
        let numbers = [&self.errors, &self.total, &self.own, &self.max, &self.seen];
        for number in numbers.into_iter().chain(&self.buckets) {
            number.store(0, Ordering::Relaxed);
        }
        self.min.store(u64::MAX, Ordering::Relaxed);
        self.stale.store(false, Ordering::Release);
    }
}

/// Adds to a number that no other thread writes.
#[inline(always)]
pub(crate) fn raise(number: &AtomicU64, by: u64) {
    let sum = number.load(Ordering::Relaxed).wrapping_add(by);
    number.store(sum, Ordering::Relaxed);
}

impl Sums {
    /// Adds a call; `false` if no memory is left for another span. Called by one thread only.
    pub fn add(&self, span: u32, call: Timed, room: &AtomicUsize) -> bool {
        match self.find(span) {
            Some(sum) => sum.add(call),
            None => match self.make(span, room) {
                Some(sum) => sum.add(call),
                None => return false,
            },
        }
        true
    }

    /// Returns the sum of a span, unless a reset is pending.
    #[inline(always)]
    pub fn fresh(&self, span: u32) -> Option<&Sum> {
        self.find(span).filter(|sum| !sum.is_stale())
    }

    #[inline(always)]
    fn find(&self, span: u32) -> Option<&Sum> {
        let pages = self.pages.get()?;
        let page = pages.get(span as usize / PAGE)?.get()?;
        page.get(span as usize % PAGE)?.get().map(|sum| &**sum)
    }

    /// Allocates the sum for the first call of a span on a thread; takes one of the `room` remaining sums.
    #[cold]
    fn make(&self, span: u32, room: &AtomicUsize) -> Option<&Sum> {
        let less = |left: usize| left.checked_sub(1);
        room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .ok()?;
        let pages = self.pages.get_or_init(|| {
            (0..MAX_SPANS as usize / PAGE)
                .map(|_| OnceLock::new())
                .collect()
        });
        let page = pages
            .get(span as usize / PAGE)?
            .get_or_init(|| (0..PAGE).map(|_| OnceLock::new()).collect());
        let sum = page.get(span as usize % PAGE)?;
        Some(sum.get_or_init(|| Box::new(Sum::new())))
    }

    /// Requests a reset of all sums.
    pub fn reset(&self) {
        for page in self.pages.get().into_iter().flatten() {
            for sum in page.get().into_iter().flatten().filter_map(OnceLock::get) {
                sum.stale.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Calls `visit` for each span with a sum; the flag is set if the sum grew since the last visit.
    pub fn visit(&self, mut visit: impl FnMut(u32, bool)) {
        for (page, first) in self
            .pages
            .get()
            .into_iter()
            .flatten()
            .zip((0..).step_by(PAGE))
        {
            for (sum, span) in page.get().into_iter().flatten().zip(first..) {
                if let Some(sum) = sum.get().filter(|sum| !sum.is_stale()) {
                    let own = sum.own.load(Ordering::Acquire);
                    visit(span, sum.seen.swap(own, Ordering::Relaxed) != own);
                }
            }
        }
    }

    /// Adds the sum of a span to `out`, in nanoseconds.
    pub fn collect(&self, span: u32, nanos: impl Fn(u64) -> u64, out: &mut Aggregate) {
        let Some(sum) = self.fresh(span) else {
            return;
        };
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let mut mine = Aggregate {
            errors: read(&sum.errors),
            total: nanos(read(&sum.total)),
            own: nanos(read(&sum.own)),
            max: nanos(read(&sum.max)),
            ..Aggregate::default()
        };
        for (bucket, number) in sum.buckets.iter().enumerate() {
            mine.histogram.add(bucket, read(number));
        }
        mine.count = mine.histogram.calls();
        if mine.count > 0 {
            mine.min = nanos(read(&sum.min));
        }
        out.merge(&mine);
    }
}

/// A completed call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed {
    /// Duration in ticks.
    pub ticks: u64,
    /// Duration without the spans within it, in ticks.
    pub own: u64,
    /// Duration in nanoseconds.
    pub nanos: u64,
    /// `true` if an exception ended it.
    pub failed: bool,
    /// `true` if no other call of its span is open around it.
    pub outermost: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_limited_in_number() {
        let (sums, room) = (Sums::default(), AtomicUsize::new(2));
        let call = Timed {
            ticks: 10,
            own: 4,
            nanos: 5,
            failed: true,
            outermost: true,
        };
        let inner = Timed {
            outermost: false,
            ..call
        };
        assert!(sums.add(1, call, &room) && sums.add(MAX_SPANS - 1, call, &room));
        assert!(!sums.add(2, call, &room));
        assert!(sums.add(1, inner, &room));
        let mut found = Vec::new();
        sums.visit(|span, grew| found.push((span, grew)));
        assert_eq!(found, [(1, true), (MAX_SPANS - 1, true)]);
        sums.visit(|_, grew| assert!(!grew));
        let mut sum = Aggregate::default();
        sums.collect(1, |ticks| ticks * 2, &mut sum);
        assert_eq!((sum.count, sum.errors, sum.total, sum.own), (2, 2, 20, 16));
        assert_eq!(sum.histogram.filled().collect::<Vec<_>>(), [(5, 2)]);
    }
}
