//! What comes in from the JVM, added up: one row for each kind of event, thread, class and stack.

use crate::recorded::{
    Allocation, Collection, Cpu, Deadlock, Exception, Jvm, LockWait, Moment, OtherReferences,
    Recorded, Reference, System, VERSION, Wait, Wall, What,
};
use crate::stacks::{Frame, StackBuilder};
use crate::subscription::Subscription;
use crate::system_threads::Work;
use crate::thread_state::ThreadState;
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::hash::Hash;

/// Most rows of one kind of event.
const MOST_ROWS: usize = 1 << 18;
/// Most single events that are kept with their times.
const MOST_MOMENTS: usize = 1 << 17;
/// Most collections that are kept one by one.
const MOST_COLLECTIONS: usize = 1 << 16;
/// Threads whose last stack is remembered; of more, some share the memory for one.
const MOST_LAST: usize = 1 << 10;

/// Most places that are known below others; those of more are found by their frames.
const MOST_PLACES: usize = 1 << 20;

/// The places of rows, by what they are of.
type Rows<K> = HashMap<K, usize, FxBuildHasher>;

/// A frame as the JVM tells it: a method and a bytecode index.
pub type Place = (u64, i64);

/// A thread that has a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Its place among the threads.
    pub thread: u32,
    /// The place of its innermost frame.
    pub at: Option<u32>,
}

/// What an event is of: thread, class and stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Of [`Recorder::thread`].
    pub thread: u32,
    /// Of [`Recorder::class`].
    pub class: u32,
    /// Of [`Recorder::stack`].
    pub node: Option<u32>,
}

/// The stack that a thread had last: the next one mostly has the same outer part, whose nodes are known.
#[derive(Debug, Default)]
struct LastStack {
    /// The outermost place first.
    places: Vec<Place>,
    /// The node of each place, and of fewer where the tree was full.
    nodes: Vec<u32>,
}

impl LastStack {
    /// Keeps of it what a stack, whose innermost place comes first, has as well, and takes over the rest.
    fn become_stack(&mut self, places: &[Place]) {
        let pairs = self.places.iter().zip(places.iter().rev());
        let common = pairs.take_while(|(old, new)| old == new).count();
        self.nodes.truncate(common);
        self.places.truncate(common);
        let (inner, _) = places.split_at(places.len() - common);
        self.places.extend(inner.iter().rev());
    }
}

/// Adds up what is observed in one JVM.
#[derive(Debug, Default)]
pub struct Recorder {
    recorded: Recorded,
    stacks: StackBuilder,
    frames: HashMap<Place, u32, FxBuildHasher>,
    /// The nodes of places below those of their callers. Asked for each frame that is not of a thread's last stack.
    nodes: HashMap<(Option<u32>, Place), u32, FxBuildHasher>,
    /// Of threads, by their numbers.
    last: Vec<LastStack>,
    threads: HashMap<String, u32>,
    classes: HashMap<String, u32>,
    cpu: Rows<(u32, Option<u32>)>,
    wall: Rows<(u32, Option<u32>, ThreadState)>,
    system: Rows<(u32, Work)>,
    /// CPU time in nanoseconds that threads used after they were last seen, by their numbers.
    unseen: HashMap<u32, u64>,
    allocations: Rows<Origin>,
    contended: Rows<(Origin, Option<Owner>)>,
    waits: Rows<(Origin, Option<Owner>)>,
    locks: Rows<(Origin, Option<u32>)>,
    exceptions: Rows<(Origin, Option<u32>, bool)>,
    references: Rows<(Origin, bool)>,
}

impl Recorder {
    /// Nothing so far.
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

    /// The number of a thread.
    pub fn thread(&mut self, name: &str) -> u32 {
        number(&mut self.threads, &mut self.recorded.threads, name)
    }

    /// The number of a class, by its name with dots.
    pub fn class(&mut self, name: &str) -> u32 {
        number(&mut self.classes, &mut self.recorded.classes, name)
    }

    /// The number of a place; `resolve` is asked once for each.
    pub fn frame(&mut self, place: Place, resolve: impl FnOnce() -> Frame) -> u32 {
        let (builder, stacks) = (&mut self.stacks, &mut self.recorded.stacks);
        *self
            .frames
            .entry(place)
            .or_insert_with(|| builder.frame(stacks, resolve()))
    }

    /// The node of a stack of a thread, whose innermost place comes first.
    pub fn stack(
        &mut self,
        thread: u32,
        places: &[Place],
        mut resolve: impl FnMut(Place) -> Frame,
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

    /// The node of a place below that of its caller; none if there is no room.
    fn node(
        &mut self,
        caller: Option<u32>,
        place: Place,
        resolve: impl FnOnce(Place) -> Frame,
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

    /// The threads were looked at; so many looks before were left out, as it was too late for them.
    pub fn turn(&mut self, late: u64) {
        self.recorded.turns += 1;
        self.recorded.lost.turns += late;
    }

    /// A thread was seen that had used CPU time.
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

    /// A thread used CPU time, and was not seen running; [`Recorder::share_unseen`] says where that was.
    pub fn unseen(&mut self, thread: u32, cpu_ns: u64) {
        self.cpu(thread, None, cpu_ns);
        if let Some(at) = self.cpu.get(&(thread, None)) {
            self.recorded.cpu[*at].samples -= 1;
            *self.unseen.entry(thread).or_default() += cpu_ns;
        }
    }

    /// Counts a look by the wall clock, at `taken` of all threads; `carriers` if one may carry virtual threads.
    pub fn wall_look(&mut self, taken: usize, threads: usize, carriers: bool) {
        let looks = &mut self.recorded.wall_looks;
        looks.count += 1;
        looks.taken = looks.taken.max(taken as u64);
        looks.threads = looks.threads.max(threads as u64);
        looks.carriers |= carriers;
    }

    /// Adds a sample by the wall clock, which stands for so many nanoseconds.
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

    /// What threads used without being seen is shared, as the recording ends, among the stacks at which threads of the same
    /// name were seen, in proportion to what they used there; what one used that never was stays without a stack.
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

    /// A thread that runs no Java code used CPU time; its name is as Linux keeps it.
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

    /// The process has used so much CPU time since the begin of the recording.
    pub fn process(&mut self, cpu_ns: u64) {
        self.recorded.process_cpu_ns = Some(cpu_ns);
    }

    /// The CPU time of the process that is in no row gets one, as the recording ends.
    pub fn add_rest_of_process(&mut self) {
        let java = self.recorded.cpu.iter().map(|row| row.cpu_ns);
        let system = self.recorded.system.iter().map(|row| row.cpu_ns);
        let known: u64 = java.chain(system).sum();
        let process = self.recorded.process_cpu_ns.unwrap_or(0);
        if let rest @ 1.. = process.saturating_sub(known) {
            self.system("(others)", Work::Other, rest);
        }
    }

    /// An object of so many bytes was sampled; the number of its row, by which [`Recorder::live`] knows it.
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

    /// A sampled object of so many bytes, of this row, is alive.
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

    /// A thread waited to enter a monitor, which the owner had when the wait began.
    pub fn contended(&mut self, origin: Origin, owner: Option<Owner>, nanos: u64) {
        self.add_contended(origin, owner, (nanos, 0));
    }

    /// A thread waits to enter a monitor, so long so far, as the recording ends.
    pub fn unfinished_contended(&mut self, origin: Origin, owner: Option<Owner>, nanos: u64) {
        self.add_contended(origin, owner, (nanos, 1));
    }

    fn add_contended(&mut self, origin: Origin, owner: Option<Owner>, times: (u64, u64)) {
        let rows = &mut self.recorded.contended;
        let has_room = wait(&mut self.contended, rows, (origin, owner), times);
        self.recorded.lost.rows += u64::from(!has_room);
    }

    /// A thread waited in `Object.wait`.
    pub fn waited(&mut self, origin: Origin, nanos: u64) {
        self.add_wait(origin, nanos, 0);
    }

    /// A thread waits in `Object.wait`, so long so far, as the recording ends.
    pub fn unfinished_wait(&mut self, origin: Origin, nanos: u64) {
        self.add_wait(origin, nanos, 1);
    }

    fn add_wait(&mut self, origin: Origin, nanos: u64, unfinished: u64) {
        let rows = &mut self.recorded.waits;
        let key = (origin, None);
        let has_room = wait(&mut self.waits, rows, key, (nanos, unfinished));
        self.recorded.lost.rows += u64::from(!has_room);
    }

    /// A thread was parked while `holder` had the lock. A wait that several threads had the lock for comes in parts, of
    /// which one counts; one that goes on as the recording ends counts as `unfinished`, too.
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

    /// Something was thrown, which the frame `caught` catches, and perhaps never looks at.
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

    /// Adds a global reference of JNI, and returns the number of its row for [`Recorder::open_references`].
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

    /// Sets the number of open references of each row, 0 for rows that `open` lacks. `other` counts references from
    /// before, `lost` those that were not followed.
    pub fn open_references(&mut self, open: &HashMap<u32, u64>, other: OtherReferences, lost: u64) {
        for (number, row) in (0..).zip(&mut self.recorded.references) {
            row.open = open.get(&number).copied().unwrap_or(0);
        }
        self.recorded.other_references = other;
        self.recorded.lost.references = lost;
    }

    /// A single event, which is in the sums, too; `at_ns` is since the begin of the recording.
    pub fn moment(&mut self, what: What, at_ns: u64, amount: u64, origin: Origin) {
        if !self.recorded.subscription.times {
            return;
        }
        match self.recorded.moments.len() {
            ..MOST_MOMENTS => self.recorded.moments.push(Moment {
                what,
                at_ns,
                amount,
                thread: origin.thread,
                class: origin.class,
                node: origin.node,
            }),
            _ => self.recorded.lost.moments += 1,
        }
    }

    /// Threads wait for one another.
    pub fn deadlock(&mut self, deadlock: Deadlock) {
        self.recorded.deadlocks.push(deadlock);
    }

    /// A collection has ended.
    pub fn collection(&mut self, collection: Collection) {
        match self.recorded.collections.len() {
            ..MOST_COLLECTIONS => self.recorded.collections.push(collection),
            _ => self.recorded.lost.rows += 1,
        }
    }

    /// So many bytes of the heap are in use after the last collection.
    pub fn heap_after(&mut self, used: u64, heap: u64) {
        if let Some(last) = self.recorded.collections.last_mut() {
            (last.used_after, last.heap_after) = (Some(used), Some(heap));
        }
    }

    /// So many events were lost since the last time.
    pub fn lose(&mut self, events: u64, untracked: u64) {
        self.recorded.lost.events += events;
        self.recorded.lost.untracked += untracked;
    }

    /// What was recorded so far.
    #[must_use]
    pub fn recorded(&mut self, duration_ns: u64, complete: bool) -> &Recorded {
        self.recorded.duration_ns = duration_ns;
        self.recorded.complete = complete;
        &self.recorded
    }
}

/// How many of the objects of a size are sampled, if a thread allocates so many bytes between two samples on average: the
/// JVM looks, for each thread, at the object with which a number of bytes is reached that is drawn from an exponential
/// distribution (JVM TI, SampledObjectAlloc).
#[must_use]
pub fn share(interval: u32, size: u64) -> f64 {
    match interval {
        0 => 1.0,
        interval => -(-(size as f64) / f64::from(interval)).exp_m1(),
    }
    .max(f64::MIN_POSITIVE)
}

/// So much of something as `share` is of `whole`, which is more than 0.
fn part(of: u64, share: u64, whole: u64) -> u64 {
    let part = u128::from(of) * u128::from(share) / u128::from(whole);
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// The number of a name, which is added if it is new.
fn number(numbers: &mut HashMap<String, u32>, names: &mut Vec<String>, name: &str) -> u32 {
    if let Some(known) = numbers.get(name) {
        return *known;
    }
    let new = u32::try_from(names.len()).unwrap_or(u32::MAX);
    names.push(name.to_owned());
    numbers.insert(name.to_owned(), new);
    new
}

/// The place of the row with this key; a new one if there is room.
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

/// Adds a time of waiting, and 1 if it has not ended; false if there is no room.
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
    fn sample_stands_for_as_many_bytes_as_lie_between_two() {
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
    fn where_every_allocation_is_sampled_each_stands_for_itself() {
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
    fn stacks_are_the_same_whatever_a_thread_had_before() {
        let stacks: [&[Place]; 8] = [
            &[(3, 1), (2, 1), (1, 1)],
            &[(3, 2), (2, 1), (1, 1)],
            &[(2, 1), (1, 1)],
            &[],
            &[(1, 1)],
            &[(9, 9), (3, 1), (2, 1), (1, 1)],
            &[(2, 1), (1, 2)],
            &[(3, 1), (2, 1), (1, 1)],
        ];
        let resolve = |(method, line): Place| Frame {
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
            assert_eq!(path.collect::<Vec<Place>>(), *stack);
        }
    }

    #[test]
    fn what_a_thread_used_unseen_is_shared_among_its_own_stacks() {
        let mut recorder = recorder(0);
        let [main, pool, idle] = ["main", "pool", "idle"].map(|name| recorder.thread(name));
        let [long, short] = [[(1, 1)], [(2, 2)]].map(|places| {
            recorder.stack(main, &places, |(_, line)| Frame {
                line: line as i32,
                ..Frame::default()
            })
        });
        recorder.unseen(pool, 11); // before a thread of this name was seen
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
        recorder.cpu(pool, short, 1); // rows are still found
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
    fn what_comes_twice_is_one_row() {
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
        let text = serde_json::to_vec(recorded).unwrap();
        assert_eq!(&Recorded::parse(&text).unwrap(), recorded);
    }
}
