//! The trees of slow calls: the callees of an outermost call, and the waits of its thread.
//!
//! Calls and waits arrive roughly in the order of their ends. A completed call adopts the calls within it. Calls that
//! are short compared to a slow call are reduced to number and time at once. So a tree stays small however long its
//! call is.

mod json;
mod lines;
mod node;

use std::collections::{HashMap, VecDeque};

use probes::events::{Call, Outcome, TaskStep, Wait, WaitKind};

use crate::forgotten::ForgottenCalls;
use crate::tasks::{Change, Runs, Steps, Submitted, Tasks};

pub use crate::losses::LostCalls;
pub use json::write_json_line;
pub use lines::lines;
use node::{Node, Submission};

/// Time after the start of a call when its open caller must have been seen open, in nanoseconds.
const SEEN_OPEN: u64 = 3_000_000_000;
/// Maximum time between the end of a wait and the agent's report, in nanoseconds, unless the machine is busy.
const REPORTED: u64 = 500_000_000;
/// A call shorter than one part in this number of a slow call has no node.
const PARTS: u64 = 100;
/// Maximum size of the nodes that wait for their callers and of their threads, in nodes.
const WAITING: usize = 1 << 18;
/// Size of a thread beside its nodes.
const THREAD: usize = 4;
/// Maximum number of remembered collections.
const COLLECTIONS: usize = 1 << 12;

/// Finds the slow calls of one JVM when they end.
#[derive(Debug)]
pub struct SlowCalls {
    /// Minimum duration of a slow call in nanoseconds.
    at_least: u64,
    threads: HashMap<u64, Thread>,
    collections: VecDeque<Wait>,
    /// Time up to which collections were discarded.
    forgotten: u64,
    /// Slow calls that were found and not taken yet.
    found: Vec<SlowCall>,
    /// Approximate size of all threads and their nodes.
    waiting: usize,
    /// Calls of threads that were dropped, because too many threads had calls at once.
    dropped: ForgottenCalls,
    lost: LostCalls,
    /// Task steps whose preceding calls are not all known yet.
    steps: Steps,
    /// Tasks with the spans of the calls that submitted them.
    tasks: Tasks<Origin>,
}

/// The calls of a thread.
#[derive(Debug, Default)]
struct Thread {
    is_virtual: bool,
    /// Calls and waits without a known caller, by start.
    outermost: Vec<Node>,
    /// Runs of tasks that a call submitted.
    runs: Runs<Origin>,
}

/// A call that submitted a task.
#[derive(Debug, Clone, Copy)]
struct Origin {
    span: u32,
    /// `true` for a virtual thread.
    is_virtual: bool,
}

/// The calls of a thread without a caller on it, by start, and their submissions.
type Settled = Vec<(Node, Option<Submitted<Origin>>)>;

/// A slow call with all calls and waits in it that have a line.
#[derive(Debug)]
pub struct SlowCall {
    /// Java's id of the thread.
    pub thread: u64,
    /// `true` for a virtual thread.
    pub is_virtual: bool,
    /// The submission of its task: the span of the submitting call, unless that call's tree contains this one.
    submitted: Option<Submitted<Origin>>,
    /// The call, with the collections that began or ended within it.
    root: Node,
    /// Set if earlier collections were discarded.
    lacks_collections: bool,
    /// Set if earlier calls of its thread were discarded.
    lacks_calls: bool,
}

impl SlowCalls {
    /// Creates an empty value that finds calls of at least `at_least` nanoseconds.
    #[must_use]
    pub fn new(at_least: u64) -> Self {
        Self {
            at_least,
            threads: HashMap::new(),
            collections: VecDeque::new(),
            forgotten: 0,
            found: Vec::new(),
            waiting: 0,
            dropped: ForgottenCalls::default(),
            lost: LostCalls::default(),
            steps: Steps::default(),
            tasks: Tasks::default(),
        }
    }

    /// Adds a call when it ends or is seen open; `is_virtual` is set for a virtual thread.
    pub fn call(&mut self, call: &Call, is_virtual: bool) {
        let least = self.least();
        // Values of short calls are never shown.
        let is_short = call.outcome != Outcome::Open && call.end - call.start < least;
        let node = match is_short {
            true => Node::of_call(Call {
                captures: Vec::new(),
                ..call.clone()
            }),
            false => Node::of_call(call.clone()),
        };
        self.insert(call.thread, is_virtual, node);
    }

    /// Adds a completed wait or collection.
    pub fn wait(&mut self, wait: Wait) {
        if wait.kind != WaitKind::Collection {
            let (thread, is_virtual) = (wait.thread, wait.is_virtual);
            return self.insert(thread, is_virtual, Node::of_wait(wait));
        }
        self.collections.push_back(wait);
        if self.collections.len() > COLLECTIONS
            && let Some(oldest) = self.collections.pop_front()
        {
            self.forgotten = oldest.end;
        }
    }

    /// Adds a step of a task.
    pub fn step(&mut self, step: &TaskStep) {
        self.steps.take(step);
    }

    /// Returns the number of tasks lost since the last call, because too many waited.
    pub fn take_lost_tasks(&mut self) -> u64 {
        self.steps.take_dropped() + self.tasks.take_dropped()
    }

    /// Returns the numbers of missing calls since the last call.
    pub fn take_lost_calls(&mut self) -> LostCalls {
        std::mem::take(&mut self.lost)
    }

    /// Finds the slow calls that are outermost for certain and whose waits are known. `now` is a time in nanoseconds
    /// since the trace began; all calls that ended before it were added.
    pub fn settle(&mut self, now: u64) {
        self.settle_before(now.saturating_sub(SEEN_OPEN), now.saturating_sub(REPORTED));
    }

    /// Finds the remaining slow calls after the last entry. Open calls are included, with the time for which they
    /// were seen.
    pub fn finish(&mut self) {
        self.settle_before(u64::MAX, u64::MAX);
        let first = self.found.len();
        for (id, mut thread) in std::mem::take(&mut self.threads) {
            for node in std::mem::take(&mut thread.outermost) {
                self.add_slow(id, thread.is_virtual, node, None);
            }
        }
        self.found[first..].sort_by_key(|slow| (slow.root.end(), slow.thread));
    }

    /// Takes the slow calls found so far, in the order of their ends.
    pub fn take(&mut self) -> Vec<SlowCall> {
        std::mem::take(&mut self.found)
    }

    /// Discards all data.
    pub fn reset(&mut self) {
        *self = Self::new(self.at_least);
    }

    /// Returns the minimum duration of a call with a node.
    fn least(&self) -> u64 {
        self.at_least / PARTS
    }

    fn insert(&mut self, id: u64, is_virtual: bool, node: Node) {
        let least = self.least();
        let thread = self.threads.entry(id).or_insert_with(|| {
            self.waiting += THREAD;
            Thread::default()
        });
        thread.is_virtual = is_virtual;
        self.waiting += node.size();
        node::insert(&mut thread.outermost, node, least);
        if self.waiting > WAITING {
            self.make_room();
        }
    }

    /// Reduces half of the nodes that wait for their callers to numbers, the oldest of each thread. Slow calls among
    /// them are reported: few calls have a caller that ends so late. If the threads are still too many, those are
    /// dropped whose last call ended first.
    fn make_room(&mut self) {
        self.waiting = self.size();
        if self.waiting <= WAITING / 2 {
            return; // most were in calls that have ended, and are short compared to these
        }
        let (least, slow) = (self.least(), self.at_least);
        for (id, mut thread) in std::mem::take(&mut self.threads) {
            for node in node::fold_oldest(&mut thread.outermost, least, slow) {
                self.add_slow(id, thread.is_virtual, node, None);
            }
            self.threads.insert(id, thread);
        }
        self.waiting = self.size();
        self.drop_threads();
        // The rest is new, or open and limited.
        self.waiting = self.waiting.min(WAITING / 2);
    }

    /// Drops threads until half of the room is free: first those without open calls, by the ends of their last calls.
    /// One thread is kept.
    fn drop_threads(&mut self) {
        if self.waiting <= WAITING / 2 || self.threads.len() < 2 {
            return;
        }
        let threads = self.threads.iter();
        let mut by_age: Vec<_> = threads
            .map(|(id, thread)| (thread.has_open(), thread.end(), *id))
            .collect();
        by_age.sort_unstable();
        by_age.pop();
        for (_, _, id) in by_age {
            if self.waiting <= WAITING / 2 {
                return;
            }
            let Some(thread) = self.threads.remove(&id) else {
                continue;
            };
            self.waiting = self.waiting.saturating_sub(thread.size());
            let contents = thread.outermost.iter().filter(|node| !node.is_empty_open());
            let contents = contents.map(Node::end).max();
            self.tasks.lose(thread.runs.len() as u64);
            for node in thread.outermost {
                match node.is_open() {
                    true => self.lost.open += 1,
                    false => self.add_slow(id, thread.is_virtual, node, None),
                }
            }
            // An open call without callees is whole when it ends.
            if let Some(end) = contents {
                self.dropped.forget(id, end);
            }
        }
    }

    /// Returns the size of all threads with their nodes.
    fn size(&self) -> usize {
        self.threads.values().map(Thread::size).sum()
    }

    /// Finds the slow calls that began before `seen` and ended before `ended`.
    fn settle_before(&mut self, seen: u64, ended: u64) {
        self.follow(seen.min(ended));
        let least = self.least();
        let first = self.found.len();
        let mut settled: HashMap<u64, Settled> = HashMap::new();
        for (id, thread) in &mut self.threads {
            let mut runs = thread.runs.walk();
            let mut kept = Vec::new();
            for mut node in std::mem::take(&mut thread.outermost) {
                if node.is_open() {
                    node.fold_ended(seen, least);
                } else if node.start() < seen && node.end() < ended {
                    let run = runs.at(node.start()).last();
                    let submitted = run.map(|run| run.submitted);
                    settled.entry(*id).or_default().push((node, submitted));
                    continue;
                }
                kept.push(node);
            }
            thread.outermost = kept;
            thread.runs.remove_before(seen.min(ended));
        }
        self.attach(&mut settled, least);
        for (id, calls) in settled {
            let is_virtual = self.threads.get(&id).is_some_and(|it| it.is_virtual);
            for (node, submitted) in calls {
                self.add_slow(id, is_virtual, node, submitted);
            }
        }
        self.threads
            .retain(|_, thread| !(thread.outermost.is_empty() && thread.runs.is_empty()));
        if self.threads.capacity() > 4 * self.threads.len() {
            self.threads.shrink_to(2 * self.threads.len());
        }
        self.waiting = self.size();
        if self.waiting > WAITING {
            self.make_room();
        }
        self.found[first..].sort_by_key(|slow| (slow.root.end(), slow.thread));
    }

    /// Links the runs of tasks that began before a time to the calls that submitted them.
    fn follow(&mut self, settled: u64) {
        for step in self.steps.before(settled) {
            let calls = self.threads.get(&step.thread);
            let level = calls.map_or(&[][..], |thread| &thread.outermost);
            let change = self.tasks.take(&step, |tasks| {
                let (thread, nanos) = (step.thread, step.nanos);
                let innermost = node::innermost(level, nanos);
                let run = tasks.around(thread, innermost.map(|(start, _)| start));
                let is_virtual = step.is_virtual;
                let by = |(_, span)| Submitted {
                    thread,
                    nanos,
                    by: Origin { span, is_virtual },
                };
                run.map_or_else(|| innermost.map(by), |run| run.submitted)
            });
            // A thread that only submits tasks is no reason to remember it.
            let thread = match change {
                Some(Change::Begun(_)) => Some(self.threads.entry(step.thread).or_default()),
                _ => self.threads.get_mut(&step.thread),
            };
            let Some(thread) = thread else { continue };
            thread.is_virtual |= step.is_virtual;
            match change {
                Some(Change::Begun(run)) => thread.runs.begin(run),
                Some(Change::Ended(run)) => thread.runs.end(&run, step.nanos),
                None => {}
            }
        }
    }

    /// Adds the calls of tasks to the nodes of the submitting calls, if these are still known.
    fn attach(&mut self, settled: &mut HashMap<u64, Settled>, least: u64) {
        let of_tasks = settled.iter().flat_map(|(id, calls)| {
            let of_tasks = calls
                .iter()
                .filter_map(|(node, by)| Some((node.start(), *id, (*by)?)));
            of_tasks.collect::<Vec<_>>()
        });
        let mut of_tasks: Vec<_> = of_tasks.collect();
        // A call submitted by a task's call began later than that call.
        of_tasks.sort_by_key(|(start, ..)| std::cmp::Reverse(*start));
        for (start, id, submitted) in of_tasks {
            let Some(calls) = settled.get_mut(&id) else {
                continue;
            };
            let at = calls.partition_point(|(node, _)| node.start() < start);
            let (mut node, _) = calls.remove(at);
            node.submitted = Some(Box::new(Submission {
                thread: id,
                is_virtual: self.threads.get(&id).is_some_and(|it| it.is_virtual),
                nanos: submitted.nanos,
            }));
            let (from, nanos) = (submitted.thread, submitted.nanos);
            let calls = settled.get_mut(&from).and_then(|calls| {
                let around = calls.partition_point(|(node, _)| node.start() <= nanos);
                calls.get_mut(around.checked_sub(1)?)
            });
            let mut rest = match calls {
                Some((call, _)) => node::attach(std::slice::from_mut(call), node, nanos, least),
                None => Some(node),
            };
            if let Some(thread) = self.threads.get_mut(&from)
                && let Some(node) = rest.take()
            {
                rest = node::attach(&mut thread.outermost, node, nanos, least);
            }
            if let (Some(mut node), Some(calls)) = (rest, settled.get_mut(&id)) {
                node.submitted = None;
                calls.insert(at, (node, Some(submitted)));
            }
        }
    }

    /// Adds a call to the results if it is slow.
    fn add_slow(
        &mut self,
        thread: u64,
        is_virtual: bool,
        root: Node,
        submitted: Option<Submitted<Origin>>,
    ) {
        if root.span().is_none() || root.nanos() < self.at_least {
            return;
        }
        let (start, end) = (root.start(), root.end());
        let collections = self.collections.iter();
        let within = collections.filter(|it| it.end >= start && it.start <= end);
        let lacks_calls = self.dropped.has_since(thread, start);
        self.lost.incomplete += u64::from(lacks_calls);
        self.found.push(SlowCall {
            thread,
            is_virtual,
            submitted,
            root: node::reduced(root, within.cloned()),
            lacks_collections: start < self.forgotten,
            lacks_calls,
        });
    }
}

impl Thread {
    /// Checks for a call that has not ended.
    fn has_open(&self) -> bool {
        self.outermost.iter().any(Node::is_open)
    }

    /// Returns the latest end of a call, or the time of its last observation.
    fn end(&self) -> u64 {
        self.outermost.iter().map(Node::end).max().unwrap_or(0)
    }

    /// Returns the size with all nodes.
    fn size(&self) -> usize {
        let nodes = self.outermost.iter().map(Node::size);
        THREAD + nodes.sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
