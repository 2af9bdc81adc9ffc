//! Finds callers during a trace, for outputs that name the caller of each call.
//!
//! Calls arrive roughly in the order of their ends, so a call precedes its caller. It waits until its outermost
//! caller has ended, too, or has been open for so long that it was seen open.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use probes::events::{Call, Capture, Content, Opened, Outcome, TaskStep, Value};

use crate::tasks::{Around, CallId, Change, Runs, Steps, Submitted, TaskRun, Tasks};

/// Time after the end of a call when its open caller must have been seen open, in nanoseconds.
const SEEN_OPEN: u64 = 3_000_000_000;
/// Maximum size of calls that wait for their callers or to be taken, in bytes.
const WAITING: usize = 48 << 20;
/// Size of a thread beside its calls, in bytes.
const THREAD: usize = 512;
/// Size of the list of a thread's open calls beside these, in bytes.
const OPEN_CALLS: usize = 1 << 10;

/// The calls of one JVM that wait for their callers.
#[derive(Debug, Default)]
pub struct Trees {
    threads: HashMap<u64, Thread>,
    /// Calls with known callers.
    placed: VecDeque<PlacedCall>,
    /// Size in bytes of the completed calls that were not taken yet.
    waiting: usize,
    /// Size in bytes of threads and open calls, at least; exact after each settling.
    threads_size: usize,
    dropped: u64,
    /// Task steps whose preceding calls are not all known yet.
    steps: Steps,
    tasks: Tasks<Origin>,
    /// Number of tasks that cannot be followed.
    lost_tasks: u64,
}

/// A call that submitted a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Origin {
    caller: CallId,
    outermost: CallId,
}

/// A call with its caller.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedCall {
    /// The call.
    pub call: Call,
    /// `true` for a virtual thread.
    pub is_virtual: bool,
    /// The caller, or the call that submitted its task.
    pub caller: Option<CallId>,
    /// The outermost call on the chain of callers; the call itself without a caller.
    pub outermost: CallId,
}

#[derive(Debug, Default)]
struct Thread {
    /// Completed calls.
    ended: Vec<Call>,
    /// Calls that were seen open, by start.
    open: BTreeMap<u64, Call>,
    is_virtual: bool,
    /// Runs of tasks that a call submitted.
    runs: Runs<Origin>,
}

impl Trees {
    /// Adds a call when it ends or is seen open. Above the size limit, calls are counted and dropped.
    pub fn take(&mut self, call: &Call, is_virtual: bool) {
        let is_full = self.waiting + self.threads_size >= WAITING;
        let thread = match self.threads.entry(call.thread) {
            Entry::Occupied(thread) => thread.into_mut(),
            Entry::Vacant(_) if is_full => {
                self.dropped += 1;
                return;
            }
            Entry::Vacant(thread) => {
                self.threads_size += THREAD;
                thread.insert(Thread::default())
            }
        };
        thread.is_virtual = is_virtual;
        if call.outcome == Outcome::Open {
            if is_full && !thread.open.contains_key(&call.start) {
                self.dropped += 1;
                return;
            }
            let list = match thread.open.is_empty() {
                true => OPEN_CALLS,
                false => 0,
            };
            if thread.open.insert(call.start, call.clone()).is_none() {
                self.threads_size += list + size(call);
            }
            return;
        }
        // The calls that began within it have ended as well.
        while let Some((start, _)) = thread.open.range(call.start..call.end).next() {
            let start = *start;
            thread.open.remove(&start);
        }
        if is_full {
            self.dropped += 1;
            return;
        }
        self.waiting += size(call);
        thread.ended.push(call.clone());
    }

    /// Adds a step of a task.
    pub fn step(&mut self, step: &TaskStep) {
        self.steps.take(step);
    }

    /// Returns the number of tasks lost since the last call, because too many waited.
    pub fn take_lost_tasks(&mut self) -> u64 {
        let lost = std::mem::take(&mut self.lost_tasks);
        lost + self.steps.take_dropped() + self.tasks.take_dropped()
    }

    /// Places the calls whose callers are known now. `now` is a time in nanoseconds since the trace began; all calls
    /// that ended before it were added.
    pub fn settle(&mut self, now: u64) {
        let settled = now.saturating_sub(SEEN_OPEN);
        self.follow(settled);
        for (id, thread) in &mut self.threads {
            thread.settle(*id, settled, &mut self.placed);
        }
        self.threads.retain(|_, thread| !thread.is_empty());
        if self.threads.capacity() > 4 * self.threads.len() {
            self.threads.shrink_to(2 * self.threads.len());
        }
        let threads = self.threads.values();
        self.threads_size = threads.map(|thread| THREAD + thread.open_size()).sum();
    }

    /// Places all calls after the last entry; open ones come last.
    pub fn finish(&mut self) {
        self.settle(u64::MAX);
        for (id, mut thread) in std::mem::take(&mut self.threads) {
            self.waiting += thread.open.values().map(size).sum::<usize>();
            thread.finish(id, &mut self.placed);
        }
        self.threads_size = 0;
    }

    /// Links the runs of tasks that began before a time to the calls that submitted them. All calls that began before
    /// it are known.
    fn follow(&mut self, settled: u64) {
        let steps = self.steps.before(settled);
        if steps.is_empty() {
            return;
        }
        let threads: HashSet<u64> = steps.iter().map(|step| step.thread).collect();
        let calls = threads.into_iter().filter_map(|id| {
            let thread = self.threads.get(&id)?;
            Some((id, thread.times()))
        });
        let calls: HashMap<u64, Vec<(u64, u64)>> = calls.collect();
        let mut walks: HashMap<u64, Around<'_, (u64, u64)>> = (calls.iter())
            .map(|(id, calls)| (*id, Around::new(calls)))
            .collect();
        for step in steps {
            let around = walks
                .get_mut(&step.thread)
                .map_or(&[][..], |walk| walk.at(step.nanos));
            let change = self
                .tasks
                .take(&step, |tasks| submitted(tasks, &step, around));
            let thread = self.threads.entry(step.thread).or_default();
            match change {
                Some(Change::Begun(run)) => thread.runs.begin(run),
                Some(Change::Ended(run)) => thread.runs.end(&run, step.nanos),
                None => {}
            }
        }
    }

    /// Takes at most `most` placed calls.
    pub fn take_placed(&mut self, most: usize) -> Vec<PlacedCall> {
        let most = most.min(self.placed.len());
        let taken: Vec<PlacedCall> = self.placed.drain(..most).collect();
        let bytes = taken.iter().map(|placed| size(&placed.call));
        self.waiting -= bytes.sum::<usize>();
        taken
    }

    /// Returns the number of placed calls that were not taken yet.
    #[must_use]
    pub fn placed(&self) -> usize {
        self.placed.len()
    }

    /// Returns the number of calls dropped since the last call, because too many waited.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// Discards all waiting calls.
    pub fn reset(&mut self) {
        *self = Self {
            dropped: self.dropped,
            lost_tasks: self.take_lost_tasks(),
            ..Self::default()
        };
    }
}

/// Returns the submission of a task by a call; `around` holds starts and ends of the calls there.
fn submitted(
    tasks: &Tasks<Origin>,
    step: &TaskStep,
    around: &[&(u64, u64)],
) -> Option<Submitted<Origin>> {
    let (thread, nanos) = (step.thread, step.nanos);
    let innermost = around.last().map(|(start, _)| *start);
    let run = tasks.around(thread, innermost);
    if let Some(submitted) = run.and_then(|run| run.submitted) {
        return Some(submitted);
    }
    let id = |start| CallId { thread, start };
    let run = tasks.around(thread, None);
    let outermost = match run.and_then(|run| run.submitted.as_ref()) {
        Some(submitted) => submitted.by.outermost,
        None => id(around.first()?.0),
    };
    let by = Origin {
        caller: id(innermost?),
        outermost,
    };
    Some(Submitted { thread, nanos, by })
}

/// Returns the memory size of a call in bytes.
fn size(call: &Call) -> usize {
    let within = |capture: &Capture| size_within(&capture.value);
    let within: usize = call.captures.iter().map(within).sum();
    size_of::<PlacedCall>() + size_of_val(call.captures.as_slice()) + within
}

/// Returns the memory size of a value's content in bytes.
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
        self.ended.is_empty() && self.open.is_empty() && self.runs.is_empty()
    }

    /// Returns the size of the open calls in bytes.
    fn open_size(&self) -> usize {
        match self.open.is_empty() {
            true => 0,
            false => OPEN_CALLS + self.open.values().map(size).sum::<usize>(),
        }
    }

    /// Returns starts and ends of all known calls, by start.
    fn times(&self) -> Vec<(u64, u64)> {
        let ended = self.ended.iter().map(|call| (call.start, call.end));
        let open = self.open.keys().map(|start| (*start, u64::MAX));
        let mut times: Vec<(u64, u64)> = ended.chain(open).collect();
        times.sort_unstable();
        times
    }

    /// Takes each call that ended before `settled` and has no caller that ended later, and its callees.
    fn settle(&mut self, id: u64, settled: u64, placed: &mut VecDeque<PlacedCall>) {
        if !self.ended.iter().any(|call| call.end < settled) {
            return;
        }
        self.ended.sort_by_key(|call| call.start);
        let mut kept = Vec::new();
        // Open calls enclose all calls that follow them.
        let mut open = self.open.keys().copied().peekable();
        let mut place = ThreadCursor::new(id, &self.runs);
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
                place.leave(call.start);
                if place.is_outermost() {
                    let more = std::iter::from_fn(|| open.next_if(|start| *start < call.start));
                    for start in more {
                        place.enter(start, u64::MAX);
                    }
                }
                placed.push_back(place.placed(call, self.is_virtual));
            }
        }
        self.ended = kept;
        // Calls placed later end later, and so do their task runs.
        self.runs.remove_before(settled);
    }

    /// Places the open calls: each is the caller of the next one.
    fn finish(&mut self, id: u64, placed: &mut VecDeque<PlacedCall>) {
        let mut place = ThreadCursor::new(id, &self.runs);
        for call in std::mem::take(&mut self.open).into_values() {
            placed.push_back(place.placed(call, self.is_virtual));
        }
    }
}

/// The state of a traversal of one thread's calls.
struct ThreadCursor<'t> {
    thread: u64,
    /// The enclosing calls: start, end and outermost call.
    around: Vec<(u64, u64, CallId)>,
    runs: Around<'t, TaskRun<Origin>>,
}

impl<'t> ThreadCursor<'t> {
    fn new(thread: u64, runs: &'t Runs<Origin>) -> Self {
        Self {
            thread,
            around: Vec::new(),
            runs: runs.walk(),
        }
    }

    /// Leaves the calls that ended before a time.
    fn leave(&mut self, nanos: u64) {
        while self.around.pop_if(|(_, end, _)| *end < nanos).is_some() {}
    }

    /// Checks whether all enclosing calls are open.
    fn is_outermost(&self) -> bool {
        let last = self.around.last();
        last.is_none_or(|(_, end, _)| *end == u64::MAX)
    }

    /// Enters a call. Returns its caller and the outermost call.
    fn enter(&mut self, start: u64, end: u64) -> (Option<CallId>, CallId) {
        let id = |start| CallId {
            thread: self.thread,
            start,
        };
        let caller = self.around.last();
        let run = self.runs.at(start).last();
        let (caller, outermost) = match (run, caller) {
            (Some(run), caller) if caller.is_none_or(|(start, ..)| *start < run.begun) => {
                let by = run.submitted.by;
                (Some(by.caller), by.outermost)
            }
            (_, Some((start, _, outermost))) => (Some(id(*start)), *outermost),
            (_, None) => (None, id(start)),
        };
        self.around.push((start, end, outermost));
        (caller, outermost)
    }

    /// Enters a call, and places it.
    fn placed(&mut self, call: Call, is_virtual: bool) -> PlacedCall {
        let (caller, outermost) = self.enter(call.start, call.end);
        PlacedCall {
            is_virtual,
            caller,
            outermost,
            call,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::events::{Step, Task};
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

    /// Returns the calls placed when all that ended before `now` was added.
    fn settled(trees: &mut Trees, now: u64) -> Vec<PlacedCall> {
        trees.settle(now);
        trees.take_placed(usize::MAX)
    }

    fn finished(trees: &mut Trees) -> Vec<PlacedCall> {
        trees.finish();
        trees.take_placed(usize::MAX)
    }

    /// Returns caller and outermost caller by start.
    fn places(placed: Vec<PlacedCall>) -> BTreeMap<u64, (Option<u64>, u64)> {
        let places = placed.iter();
        places
            .map(|placed| {
                let caller = placed.caller.map(|caller| caller.start);
                (placed.call.start, (caller, placed.outermost.start))
            })
            .collect()
    }

    /// The calls are `10(11(12), 21)`, and `40`, in any order.
    #[test]
    fn callers_are_found_in_any_order() {
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

    /// `5` is open from the start; `10` ends after its callees have waited for long.
    #[test]
    fn calls_within_open_calls_are_placed_within_seconds() {
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

    /// Calls with long values take more room. Open deep recursion costs each call no more.
    #[test]
    fn size_is_counted_in_bytes_and_open_calls_are_passed_once() {
        let mut trees = Trees::default();
        let text = Capture {
            source: probes::events::CaptureSource::Argument(0),
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
        let placed = places(placed);
        let is_within = |place: &(Option<u64>, u64)| *place == (Some(depth - 1), 0);
        assert!(placed.len() == 1_000 && placed.values().all(is_within));
    }

    fn step(thread: u64, nanos: u64, step: Step) -> TaskStep {
        TaskStep {
            thread,
            is_virtual: false,
            nanos,
            step,
            task: Some(Task {
                class: "a/Task".into(),
                identity: 1,
            }),
        }
    }

    fn on(thread: u64, start: u64, end: u64) -> Call {
        Call {
            thread,
            ..ended(start, end)
        }
    }

    /// Thread 1 runs `10(11)`, which submits a task. Thread 2 runs the task, `30(31)`, and submits another one, which
    /// thread 3 runs within its own call: `50(61)`. The calls arrive in any order and are settled in steps.
    #[test]
    fn calls_of_tasks_are_placed_below_their_submitter() {
        let second = |mut step: TaskStep| {
            step.task = Some(Task {
                class: "a/Other".into(),
                identity: 1,
            });
            step
        };
        let calls = [
            on(1, 11, 14),
            on(1, 10, 20),
            on(2, 31, 33),
            on(2, 30, 40),
            on(2, 45, 46),
            on(3, 61, 62),
            on(3, 50, 80),
        ];
        let steps = [
            step(2, 41, Step::Ended),
            step(2, 29, Step::Begun),
            step(1, 12, Step::Submitted),
            second(step(3, 60, Step::Begun)),
            second(step(2, 32, Step::Submitted)),
            second(step(3, 70, Step::Ended)),
        ];
        let id = |thread, start| CallId { thread, start };
        for turns in [
            vec![4 * SECOND],
            vec![3 * SECOND + 25, 3 * SECOND + 43, 4 * SECOND],
        ] {
            let mut trees = Trees::default();
            calls.iter().for_each(|call| trees.take(call, false));
            steps.iter().for_each(|step| trees.step(step));
            let mut found = BTreeMap::new();
            for now in turns {
                for placed in settled(&mut trees, now) {
                    let call = CallId::of(&placed.call);
                    found.insert(call.start, (placed.caller, placed.outermost));
                }
            }
            let expected = BTreeMap::from([
                (10, (None, id(1, 10))),
                (11, (Some(id(1, 10)), id(1, 10))),
                (30, (Some(id(1, 11)), id(1, 10))),
                (31, (Some(id(2, 30)), id(1, 10))),
                (45, (None, id(2, 45))),
                (50, (None, id(3, 50))),
                (61, (Some(id(2, 31)), id(1, 10))),
            ]);
            assert_eq!(found, expected);
            assert!(trees.threads.is_empty() && trees.take_lost_tasks() == 0);
        }
    }

    #[test]
    fn calls_above_the_memory_limit_are_counted() {
        let mut trees = Trees::default();
        let most = (WAITING - THREAD).div_ceil(size(&ended(1, 2)));
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

    /// The calls of a million threads that have one each.
    #[test]
    fn threads_above_the_memory_limit_are_counted() {
        let on = |thread, outcome| Call {
            thread,
            ..call(thread, thread + 1, outcome)
        };
        let threads = 1_000_000;
        let mut trees = Trees::default();
        let most = WAITING.div_ceil(THREAD + size(&ended(1, 2))) as u64;
        for thread in 1..=threads {
            trees.take(&on(thread, Outcome::Returned), false);
        }
        assert_eq!(trees.threads.len() as u64, most);
        assert_eq!(trees.take_dropped(), threads - most);
        assert_eq!(settled(&mut trees, u64::MAX).len() as u64, most);
        assert_eq!((trees.waiting, trees.threads_size), (0, 0));
        for thread in 1..=threads {
            trees.take(&on(thread, Outcome::Open), false);
        }
        let most = WAITING.div_ceil(THREAD + OPEN_CALLS + size(&ended(1, 2))) as u64;
        assert_eq!(trees.threads.len() as u64, most);
        assert_eq!(trees.take_dropped(), threads - most);
        // Those that are known can end.
        let last = on(most, Outcome::Returned);
        trees.take(&last, false);
        assert_eq!(trees.take_dropped(), 1, "there is no room");
        trees.settle(0);
        trees.take(&last, false);
        assert_eq!(trees.take_dropped(), 0);
        assert_eq!(finished(&mut trees).len() as u64, most);
    }
}
