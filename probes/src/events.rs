//! The event file: the calls of spans, beside the snapshot and built like it.
//!
//! Header and framing are the snapshot's ([`crate::format`](mod@crate::format)) with another [`MAGIC`].
//! All times are nanoseconds since [`Meta::start_ms`](crate::Meta).
//! *varint* is LEB128 of at most 64 bits, *text* a u16 length and UTF-8.
//!
//! | kind | name | payload |
//! |---|---|---|
//! | 1 | meta | [`Meta`](crate::Meta) as JSON; the first record |
//! | 2 | span | [`SpanInfo`] as JSON; a later one with the same id replaces the earlier |
//! | 3 | name | number u32, text: a class name that calls refer to |
//! | 4 | thread | Java's thread id u64, 1 for a virtual thread else 0, text |
//! | 5 | calls | calls until the end of the record, see below |
//! | 6 | aggregate | sums since the last reset, of each span that changed: span varint, then count, errors, total, self, min, max as varints, number of filled buckets varint, each bucket's number and count as varints |
//! | 7 | counts | span varint, calls varint, until the end of the record: sums since the last reset |
//! | 8 | lost | [`Lost`] as JSON: sums since the start or the last reset |
//! | 9 | time | milliseconds since 1970 u64: when what precedes was written |
//! | 10 | reset | empty: forget all calls, aggregates, counts and losses so far |
//! | 11 | end | empty: the writer ended in good order |
//! | 12 | incomplete | [`Incomplete`](crate::Incomplete) as JSON: if no record follows, what came after is missing |
//! | 13 | compacted | JSON: how many bytes were ever written before what follows |
//!
//! A call is: thread varint, span varint, flags byte, start varint (zigzag, from the start of the call before it in
//! the record), duration varint, number of the thrown class's name as varint (only with the flag), number of
//! captures varint, captures. Flags: 1 left by an exception, 2 still open when written (the duration is what had
//! passed), 4 a virtual thread, 8 the thrown class is named, 16 an event
//! ([`Moment`]) that takes no time. An event of a place with [`EventInfo::waits`] is a [`Wait`],
//! one of a row of the table [`TASKS`] a [`TaskStep`].
//!
//! A capture is: type byte, which value (the argument's index; 255 is the returned value; with 128 added to the type
//! byte, the place in [`SpanInfo::shown`]), then for `Z B C S I J F D`
//! the value as zigzag varint (`F` and `D`: the bits as plain varint), for `T` (text) its length in UTF-16 units
//! varint, kept bytes varint, UTF-8; for `[` the number of the class's name and the length as varints; for `L` the
//! number of the class's name and the identity hash as varints; for `K` (a class) the number of its name as varint;
//! for `#` (a call stack) the number of frames as varint, and of each the numbers of the names of class and method and
//! the line, 0 if not known, as varints; for `N` (null) and `?` (not there, or there was no room) nothing.

mod compact;
mod decode;
mod follow;
mod histogram;
mod limit;
mod pass;
mod read;
mod single;
pub(crate) mod stored_value;
mod task;
mod value;
mod wait;
mod write;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::format::is_zero;

pub use decode::{Entry, Restored, StoredCall};
pub use follow::{Followed, Follower};
pub use histogram::{Aggregate, BUCKETS, Histogram, bucket_of};
pub use pass::EventFile;
pub use read::{Event, EventKind, Trace};
pub use single::{SingleCalls, SpanCalls};
pub use task::{Step, TASKS, Task, TaskStep, is_of_tasks};
pub use value::{Capture, Content, Opened, StackFrame, Value, Which};
pub use wait::Wait;
pub use write::EventWriter;

/// How an event file begins.
pub const MAGIC: [u8; 8] = crate::format::EVENTS_MAGIC;

/// What a span records of each call.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum SpanMode {
    /// Nothing.
    Off,
    /// How often the method was entered; no times. Fixed when the method is instrumented.
    Count,
    /// Sums, quantiles and errors, no single calls.
    #[default]
    Aggregate,
    /// As [`SpanMode::Aggregate`], and each call with its captures.
    Events,
}

/// A method that is instrumented as a span, or a place that is counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpanInfo {
    /// Its number, unique in one JVM and never used again.
    pub id: u32,
    /// Internal name of the class.
    pub class: String,
    /// Name of the method.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The names of its parameters; one that the class file does not name is empty. Empty if it names none, and of counters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// Its first line, or that of the place; 0 if not known.
    pub line: u32,
    /// The defining loader.
    pub loader: String,
    /// The plugin that asked.
    pub plugin: String,
    /// Of a counter or an event: its number among the plugin's counters or events in the class.
    pub number: u32,
    /// What is recorded when this was written.
    pub mode: SpanMode,
    /// Only calls that match this condition are kept; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub when: String,
    /// The values that [`Which::Shown`] counts, as they are written in conditions: `this.size`; of an event, its values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// The values of `shown`, by their places there, that were there in some call; those that fields lead to alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<u8>,
    /// Those that were in no call, since a class lacks a field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentValue>,
    /// The row of the plugin's table that the counts, times or events belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<TableRow>,
    /// A place where events are recorded, and no span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<EventInfo>,
    /// The names in the class file that selectors match. Of the counters of a class only the first has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_names: Option<ClassNames>,
}

/// A value to which no field leads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AbsentValue {
    /// Its place in [`SpanInfo::shown`].
    pub number: u8,
    /// Internal name of the class in which the path ends; an array class by its descriptor.
    pub class: String,
    /// The field that it lacks, or `[2]` of a class that has no elements.
    pub field: String,
    /// The fields that it has.
    pub fields: Vec<String>,
}

impl SpanInfo {
    /// Checks whether a value that is shown begins with the name of a parameter that the method does not have.
    #[must_use]
    pub fn lacks(&self, shown: &str) -> bool {
        let name = shown.split(['.', '[']).next().unwrap_or(shown);
        let is_of_call = ["this", "returned", "thrown", "arg", "args"].contains(&name);
        !is_of_call
            && self.shown.iter().any(|known| known == shown)
            && !self.parameters.iter().any(|known| known == name)
    }
}

/// The names in a class file, besides its own, that selectors match: internal names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassNames {
    /// The superclass and the direct superinterfaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supertypes: Vec<String>,
    /// The annotations of the class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<String>,
}

/// What is recorded at the place of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventInfo {
    /// Most events that are kept in a second; all of them if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<u32>,
    /// The first of [`SpanInfo::shown`] that is there because all local variables in scope are; none if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locals: Option<u8>,
    /// The field that is written there, `com/acme/Order.status` as the instruction names it; none if the place is no write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<String>,
    /// The kind of waits that it stands for; none of a place in code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitKind>,
}

/// The reason why a thread waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// Another thread owned the monitor that it entered.
    Monitor,
    /// It called `Object.wait`.
    ObjectWait,
    /// It called `LockSupport.park`.
    Park,
    /// The JVM collected garbage. All threads stood still.
    Collection,
}

/// The key of a row in a table of a plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableRow {
    /// The table's name.
    pub table: String,
    /// The columns of its key.
    pub columns: Vec<Column>,
    /// One text for each column.
    pub cells: Vec<String>,
}

/// A column of a plugin's table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Column {
    /// Its title.
    pub name: String,
    /// What it holds: `text`, `integer`, `duration`, `bytes`, `class`, `method` or `line`.
    pub kind: String,
}

/// How long an event file may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeLimit {
    /// Its length, in bytes.
    pub bytes: u64,
    /// What happens when it has that length.
    pub when_full: WhenFull,
}

/// What happens to single calls when an event file is as long as it may become; sums go on in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// The oldest are taken out of it.
    #[default]
    DropOldest,
    /// No more of them are written.
    Stop,
}

/// What was written so far was made shorter, and another file took the place of the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Compacted {
    /// How many bytes were ever written up to here.
    end: u64,
}

/// Calls of a coroutine name a number from here on, where others name their thread: no thread of Java has such an id.
pub const FIRST_COROUTINE: u64 = 1 << 31;

/// A thread that made calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Java's thread id.
    pub id: u64,
    /// Its name when it made its first call; empty for most virtual threads.
    pub name: String,
    /// Whether it is a virtual thread.
    pub is_virtual: bool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It returned.
    Returned,
    /// It was left by an exception of this class (internal name), if the name is known.
    Threw(Option<std::sync::Arc<str>>),
    /// It had not ended when the trace did.
    Open,
}

/// One call of an instrumented method.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Java's id of the thread.
    pub thread: u64,
    /// Which span.
    pub span: u32,
    /// When it was entered: nanoseconds since the start. Two events of one thread never have the same time.
    pub start: u64,
    /// When it was left, or last seen.
    pub end: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Arguments in rising order, then the returned value.
    pub captures: Vec<Capture>,
}

/// An event: a thread came by a place that a plugin asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Java's id of the thread.
    pub thread: u64,
    /// Which place; see [`Trace::places`].
    pub place: u32,
    /// When: nanoseconds since the start. Two events of one thread never have the same time.
    pub nanos: u64,
    /// The values, in the order in which the plugin asked for them; shared with the rows of tables.
    pub captures: Arc<[Capture]>,
}

impl From<Call> for Moment {
    fn from(call: Call) -> Self {
        Self {
            thread: call.thread,
            place: call.span,
            nanos: call.start,
            captures: call.captures.into(),
        }
    }
}

impl Moment {
    /// As the call that takes no time that it is written as.
    fn into_call(self) -> Call {
        Call {
            thread: self.thread,
            span: self.place,
            start: self.nanos,
            end: self.nanos,
            outcome: Outcome::Returned,
            captures: self.captures.to_vec(),
        }
    }
}

/// What could not be kept since the start or the last reset, in numbers of calls; the running code never waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lost {
    /// Calls that the aggregates know of and the events do not: more waited to be written than there is memory for.
    pub full: u64,
    /// Calls that the aggregates know of and the events do not: for a while nothing could be written, and no more of
    /// them could wait.
    pub unwritten: u64,
    /// Calls nested too deeply, or on a virtual thread beyond those that can be followed at once; in no record.
    pub untracked: u64,
    /// Calls that are in the events, if those were asked for, and not in the aggregates: no memory was left for them.
    pub sums: u64,
    /// Values that found no room; their calls are kept.
    pub captures: u64,
    /// Calls whose end was never seen, because the JVM had no stack left to report it; in files of older versions alone.
    pub unended: u64,
    /// Calls that are left out of the events because they do not match the condition of their span; no loss.
    #[serde(skip_serializing_if = "is_zero")]
    pub filtered: u64,
    /// Those of them for which the condition lacked a value, or had one of another type than it is compared with.
    #[serde(skip_serializing_if = "is_zero")]
    pub undecided: u64,
    /// Calls that match the condition of their span, and are left out because more of them came than are wanted.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond_limit: u64,
    /// Events that were counted and not kept, because more of them came in a second than are wanted.
    #[serde(skip_serializing_if = "is_zero")]
    pub over_rate: u64,
    /// Calls that were taken out of the events, the oldest first, because of [`WhenFull::DropOldest`].
    #[serde(skip_serializing_if = "is_zero")]
    pub oldest: u64,
    /// Calls that are left out of the events because of [`WhenFull::Stop`].
    #[serde(skip_serializing_if = "is_zero")]
    pub over_size: u64,
    /// Waits of threads that found no room.
    #[serde(skip_serializing_if = "is_zero")]
    pub waits: u64,
}

impl Lost {
    /// Whether nothing was lost. What was left out on request is no loss.
    #[must_use]
    pub fn is_none(&self) -> bool {
        let left_out = Self {
            filtered: self.filtered,
            undecided: self.undecided,
            beyond_limit: self.beyond_limit,
            over_rate: self.over_rate,
            oldest: self.oldest,
            over_size: self.over_size,
            ..Self::default()
        };
        *self == left_out
    }

    /// What was lost since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        self.with(before, u64::saturating_sub)
    }

    /// What was lost here and there.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    fn with(&self, other: &Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            full: combine(self.full, other.full),
            unwritten: combine(self.unwritten, other.unwritten),
            untracked: combine(self.untracked, other.untracked),
            sums: combine(self.sums, other.sums),
            captures: combine(self.captures, other.captures),
            unended: combine(self.unended, other.unended),
            filtered: combine(self.filtered, other.filtered),
            undecided: combine(self.undecided, other.undecided),
            beyond_limit: combine(self.beyond_limit, other.beyond_limit),
            over_rate: combine(self.over_rate, other.over_rate),
            oldest: combine(self.oldest, other.oldest),
            over_size: combine(self.over_size, other.over_size),
            waits: combine(self.waits, other.waits),
        }
    }
}

/// Kinds of records; see the table in the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
enum Kind {
    Meta = 1,
    Span = 2,
    Name = 3,
    Thread = 4,
    Calls = 5,
    Aggregate = 6,
    Counts = 7,
    Lost = 8,
    Time = 9,
    Reset = 10,
    End = 11,
    Incomplete = 12,
    Compacted = 13,
}

impl Kind {
    fn from_number(number: u16) -> Option<Self> {
        const ALL: [Kind; 13] = [
            Kind::Meta,
            Kind::Span,
            Kind::Name,
            Kind::Thread,
            Kind::Calls,
            Kind::Aggregate,
            Kind::Counts,
            Kind::Lost,
            Kind::Time,
            Kind::Reset,
            Kind::End,
            Kind::Incomplete,
            Kind::Compacted,
        ];
        ALL.into_iter().find(|kind| *kind as u16 == number)
    }
}

/// Left by an exception.
const THREW: u8 = 1;
/// Not left yet.
const OPEN: u8 = 2;
/// On a virtual thread.
const VIRTUAL: u8 = 4;
/// The thrown class has a name.
const NAMED: u8 = 8;
/// An event, and no call.
const MOMENT: u8 = 16;
/// A bit of the type byte: the capture is one of [`SpanInfo::shown`].
pub(crate) const SHOWN: u8 = 1 << 7;
/// The returned value, among captures.
pub(crate) const RETURNED: u8 = 255;
