//! The recording of one JVM: the content of a `.jvm-events` file, which is one JSON document
//! ([`sealed_document`]).

use crate::sealed_document;
use crate::stacks::Stacks;
use crate::subscription::Subscription;
use crate::system_threads::Work;
use crate::thread_state::ThreadState;
use serde::{Deserialize, Serialize};

/// The version of the format. A reader rejects other versions.
pub const VERSION: u32 = 1;
/// The file name extension.
pub const EXTENSION: &str = "jvm-events";

/// The recording of one JVM.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The version of the format, [`VERSION`].
    pub version: u32,
    /// The recorded JVM.
    pub jvm: Jvm,
    /// The kinds of events that were recorded.
    pub subscription: Subscription,
    /// The start of the recording, in milliseconds since 1970.
    pub start_ms: u64,
    /// The duration of the recording, in nanoseconds.
    pub duration_ns: u64,
    /// `true` if the recording has ended. `false` if the JVM still runs or was killed.
    pub complete: bool,
    /// The stacks, to which node numbers refer.
    pub stacks: Stacks,
    /// Names of threads.
    pub threads: Vec<String>,
    /// Names of classes, with dots.
    pub classes: Vec<String>,
    /// Number of times that the threads were sampled.
    pub turns: u64,
    /// CPU time of threads by stack.
    pub cpu: Vec<Cpu>,
    /// Samples of threads by the wall clock, in any state.
    #[serde(default)]
    pub wall: Vec<Wall>,
    /// Counts of the samplings by the wall clock.
    #[serde(default)]
    pub wall_looks: WallLooks,
    /// Threads of the process that run no Java code, with [`Subscription::cpu`].
    #[serde(default)]
    pub system: Vec<System>,
    /// The CPU time of the process during the recording, in nanoseconds; `None` if the system does
    /// not report it.
    #[serde(default)]
    pub process_cpu_ns: Option<u64>,
    /// Sampled allocations.
    pub allocations: Vec<Allocation>,
    /// Waits to enter monitors.
    pub contended: Vec<Wait>,
    /// Waits in `Object.wait`.
    pub waits: Vec<Wait>,
    /// Waits of parked threads, for example for locks of `java.util.concurrent`.
    #[serde(default)]
    pub locks: Vec<LockWait>,
    /// Exceptions that were thrown.
    pub exceptions: Vec<Exception>,
    /// Garbage collections, sorted by start.
    pub collections: Vec<Collection>,
    /// Global JNI references that were created, by stack.
    #[serde(default)]
    pub references: Vec<Reference>,
    /// Counts of global JNI references created before the recording, with
    /// [`Subscription::references`].
    #[serde(default)]
    pub other_references: OtherReferences,
    /// Threads that wait for each other at the end.
    #[serde(default)]
    pub deadlocks: Vec<Deadlock>,
    /// Single events, only with [`Subscription::times`].
    #[serde(default)]
    pub moments: Vec<Moment>,
    /// Counts of lost data.
    pub lost: Lost,
}

/// The JVM that was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jvm {
    /// The process id.
    pub pid: u32,
    /// The JVM's name and version.
    pub version: String,
    /// The command line.
    pub command: String,
    /// The id of the run, or an empty text.
    pub run: String,
}

/// CPU time of a thread at one stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The index of the thread in [`Recorded::threads`].
    pub thread: u32,
    /// The stack; `None` if the thread ran no Java code.
    pub node: Option<u32>,
    /// Number of samples.
    pub samples: u64,
    /// The thread's CPU time since its previous stack sample, in nanoseconds, with
    /// [`Self::shared_ns`].
    pub cpu_ns: u64,
    /// The part of `cpu_ns` used after the last stack sample, in nanoseconds. It is divided among
    /// the stacks of the thread.
    #[serde(default)]
    pub shared_ns: u64,
}

/// Samples of a thread by the wall clock, at one stack in one state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wall {
    /// The index of the thread in [`Recorded::threads`].
    pub thread: u32,
    /// The stack; `None` if the thread ran no Java code.
    pub node: Option<u32>,
    /// The state of the thread.
    pub state: ThreadState,
    /// Number of samples.
    pub samples: u64,
    /// The thread time that the samples represent, in nanoseconds.
    pub nanos: u64,
}

/// Counts of the samplings by the wall clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallLooks {
    /// Number of samplings.
    pub count: u64,
    /// Maximum number of threads in the JVM.
    pub threads: u64,
    /// Maximum number of threads in one sampling.
    pub taken: u64,
    /// `true` if a sampled thread may carry virtual threads.
    pub carriers: bool,
}

/// The CPU time of a thread that runs no Java code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// The index in [`Recorded::threads`] of the thread's name as Linux keeps it.
    pub thread: u32,
    /// The work of the thread.
    pub work: Work,
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
}

/// Sampled allocations of a class at one stack.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    /// The index of the thread in [`Recorded::threads`].
    pub thread: u32,
    /// The index of the class in [`Recorded::classes`].
    pub class: u32,
    /// The stack.
    pub node: Option<u32>,
    /// Number of sampled objects.
    pub samples: u64,
    /// Estimated number of allocated objects.
    pub objects: f64,
    /// Estimated number of allocated bytes.
    pub bytes: f64,
    /// Estimated number of these objects that are alive at the end; only with
    /// [`Subscription::live`].
    pub live_objects: f64,
    /// Estimated number of bytes of the live objects.
    pub live_bytes: f64,
}

/// Waits for monitors of one class at one stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The index of the thread in [`Recorded::threads`].
    pub thread: u32,
    /// The index of the monitor's class in [`Recorded::classes`].
    pub class: u32,
    /// The stack.
    pub node: Option<u32>,
    /// Number of waits.
    pub count: u64,
    /// The sum of the waits, in nanoseconds.
    pub total_ns: u64,
    /// The longest wait, in nanoseconds.
    pub longest_ns: u64,
    /// Number of waits that had not ended when the recording did. They count in the other fields up
    /// to that moment.
    #[serde(default)]
    pub unfinished: u64,
    /// The index in [`Recorded::threads`] of the thread that owned the monitor when the waits
    /// began. `None` if the owner was not looked up, or the monitor was already free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<u32>,
    /// The innermost frame of the owner, as an index into [`Stacks::frames`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_at: Option<u32>,
}

/// Waits of parked threads for objects of one class at one stack, during which the same thread held
/// the lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockWait {
    /// The wait. Its class is that of the blocker that the thread passed to `LockSupport.park`.
    #[serde(flatten)]
    pub wait: Wait,
    /// The index in [`Recorded::threads`] of the thread that held the lock. `None` if no thread
    /// held the lock exclusively.
    pub holder: Option<u32>,
}

/// Exceptions thrown at one stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// The index of the thread in [`Recorded::threads`].
    pub thread: u32,
    /// The index of the exception's class in [`Recorded::classes`].
    pub class: u32,
    /// The stack of the throw.
    pub node: Option<u32>,
    /// The frame of the catching handler, as an index into [`Stacks::frames`]. `None` if the JVM
    /// knew of no Java handler when the exception was thrown.
    pub caught: Option<u32>,
    /// Number of exceptions.
    pub count: u64,
    /// `true` if the handler ignores the exception.
    #[serde(default)]
    pub swallowed: bool,
}

/// Global JNI references to objects of one class, created at one stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The index of the thread in [`Recorded::threads`].
    pub thread: u32,
    /// The index of the object's class in [`Recorded::classes`].
    pub class: u32,
    /// The stack of the creation.
    pub node: Option<u32>,
    /// `true` for weak references.
    pub is_weak: bool,
    /// Number of created references.
    pub created: u64,
    /// Number of created references that were not deleted by the end.
    pub open: u64,
}

/// Counts of global JNI references that were created before the recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherReferences {
    /// Number of strong references at the start, with those of the JVM itself; `None` if the JVM
    /// does not report it.
    pub before: Option<u64>,
    /// Number of strong references at the end.
    pub at_end: Option<u64>,
    /// Number of strong references that were deleted.
    pub deleted: u64,
    /// Number of weak references that were deleted.
    pub deleted_weak: u64,
}

/// A cycle of threads. Each waits to enter a monitor that the next one owns, and the last waits for
/// the first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// The threads.
    pub threads: Vec<Stuck>,
}

/// A thread of a deadlock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// The index of the thread in [`Recorded::threads`].
    pub thread: u32,
    /// The index in [`Recorded::classes`] of the class of the monitor that the thread waits for.
    pub class: u32,
    /// The stack of the wait.
    pub node: Option<u32>,
    /// `true` for a lock of `java.util.concurrent`, `false` for a monitor.
    #[serde(default)]
    pub is_lock: bool,
}

/// The type of a single event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MomentKind {
    /// A thread used CPU time; the amount is in nanoseconds.
    #[default]
    Cpu,
    /// An allocation was sampled; the amount is the size of the object in bytes.
    Allocation,
    /// A thread entered a monitor; the amount is the wait in nanoseconds.
    Contended,
    /// `Object.wait` ended; the amount is the wait in nanoseconds.
    Wait,
    /// A thread waited to enter a monitor when the recording ended; the amount is the wait until
    /// then in nanoseconds.
    UnfinishedContended,
    /// A thread was in `Object.wait` when the recording ended; the amount is the wait until then in
    /// nanoseconds.
    UnfinishedWait,
    /// A thread was parked; the amount is the time in nanoseconds.
    Lock,
    /// A thread was parked when the recording ended; the amount is the time until then in
    /// nanoseconds.
    UnfinishedLock,
    /// An exception was thrown.
    Exception,
    /// A sample of a thread in this state; the amount is the time it represents in nanoseconds.
    Wall(ThreadState),
}

/// A single event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub struct Moment {
    /// The type of the event.
    pub kind: MomentKind,
    /// The time of the event, in nanoseconds since the start of the recording.
    pub at_ns: u64,
    /// Nanoseconds or bytes, depending on the type.
    pub amount: u64,
    /// The index of the thread in [`Recorded::threads`].
    pub thread: u32,
    /// The index of the class in [`Recorded::classes`].
    pub class: u32,
    /// The stack.
    pub node: Option<u32>,
}

/// A moment as an array in the file, which is shorter than an object.
type Row = (MomentKind, u64, u64, u32, u32, Option<u32>);

impl From<Row> for Moment {
    fn from((kind, at_ns, amount, thread, class, node): Row) -> Self {
        Self {
            kind,
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
            kind,
            at_ns,
            amount,
            thread,
            class,
            node,
        } = it;
        (kind, at_ns, amount, thread, class, node)
    }
}

/// A garbage collection that stopped the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// The start of the collection, in nanoseconds since the start of the recording.
    pub start_ns: u64,
    /// The duration of the collection, in nanoseconds.
    pub duration_ns: u64,
    /// Bytes of the heap in use after the collection; `None` if another collection began before
    /// they were measured.
    pub used_after: Option<u64>,
    /// The size of the heap in bytes at the same moment.
    pub heap_after: Option<u64>,
}

/// Counts of lost data by cause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Number of events lost because they arrived faster than the queue was emptied.
    pub events: u64,
    /// Number of rows lost because a table was full.
    pub rows: u64,
    /// Number of samplings that were skipped because they were late.
    pub turns: u64,
    /// Number of sampled objects whose lifetime could not be tracked to the end.
    pub untracked: u64,
    /// Number of global JNI references that were not tracked, because too many were open or they
    /// arrived too fast.
    #[serde(default)]
    pub references: u64,
    /// Number of single events that the sums contain but not the time line, because it was full.
    #[serde(default)]
    pub moments: u64,
}

impl Recorded {
    /// Parses the content of a file.
    ///
    /// # Errors
    /// A message that describes the fault in the file.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        sealed_document::check(text)?;
        let recorded: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if recorded.version != VERSION {
            return Err(format!(
                "expected version {VERSION}, found version {}: another release of the agent wrote it",
                recorded.version
            ));
        }
        Ok(recorded)
    }

    /// Returns whether the recording has no rows.
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

    /// Returns the name of a thread, or an empty text if a damaged file lacks it.
    #[must_use]
    pub fn thread(&self, place: u32) -> &str {
        self.threads.get(place as usize).map_or("", String::as_str)
    }

    /// Returns the name of a class, or an empty text if a damaged file lacks it.
    #[must_use]
    pub fn class(&self, place: u32) -> &str {
        self.classes.get(place as usize).map_or("", String::as_str)
    }
}
