//! What was observed in one JVM: the content of a `.observed` file, which is one JSON document.

use crate::stacks::Stacks;
use crate::subscription::Subscription;
use crate::system_threads::Work;
use crate::thread_state::ThreadState;
use serde::{Deserialize, Serialize};

/// The version of the file; a reader refuses others.
pub const VERSION: u32 = 1;
/// What such files are called behind the dot.
pub const EXTENSION: &str = "observed";

/// What was observed in one JVM.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// [`VERSION`].
    pub version: u32,
    /// The JVM.
    pub jvm: Jvm,
    /// What was subscribed to.
    pub subscription: Subscription,
    /// When it began, in milliseconds since 1970.
    pub start_ms: u64,
    /// How long it lasted, in nanoseconds.
    pub duration_ns: u64,
    /// Whether it ended: the JVM of one that did not was killed, or still runs.
    pub complete: bool,
    /// The stacks to which the numbers of nodes lead.
    pub stacks: Stacks,
    /// Names of threads.
    pub threads: Vec<String>,
    /// Names of classes, with dots.
    pub classes: Vec<String>,
    /// How often the threads were looked at.
    pub turns: u64,
    /// Threads that used CPU time between two looks.
    pub cpu: Vec<Cpu>,
    /// Threads by the wall clock, whatever their state.
    #[serde(default)]
    pub wall: Vec<Wall>,
    /// The looks at threads by the wall clock, and the threads among them.
    #[serde(default)]
    pub wall_looks: WallLooks,
    /// Threads of the process that run no Java code, with [`Subscription::cpu`].
    #[serde(default)]
    pub system: Vec<System>,
    /// The CPU time of the process during the recording, in nanoseconds; none if the system does not report it.
    #[serde(default)]
    pub process_cpu_ns: Option<u64>,
    /// Sampled allocations.
    pub allocations: Vec<Allocation>,
    /// Threads that waited to enter monitors.
    pub contended: Vec<Wait>,
    /// Threads that waited in `Object.wait`.
    pub waits: Vec<Wait>,
    /// Threads that were parked: waits for locks of `java.util.concurrent`, for example.
    #[serde(default)]
    pub locks: Vec<LockWait>,
    /// What was thrown.
    pub exceptions: Vec<Exception>,
    /// Garbage collections, by their begin.
    pub collections: Vec<Collection>,
    /// Global references of JNI that were created, by their places.
    #[serde(default)]
    pub references: Vec<Reference>,
    /// Global references of JNI from before, with [`Subscription::references`].
    #[serde(default)]
    pub other_references: OtherReferences,
    /// Threads that wait for one another at the end.
    #[serde(default)]
    pub deadlocks: Vec<Deadlock>,
    /// Single events, with [`Subscription::times`] alone.
    #[serde(default)]
    pub moments: Vec<Moment>,
    /// What is missing.
    pub lost: Lost,
}

/// The JVM that was observed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jvm {
    /// Its process.
    pub pid: u32,
    /// Its name and version.
    pub version: String,
    /// Its command line.
    pub command: String,
    /// The id of the run, if it was given one.
    pub run: String,
}

/// A thread with a stack at which it was seen after it had used CPU time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The thread's place in [`Recorded::threads`].
    pub thread: u32,
    /// Its stack; none if it ran no Java code.
    pub node: Option<u32>,
    /// How often.
    pub samples: u64,
    /// The CPU time that it had used since its stack was last taken, in nanoseconds, and its part of [`Self::shared_ns`].
    pub cpu_ns: u64,
    /// What of that the thread used after its stack was last taken, and which is shared among the stacks at which it was
    /// seen; in nanoseconds.
    #[serde(default)]
    pub shared_ns: u64,
}

/// A thread with a stack at which it was, and its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wall {
    /// The thread's place in [`Recorded::threads`].
    pub thread: u32,
    /// Its stack; none if it ran no Java code.
    pub node: Option<u32>,
    /// Its state.
    pub state: ThreadState,
    /// The number of samples.
    pub samples: u64,
    /// The nanoseconds of threads' time that the samples stand for.
    pub nanos: u64,
}

/// Looks at threads by the wall clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallLooks {
    /// The number of looks.
    pub count: u64,
    /// The largest number of threads that there were.
    pub threads: u64,
    /// The largest number of threads of one look.
    pub taken: u64,
    /// True if a thread that may carry virtual ones was among them.
    pub carriers: bool,
}

/// The CPU time of a thread that runs no Java code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// The place of its name, as Linux keeps it, in [`Recorded::threads`].
    pub thread: u32,
    /// Its work.
    pub work: Work,
    /// In nanoseconds.
    pub cpu_ns: u64,
}

/// A class that a stack allocates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    /// The thread's place in [`Recorded::threads`].
    pub thread: u32,
    /// The place of the class in [`Recorded::classes`].
    pub class: u32,
    /// The stack.
    pub node: Option<u32>,
    /// Sampled objects.
    pub samples: u64,
    /// How many objects that stands for.
    pub objects: f64,
    /// How many bytes that stands for.
    pub bytes: f64,
    /// How many of the objects are alive at the end; counts with [`Subscription::live`] alone.
    pub live_objects: f64,
    /// Their bytes.
    pub live_bytes: f64,
}

/// Threads that waited for a monitor of a class at one stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The thread's place in [`Recorded::threads`].
    pub thread: u32,
    /// The place of the monitor's class in [`Recorded::classes`].
    pub class: u32,
    /// The stack.
    pub node: Option<u32>,
    /// How often.
    pub count: u64,
    /// How long in all, in nanoseconds.
    pub total_ns: u64,
    /// How long at most, in nanoseconds.
    pub longest_ns: u64,
    /// How many of them went on when the recording ended; until then they are counted and timed as the others.
    #[serde(default)]
    pub unfinished: u64,
    /// The thread that had the monitor when they began to wait: its place in [`Recorded::threads`]. None if the JVM was not
    /// asked, or nobody had it by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<u32>,
    /// The innermost frame of that thread: a place in [`Stacks::frames`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_at: Option<u32>,
}

/// Threads that were parked for an object of a class at one stack, while one thread had the lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockWait {
    /// The wait. Its class is that of the object that the thread named as its blocker.
    #[serde(flatten)]
    pub wait: Wait,
    /// The place of the name of the thread that had the lock in [`Recorded::threads`]; none where nobody has it alone.
    pub holder: Option<u32>,
}

/// What a stack threw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// The thread's place in [`Recorded::threads`].
    pub thread: u32,
    /// The place of its class in [`Recorded::classes`].
    pub class: u32,
    /// The stack that threw it.
    pub node: Option<u32>,
    /// The place in [`Stacks::frames`] where the JVM saw that it will be caught; none if by no Java code that it saw.
    pub caught: Option<u32>,
    /// How often.
    pub count: u64,
    /// Whether the handler that catches it never looks at it.
    #[serde(default)]
    pub swallowed: bool,
}

/// Global references of JNI to objects of a class that a stack created.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The thread's place in [`Recorded::threads`].
    pub thread: u32,
    /// The place of the object's class in [`Recorded::classes`].
    pub class: u32,
    /// The stack that created them.
    pub node: Option<u32>,
    /// True for weak references.
    pub is_weak: bool,
    /// The number of references that were created.
    pub created: u64,
    /// The number of these that were not deleted until the end.
    pub open: u64,
}

/// Global references of JNI that were not created during the recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherReferences {
    /// The number of strong references at the begin, with those of the JVM itself; none if the JVM does not report it.
    pub before: Option<u64>,
    /// The number of strong references at the end.
    pub at_end: Option<u64>,
    /// Strong ones that were deleted.
    pub deleted: u64,
    /// Weak ones that were deleted.
    pub deleted_weak: u64,
}

/// Threads of which each waits to enter a monitor that the next owns, the last one that of the first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// The threads.
    pub threads: Vec<Stuck>,
}

/// A thread of a deadlock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// The thread's place in [`Recorded::threads`].
    pub thread: u32,
    /// The place of the class of the monitor for which it waits in [`Recorded::classes`].
    pub class: u32,
    /// Where it waits.
    pub node: Option<u32>,
    /// Whether it waits for a lock of `java.util.concurrent` instead of a monitor.
    #[serde(default)]
    pub is_lock: bool,
}

/// What a single event was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// A thread had used so many nanoseconds of CPU time.
    #[default]
    Cpu,
    /// An object of so many bytes was sampled.
    Allocation,
    /// A thread entered a monitor after so many nanoseconds.
    Contended,
    /// `Object.wait` ended after so many nanoseconds.
    Wait,
    /// A thread waited to enter a monitor when the recording ended, for so many nanoseconds until then.
    UnfinishedContended,
    /// A thread was in `Object.wait` when the recording ended, for so many nanoseconds until then.
    UnfinishedWait,
    /// A thread was parked for so many nanoseconds.
    Lock,
    /// A thread was parked when the recording ended, for so many nanoseconds until then.
    UnfinishedLock,
    /// Something was thrown.
    Exception,
    /// A thread was in this state; the sample stands for so many nanoseconds.
    Wall(ThreadState),
}

/// A single event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub struct Moment {
    /// What it was.
    pub what: What,
    /// When, in nanoseconds since the begin of the recording.
    pub at_ns: u64,
    /// Nanoseconds or bytes.
    pub amount: u64,
    /// The thread's place in [`Recorded::threads`].
    pub thread: u32,
    /// The place of the class in [`Recorded::classes`].
    pub class: u32,
    /// The stack.
    pub node: Option<u32>,
}

/// A moment in a file: there may be many.
type Row = (What, u64, u64, u32, u32, Option<u32>);

impl From<Row> for Moment {
    fn from((what, at_ns, amount, thread, class, node): Row) -> Self {
        Self {
            what,
            at_ns,
            amount,
            thread,
            class,
            node,
        }
    }
}

impl From<Moment> for Row {
    fn from(it: Moment) -> Self {
        let Moment {
            what,
            at_ns,
            amount,
            thread,
            class,
            node,
        } = it;
        (what, at_ns, amount, thread, class, node)
    }
}

/// A garbage collection that stopped the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// When it began, in nanoseconds since the begin of the recording.
    pub start_ns: u64,
    /// How long it lasted, in nanoseconds.
    pub duration_ns: u64,
    /// Bytes in use when that was looked at afterwards; none if another collection came first.
    pub used_after: Option<u64>,
    /// Bytes that the heap had then.
    pub heap_after: Option<u64>,
}

/// What is missing, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Events for which the queue had no room, as they came faster than they were read.
    pub events: u64,
    /// Kinds of stacks for which the tables had no room.
    pub rows: u64,
    /// Looks at the threads that came too late and were left out.
    pub turns: u64,
    /// Sampled objects that could not be followed to the end.
    pub untracked: u64,
    /// Global references of JNI that were not followed, as too many were open or they came too fast.
    #[serde(default)]
    pub references: u64,
    /// Single events that are in the sums and not on the time line, which is full.
    #[serde(default)]
    pub moments: u64,
}

impl Recorded {
    /// Reads the content of a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let recorded: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if recorded.version != VERSION {
            return Err(format!(
                "expected version {VERSION}, found version {}: another release of the agent wrote it",
                recorded.version
            ));
        }
        Ok(recorded)
    }

    /// Whether nothing was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cpu.is_empty()
            && self.system.is_empty()
            && self.wall.is_empty()
            && self.allocations.is_empty()
            && self.contended.is_empty()
            && self.waits.is_empty()
            && self.locks.is_empty()
            && self.exceptions.is_empty()
            && self.collections.is_empty()
            && self.references.is_empty()
            && self.deadlocks.is_empty()
    }

    /// The name of a thread; empty if the file does not hold it.
    #[must_use]
    pub fn thread(&self, place: u32) -> &str {
        self.threads.get(place as usize).map_or("", String::as_str)
    }

    /// The name of a class; empty if the file does not hold it.
    #[must_use]
    pub fn class(&self, place: u32) -> &str {
        self.classes.get(place as usize).map_or("", String::as_str)
    }
}
