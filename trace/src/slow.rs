//! The trees of slow calls: what an outermost call called, and where its thread waited.
//!
//! Calls and waits come roughly in the order of their ends. A call that ended takes the calls within it. Those that are
//! short beside a slow call are reduced to their number and time at once, so a tree stays small however long its call is.

mod lines;
mod node;

use std::collections::{HashMap, VecDeque};

use probes::events::{Call, Outcome, Wait, WaitKind};

pub use lines::lines;
use node::Node;

/// A caller that is open so long after the begin of a call has been seen open, in nanoseconds.
const SEEN_OPEN: u64 = 3_000_000_000;
/// The agent reports a wait so long after its end at most, unless the machine is busy.
const REPORTED: u64 = 500_000_000;
/// A call shorter than one part of so many of a slow call has no node of its own.
const PARTS: u64 = 100;
/// Nodes of all threads that wait for their callers, at most.
const WAITING: usize = 1 << 18;
/// Collections that are remembered.
const COLLECTIONS: usize = 1 << 12;

/// Finds the slow calls of one JVM as they end.
#[derive(Debug)]
pub struct SlowCalls {
    /// The duration from which on a call is slow, in nanoseconds.
    at_least: u64,
    threads: HashMap<u64, Thread>,
    collections: VecDeque<Wait>,
    /// Until when collections are forgotten.
    forgotten: u64,
    /// Slow calls that were not taken out.
    found: Vec<SlowCall>,
    /// Nodes of all threads outside of calls, about.
    waiting: usize,
}

/// The calls of a thread.
#[derive(Debug, Default)]
struct Thread {
    is_virtual: bool,
    /// Calls and waits that lie in no call that is known, by start.
    outermost: Vec<Node>,
}

/// A slow call with everything in it that has a line.
#[derive(Debug)]
pub struct SlowCall {
    /// Java's id of the thread.
    pub thread: u64,
    /// Whether the thread is virtual.
    pub is_virtual: bool,
    /// The call, with the collections that began or ended within it.
    root: Node,
    /// Whether earlier collections are forgotten.
    lacks_collections: bool,
}

impl SlowCalls {
    /// Returns a value without calls, which finds those that take so many nanoseconds.
    #[must_use]
    pub fn new(at_least: u64) -> Self {
        Self {
            at_least,
            threads: HashMap::new(),
            collections: VecDeque::new(),
            forgotten: 0,
            found: Vec::new(),
            waiting: 0,
        }
    }

    /// Adds a call as it ends, or is seen open, and whether its thread is virtual.
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

    /// Adds a wait as it ends, or a collection.
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

    /// Finds the slow calls that are known as outermost, and whose waits are known: `now` is a time in nanoseconds since the
    /// trace began, and all that ended before it was added.
    pub fn settle(&mut self, now: u64) {
        self.settle_before(now.saturating_sub(SEEN_OPEN), now.saturating_sub(REPORTED));
    }

    /// Finds the rest, when no more will come. Calls that have not ended are among them, for as long as they were seen.
    pub fn finish(&mut self) {
        self.settle_before(u64::MAX, u64::MAX);
        let first = self.found.len();
        for (id, mut thread) in std::mem::take(&mut self.threads) {
            for node in std::mem::take(&mut thread.outermost) {
                self.add_slow(id, thread.is_virtual, node);
            }
        }
        self.found[first..].sort_by_key(|slow| (slow.root.end(), slow.thread));
    }

    /// Takes out the slow calls that were found, in the order of their ends.
    pub fn take(&mut self) -> Vec<SlowCall> {
        std::mem::take(&mut self.found)
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::new(self.at_least);
    }

    /// A call shorter than this has no node of its own.
    fn least(&self) -> u64 {
        self.at_least / PARTS
    }

    fn insert(&mut self, id: u64, is_virtual: bool, node: Node) {
        let least = self.least();
        let thread = self.threads.entry(id).or_default();
        thread.is_virtual = is_virtual;
        self.waiting += node.size();
        node::insert(&mut thread.outermost, node, least);
        if self.waiting > WAITING {
            self.make_room();
        }
    }

    /// Reduces half of the nodes that wait for their callers to numbers, the oldest of each thread. The slow calls among them
    /// are found: few calls have a caller that comes so late.
    fn make_room(&mut self) {
        self.waiting = self.size();
        if self.waiting <= WAITING / 2 {
            return; // most were in calls that have ended, and are short beside these
        }
        let (least, slow) = (self.least(), self.at_least);
        for (id, mut thread) in std::mem::take(&mut self.threads) {
            for node in node::fold_oldest(&mut thread.outermost, least, slow) {
                self.add_slow(id, thread.is_virtual, node);
            }
            self.threads.insert(id, thread);
        }
        // The rest is new, or open and limited.
        self.waiting = self.size().min(WAITING / 2);
    }

    /// The room of all nodes.
    fn size(&self) -> usize {
        let nodes = self.threads.values().flat_map(|thread| &thread.outermost);
        nodes.map(Node::size).sum()
    }

    /// Finds the slow calls that began before `seen` and ended before `ended`.
    fn settle_before(&mut self, seen: u64, ended: u64) {
        let least = self.least();
        let first = self.found.len();
        for (id, mut thread) in std::mem::take(&mut self.threads) {
            let mut kept = Vec::new();
            for mut node in std::mem::take(&mut thread.outermost) {
                if node.is_open() {
                    node.fold_ended(seen, least);
                } else if node.start() < seen && node.end() < ended {
                    self.add_slow(id, thread.is_virtual, node);
                    continue;
                }
                kept.push(node);
            }
            thread.outermost = kept;
            if !thread.outermost.is_empty() {
                self.threads.insert(id, thread);
            }
        }
        self.waiting = self.size();
        self.found[first..].sort_by_key(|slow| (slow.root.end(), slow.thread));
    }

    /// Adds a call to those found if it is slow.
    fn add_slow(&mut self, thread: u64, is_virtual: bool, root: Node) {
        if root.span().is_none() || root.nanos() < self.at_least {
            return;
        }
        let (start, end) = (root.start(), root.end());
        let collections = self.collections.iter();
        let within = collections.filter(|it| it.end >= start && it.start <= end);
        self.found.push(SlowCall {
            thread,
            is_virtual,
            root: node::reduced(root, within.cloned()),
            lacks_collections: start < self.forgotten,
        });
    }
}

#[cfg(test)]
mod tests;
