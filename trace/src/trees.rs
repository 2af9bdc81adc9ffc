//! Who called whom while a trace goes on, for outputs that name the caller of each call.
//!
//! Calls come roughly in the order of their ends, so a call comes before the one that made it. It waits until its
//! outermost caller has ended too, or has been open for so long that it has been seen open.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use probes::events::{Call, Capture, Content, Opened, Outcome, Value};

/// A caller that is open so long after the end of a call has been seen open, in nanoseconds.
const SEEN_OPEN: u64 = 3_000_000_000;
/// Bytes of calls that wait, for their callers or to be taken out, at most.
const WAITING: usize = 48 << 20;

/// The calls of one JVM that wait for their callers.
#[derive(Debug, Default)]
pub struct Trees {
    threads: HashMap<u64, Thread>,
    /// Calls whose callers are known.
    placed: VecDeque<Placed>,
    /// Bytes of calls that ended and were not taken out.
    waiting: usize,
    dropped: u64,
}

/// A call among the others of its thread. Thread and start identify a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The call.
    pub call: Call,
    /// Whether its thread is virtual.
    pub is_virtual: bool,
    /// The start of the call that made it.
    pub caller: Option<u64>,
    /// The start of the outermost call around it, its own if there is none.
    pub outermost: u64,
}

#[derive(Debug, Default)]
struct Thread {
    /// Calls that ended.
    ended: Vec<Call>,
    /// Calls that were seen open, by start.
    open: BTreeMap<u64, Call>,
    is_virtual: bool,
}

impl Trees {
    /// Adds a call as it ends, or is seen open. One too many is counted and left out.
    pub fn take(&mut self, call: &Call, is_virtual: bool) {
        let thread = self.threads.entry(call.thread).or_default();
        thread.is_virtual = is_virtual;
        if call.outcome == Outcome::Open {
            thread.open.insert(call.start, call.clone());
            return;
        }
        // What began within it has ended as well.
        while let Some((start, _)) = thread.open.range(call.start..call.end).next() {
            let start = *start;
            thread.open.remove(&start);
        }
        if self.waiting >= WAITING {
            self.dropped += 1;
            return;
        }
        self.waiting += size(call);
        thread.ended.push(call.clone());
    }

    /// Places the calls whose callers are known now: `now` is a time in nanoseconds since the trace began, and all that
    /// ended before it was added.
    pub fn settle(&mut self, now: u64) {
        let settled = now.saturating_sub(SEEN_OPEN);
        for thread in self.threads.values_mut() {
            thread.settle(settled, &mut self.placed);
        }
        self.threads.retain(|_, thread| !thread.is_empty());
    }

    /// Places all calls, when no more will come; those that are still open come last.
    pub fn finish(&mut self) {
        self.settle(u64::MAX);
        for mut thread in std::mem::take(&mut self.threads).into_values() {
            self.waiting += thread.open.values().map(size).sum::<usize>();
            thread.finish(&mut self.placed);
        }
    }

    /// Takes out at most so many calls that are placed.
    pub fn take_placed(&mut self, most: usize) -> Vec<Placed> {
        let most = most.min(self.placed.len());
        let taken: Vec<Placed> = self.placed.drain(..most).collect();
        let bytes = taken.iter().map(|placed| size(&placed.call));
        self.waiting -= bytes.sum::<usize>();
        taken
    }

    /// Calls that are placed and were not taken out.
    #[must_use]
    pub fn placed(&self) -> usize {
        self.placed.len()
    }

    /// How many calls were left out since the last time, because too many waited.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// Forgets everything that waits.
    pub fn reset(&mut self) {
        self.threads.clear();
        self.placed.clear();
        self.waiting = 0;
    }
}

/// Bytes of a call in memory.
fn size(call: &Call) -> usize {
    let within = |capture: &Capture| size_within(&capture.value);
    let within: usize = call.captures.iter().map(within).sum();
    size_of::<Placed>() + size_of_val(call.captures.as_slice()) + within
}

/// Bytes that a value holds besides itself.
fn size_within(value: &Value) -> usize {
    let whole = |value: &Value| size_of::<Value>() + size_within(value);
    match value {
        Value::Text { text, .. } | Value::Constant(text) => text.len(),
        Value::Stack(frames) => size_of_val(frames.as_slice()),
        Value::Opened(opened) => {
            let parts: usize = match &opened.content {
                Content::Cycle => 0,
                Content::Fields(fields) => {
                    let name = size_of::<Arc<str>>();
                    fields.iter().map(|(_, value)| name + whole(value)).sum()
                }
                Content::Elements(elements) => elements.iter().map(whole).sum(),
                Content::Entries(entries) => {
                    let both = entries.iter().map(|(key, value)| whole(key) + whole(value));
                    both.sum()
                }
            };
            size_of::<Opened>() + parts
        }
        _ => 0,
    }
}

impl Thread {
    fn is_empty(&self) -> bool {
        self.ended.is_empty() && self.open.is_empty()
    }

    /// Takes out each call that ended before `settled`, has no caller that ended later, and what it called.
    fn settle(&mut self, settled: u64, placed: &mut VecDeque<Placed>) {
        if !self.ended.iter().any(|call| call.end < settled) {
            return;
        }
        self.ended.sort_by_key(|call| call.start);
        let mut kept = Vec::new();
        // Open calls lie around all that follow them.
        let mut open = self.open.keys().copied().peekable();
        let mut around: Vec<(u64, u64)> = Vec::new();
        let mut calls = std::mem::take(&mut self.ended).into_iter().peekable();
        while let Some(top) = calls.next() {
            let (end, is_settled) = (top.end, top.end < settled);
            let below = std::iter::from_fn(|| calls.next_if(|call| call.start < end));
            let tree = std::iter::once(top).chain(below);
            if !is_settled {
                kept.extend(tree);
                continue;
            }
            for call in tree {
                while around.pop_if(|(_, end)| *end < call.start).is_some() {}
                let is_outermost = around.last().is_none_or(|(_, end)| *end == u64::MAX);
                if is_outermost {
                    let more = std::iter::from_fn(|| open.next_if(|start| *start < call.start));
                    around.extend(more.map(|start| (start, u64::MAX)));
                }
                placed.push_back(placed_within(&mut around, call, self.is_virtual));
            }
        }
        self.ended = kept;
    }

    /// Places the calls that have not ended: each was made by the one before.
    fn finish(&mut self, placed: &mut VecDeque<Placed>) {
        let mut around = Vec::new();
        for call in std::mem::take(&mut self.open).into_values() {
            placed.push_back(placed_within(&mut around, call, self.is_virtual));
        }
    }
}

/// A call within those `around` it, by start and end, to which it is added.
fn placed_within(around: &mut Vec<(u64, u64)>, call: Call, is_virtual: bool) -> Placed {
    let caller = around.last().map(|(start, _)| *start);
    around.push((call.start, call.end));
    Placed {
        is_virtual,
        caller,
        outermost: around[0].0,
        call,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const SECOND: u64 = 1_000_000_000;

    fn call(start: u64, end: u64, outcome: Outcome) -> Call {
        Call {
            thread: 1,
            span: 0,
            start,
            end,
            outcome,
            captures: Vec::new(),
        }
    }

    fn ended(start: u64, end: u64) -> Call {
        call(start, end, Outcome::Returned)
    }

    /// What is placed when all that ended before `now` was added.
    fn settled(trees: &mut Trees, now: u64) -> Vec<Placed> {
        trees.settle(now);
        trees.take_placed(usize::MAX)
    }

    fn finished(trees: &mut Trees) -> Vec<Placed> {
        trees.finish();
        trees.take_placed(usize::MAX)
    }

    /// Caller and outermost caller by start.
    fn places(placed: Vec<Placed>) -> BTreeMap<u64, (Option<u64>, u64)> {
        let places = placed.iter();
        places
            .map(|placed| (placed.call.start, (placed.caller, placed.outermost)))
            .collect()
    }

    /// `10(11(12), 21)`, and `40`, in any order.
    #[test]
    fn callers_are_found_whatever_the_order() {
        let calls = [
            ended(12, 14),
            ended(11, 20),
            ended(21, 25),
            ended(10, 30),
            ended(40, 41),
        ];
        for turn in 0..calls.len() {
            let mut trees = Trees::default();
            let mut turned = calls.clone();
            turned.rotate_left(turn);
            for call in &turned {
                trees.take(call, false);
            }
            assert_eq!(settled(&mut trees, SECOND), []);
            let expected = BTreeMap::from([
                (10, (None, 10)),
                (11, (Some(10), 10)),
                (12, (Some(11), 10)),
                (21, (Some(10), 10)),
                (40, (None, 40)),
            ]);
            assert_eq!(places(settled(&mut trees, 4 * SECOND)), expected);
            assert_eq!(trees.waiting, 0);
        }
    }

    /// `5` is open from the beginning, `10` ends when what it called has waited for long.
    #[test]
    fn calls_within_open_ones_wait_for_no_more_than_seconds() {
        let mut trees = Trees::default();
        trees.take(&ended(20, 21), false);
        trees.take(&call(5, SECOND, Outcome::Open), false);
        trees.take(&call(10, SECOND, Outcome::Open), false);
        assert_eq!(settled(&mut trees, 2 * SECOND), []);
        let first = settled(&mut trees, 4 * SECOND);
        assert_eq!(places(first), BTreeMap::from([(20, (Some(10), 5))]));
        trees.take(&ended(30, 4 * SECOND), false);
        trees.take(&ended(10, 5 * SECOND), false);
        assert_eq!(
            settled(&mut trees, 7 * SECOND),
            [],
            "10 ended too late for 30"
        );
        let then = BTreeMap::from([(10, (Some(5), 5)), (30, (Some(10), 5))]);
        assert_eq!(places(settled(&mut trees, 9 * SECOND)), then);
        let last = finished(&mut trees);
        assert_eq!(last[0].call.outcome, Outcome::Open);
        assert_eq!(places(last), BTreeMap::from([(5, (None, 5))]));
    }

    /// Calls with long values take more room, and deep recursion that is open costs each call no more.
    #[test]
    fn room_is_counted_in_bytes_and_open_calls_are_passed_once() {
        let mut trees = Trees::default();
        let text = Capture {
            which: probes::events::Which::Argument(0),
            value: Value::Text {
                text: "x".repeat(1 << 20),
                length: 1 << 20,
            },
        };
        for start in 0..60 {
            let mut long = ended(start * 10 + 1, start * 10 + 5);
            long.captures.push(text.clone());
            trees.take(&long, false);
        }
        assert!((10..15).contains(&trees.take_dropped()));
        trees.reset();
        let depth = 100_000;
        for start in 0..depth {
            trees.take(&call(start, 2 * depth, Outcome::Open), false);
        }
        for start in depth..depth + 1_000 {
            trees.take(&ended(start * 10, start * 10 + 5), false);
        }
        let placed = settled(&mut trees, 4 * SECOND);
        let is_within = |placed: &Placed| (placed.caller, placed.outermost) == (Some(depth - 1), 0);
        assert!(placed.len() == 1_000 && placed.iter().all(is_within));
    }

    #[test]
    fn calls_beyond_the_memory_for_them_are_counted() {
        let mut trees = Trees::default();
        let most = WAITING.div_ceil(size(&ended(1, 2)));
        for start in 0..most as u64 + 7 {
            trees.take(&ended(start * 10, start * 10 + 5), true);
        }
        assert_eq!((trees.take_dropped(), trees.take_dropped()), (7, 0));
        trees.settle(u64::MAX);
        assert_eq!((trees.take_placed(9).len(), trees.placed()), (9, most - 9));
        assert_eq!(finished(&mut trees).len(), most - 9);
        trees.take(&ended(1, 2), true);
        trees.reset();
        assert_eq!(finished(&mut trees), []);
    }
}
