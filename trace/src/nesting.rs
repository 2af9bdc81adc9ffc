//! Computes callers and the sums of each thread from calls in the order of their ends.

use std::collections::{BTreeMap, HashMap};

use probes::events::{Call, Outcome};

/// Maximum numbers of calls that wait for their caller: for one thread, and in total.
const WAITING: usize = 1 << 15;
const WAITING_IN_ALL: usize = 1 << 19;
/// Size of a thread beside its calls, in calls.
const THREAD: usize = 6;
/// Time after the end of a call when its open caller must have been seen open, in nanoseconds.
const SEEN_OPEN: u64 = 3_000_000_000;

/// Finds callers and self times of calls when they end. Stores only the calls of the last seconds.
#[derive(Debug, Default)]
pub struct Nesting {
    threads: HashMap<u64, Thread>,
    /// Sums by thread since the last [`take_sums`](Self::take_sums).
    by_thread: ByThread,
    /// Sums by callee and caller span.
    by_caller: ByCaller,
    /// The latest end of a call.
    now: u64,
    /// Number of calls that wait for their caller.
    waiting: usize,
    /// Number of calls and threads that triggers the next search for room, beyond the limit.
    beyond: usize,
}

/// Sums by Java's thread id. All virtual threads share the key `None`.
pub type ByThread = HashMap<Option<u64>, CallSums>;
/// Sums by callee and caller span.
pub type ByCaller = HashMap<(u32, Option<u32>), CallSums>;

/// Sums of calls; times are nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallSums {
    /// Number of completed calls.
    pub calls: u64,
    /// Number of calls that ended by an exception.
    pub errors: u64,
    /// Time from entry to end.
    pub total: u64,
    /// Time without the traced callees.
    pub own: u64,
}

#[derive(Debug, Default)]
struct Thread {
    /// Completed calls whose caller has not ended, ordered by end.
    ended: Vec<EndedCall>,
    /// Spans of the calls that were seen open, by start.
    open: BTreeMap<u64, u32>,
}

#[derive(Debug, Clone, Copy)]
struct EndedCall {
    start: u64,
    end: u64,
    span: u32,
    sums: CallSums,
}

impl CallSums {
    /// Adds other sums.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.total = self.total.saturating_add(other.total);
        self.own = self.own.saturating_add(other.own);
    }
}

impl Nesting {
    /// Adds a call when it ends or is seen open; `is_virtual` is set for a virtual thread.
    pub fn take(&mut self, call: &Call, is_virtual: bool) {
        self.now = self.now.max(call.end);
        let thread = self.threads.entry(call.thread).or_default();
        if call.outcome == Outcome::Open {
            thread.open.insert(call.start, call.span);
            return;
        }
        thread.open.remove(&call.start);
        let mut below = 0;
        while let Some(callee) = thread.ended.pop_if(|last| last.start >= call.start) {
            below += callee.end - callee.start;
            self.waiting -= 1;
            let edge = (callee.span, Some(call.span));
            self.by_caller.entry(edge).or_default().add(&callee.sums);
        }
        let total = call.end.saturating_sub(call.start);
        let sums = CallSums {
            calls: 1,
            errors: u64::from(matches!(call.outcome, Outcome::Threw(_))),
            total,
            own: total.saturating_sub(below),
        };
        let row = (!is_virtual).then_some(call.thread);
        self.by_thread.entry(row).or_default().add(&sums);
        if thread.ended.len() >= WAITING {
            let oldest = thread.ended.drain(..WAITING / 2);
            self.waiting -= settle(oldest, &thread.open, &mut self.by_caller);
        }
        thread.ended.push(EndedCall {
            start: call.start,
            end: call.end,
            span: call.span,
            sums,
        });
        self.waiting += 1;
        if self.size() >= WAITING_IN_ALL + self.beyond {
            for thread in self.threads.values_mut() {
                let oldest = thread.ended.drain(..thread.ended.len().div_ceil(2));
                self.waiting -= settle(oldest, &thread.open, &mut self.by_caller);
            }
            self.drop_empty();
            // Threads with open calls are limited by the recording.
            self.beyond = self.size();
        }
    }

    /// Returns the size of threads and calls, in calls.
    fn size(&self) -> usize {
        self.waiting + THREAD * self.threads.len()
    }

    fn drop_empty(&mut self) {
        self.threads
            .retain(|_, thread| !thread.ended.is_empty() || !thread.open.is_empty());
        if self.threads.capacity() > 4 * self.threads.len() {
            self.threads.shrink_to(2 * self.threads.len());
        }
    }

    /// Discards all data.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Returns the sums since the last call, by thread, and by callee and caller span (`None` without a traced
    /// caller). A call with an open caller is included after three seconds, and counts for that caller if it was
    /// seen.
    pub fn take_sums(&mut self) -> (ByThread, ByCaller) {
        let settled = self.now.saturating_sub(SEEN_OPEN);
        for thread in self.threads.values_mut() {
            let count = thread.ended.partition_point(|ended| ended.end < settled);
            let oldest = thread.ended.drain(..count);
            self.waiting -= settle(oldest, &thread.open, &mut self.by_caller);
        }
        self.drop_empty();
        self.beyond = 0;
        let threads = std::mem::take(&mut self.by_thread);
        (threads, std::mem::take(&mut self.by_caller))
    }
}

/// Counts calls as callees of the innermost enclosing call that was seen open; returns their number.
fn settle(
    ended: impl Iterator<Item = EndedCall>,
    open: &BTreeMap<u64, u32>,
    by_caller: &mut ByCaller,
) -> usize {
    ended
        .map(|call| {
            let around = open.range(..=call.start).next_back();
            let caller = around.map(|(_, span)| *span);
            let edge = (call.span, caller);
            by_caller.entry(edge).or_default().add(&call.sums);
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(span: u32, start: u64, end: u64, outcome: Outcome) -> Call {
        Call {
            thread: 1,
            span,
            start,
            end,
            outcome,
            captures: Vec::new(),
        }
    }

    /// The calls are `1(2(3), 3)`, then `3` in an open `9`.
    #[test]
    fn callers_and_self_times_are_computed_when_calls_end() {
        let mut nesting = Nesting::default();
        let late = 10_000_000_000;
        for call in [
            call(3, 12, 14, Outcome::Returned),
            call(2, 11, 20, Outcome::Threw(None)),
            call(3, 21, 25, Outcome::Returned),
            call(1, 10, 30, Outcome::Returned),
            call(9, 5, 40, Outcome::Open),
            call(9, 5, 50, Outcome::Open),
            call(3, 45, 46, Outcome::Returned),
            call(2, late, late + 1, Outcome::Returned),
        ] {
            nesting.take(&call, false);
        }
        let (threads, callers) = nesting.take_sums();
        let own = 2 + 7 + 4 + 7 + 1 + 1;
        let expected = CallSums {
            calls: 6,
            errors: 1,
            total: 2 + 9 + 4 + 20 + 1 + 1,
            own,
        };
        assert_eq!(threads[&Some(1)], expected);
        let mut calls: Vec<_> = callers
            .iter()
            .map(|(edge, sums)| (*edge, sums.calls))
            .collect();
        calls.sort_unstable();
        let expected = [
            ((1, Some(9)), 1),
            ((2, Some(1)), 1),
            ((3, Some(1)), 1),
            ((3, Some(2)), 1),
            ((3, Some(9)), 1),
        ];
        assert_eq!(calls, expected);
        assert_eq!(nesting.take_sums(), Default::default());
    }

    #[test]
    fn memory_does_not_grow_with_outermost_calls() {
        let mut nesting = Nesting::default();
        for start in 0..4 * WAITING as u64 {
            nesting.take(
                &call(1, start * 10, start * 10 + 5, Outcome::Returned),
                false,
            );
        }
        assert!(nesting.threads[&1].ended.len() <= WAITING);
        assert!(nesting.by_caller[&(1, None)].calls >= 3 * WAITING as u64);
        assert_eq!(nesting.waiting, nesting.threads[&1].ended.len());
    }

    #[test]
    fn virtual_threads_share_a_row_and_take_little_memory() {
        let mut nesting = Nesting::default();
        for thread in 0..2 * WAITING_IN_ALL as u64 {
            let call = Call {
                thread,
                ..call(1, thread, thread + 1, Outcome::Returned)
            };
            nesting.take(&call, true);
        }
        assert!(nesting.size() <= WAITING_IN_ALL, "{}", nesting.size());
        assert!(nesting.threads.capacity() < WAITING_IN_ALL / 2);
        nesting.now = u64::MAX;
        let (threads, callers) = nesting.take_sums();
        assert_eq!(threads.len(), 1);
        assert_eq!(threads[&None].calls, 2 * WAITING_IN_ALL as u64);
        assert_eq!(callers[&(1, None)].calls, 2 * WAITING_IN_ALL as u64);
        assert!(nesting.threads.is_empty() && nesting.waiting == 0);
    }
}
