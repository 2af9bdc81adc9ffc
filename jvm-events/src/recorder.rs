//! Adds up the events of a JVM: one row for each kind of event, thread, class and stack.

use crate::recorded::{
    Allocation, Collection, Cpu, Deadlock, Exception, Jvm, LockWait, Moment, MomentKind,
    OtherReferences, Recorded, Reference, System, VERSION, Wait, Wall,
};
use crate::stacks::{Frame, StackBuilder};
use crate::subscription::Subscription;
use crate::system_threads::Work;
use crate::thread_state::ThreadState;
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::hash::Hash;

/// Maximum number of rows per kind of event.
const MOST_ROWS: usize = 1 << 18;
/// Maximum number of single events that are kept with their times.
const MOST_MOMENTS: usize = 1 << 17;
/// Maximum number of garbage collections that are kept singly.
const MOST_COLLECTIONS: usize = 1 << 16;
/// Number of threads whose last stack is cached; more threads share the entries.
const MOST_LAST: usize = 1 << 10;

/// Maximum number of cached nodes by caller and place. Other nodes are found by their frames.
const MOST_PLACES: usize = 1 << 20;

/// Indices of rows by key.
type Rows<K> = HashMap<K, usize, FxBuildHasher>;

/// A frame as the JVM reports it: a method and a bytecode index.
pub type RawFrame = (u64, i64);

/// The owner of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The number of the thread.
    pub thread: u32,
    /// The index of its innermost frame.
    pub at: Option<u32>,
}

/// The thread, class and stack of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The number from [`Recorder::thread`].
    pub thread: u32,
    /// The number from [`Recorder::class`].
    pub class: u32,
    /// The node from [`Recorder::stack`].
    pub node: Option<u32>,
}

/// The last stack of a thread. The next stack mostly has the same outer frames, whose nodes are
/// then known.
#[derive(Debug, Default)]
struct LastStack {
    /// The places, outermost first.
    places: Vec<RawFrame>,
    /// The node of each place; fewer if the tree was full.
    nodes: Vec<u32>,
}

impl LastStack {
    /// Replaces the stack by `places`, innermost first, and keeps the nodes of the common outer
    /// part.
    fn become_stack(&mut self, places: &[RawFrame]) {
        let pairs = self.places.iter().zip(places.iter().rev());
        let common = pairs.take_while(|(old, new)| old == new).count();
        self.nodes.truncate(common);
        self.places.truncate(common);
        let (inner, _) = places.split_at(places.len() - common);
        self.places.extend(inner.iter().rev());
    }
}

/// Adds up the events of one JVM.
#[derive(Debug, Default)]
pub struct Recorder {
    recorded: Recorded,
    stacks: StackBuilder,
    frames: HashMap<RawFrame, u32, FxBuildHasher>,
    /// Nodes by caller and place. Consulted for each frame that the thread's last stack does not
    /// have.
    nodes: HashMap<(Option<u32>, RawFrame), u32, FxBuildHasher>,
    /// The last stacks of threads, by thread number modulo the length.
    last: Vec<LastStack>,
    threads: HashMap<String, u32>,
    classes: HashMap<String, u32>,
    cpu: Rows<(u32, Option<u32>)>,
    wall: Rows<(u32, Option<u32>, ThreadState)>,
    system: Rows<(u32, Work)>,
    /// CPU time in nanoseconds that threads used after their last sample, by thread number.
    unseen: HashMap<u32, u64>,
    allocations: Rows<Origin>,
    contended: Rows<(Origin, Option<Owner>)>,
    waits: Rows<(Origin, Option<Owner>)>,
    locks: Rows<(Origin, Option<u32>)>,
    exceptions: Rows<(Origin, Option<u32>, bool)>,
    references: Rows<(Origin, bool)>,
}

impl Recorder {
    /// Creates a recorder without events.
    #[must_use]
    pub fn new(jvm: Jvm, subscription: Subscription, start_ms: u64) -> Self {
        Self {
            recorded: Recorded {
                version: VERSION,
                jvm,
                subscription,
                start_ms,
                ..Recorded::default()
            },
            ..Self::default()
        }
    }

    /// Returns the number of a thread.
    pub fn thread(&mut self, name: &str) -> u32 {
        number(&mut self.threads, &mut self.recorded.threads, name)
    }

    /// Returns the number of a class, whose name has dots.
    pub fn class(&mut self, name: &str) -> u32 {
        number(&mut self.classes, &mut self.recorded.classes, name)
    }

    /// Returns the index of the frame at a place. Calls `resolve` once for each new place.
    pub fn frame(&mut self, place: RawFrame, resolve: impl FnOnce() -> Frame) -> u32 {
        let (builder, stacks) = (&mut self.stacks, &mut self.recorded.stacks);
        *self
            .frames
            .entry(place)
            .or_insert_with(|| builder.frame(stacks, resolve()))
    }

    /// Returns the node of a thread's stack, whose innermost place comes first.
    pub fn stack(
        &mut self,
        thread: u32,
        places: &[RawFrame],
        mut resolve: impl FnMut(RawFrame) -> Frame,
    ) -> Option<u32> {
        let at = thread as usize % MOST_LAST;
        self.last
            .resize_with(self.last.len().max(at + 1), Default::default);
        let mut last = std::mem::take(&mut self.last[at]);
        last.become_stack(places);
        let known = last.nodes.len();
        for place in &last.places[known..] {
            let Some(node) = self.node(last.nodes.last().copied(), *place, &mut resolve) else {
                self.recorded.stacks.cut += 1;
                break;
            };
            last.nodes.push(node);
        }
        let node = last.nodes.last().copied();
        self.last[at] = last;
        node
    }

    /// Returns the node of a place below its caller's node, or `None` if the tree is full.
    fn node(
        &mut self,
        caller: Option<u32>,
        place: RawFrame,
        resolve: impl FnOnce(RawFrame) -> Frame,
    ) -> Option<u32> {
        if let Some(known) = self.nodes.get(&(caller, place)) {
            return Some(*known);
        }
        let frame = self.frame(place, || resolve(place));
        let node = self
            .stacks
            .below(&mut self.recorded.stacks, caller, frame)?;
        if self.nodes.len() < MOST_PLACES {
            self.nodes.insert((caller, place), node);
        }
        Some(node)
    }

    /// Counts a sampling of the threads, and the `late` ones before it that were skipped.
    pub fn turn(&mut self, late: u64) {
        self.recorded.turns += 1;
        self.recorded.lost.turns += late;
    }

    /// Adds a sample of a thread that used CPU time.
    pub fn cpu(&mut self, thread: u32, node: Option<u32>, cpu_ns: u64) {
        let new = || Cpu {
            thread,
            node,
            ..Cpu::default()
        };
        let rows = &mut self.recorded.cpu;
        let Some(at) = place(&mut self.cpu, rows, (thread, node), new) else {
            self.recorded.lost.rows += 1;
            return;
        };
        rows[at].samples += 1;
        rows[at].cpu_ns += cpu_ns;
    }

    /// Adds CPU time of a thread that no sample saw running; [`Recorder::share_unseen`] assigns it
    /// to stacks.
    pub fn unseen(&mut self, thread: u32, cpu_ns: u64) {
        self.cpu(thread, None, cpu_ns);
        if let Some(at) = self.cpu.get(&(thread, None)) {
            self.recorded.cpu[*at].samples -= 1;
            *self.unseen.entry(thread).or_default() += cpu_ns;
        }
    }

    /// Counts a sampling of `taken` of all threads by the wall clock; `carriers` if one may carry
    /// virtual threads.
    pub fn wall_look(&mut self, taken: usize, threads: usize, carriers: bool) {
        let looks = &mut self.recorded.wall_looks;
        looks.count += 1;
        looks.taken = looks.taken.max(taken as u64);
        looks.threads = looks.threads.max(threads as u64);
        looks.carriers |= carriers;
    }

    /// Adds a sample by the wall clock that represents `nanos` nanoseconds.
    pub fn wall(&mut self, thread: u32, node: Option<u32>, state: ThreadState, nanos: u64) {
        let new = || Wall {
            thread,
            node,
            state,
            ..Wall::default()
        };
        let rows = &mut self.recorded.wall;
        match place(&mut self.wall, rows, (thread, node, state), new) {
            Some(at) => {
                rows[at].samples += 1;
                rows[at].nanos += nanos;
            }
            None => self.recorded.lost.rows += 1,
        }
    }

    /// Divides unsampled CPU time among the stacks of threads with the same name, in proportion to
    /// their CPU time. Called at the end of the recording. The time of a thread that was never
    /// sampled stays without a stack.
    pub fn share_unseen(&mut self) {
        let rows = &mut self.recorded.cpu;
        let mut totals: HashMap<u32, u64> = HashMap::new();
        for row in rows.iter().filter(|row| row.node.is_some()) {
            *totals.entry(row.thread).or_default() += row.cpu_ns;
        }
        self.unseen
            .retain(|thread, _| totals.get(thread).is_some_and(|total| *total > 0));
        let mut before: HashMap<u32, u64> = HashMap::new();
        for row in rows.iter_mut() {
            let Some(rest) = self.unseen.get(&row.thread).copied() else {
                continue;
            };
            if row.node.is_none() {
                row.cpu_ns -= rest;
                continue;
            }
            let (total, begin) = (totals[&row.thread], before.entry(row.thread).or_default());
            let end = *begin + row.cpu_ns;
            // Rounded so that the parts add up to the whole.
            row.shared_ns = part(rest, end, total) - part(rest, *begin, total);
            row.cpu_ns += row.shared_ns;
            *begin = end;
        }
        self.unseen.clear();
        rows.retain(|row| row.samples > 0 || row.cpu_ns > 0);
        let places = rows.iter().enumerate();
        self.cpu = places
            .map(|(at, row)| ((row.thread, row.node), at))
            .collect();
    }

    /// Adds CPU time of a thread that runs no Java code, by its name as Linux keeps it.
    pub fn system(&mut self, name: &str, work: Work, cpu_ns: u64) {
        let thread = self.thread(name);
        let new = || System {
            thread,
            work,
            cpu_ns: 0,
        };
        let rows = &mut self.recorded.system;
        match place(&mut self.system, rows, (thread, work), new) {
            Some(at) => rows[at].cpu_ns += cpu_ns,
            None => self.recorded.lost.rows += 1,
        }
    }

    /// Sets the CPU time that the process used since the start of the recording.
    pub fn process(&mut self, cpu_ns: u64) {
        self.recorded.process_cpu_ns = Some(cpu_ns);
    }

    /// Adds a row for CPU time of the process that no other row has. Called at the end of the
    /// recording.
    pub fn add_rest_of_process(&mut self) {
        let java = self.recorded.cpu.iter().map(|row| row.cpu_ns);
        let system = self.recorded.system.iter().map(|row| row.cpu_ns);
        let known: u64 = java.chain(system).sum();
        let process = self.recorded.process_cpu_ns.unwrap_or(0);
        if let rest @ 1.. = process.saturating_sub(known) {
            self.system("(others)", Work::Other, rest);
        }
    }

    /// Adds a sampled object of `size` bytes, and returns the number of its row for
    /// [`Recorder::live`].
    pub fn allocation(&mut self, origin: Origin, size: u64) -> Option<u32> {
        let share = self.share(size);
        let new = || Allocation {
            thread: origin.thread,
            class: origin.class,
            node: origin.node,
            ..Allocation::default()
        };
        let rows = &mut self.recorded.allocations;
        let Some(at) = place(&mut self.allocations, rows, origin, new) else {
            self.recorded.lost.rows += 1;
            return None;
        };
        rows[at].samples += 1;
        rows[at].objects += 1.0 / share;
        rows[at].bytes += size as f64 / share;
        u32::try_from(at).ok()
    }

    /// Adds a sampled object of `size` bytes in this row that is still alive.
    pub fn live(&mut self, row: u32, size: u64) {
        let share = self.share(size);
        if let Some(row) = self.recorded.allocations.get_mut(row as usize) {
            row.live_objects += 1.0 / share;
            row.live_bytes += size as f64 / share;
        }
    }

    fn share(&self, size: u64) -> f64 {
        share(self.recorded.subscription.allocations.unwrap_or(0), size)
    }

    /// Adds a wait to enter a monitor, with the owner at the start of the wait.
    pub fn contended(&mut self, origin: Origin, owner: Option<Owner>, nanos: u64) {
        self.add_contended(origin, owner, (nanos, 0));
    }

    /// Adds a wait to enter a monitor that has not ended when the recording does.
    pub fn unfinished_contended(&mut self, origin: Origin, owner: Option<Owner>, nanos: u64) {
        self.add_contended(origin, owner, (nanos, 1));
    }

    fn add_contended(&mut self, origin: Origin, owner: Option<Owner>, times: (u64, u64)) {
        let rows = &mut self.recorded.contended;
        let has_room = wait(&mut self.contended, rows, (origin, owner), times);
        self.recorded.lost.rows += u64::from(!has_room);
    }

    /// Adds a wait in `Object.wait`.
    pub fn waited(&mut self, origin: Origin, nanos: u64) {
        self.add_wait(origin, nanos, 0);
    }

    /// Adds a wait in `Object.wait` that has not ended when the recording does.
    pub fn unfinished_wait(&mut self, origin: Origin, nanos: u64) {
        self.add_wait(origin, nanos, 1);
    }

    fn add_wait(&mut self, origin: Origin, nanos: u64, unfinished: u64) {
        let rows = &mut self.recorded.waits;
        let key = (origin, None);
        let has_room = wait(&mut self.waits, rows, key, (nanos, unfinished));
        self.recorded.lost.rows += u64::from(!has_room);
    }

    /// Adds a wait of a parked thread while `holder` held the lock. A wait during which several
    /// threads held the lock comes in parts, only one of which counts. A wait that has not ended
    /// when the recording does also counts as `unfinished`.
    pub fn parked(
        &mut self,
        origin: Origin,
        holder: Option<u32>,
        nanos: u64,
        (count, unfinished): (u64, u64),
    ) {
        let new = || LockWait {
            wait: Wait {
                thread: origin.thread,
                class: origin.class,
                node: origin.node,
                ..Wait::default()
            },
            holder,
        };
        let rows = &mut self.recorded.locks;
        let Some(at) = place(&mut self.locks, rows, (origin, holder), new) else {
            self.recorded.lost.rows += 1;
            return;
        };
        let wait = &mut rows[at].wait;
        wait.count += count;
        wait.total_ns += nanos;
        wait.longest_ns = wait.longest_ns.max(nanos);
        wait.unfinished += unfinished;
    }

    /// Adds an exception, with the frame that catches it, if known.
    pub fn exception(&mut self, origin: Origin, caught: Option<u32>, swallowed: bool) {
        let new = || Exception {
            thread: origin.thread,
            class: origin.class,
            node: origin.node,
            caught,
            count: 0,
            swallowed,
        };
        let rows = &mut self.recorded.exceptions;
        let key = (origin, caught, swallowed);
        match place(&mut self.exceptions, rows, key, new) {
            Some(at) => rows[at].count += 1,
            None => self.recorded.lost.rows += 1,
        }
    }

    /// Adds a global JNI reference, and returns the number of its row for
    /// [`Recorder::open_references`].
    pub fn reference(&mut self, origin: Origin, is_weak: bool) -> Option<u32> {
        let new = || Reference {
            thread: origin.thread,
            class: origin.class,
            node: origin.node,
            is_weak,
            ..Reference::default()
        };
        let rows = &mut self.recorded.references;
        let Some(at) = place(&mut self.references, rows, (origin, is_weak), new) else {
            self.recorded.lost.rows += 1;
            return None;
        };
        rows[at].created += 1;
        u32::try_from(at).ok()
    }

    /// Sets the number of open references of each row, 0 for rows that `open` lacks. `other` counts
    /// references from before, `lost` those that were not tracked.
    pub fn open_references(&mut self, open: &HashMap<u32, u64>, other: OtherReferences, lost: u64) {
        for (number, row) in (0..).zip(&mut self.recorded.references) {
            row.open = open.get(&number).copied().unwrap_or(0);
        }
        self.recorded.other_references = other;
        self.recorded.lost.references = lost;
    }

    /// Adds a single event, which the sums include too; `at_ns` counts from the start of the
    /// recording.
    pub fn moment(&mut self, kind: MomentKind, at_ns: u64, amount: u64, origin: Origin) {
        if !self.recorded.subscription.times {
            return;
        }
        match self.recorded.moments.len() {
            ..MOST_MOMENTS => self.recorded.moments.push(Moment {
                kind,
                at_ns,
                amount,
                thread: origin.thread,
                class: origin.class,
                node: origin.node,
            }),
            _ => self.recorded.lost.moments += 1,
        }
    }

    /// Adds a deadlock.
    pub fn deadlock(&mut self, deadlock: Deadlock) {
        self.recorded.deadlocks.push(deadlock);
    }

    /// Adds a garbage collection that has ended.
    pub fn collection(&mut self, collection: Collection) {
        match self.recorded.collections.len() {
            ..MOST_COLLECTIONS => self.recorded.collections.push(collection),
            _ => self.recorded.lost.rows += 1,
        }
    }

    /// Sets the bytes in use and the size of the heap after the last collection.
    pub fn heap_after(&mut self, used: u64, heap: u64) {
        if let Some(last) = self.recorded.collections.last_mut() {
            (last.used_after, last.heap_after) = (Some(used), Some(heap));
        }
    }

    /// Adds to the counts of lost events and untracked objects.
    pub fn lose(&mut self, events: u64, untracked: u64) {
        self.recorded.lost.events += events;
        self.recorded.lost.untracked += untracked;
    }

    /// Returns the recording up to now.
    #[must_use]
    pub fn recorded(&mut self, duration_ns: u64, complete: bool) -> &Recorded {
        self.recorded.duration_ns = duration_ns;
        self.recorded.complete = complete;
        &self.recorded
    }
}

/// Returns the probability that an object of this size is sampled, where `interval` is the average
/// number of bytes between two samples. The JVM draws the number of bytes to the next sample of
/// each thread from an exponential distribution (JVM TI, `SampledObjectAlloc`).
#[must_use]
pub fn share(interval: u32, size: u64) -> f64 {
    match interval {
        0 => 1.0,
        interval => -(-(size as f64) / f64::from(interval)).exp_m1(),
    }
    .max(f64::MIN_POSITIVE)
}

/// Returns the part of `of` that corresponds to `share` of `whole`, which is more than 0.
fn part(of: u64, share: u64, whole: u64) -> u64 {
    let part = u128::from(of) * u128::from(share) / u128::from(whole);
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// Returns the number of a name, and adds the name if it is new.
fn number(numbers: &mut HashMap<String, u32>, names: &mut Vec<String>, name: &str) -> u32 {
    if let Some(known) = numbers.get(name) {
        return *known;
    }
    let new = u32::try_from(names.len()).unwrap_or(u32::MAX);
    names.push(name.to_owned());
    numbers.insert(name.to_owned(), new);
    new
}

/// Returns the index of the row with this key, or of a new one if the limit allows.
fn place<K: Hash + Eq, R>(
    places: &mut Rows<K>,
    rows: &mut Vec<R>,
    key: K,
    new: impl FnOnce() -> R,
) -> Option<usize> {
    if let Some(known) = places.get(&key) {
        return Some(*known);
    }
    if rows.len() >= MOST_ROWS {
        return None;
    }
    rows.push(new());
    places.insert(key, rows.len() - 1);
    Some(rows.len() - 1)
}

/// Adds the duration of a wait, and 1 to `unfinished` if it has not ended. Returns `false` if the
/// row limit is reached.
fn wait(
    places: &mut Rows<(Origin, Option<Owner>)>,
    rows: &mut Vec<Wait>,
    (origin, owner): (Origin, Option<Owner>),
    (nanos, unfinished): (u64, u64),
) -> bool {
    let new = || Wait {
        thread: origin.thread,
        class: origin.class,
        node: origin.node,
        owner: owner.map(|owner| owner.thread),
        owner_at: owner.and_then(|owner| owner.at),
        ..Wait::default()
    };
    let Some(at) = place(places, rows, (origin, owner), new) else {
        return false;
    };
    rows[at].count += 1;
    rows[at].total_ns += nanos;
    rows[at].longest_ns = rows[at].longest_ns.max(nanos);
    rows[at].unfinished += unfinished;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder(allocations: u32) -> Recorder {
        let subscription = Subscription {
            allocations: Some(allocations),
            ..Subscription::default()
        };
        Recorder::new(Jvm::default(), subscription, 0)
    }

    fn origin(recorder: &mut Recorder) -> Origin {
        Origin {
            thread: recorder.thread("main"),
            class: recorder.class("a.B"),
            node: recorder.stack(0, &[(1, 2), (3, 4)], |_| Frame::default()),
        }
    }

    #[test]
    fn sample_represents_the_bytes_between_two_samples() {
        let mut recorder = recorder(524_288);
        let origin = origin(&mut recorder);
        let row = recorder.allocation(origin, 16).unwrap();
        recorder.live(row, 16);
        let row = &recorder.recorded(1, true).allocations[0];
        assert!((row.bytes - 524_288.0).abs() < 16.0, "{row:?}");
        assert!((row.objects - 32_768.0).abs() < 1.0, "{row:?}");
        assert_eq!((row.live_objects, row.live_bytes), (row.objects, row.bytes));
    }

    #[test]
    fn with_every_allocation_sampled_each_represents_itself() {
        let mut recorder = recorder(0);
        let origin = origin(&mut recorder);
        for _ in 0..1000 {
            recorder.allocation(origin, 24);
        }
        let recorded = recorder.recorded(1, true);
        let rows: Vec<_> = recorded
            .allocations
            .iter()
            .map(|row| (row.objects, row.bytes))
            .collect();
        assert_eq!(rows, [(1000.0, 24_000.0)]);
    }

    #[test]
    fn stacks_do_not_depend_on_the_previous_one() {
        let stacks: [&[RawFrame]; 8] = [
            &[(3, 1), (2, 1), (1, 1)],
            &[(3, 2), (2, 1), (1, 1)],
            &[(2, 1), (1, 1)],
            &[],
            &[(1, 1)],
            &[(9, 9), (3, 1), (2, 1), (1, 1)],
            &[(2, 1), (1, 2)],
            &[(3, 1), (2, 1), (1, 1)],
        ];
        let resolve = |(method, line): RawFrame| Frame {
            method: method.to_string(),
            line: line as i32,
            ..Frame::default()
        };
        let mut recorder = recorder(0);
        let one = stacks.map(|stack| recorder.stack(0, stack, resolve));
        let others = stacks.map(|stack| {
            recorder.stack(1, &[(7, 7), (8, 8)], resolve);
            recorder.stack(1, stack, |_| panic!("known"))
        });
        assert_eq!(one, others);
        assert_eq!(one[0], one[7]);
        let recorded = recorder.recorded(1, true);
        for (stack, node) in stacks.iter().zip(one) {
            let path = recorded.stacks.path(node);
            let path = path.map(|frame| (frame.method.parse().unwrap(), i64::from(frame.line)));
            assert_eq!(path.collect::<Vec<RawFrame>>(), *stack);
        }
    }

    #[test]
    fn unsampled_cpu_time_of_a_thread_is_divided_among_its_stacks() {
        let mut recorder = recorder(0);
        let [main, pool, idle] = ["main", "pool", "idle"].map(|name| recorder.thread(name));
        let [long, short] = [[(1, 1)], [(2, 2)]].map(|places| {
            recorder.stack(main, &places, |(_, line)| Frame {
                line: line as i32,
                ..Frame::default()
            })
        });
        recorder.unseen(pool, 11); // before any sample of this thread
        for (thread, node, nanos) in [
            (main, long, 20),
            (main, short, 10),
            (pool, short, 1),
            (main, None, 5),
        ] {
            recorder.cpu(thread, node, nanos);
        }
        for (thread, nanos) in [(main, 10), (main, 1), (idle, 7)] {
            recorder.unseen(thread, nanos);
        }
        let all = 20 + 10 + 1 + 5 + 11 + 10 + 1 + 7;
        let sum = |recorder: &mut Recorder| -> u64 {
            recorder
                .recorded(1, true)
                .cpu
                .iter()
                .map(|row| row.cpu_ns)
                .sum()
        };
        assert_eq!(sum(&mut recorder), all);
        recorder.share_unseen();
        assert_eq!(sum(&mut recorder), all);
        let rows = recorder.recorded(1, true).cpu.iter();
        let mut rows: Vec<_> = rows
            .map(|row| (row.thread, row.node, row.samples, row.cpu_ns, row.shared_ns))
            .collect();
        rows.sort_unstable();
        let wanted = [
            (main, None, 1, 5, 0),
            (main, long, 1, 27, 7),
            (main, short, 1, 14, 4),
            (pool, short, 1, 12, 11),
            (idle, None, 0, 7, 0),
        ];
        assert_eq!(rows, wanted);
        recorder.cpu(pool, short, 1); // existing rows still grow
        assert_eq!(recorder.recorded(1, true).cpu.len(), wanted.len());
    }

    #[test]
    fn rows_of_all_threads_add_up_to_the_cpu_time_of_the_process() {
        let mut recorder = recorder(0);
        let main = recorder.thread("main");
        recorder.cpu(main, None, 40);
        for nanos in [5, 10] {
            recorder.system("GC Thread#0", Work::Gc, nanos);
        }
        recorder.system("GC Thread#1", Work::Gc, 20);
        recorder.process(100);
        recorder.add_rest_of_process();
        let recorded = recorder.recorded(1, true);
        let rows = recorded.system.iter();
        let rows: Vec<_> = rows
            .map(|row| (recorded.thread(row.thread), row.work, row.cpu_ns))
            .collect();
        let expected = [
            ("GC Thread#0", Work::Gc, 15),
            ("GC Thread#1", Work::Gc, 20),
            ("(others)", Work::Other, 25),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn equal_events_share_a_row() {
        let mut recorder = recorder(0);
        let origin = origin(&mut recorder);
        recorder.contended(origin, None, 5);
        recorder.unfinished_contended(origin, None, 7);
        for (holder, nanos, counts) in [(None, 3, (1, 0)), (Some(0), 4, (0, 0)), (None, 9, (1, 1))]
        {
            recorder.parked(origin, holder, nanos, counts);
        }
        recorder.exception(origin, None, false);
        recorder.exception(origin, Some(0), false);
        recorder.exception(origin, None, false);
        recorder.cpu(origin.thread, origin.node, 10);
        recorder.cpu(origin.thread, origin.node, 20);
        recorder.unseen(origin.thread, 5);
        let recorded = recorder.recorded(9, false);
        let [wait] = &recorded.contended[..] else {
            panic!("{recorded:?}")
        };
        assert_eq!((wait.count, wait.total_ns, wait.longest_ns), (2, 12, 7));
        assert_eq!(wait.unfinished, 1);
        let locks = recorded.locks.iter();
        let locks: Vec<_> = locks
            .map(|row| {
                (
                    row.holder,
                    row.wait.count,
                    row.wait.total_ns,
                    row.wait.longest_ns,
                )
            })
            .collect();
        assert_eq!(locks, [(None, 2, 12, 9), (Some(0), 0, 4, 4)]);
        let counts: Vec<u64> = recorded.exceptions.iter().map(|row| row.count).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!((recorded.cpu[0].samples, recorded.cpu[0].cpu_ns), (2, 30));
        assert_eq!((recorded.cpu[1].samples, recorded.cpu[1].cpu_ns), (0, 5));
        let text = crate::sealed_document::seal(recorded).unwrap();
        assert_eq!(&Recorded::parse(&text).unwrap(), recorded);
    }
}
