//! Merges the recordings of several JVMs into one.

use crate::recorded::{Collection, Deadlock, OtherReferences, Recorded, Stuck, VERSION, WallLooks};
use crate::stacks::{StackBuilder, Stacks};
use crate::system_threads::Work;
use crate::thread_state::ThreadState;
use std::collections::HashMap;
use std::hash::Hash;

/// Adds up several recordings. Threads, classes and stacks with the same names are merged. Counts
/// of lost data are not added up.
#[must_use]
pub fn merged(recordings: &[Recorded]) -> Recorded {
    let mut all = Recorded {
        version: VERSION,
        complete: true,
        ..Recorded::default()
    };
    let mut stacks = StackBuilder::default();
    let (mut threads, mut classes) = (HashMap::new(), HashMap::new());
    let mut rows = Rows::default();
    for one in recordings {
        all.duration_ns += one.duration_ns;
        all.turns += one.turns;
        let process = all.process_cpu_ns.into_iter().chain(one.process_cpu_ns);
        all.process_cpu_ns = process.reduce(|sum, nanos| sum + nanos);
        subscribe(&mut all, one);
        add_looks(&mut all.wall_looks, &one.wall_looks);
        add_others(&mut all.other_references, &one.other_references);
        let threads = numbers(&mut threads, &mut all.threads, &one.threads);
        let classes = numbers(&mut classes, &mut all.classes, &one.classes);
        let (frames, nodes) = graft(&mut stacks, &mut all.stacks, &one.stacks);
        let numbers = Numbers {
            threads,
            classes,
            frames,
            nodes,
        };
        rows.add(&mut all, one, &numbers);
        let collections = one.collections.iter().map(|collection| Collection {
            used_after: None, // each heap has its own value
            heap_after: None,
            ..collection.clone()
        });
        all.collections.extend(collections);
        let stuck = |one: &Stuck| {
            let mut one = one.clone();
            rename((&mut one.thread, &mut one.class, &mut one.node), &numbers);
            one
        };
        let deadlocks = one.deadlocks.iter().map(|deadlock| Deadlock {
            threads: deadlock.threads.iter().map(stuck).collect(),
        });
        all.deadlocks.extend(deadlocks);
    }
    all
}

/// Extends the subscription of `all` by that of `one`.
fn subscribe(all: &mut Recorded, one: &Recorded) {
    let (all, one) = (&mut all.subscription, &one.subscription);
    all.cpu = all.cpu.or(one.cpu);
    all.wall = all.wall.or(one.wall);
    all.allocations = all.allocations.or(one.allocations);
    all.monitors |= one.monitors;
    all.exceptions |= one.exceptions;
    all.collections |= one.collections;
    all.references |= one.references;
    all.live |= one.live;
}

fn add_looks(all: &mut WallLooks, one: &WallLooks) {
    all.count += one.count;
    all.threads += one.threads;
    all.taken += one.taken;
    all.carriers |= one.carriers;
}

fn add_others(all: &mut OtherReferences, one: &OtherReferences) {
    let add = |sum: Option<u64>, more: Option<u64>| {
        let both = sum.into_iter().chain(more);
        both.reduce(|sum, more| sum + more)
    };
    all.before = add(all.before, one.before);
    all.at_end = add(all.at_end, one.at_end);
    all.deleted += one.deleted;
    all.deleted_weak += one.deleted_weak;
}

/// Maps names to their numbers in the merged recording.
fn numbers(
    known: &mut HashMap<String, u32>,
    names: &mut Vec<String>,
    added: &[String],
) -> Vec<u32> {
    let number = |name: &String| {
        *known.entry(name.clone()).or_insert_with(|| {
            names.push(name.clone());
            (names.len() - 1) as u32 // far fewer than 2³² fit in memory
        })
    };
    added.iter().map(number).collect()
}

/// Maps frames and nodes to their numbers in the merged recording. A node is `None` if it is
/// damaged or the tree is full.
fn graft(
    builder: &mut StackBuilder,
    to: &mut Stacks,
    from: &Stacks,
) -> (Vec<u32>, Vec<Option<u32>>) {
    let frames = from.frames.iter();
    let frames: Vec<u32> = frames
        .map(|frame| builder.frame(to, frame.clone()))
        .collect();
    let mut nodes: Vec<Option<u32>> = Vec::with_capacity(from.nodes.len());
    for node in &from.nodes {
        let caller = node.caller.and_then(|caller| *nodes.get(caller as usize)?);
        let frame = frames.get(node.frame as usize);
        nodes.push(frame.and_then(|frame| builder.below(to, caller, *frame)));
    }
    to.cut += from.cut;
    (frames, nodes)
}

/// Maps old numbers to the new ones.
struct Numbers {
    threads: Vec<u32>,
    classes: Vec<u32>,
    frames: Vec<u32>,
    nodes: Vec<Option<u32>>,
}

impl Numbers {
    fn node(&self, node: Option<u32>) -> Option<u32> {
        *self.nodes.get(node? as usize)?
    }
}

/// The new number of a name, or `u32::MAX`, which has no name, if a damaged file lacks the name.
fn new(numbers: &[u32], old: u32) -> u32 {
    numbers.get(old as usize).copied().unwrap_or(u32::MAX)
}

/// Thread, class and stack of a row.
type Key = (u32, u32, Option<u32>);

/// A row's key with the owner of the monitor and the owner's stack.
type OfOwner = (Key, Option<u32>, Option<u32>);

/// Indices of rows by their keys.
#[derive(Default)]
struct Rows {
    cpu: HashMap<(u32, Option<u32>), usize>,
    wall: HashMap<(u32, Option<u32>, ThreadState), usize>,
    system: HashMap<(u32, Work), usize>,
    allocations: HashMap<Key, usize>,
    contended: HashMap<OfOwner, usize>,
    waits: HashMap<OfOwner, usize>,
    locks: HashMap<(Key, Option<u32>), usize>,
    exceptions: HashMap<(Key, Option<u32>, bool), usize>,
    references: HashMap<(Key, bool), usize>,
}

impl Rows {
    fn add(&mut self, all: &mut Recorded, one: &Recorded, numbers: &Numbers) {
        for row in &one.cpu {
            let mut row = row.clone();
            row.thread = new(&numbers.threads, row.thread);
            row.node = numbers.node(row.node);
            let key = (row.thread, row.node);
            if let Some((there, row)) = sum(&mut self.cpu, &mut all.cpu, key, row) {
                there.samples += row.samples;
                there.cpu_ns += row.cpu_ns;
                there.shared_ns += row.shared_ns;
            }
        }
        for row in &one.wall {
            let mut row = row.clone();
            row.thread = new(&numbers.threads, row.thread);
            row.node = numbers.node(row.node);
            let key = (row.thread, row.node, row.state);
            if let Some((there, row)) = sum(&mut self.wall, &mut all.wall, key, row) {
                there.samples += row.samples;
                there.nanos += row.nanos;
            }
        }
        for row in &one.system {
            let mut row = row.clone();
            row.thread = new(&numbers.threads, row.thread);
            let key = (row.thread, row.work);
            if let Some((there, row)) = sum(&mut self.system, &mut all.system, key, row) {
                there.cpu_ns += row.cpu_ns;
            }
        }
        for row in &one.allocations {
            let mut row = row.clone();
            let key = rename((&mut row.thread, &mut row.class, &mut row.node), numbers);
            if let Some((there, row)) = sum(&mut self.allocations, &mut all.allocations, key, row) {
                there.samples += row.samples;
                there.objects += row.objects;
                there.bytes += row.bytes;
                there.live_objects += row.live_objects;
                there.live_bytes += row.live_bytes;
            }
        }
        for (known, to, from) in [
            (&mut self.contended, &mut all.contended, &one.contended),
            (&mut self.waits, &mut all.waits, &one.waits),
        ] {
            for row in from {
                let mut row = row.clone();
                let key = rename((&mut row.thread, &mut row.class, &mut row.node), numbers);
                row.owner = row.owner.map(|owner| new(&numbers.threads, owner));
                row.owner_at = row.owner_at.map(|frame| new(&numbers.frames, frame));
                let key = (key, row.owner, row.owner_at);
                if let Some((there, row)) = sum(known, to, key, row) {
                    there.count += row.count;
                    there.total_ns += row.total_ns;
                    there.longest_ns = there.longest_ns.max(row.longest_ns);
                    there.unfinished += row.unfinished;
                }
            }
        }
        for row in &one.locks {
            let mut row = row.clone();
            let wait = &mut row.wait;
            let key = rename((&mut wait.thread, &mut wait.class, &mut wait.node), numbers);
            row.holder = row.holder.map(|holder| new(&numbers.threads, holder));
            let key = (key, row.holder);
            if let Some((there, row)) = sum(&mut self.locks, &mut all.locks, key, row) {
                let (there, wait) = (&mut there.wait, row.wait);
                there.count += wait.count;
                there.total_ns += wait.total_ns;
                there.longest_ns = there.longest_ns.max(wait.longest_ns);
                there.unfinished += wait.unfinished;
            }
        }
        for row in &one.references {
            let mut row = row.clone();
            let key = rename((&mut row.thread, &mut row.class, &mut row.node), numbers);
            let key = (key, row.is_weak);
            if let Some((there, row)) = sum(&mut self.references, &mut all.references, key, row) {
                there.created += row.created;
                there.open += row.open;
            }
        }
        for row in &one.exceptions {
            let mut row = row.clone();
            let key = rename((&mut row.thread, &mut row.class, &mut row.node), numbers);
            row.caught = row.caught.map(|frame| new(&numbers.frames, frame));
            let key = (key, row.caught, row.swallowed);
            if let Some((there, row)) = sum(&mut self.exceptions, &mut all.exceptions, key, row) {
                there.count += row.count;
            }
        }
    }
}

fn rename(row: (&mut u32, &mut u32, &mut Option<u32>), numbers: &Numbers) -> Key {
    let (thread, class, node) = row;
    *thread = new(&numbers.threads, *thread);
    *class = new(&numbers.classes, *class);
    *node = numbers.node(*node);
    (*thread, *class, *node)
}

/// Adds a row if its key is new; otherwise returns the existing row and the new one.
fn sum<'a, K: Eq + Hash, R>(
    known: &mut HashMap<K, usize>,
    rows: &'a mut Vec<R>,
    key: K,
    row: R,
) -> Option<(&'a mut R, R)> {
    match known.get(&key) {
        Some(at) => Some((&mut rows[*at], row)),
        None => {
            known.insert(key, rows.len());
            rows.push(row);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Jvm;
    use crate::recorder::Origin;
    use crate::stacks::Frame;
    use crate::{Recorder, Subscription};

    /// A recording of a JVM that saw these threads, classes and frames in this order.
    fn recording(names: &[&str], nanos: u64) -> Recorded {
        let mut recorder = Recorder::new(Jvm::default(), Subscription::default(), 0);
        for name in names {
            let frame = |(number, _)| Frame {
                method: if number == 0 { *name } else { "run" }.to_owned(),
                ..Frame::default()
            };
            let thread = recorder.thread(name);
            let origin = Origin {
                thread,
                class: recorder.class(name),
                node: recorder.stack(thread, &[(0, name.len() as i64), (1, 0)], frame),
            };
            let caught = recorder.frame((9, 9), Frame::default);
            recorder.contended(origin, None, nanos);
            recorder.exception(origin, Some(caught), false);
            recorder.parked(origin, Some(thread), nanos, (1, 0));
            recorder.reference(origin, false);
            recorder.reference(origin, true);
            recorder.allocation(origin, nanos);
            recorder.cpu(origin.thread, origin.node, nanos);
            recorder.wall(origin.thread, origin.node, ThreadState::Parked, nanos);
            recorder.system("VM Thread", Work::Vm, nanos);
            recorder.process(10 * nanos);
        }
        recorder.collection(Collection {
            duration_ns: nanos,
            used_after: Some(1),
            ..Collection::default()
        });
        let others = OtherReferences {
            before: Some(nanos),
            deleted: 1,
            ..OtherReferences::default()
        };
        recorder.open_references(&HashMap::from([(1, 1)]), others, 0);
        recorder.recorded(nanos, true).clone()
    }

    #[test]
    fn equal_rows_of_two_jvms_are_merged() {
        let two = [recording(&["a", "bb"], 3), recording(&["ccc", "a"], 4)];
        let all = merged(&two);
        let rows: Vec<_> = all
            .contended
            .iter()
            .map(|row| {
                let first = all.stacks.path(row.node).next().expect("a frame");
                let names = [all.thread(row.thread), all.class(row.class), &first.method];
                assert_eq!(names, [names[0]; 3]);
                (names[0], row.count, row.total_ns, row.longest_ns)
            })
            .collect();
        assert_eq!(rows, [("a", 2, 7, 4), ("bb", 1, 3, 3), ("ccc", 1, 4, 4)]);
        let counts: Vec<u64> = all.exceptions.iter().map(|row| row.count).collect();
        assert_eq!(counts, [2, 1, 1]);
        let held = all.locks.iter();
        let held: Vec<_> = held
            .map(|row| (row.holder == Some(row.wait.thread), row.wait.total_ns))
            .collect();
        assert_eq!(held, [(true, 7), (true, 3), (true, 4)]);
        let references = all.references.iter();
        let references: Vec<_> = references
            .map(|row| (row.is_weak, row.created, row.open))
            .collect();
        let weak = |open| (true, 1, open);
        let expected = [
            (false, 2, 0),
            (true, 2, 1),
            (false, 1, 0),
            weak(0),
            (false, 1, 0),
            weak(1),
        ];
        assert_eq!(references, expected);
        let others = &all.other_references;
        let others = (others.before, others.at_end, others.deleted);
        assert_eq!(others, (Some(7), None, 2));
        let cpu: Vec<u64> = all.cpu.iter().map(|row| row.cpu_ns).collect();
        assert_eq!(cpu, [7, 3, 4]);
        let wall: Vec<u64> = all.wall.iter().map(|row| row.nanos).collect();
        assert_eq!(wall, [7, 3, 4]);
        let system: Vec<u64> = all.system.iter().map(|row| row.cpu_ns).collect();
        assert_eq!((system, all.process_cpu_ns), (vec![14], Some(70)));
        let objects: Vec<u64> = all.allocations.iter().map(|row| row.samples).collect();
        assert_eq!(objects, [2, 1, 1]);
        assert_eq!(all.stacks.frames.len(), 5, "a, bb, ccc, run, the catcher");
        assert_eq!((all.duration_ns, all.collections.len()), (7, 2));
        assert!(all.collections.iter().all(|one| one.used_after.is_none()));
    }

    #[test]
    fn damaged_recording_has_no_names_behind_its_numbers() {
        let mut one = recording(&["a"], 3);
        one.threads.clear();
        one.stacks.frames.clear();
        let all = merged(&[one]);
        assert_eq!(all.thread(all.contended[0].thread), "");
        assert_eq!(all.stacks.path(all.contended[0].node).count(), 0);
    }
}
