//! A call or a wait, with the calls and waits within it.

use probes::events::{Call, Capture, Outcome, Value, Wait, WaitKind};

/// Maximum depth below a node; cutting starts at twice this depth.
const LEVELS: usize = 256;
/// Maximum number of nodes of a tree.
const NODES: usize = 1 << 12;
/// Number of bytes of values that count as one node.
const ROOM: usize = 256;

/// A call shorter than one part in this number of the whole has no line.
const PARTS: u64 = 100;
/// Maximum number of lines of a tree.
const LINES: usize = 200;
/// Maximum number of displayed levels of a tree.
const SHOWN_LEVELS: usize = 32;

/// A call or a wait.
#[derive(Debug)]
pub(super) struct Node {
    event: Event,
    /// Calls and waits within it, by start.
    pub within: Vec<Node>,
    /// Outermost calls of tasks that it submitted and other threads ran.
    pub tasks: Vec<Node>,
    /// The submission, if this is the outermost call of a task.
    pub submitted: Option<Box<Submission>>,
    /// Calls and waits without nodes.
    pub folded: Folded,
    /// Its own size: 1, and more for long values.
    room: usize,
    /// Approximate size of its descendants.
    size: usize,
    /// Approximate number of levels below.
    levels: usize,
}

/// The submission of a task, and the thread that ran it.
#[derive(Debug)]
pub(super) struct Submission {
    /// Java's id of the thread.
    pub thread: u64,
    /// `true` for a virtual thread.
    pub is_virtual: bool,
    /// Time of the submission: nanoseconds since the start.
    pub nanos: u64,
}

/// An event with a line.
#[derive(Debug)]
pub(super) enum Event {
    /// A call.
    Call(Box<Call>),
    /// A wait.
    Wait(Box<Wait>),
    /// Short calls and waits between these times, which `folded` of the node counts.
    Folded {
        /// Start of the first.
        start: u64,
        /// End of the last.
        end: u64,
    },
}

/// Calls and waits without nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Folded {
    /// Number of calls, including nested ones.
    pub calls: u64,
    /// Total time of the outermost ones among the calls.
    pub nanos: u64,
    /// Number of waits.
    pub waits: u64,
    /// Total time of waits outside these calls.
    pub waited: u64,
    /// Number of outermost calls of tasks; no other field counts them.
    pub tasks: u64,
    /// Number of levels that were cut off; 0 if only short calls were removed.
    pub levels: usize,
}

impl Folded {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.nanos = self.nanos.saturating_add(other.nanos);
        self.waits += other.waits;
        self.waited = self.waited.saturating_add(other.waited);
        self.tasks += other.tasks;
        self.levels = self.levels.max(other.levels);
    }

    /// Adds the outermost call of a task. Its time is part of no other time.
    fn add_task(&mut self, task: &Self) {
        self.tasks += 1 + task.tasks;
    }

    /// Checks whether there are no such calls and waits.
    pub fn is_empty(&self) -> bool {
        self.calls == 0 && self.waits == 0 && self.tasks == 0 && self.levels == 0
    }
}

impl Node {
    /// Creates the node of a call without callees.
    pub fn of_call(call: Call) -> Self {
        let room = 1 + captured_size(&call) / ROOM;
        Self {
            room,
            ..Self::of(Event::Call(Box::new(call)))
        }
    }

    /// Creates the node of a wait.
    pub fn of_wait(wait: Wait) -> Self {
        Self::of(Event::Wait(Box::new(wait)))
    }

    fn of(event: Event) -> Self {
        Self {
            event,
            within: Vec::new(),
            tasks: Vec::new(),
            submitted: None,
            folded: Folded::default(),
            room: 1,
            size: 0,
            levels: 0,
        }
    }

    /// Returns the event.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Returns the call.
    pub fn call(&self) -> Option<&Call> {
        match &self.event {
            Event::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Returns the span of a call.
    pub fn span(&self) -> Option<u32> {
        self.call().map(|call| call.span)
    }

    /// Checks for a call that has not ended.
    pub fn is_open(&self) -> bool {
        self.call()
            .is_some_and(|call| call.outcome == Outcome::Open)
    }

    /// Checks for a call that has not ended and encloses nothing yet.
    pub fn is_empty_open(&self) -> bool {
        let is_empty = self.within.is_empty() && self.tasks.is_empty() && self.folded.is_empty();
        self.is_open() && is_empty
    }

    /// Returns the sort time. A wait is sorted by its middle, because the times of some are inexact.
    pub fn start(&self) -> u64 {
        match &self.event {
            Event::Call(call) => call.start,
            Event::Wait(wait) => wait.start + wait.nanos() / 2,
            Event::Folded { start, .. } => *start,
        }
    }

    /// Returns the time of the end, or of the last observation.
    pub fn end(&self) -> u64 {
        match &self.event {
            Event::Call(call) => call.end,
            Event::Wait(wait) => wait.start + wait.nanos() / 2,
            Event::Folded { end, .. } => *end,
        }
    }

    /// Returns the duration.
    pub fn nanos(&self) -> u64 {
        match &self.event {
            Event::Call(call) => call.end.saturating_sub(call.start),
            Event::Wait(wait) => wait.nanos(),
            Event::Folded { .. } => 0,
        }
    }

    /// Returns the self time: without the calls within it and the waits of its thread.
    pub fn own(&self) -> u64 {
        let of_thread = |node: &&Node| !node.is_collection();
        let within = self.within.iter().filter(of_thread).map(Node::nanos);
        let within: u64 = within.sum::<u64>() + self.folded.nanos + self.folded.waited;
        self.nanos().saturating_sub(within)
    }

    /// Returns the approximate size of the tree: the number of nodes, if values are short.
    pub fn size(&self) -> usize {
        self.size + self.room
    }

    /// Checks whether this call encloses a node.
    fn encloses(&self, other: &Self) -> bool {
        let Some(call) = self.call() else {
            return false;
        };
        call.start <= other.start()
            && (self.is_open() || other.is_open() || other.end() <= call.end)
            && (self.is_open() || other.start() <= call.end)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.start() == other.start() && self.call().is_some() && other.call().is_some()
    }

    /// Adds a node after the others.
    fn push(&mut self, node: Node, least: u64) {
        match &node.event {
            Event::Folded { .. } => self.folded.add(&node.folded),
            // Its end was not kept, or arrives later.
            Event::Call(_) if node.is_open() && !self.is_open() => {
                self.folded.add(&node.folded);
                node.within
                    .into_iter()
                    .for_each(|within| self.push(within, least));
                self.tasks.extend(node.tasks);
                self.recount();
            }
            _ if !self.is_open() && node.is_short(least) => self.folded.add(&node.as_folded()),
            _ => {
                self.size += node.size();
                self.levels = self.levels.max(node.levels + 1);
                self.within.push(node);
            }
        }
    }

    fn is_collection(&self) -> bool {
        matches!(&self.event, Event::Wait(wait) if wait.kind == WaitKind::Collection)
    }

    fn is_short(&self, least: u64) -> bool {
        self.nanos() < least && !self.is_open()
    }

    /// Converts the node to one without a line.
    fn as_folded(&self) -> Folded {
        let mut all = self.folded;
        for node in &self.within {
            all.add(&node.as_folded());
        }
        for task in &self.tasks {
            all.add_task(&task.as_folded());
        }
        match &self.event {
            Event::Call(_) => {
                // An open call occurs again when it has ended.
                all.calls += u64::from(!self.is_open());
                (all.nanos, all.waited) = (self.nanos(), 0);
            }
            Event::Wait(_) => {
                all.waits += 1;
                // The time of a collection is part of other times.
                all.waited = if self.is_collection() {
                    0
                } else {
                    self.nanos()
                };
            }
            Event::Folded { .. } => {}
        }
        all
    }

    /// Keeps the tree within its limits.
    fn limit(&mut self, least: u64) {
        if self.levels > 2 * LEVELS {
            self.cut(LEVELS);
        }
        let mut least = least.max(1);
        while self.size > NODES {
            least = least.saturating_mul(2);
            self.fold(least);
            if least > u64::MAX / 4 {
                return; // the rest is open
            }
        }
    }

    /// Folds the nodes that are shorter than `least`.
    pub fn fold(&mut self, least: u64) {
        self.fold_if(&|node| node.is_short(least));
    }

    /// Folds the nodes that are shorter than `least`, except collections.
    pub fn fold_of_thread(&mut self, least: u64) {
        self.fold_if(&|node| node.is_short(least) && !node.is_collection());
    }

    /// Folds the nodes that ended before `settled` and are shorter than `least`.
    pub fn fold_ended(&mut self, settled: u64, least: u64) {
        self.fold_if(&|node| node.is_short(least) && node.end() < settled);
        self.limit(least);
    }

    fn fold_if(&mut self, is_folded: &impl Fn(&Self) -> bool) {
        for mut node in std::mem::take(&mut self.within) {
            if is_folded(&node) {
                self.folded.add(&node.as_folded());
                continue;
            }
            node.fold_if(is_folded);
            self.within.push(node);
        }
        for mut task in std::mem::take(&mut self.tasks) {
            if is_folded(&task) {
                self.folded.add_task(&task.as_folded());
                continue;
            }
            task.fold_if(is_folded);
            self.tasks.push(task);
        }
        self.recount();
    }

    /// Recomputes size and levels of the descendants.
    fn recount(&mut self) {
        let below = || self.within.iter().chain(&self.tasks);
        let size = below().map(Self::size).sum();
        let levels = below().map(|node| node.levels + 1).max();
        (self.size, self.levels) = (size, levels.unwrap_or(0));
    }

    /// Folds the nodes more than `levels` levels below this one.
    pub fn cut(&mut self, levels: usize) {
        if levels == 0 {
            let depth = self.levels;
            for node in std::mem::take(&mut self.within) {
                self.folded.add(&node.as_folded());
            }
            for task in std::mem::take(&mut self.tasks) {
                self.folded.add_task(&task.as_folded());
            }
            if depth > 0 {
                self.folded.levels = self.folded.levels.max(depth);
            }
        }
        for node in self.within.iter_mut().chain(&mut self.tasks) {
            node.cut(levels - 1);
        }
        self.recount();
    }

    /// Updates an open call that has ended or was seen again. Returns the nodes that begin after its end.
    fn update(&mut self, later: Self, least: u64) -> Vec<Self> {
        if later.is_open() && !self.is_open() {
            return Vec::new();
        }
        self.event = later.event;
        if self.is_open() {
            return Vec::new();
        }
        self.room = later.room;
        let end = self.end();
        let mut all = std::mem::take(&mut self.within);
        let behind = all.split_off(all.partition_point(|node| node.start() <= end));
        (self.size, self.levels) = (0, 0);
        all.into_iter().for_each(|node| self.push(node, least));
        self.recount();
        self.limit(least);
        behind
    }
}

/// Inserts a node into the innermost enclosing call, or at the top level. It adopts the nodes within it.
pub(super) fn insert(mut level: &mut Vec<Node>, mut node: Node, least: u64) {
    for depth in 0.. {
        let at = level.partition_point(|other| other.start() <= node.start());
        let before = at.checked_sub(1);
        if let Some(same) = before.filter(|before| level[*before].is_same(&node)) {
            let behind = level[same].update(node, least);
            level.splice(at..at, behind);
            return;
        }
        let Some(around) = before.filter(|before| level[*before].encloses(&node)) else {
            let behind = level[at..].iter();
            let count = behind.take_while(|it| node.encloses(it)).count();
            for within in level.drain(at..at + count) {
                node.push(within, least);
            }
            node.limit(least);
            level.insert(at, node);
            return;
        };
        let found = &mut level[around];
        if depth >= 2 * LEVELS {
            let folded = node.as_folded();
            found.folded.add(&Folded {
                levels: 1,
                ..folded
            });
            return;
        }
        found.size += node.room;
        level = &mut found.within;
    }
}

/// Returns the index of the call that encloses a time.
fn around(level: &[Node], nanos: u64) -> Option<usize> {
    let at = level.partition_point(|node| node.start() <= nanos);
    let before = at.checked_sub(1)?;
    let is_around = |node: &Node| node.call().is_some() && (node.is_open() || node.end() >= nanos);
    is_around(&level[before]).then_some(before)
}

/// Returns start and span of the innermost call that encloses a time.
pub(super) fn innermost(mut level: &[Node], nanos: u64) -> Option<(u64, u32)> {
    let mut found = None;
    while let Some(at) = around(level, nanos) {
        let node = &level[at];
        found = node.span().map(|span| (node.start(), span));
        level = &node.within;
    }
    found
}

/// Adds the outermost call of a task to the innermost call that encloses its submission. Returns the task if there is
/// none.
pub(super) fn attach(level: &mut [Node], task: Node, nanos: u64, least: u64) -> Option<Node> {
    let Some(at) = around(level, nanos) else {
        return Some(task);
    };
    level[at].attach(task, nanos, least);
    level[at].limit(least);
    None
}

impl Node {
    /// Adds a task, and returns the size that it takes.
    fn attach(&mut self, task: Self, nanos: u64, least: u64) -> usize {
        let room = if let Some(at) = around(&self.within, nanos) {
            self.within[at].attach(task, nanos, least)
        } else if task.is_short(least) {
            self.folded.add_task(&task.as_folded());
            0
        } else {
            let room = task.size();
            self.levels = self.levels.max(task.levels + 1);
            self.tasks.push(task);
            room
        };
        self.size += room;
        room
    }
}

/// Reduces the older half of the completed top-level nodes to numbers, and returns the slow calls among them.
pub(super) fn fold_oldest(level: &mut Vec<Node>, least: u64, slow: u64) -> Vec<Node> {
    let half = level.len() / 2;
    let (mut kept, mut long): (Vec<Node>, Vec<Node>) = (Vec::new(), Vec::new());
    for (at, mut node) in std::mem::take(level).into_iter().enumerate() {
        if node.is_open() {
            node.fold_ended(u64::MAX, least);
        }
        if at >= half || node.is_open() {
            kept.push(node);
            continue;
        }
        let (start, end, folded) = (node.start(), node.end(), node.as_folded());
        if node.span().is_some() && node.nanos() >= slow {
            long.push(node);
        }
        match kept.last_mut() {
            Some(Node {
                event: Event::Folded { end: last, .. },
                folded: all,
                ..
            }) => {
                *last = end;
                all.add(&folded);
            }
            _ => kept.push(Node {
                folded,
                ..Node::of(Event::Folded { start, end })
            }),
        }
    }
    *level = kept;
    long
}

/// Returns the tree of a call with these collections, with as many nodes as it has lines.
pub(super) fn reduced(root: Node, collections: impl Iterator<Item = Wait>) -> Node {
    let mut nodes = vec![root];
    for collection in collections {
        insert(&mut nodes, Node::of_wait(collection), 0);
    }
    let at = nodes.iter().position(|node| node.call().is_some());
    let mut root = nodes.remove(at.unwrap_or(0));
    root.cut(SHOWN_LEVELS);
    let mut least = root.nanos() / PARTS;
    root.fold_of_thread(least);
    while root.size() > LINES && least < u64::MAX / 2 {
        least = least.saturating_mul(2).max(1);
        root.fold(least);
    }
    // The middle of a collection may lie outside the call.
    root.within.splice(0..0, nodes);
    root
}

/// Returns the size of a call's values in bytes.
fn captured_size(call: &Call) -> usize {
    let text = |capture: &Capture| match &capture.value {
        Value::Text { text, .. } => text.len(),
        Value::Stack(frames) => size_of_val(frames.as_slice()),
        _ => 0,
    };
    let texts: usize = call.captures.iter().map(text).sum();
    size_of_val(call.captures.as_slice()) + texts
}
