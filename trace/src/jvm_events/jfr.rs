//! The format of JDK Flight Recorder, for JDK Mission Control and the JDK's `jfr`: one chunk for each JVM.
//!
//! Each sample, wait and exception in the sums becomes an event. Events that the recording stores singly have their
//! times. For the others only the number is known, and they are placed at the end of the recording.

mod constants;
mod encoding;
mod types;

use std::collections::HashMap;

use jvm_events::Recorded;
use jvm_events::recorded::{Moment, MomentKind};
use jvm_events::recorder::share;
use jvm_events::thread_state::ThreadState;

use constants::Constants;
use encoding::Bytes;
use types::{ALLOCATION, COLLECTION, ENTER, EXECUTION, JVM, PARK, THROW, WAIT};

/// Maximum number of events without times, some 12 bytes each.
const MAX_UNTIMED: u64 = 1 << 22;
/// Length of a chunk's header in bytes.
const HEADER: usize = 68;
/// Type ids of a chunk's own events.
const METADATA_EVENT: u64 = 0;
const CHECKPOINT_EVENT: u64 = 1;
/// Flag: integers are encoded in groups of seven bits.
const COMPRESSED: u8 = 1;
/// Flag: the last chunk of the recording.
const LAST: u8 = 2;

/// Numbers of events that differ from those that the JVM would have written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Events without times, placed at the end of their recording.
    pub untimed: u64,
    /// Events left out for lack of room.
    pub left_out: u64,
}

/// The properties that group events: kind, thread, class and stack.
type Key = (MomentKind, u32, u32, Option<u32>);

/// Checks whether a recording contains events that JFR has.
#[must_use]
pub fn has_events(recorded: &Recorded) -> bool {
    !recorded.collections.is_empty() || sums(recorded).values().any(|sum| sum.count > 0)
}

/// Returns the content of a file, and the numbers of incomplete events.
#[must_use]
pub fn bytes(recordings: &[Recorded]) -> (Vec<u8>, Gaps) {
    let (mut all, mut gaps) = (Vec::new(), Gaps::default());
    let mut constants = 0;
    for (number, recorded) in (1..).zip(recordings) {
        let chunk = Chunk::of(recorded, constants, &mut gaps);
        constants = chunk.constants.last();
        all.extend(chunk.finish(number == recordings.len()));
    }
    (all, gaps)
}

/// A number of events, and their total nanoseconds or bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: u64,
    amount: u64,
}

impl Sum {
    fn add(&mut self, count: u64, amount: u64) {
        self.count += count;
        self.amount = self.amount.saturating_add(amount);
    }
}

/// Groups the rows of a recording.
fn sums(recorded: &Recorded) -> HashMap<Key, Sum> {
    let mut sums: HashMap<Key, Sum> = HashMap::new();
    let mut add = |key: Key, count: u64, amount: u64| {
        sums.entry(key).or_default().add(count, amount);
    };
    for row in &recorded.cpu {
        add((MomentKind::Cpu, row.thread, 0, row.node), row.samples, 0);
    }
    for row in &recorded.wall {
        let what = MomentKind::Wall(row.state);
        add((what, row.thread, 0, row.node), row.samples, 0);
    }
    for row in &recorded.allocations {
        let bytes = row.bytes.round() as u64;
        let key = (MomentKind::Allocation, row.thread, row.class, row.node);
        add(key, row.samples, bytes);
    }
    for (what, rows) in [
        (MomentKind::Contended, &recorded.contended),
        (MomentKind::Wait, &recorded.waits),
    ] {
        for row in rows {
            let key = (what, row.thread, row.class, row.node);
            add(key, row.count, row.total_ns);
        }
    }
    for row in recorded.locks.iter().map(|row| &row.wait) {
        let key = (MomentKind::Lock, row.thread, row.class, row.node);
        add(key, row.count, row.total_ns);
    }
    for row in &recorded.exceptions {
        let key = (MomentKind::Exception, row.thread, row.class, row.node);
        add(key, row.count, 0);
    }
    sums
}

/// Returns the kind of row that counts a single event.
fn kind(what: MomentKind) -> MomentKind {
    match what {
        MomentKind::UnfinishedContended => MomentKind::Contended,
        MomentKind::UnfinishedWait => MomentKind::Wait,
        MomentKind::UnfinishedLock => MomentKind::Lock,
        what => what,
    }
}

/// A chunk under construction.
struct Chunk<'r> {
    recorded: &'r Recorded,
    constants: Constants<'r>,
    events: Bytes,
}

impl<'r> Chunk<'r> {
    /// Adds all events. Constants are numbered after those of the previous chunks.
    fn of(recorded: &'r Recorded, constants: u64, gaps: &mut Gaps) -> Self {
        let mut chunk = Self {
            recorded,
            constants: Constants::new(recorded, constants),
            events: Bytes::default(),
        };
        chunk.jvm();
        let mut left = sums(recorded);
        for moment in &recorded.moments {
            chunk.moment(moment, &mut left);
        }
        let mut left: Vec<(Key, Sum)> = left.into_iter().filter(|(_, sum)| sum.count > 0).collect();
        left.sort_unstable_by_key(|((_, thread, class, node), _)| (*thread, *class, *node));
        for (key, sum) in left {
            chunk.untimed(key, sum, gaps);
        }
        chunk.collections();
        chunk
    }

    /// Adds the event that describes the JVM.
    fn jvm(&mut self) {
        let jvm = &self.recorded.jvm;
        let mut event = Bytes::default();
        event.number(0).text(&jvm.version).text(&jvm.version);
        event.text("").text(&jvm.command).number(u64::from(jvm.pid));
        self.events.event(types::number(JVM), &event.0);
    }

    /// Adds a single event, and subtracts it from the sums.
    fn moment(&mut self, moment: &Moment, left: &mut HashMap<Key, Sum>) {
        let what = kind(moment.kind);
        let amount = match what {
            MomentKind::Cpu | MomentKind::Wall(_) | MomentKind::Exception => 0,
            MomentKind::Allocation => {
                let interval = self.recorded.subscription.allocations.unwrap_or(0);
                (moment.amount as f64 / share(interval, moment.amount)).round() as u64
            }
            _ => moment.amount,
        };
        let class = match what {
            MomentKind::Cpu | MomentKind::Wall(_) => 0,
            _ => moment.class,
        };
        let key = (what, moment.thread, class, moment.node);
        // Without a row it is left out: the rows are the content of the tables.
        let Some(sum) = left.get_mut(&key).filter(|sum| sum.count > 0) else {
            return;
        };
        sum.count -= 1;
        let amount = match sum.count {
            0 => std::mem::take(&mut sum.amount),
            _ => amount.min(sum.amount),
        };
        sum.amount -= amount.min(sum.amount);
        self.event(key, moment.at_ns, amount);
    }

    /// Adds the events without known times: they share the rest of the sum.
    fn untimed(&mut self, key: Key, sum: Sum, gaps: &mut Gaps) {
        let room = MAX_UNTIMED - gaps.untimed;
        let count = sum.count.min(room);
        for number in 0..count {
            let part = |number| {
                let part = u128::from(sum.amount) * u128::from(number) / u128::from(sum.count);
                u64::try_from(part).unwrap_or(u64::MAX)
            };
            self.event(
                key,
                self.recorded.duration_ns,
                part(number + 1) - part(number),
            );
        }
        gaps.untimed += count;
        gaps.left_out += sum.count - count;
    }

    /// Adds an event that ended at a time.
    fn event(&mut self, (what, thread, class, node): Key, at_ns: u64, amount: u64) {
        let mut event = Bytes::default();
        let (thread, stack) = (self.constants.thread(thread), self.constants.stack(node));
        let of_wait = |event: &mut Bytes, amount: u64| {
            event.number(at_ns.saturating_sub(amount)).number(amount);
            event.number(thread).number(stack);
        };
        let name = match what {
            MomentKind::Cpu | MomentKind::Wall(_) => {
                let state = self.constants.state(state(what));
                event.number(at_ns).number(thread).number(stack);
                event.number(state);
                match what {
                    MomentKind::Wall(_) if self.recorded.subscription.cpu.is_some() => types::WALL,
                    _ => EXECUTION,
                }
            }
            MomentKind::Allocation => {
                event.number(at_ns).number(thread).number(stack);
                event.number(self.constants.class(class)).number(amount);
                ALLOCATION
            }
            MomentKind::Exception => {
                of_wait(&mut event, 0);
                event.number(self.constants.class(class));
                THROW
            }
            MomentKind::Contended
            | MomentKind::UnfinishedContended
            | MomentKind::Wait
            | MomentKind::UnfinishedWait
            | MomentKind::Lock
            | MomentKind::UnfinishedLock => {
                of_wait(&mut event, amount);
                event.number(self.constants.class(class));
                match kind(what) {
                    MomentKind::Contended => ENTER,
                    MomentKind::Wait => WAIT,
                    _ => PARK,
                }
            }
        };
        self.events.event(types::number(name), &event.0);
    }

    fn collections(&mut self) {
        for (number, collection) in (0..).zip(&self.recorded.collections) {
            let mut event = Bytes::default();
            let length = collection.duration_ns;
            event.number(collection.start_ns).number(length);
            event.int(number).number(length).number(length);
            self.events.event(types::number(COLLECTION), &event.0);
        }
    }

    /// Assembles header, events, constants and metadata.
    fn finish(self, is_last: bool) -> Vec<u8> {
        let Self {
            recorded,
            constants,
            mut events,
        } = self;
        let constants_at = HEADER + events.0.len();
        events.event(CHECKPOINT_EVENT, &constants.checkpoint());
        let metadata_at = HEADER + events.0.len();
        events.event(METADATA_EVENT, &types::metadata());
        let mut all = Vec::with_capacity(HEADER + events.0.len());
        all.extend_from_slice(b"FLR\0\x00\x02\x00\x01"); // version 2.1
        // Ticks are nanoseconds since the start of the recording.
        for number in [
            (HEADER + events.0.len()) as u64,
            constants_at as u64,
            metadata_at as u64,
            recorded.start_ms.saturating_mul(1_000_000),
            recorded.duration_ns,
            0,
            1_000_000_000,
        ] {
            all.extend_from_slice(&number.to_be_bytes());
        }
        let last = if is_last { LAST } else { 0 };
        all.extend_from_slice(&[0, 0, 0, COMPRESSED | last]);
        all.append(&mut events.0);
        all
    }
}

/// Returns the state of a sampled thread, in JFR's terms.
fn state(what: MomentKind) -> &'static str {
    let MomentKind::Wall(state) = what else {
        return "STATE_RUNNABLE";
    };
    match state {
        ThreadState::Running => "STATE_RUNNABLE",
        ThreadState::Native => "STATE_IN_NATIVE",
        ThreadState::Monitor => "STATE_BLOCKED_ON_MONITOR_ENTER",
        ThreadState::Waiting => "STATE_IN_OBJECT_WAIT",
        ThreadState::Parked => "STATE_PARKED",
        ThreadState::Sleeping => "STATE_SLEEPING",
        ThreadState::Suspended => "STATE_SUSPENDED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm_events::Subscription;
    use jvm_events::recorded::{Allocation, Cpu};

    /// Returns the type ids of a chunk's events.
    fn events(chunk: &[u8]) -> Vec<u64> {
        let mut kinds = Vec::new();
        let mut rest = &chunk[HEADER..];
        while !rest.is_empty() {
            let (size, length) = number(rest);
            kinds.push(number(&rest[length..]).0);
            rest = &rest[usize::try_from(size).expect("a size")..];
        }
        kinds
    }

    fn number(bytes: &[u8]) -> (u64, usize) {
        let mut number = 0;
        for (at, byte) in bytes.iter().enumerate() {
            number |= u64::from(byte & 0x7F) << (7 * at);
            if byte & 0x80 == 0 {
                return (number, at + 1);
            }
        }
        panic!("a number that does not end");
    }

    #[test]
    fn samples_without_times_are_counted_events_at_the_end() {
        let moment = |kind, amount| Moment {
            kind,
            at_ns: 7,
            amount,
            ..Moment::default()
        };
        let recorded = Recorded {
            subscription: Subscription {
                allocations: Some(0),
                ..Subscription::default()
            },
            duration_ns: 99,
            threads: vec!["main".to_owned()],
            classes: vec!["a.B".to_owned()],
            cpu: vec![Cpu {
                samples: 3,
                ..Cpu::default()
            }],
            allocations: vec![Allocation {
                samples: 2,
                bytes: 64.0,
                ..Allocation::default()
            }],
            moments: vec![
                moment(MomentKind::Cpu, 5),
                moment(MomentKind::Allocation, 24),
                moment(MomentKind::Exception, 0), // its row found no room
            ],
            ..Recorded::default()
        };
        assert!(has_events(&recorded));
        let (chunk, gaps) = bytes(std::slice::from_ref(&recorded));
        let expected = Gaps {
            untimed: 3,
            left_out: 0,
        };
        assert_eq!(gaps, expected);
        let [jvm, sample, allocation] = [JVM, EXECUTION, ALLOCATION].map(types::number);
        let kinds = [
            jvm,
            sample,
            allocation,
            sample,
            sample,
            allocation,
            CHECKPOINT_EVENT,
            METADATA_EVENT,
        ];
        let mut found = events(&chunk);
        found[3..6].sort_unstable(); // same thread, class and stack: in any order
        assert_eq!(found, kinds);
        let size = u64::from_be_bytes(chunk[8..16].try_into().expect("8 bytes"));
        assert_eq!(size, chunk.len() as u64);
        let two = bytes(&[recorded.clone(), recorded]).0;
        assert_eq!((chunk[67], two[67]), (COMPRESSED | LAST, COMPRESSED));
        assert!(!has_events(&Recorded::default()));
    }
}
