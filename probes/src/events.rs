//! The event file: the calls of spans. It lies beside the snapshot and has the same structure.
//!
//! Header and framing are the snapshot's ([`crate::format`](mod@crate::format)) with another [`MAGIC`].
//! All times are nanoseconds since [`Meta::start_ms`](crate::Meta).
//! *varint* is LEB128 of at most 64 bits, *text* a u16 length and UTF-8.
//!
//! | kind | name | payload |
//! |---|---|---|
//! | 1 | meta | [`Meta`](crate::Meta) as JSON; the first record |
//! | 2 | span | [`SpanInfo`] as JSON; a later record with the same id replaces the earlier one |
//! | 3 | name | number u32, text: a class name that calls refer to |
//! | 4 | thread | Java's thread id u64, 1 for a virtual thread else 0, text |
//! | 5 | calls | calls until the end of the record, see below |
//! | 6 | aggregate | sums since the last reset, for each changed span: span varint, then count, errors, total, self, min, max as varints, number of filled buckets varint, each bucket's number and count as varints |
//! | 7 | counts | span varint, calls varint, until the end of the record: sums since the last reset |
//! | 8 | lost | [`Lost`] as JSON: sums since the start or the last reset |
//! | 9 | time | milliseconds since 1970 u64: when the preceding records were written |
//! | 10 | reset | empty: discards all calls, aggregates, counts and losses so far |
//! | 11 | end | empty: the writer ended in good order |
//! | 12 | incomplete | [`Incomplete`](crate::Incomplete) as JSON: if no record follows, later data is missing |
//! | 13 | compacted | JSON: the number of bytes written in total before the following records |
//!
//! A call is: thread varint, span varint, flags byte, start varint (zigzag, relative to the start of the preceding
//! call in the record), duration varint, number of the thrown class's name as varint (only with the flag), number of
//! captures varint, captures. Flags: 1 left by an exception, 2 still open when written (the duration is the time so
//! far), 4 a virtual thread, 8 the thrown class is named, 16 an event ([`Moment`]), which has no duration. An event
//! of a place with [`EventInfo::waits`] is a [`Wait`], one of a row of the table [`TASKS`] a [`TaskStep`].
//!
//! A capture is: type byte, value number (the argument's index; 255 is the returned value; with 128 added to the type
//! byte, the index in [`SpanInfo::shown`]), then for `Z B C S I J F D` the value as zigzag varint (`F` and `D`: the
//! bits as plain varint), for `T` (text) its length in UTF-16 units varint, kept bytes varint, UTF-8; for `[` the
//! number of the class's name and the length as varints; for `L` the number of the class's name and the identity hash
//! as varints; for `K` (a class) the number of its name as varint; for `#` (a call stack) the number of frames as
//! varint, and for each frame the numbers of its class's and method's names and the line, 0 if unknown, as varints;
//! for `N` (null) and `?` (absent, or no room) nothing.

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

pub use decode::{Entry, RestoredItem, StoredCall};
pub use follow::{Followed, Follower};
pub use histogram::{Aggregate, BUCKETS, Histogram, bucket_of};
pub use pass::EventFile;
pub use read::{BoundaryKind, CallBoundary, MAX_THREADS, Trace};
pub use single::{SingleCalls, SpanCalls};
pub use task::{Step, TASKS, Task, TaskStep, is_of_tasks};
pub use value::{Capture, CaptureSource, Content, Opened, StackFrame, Value};
pub use wait::Wait;
pub use write::EventWriter;

/// The first eight bytes of every event file.
pub const MAGIC: [u8; 8] = crate::format::EVENTS_MAGIC;

/// The data recorded about each call of a span.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum SpanMode {
    /// Nothing.
    Off,
    /// The number of calls, without times. Fixed when the method is instrumented.
    Count,
    /// Sums, quantiles and errors, but no single calls.
    #[default]
    Aggregate,
    /// The data of [`SpanMode::Aggregate`], and each call with its captures.
    Events,
}

/// A method instrumented as a span, or a place of a counter or an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpanInfo {
    /// Span number, unique in one JVM and never reused.
    pub id: u32,
    /// Internal name of the class.
    pub class: String,
    /// Name of the method.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The names of its parameters; an unnamed one is empty. The list is empty for counters, and if the class file
    /// names no parameter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// Its first line, or the line of the place; 0 if unknown.
    pub line: u32,
    /// The defining loader.
    pub loader: String,
    /// The plugin that requested the span.
    pub plugin: String,
    /// For a counter or an event, its number among the plugin's counters or events in the class.
    pub number: u32,
    /// The mode at the time of writing.
    pub mode: SpanMode,
    /// The condition for storing calls; empty without a condition.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub when: String,
    /// The expressions of shown values as in conditions: `this.size`. [`CaptureSource::Shown`] indexes them. For an event,
    /// its values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// Indices in `shown` of values that were present in some call. Only values reached through fields count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<u8>,
    /// The values that were present in no call, because a class lacks a field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentValue>,
    /// The row of the plugin's table that receives the counts, times or events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<TableRow>,
    /// Set if this is a place of events instead of a span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<EventInfo>,
    /// The names in the class file that selectors match. Among the counters of a class only the first one has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_names: Option<ClassNames>,
}

/// A shown value whose path ends at a missing field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AbsentValue {
    /// Its index in [`SpanInfo::shown`].
    pub number: u8,
    /// Internal name of the class in which the path ends; an array class by its descriptor.
    pub class: String,
    /// The missing field, or `[2]` if the class has no elements.
    pub field: String,
    /// The fields of the class.
    pub fields: Vec<String>,
}

/// Bytes counted for a text, in addition to its content as JSON.
const TEXT_BYTES: usize = 32;

impl SpanInfo {
    /// Returns the bytes of the texts that the plugin chose for this place, as an event file writes them: its row, and the
    /// names of an event's values.
    #[must_use]
    pub fn plugin_bytes(&self) -> usize {
        let row = self.row.iter().flat_map(|row| {
            let columns = row.columns.iter();
            let columns = columns.flat_map(|column| [&column.name, &column.kind]);
            [&row.table].into_iter().chain(columns).chain(&row.cells)
        });
        let values = self.event.iter().flat_map(|_| &self.shown);
        let texts = row.chain(values);
        texts
            .map(|text| TEXT_BYTES + escape::json_length(text))
            .sum()
    }

    /// Checks whether a shown value starts with a parameter name that the method lacks.
    #[must_use]
    pub fn lacks(&self, shown: &str) -> bool {
        let name = shown.split(['.', '[']).next().unwrap_or(shown);
        let is_of_call = ["this", "returned", "thrown", "arg", "args"].contains(&name);
        !is_of_call
            && self.shown.iter().any(|known| known == shown)
            && !self.parameters.iter().any(|known| known == name)
    }
}

/// Internal names in a class file, other than its own name, that selectors match.
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

/// The data recorded at a place of events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventInfo {
    /// Maximum number of stored events per second; `None` means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<u32>,
    /// Index in [`SpanInfo::shown`] of the first local variable, if all variables in scope are captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locals: Option<u8>,
    /// The field that the place writes, as the instruction names it: `com/acme/Order.status`. `None` if the place is
    /// no write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<String>,
    /// The kind of waits of this place; `None` for a place in code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitKind>,
}

/// The reason why a thread waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// Another thread owned the monitor that it tried to enter.
    Monitor,
    /// It called `Object.wait`.
    ObjectWait,
    /// It called `LockSupport.park`.
    Park,
    /// The JVM collected garbage and stopped all threads.
    Collection,
}

/// The key of a row in a table of a plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableRow {
    /// Name of the table.
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
    /// Title of the column.
    pub name: String,
    /// Type of the cells: `text`, `integer`, `duration`, `bytes`, `class`, `method` or `line`.
    pub kind: String,
}

/// The size limit of an event file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeLimit {
    /// Maximum length in bytes.
    pub bytes: u64,
    /// The treatment of single calls at this length.
    pub when_full: WhenFull,
}

/// The treatment of single calls when an event file reaches its size limit. Sums continue in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// The oldest calls are removed from the file.
    #[default]
    DropOldest,
    /// No more calls are written.
    Stop,
}

/// The data so far was compacted, and another file replaced the old one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Compacted {
    /// Number of bytes ever written up to here.
    end: u64,
}

/// Smallest track number of a coroutine. Calls of a coroutine have such a number instead of a thread id; no thread of
/// Java has an id as large.
pub const FIRST_COROUTINE: u64 = 1 << 31;

/// A thread with calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Java's thread id.
    pub id: u64,
    /// Its name at its first call; empty for most virtual threads.
    pub name: String,
    /// `true` for a virtual thread.
    pub is_virtual: bool,
}

/// The way in which a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The method returned.
    Returned,
    /// An exception left the method; internal name of its class, if known.
    Threw(Option<std::sync::Arc<str>>),
    /// The call had not ended at the end of the trace.
    Open,
}

/// One call of an instrumented method.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Java's id of the thread.
    pub thread: u64,
    /// Id of the span.
    pub span: u32,
    /// Time of the entry: nanoseconds since the start. Two entries or events of one thread never have the same time.
    pub start: u64,
    /// Time of the exit, or of the last observation.
    pub end: u64,
    /// The way in which it ended.
    pub outcome: Outcome,
    /// Arguments in ascending order, then the returned value.
    pub captures: Vec<Capture>,
}

/// An event: a thread reached a place that a plugin observes.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Java's id of the thread.
    pub thread: u64,
    /// Id of the place; see [`Trace::places`].
    pub place: u32,
    /// Time: nanoseconds since the start. Two entries or events of one thread never have the same time.
    pub nanos: u64,
    /// The values, in the order of the plugin's request; shared with the rows of tables.
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
    /// Converts the event to the call of length zero that represents it in the file.
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

/// Numbers of calls lost since the start or the last reset. Running code never waits; it loses data instead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lost {
    /// Calls counted in the aggregates but not stored as events: the memory for pending calls was full.
    pub full: u64,
    /// Calls counted in the aggregates but not stored as events: writing failed for a while, and the memory for
    /// pending calls was full.
    pub unwritten: u64,
    /// Calls in no record: nested too deeply, or on a virtual thread beyond the maximum number of followed threads.
    pub untracked: u64,
    /// Calls missing in the aggregates because no memory was left for sums; they may be stored as events.
    pub sums: u64,
    /// Values that found no room; their calls are stored.
    pub captures: u64,
    /// Calls whose end was never seen, because the JVM had no stack left to report it; only in files of older
    /// versions.
    pub unended: u64,
    /// Calls left out of the events because they do not match the condition of their span; no loss.
    #[serde(skip_serializing_if = "is_zero")]
    pub filtered: u64,
    /// Among the filtered calls, those whose condition lacked a value or compared values of different types.
    #[serde(skip_serializing_if = "is_zero")]
    pub undecided: u64,
    /// Calls that match the condition of their span and exceed its limit.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond_limit: u64,
    /// Events that were counted but not stored, because they exceed the limit per second.
    #[serde(skip_serializing_if = "is_zero")]
    pub over_rate: u64,
    /// The oldest calls, removed from the events because of [`WhenFull::DropOldest`].
    #[serde(skip_serializing_if = "is_zero")]
    pub oldest: u64,
    /// Calls left out of the events because of [`WhenFull::Stop`].
    #[serde(skip_serializing_if = "is_zero")]
    pub over_size: u64,
    /// Waits of threads that found no room.
    #[serde(skip_serializing_if = "is_zero")]
    pub waits: u64,
    /// Names of threads that a reader left out because there are too many ([`Trace::take_summed`]); no file has this.
    #[serde(skip_serializing_if = "is_zero")]
    pub thread_names: u64,
}

impl Lost {
    /// Checks whether nothing was lost. Data left out on request is no loss.
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

    /// Returns the losses since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        self.with(before, u64::saturating_sub)
    }

    /// Returns the sum of both losses.
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
            thread_names: combine(self.thread_names, other.thread_names),
        }
    }
}

/// Record kinds; see the table in the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
enum RecordKind {
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

impl RecordKind {
    fn from_number(number: u16) -> Option<Self> {
        const ALL: [RecordKind; 13] = [
            RecordKind::Meta,
            RecordKind::Span,
            RecordKind::Name,
            RecordKind::Thread,
            RecordKind::Calls,
            RecordKind::Aggregate,
            RecordKind::Counts,
            RecordKind::Lost,
            RecordKind::Time,
            RecordKind::Reset,
            RecordKind::End,
            RecordKind::Incomplete,
            RecordKind::Compacted,
        ];
        ALL.into_iter().find(|kind| *kind as u16 == number)
    }
}

/// The call was left by an exception.
const THREW: u8 = 1;
/// The call has not ended.
const OPEN: u8 = 2;
/// The call ran on a virtual thread.
const VIRTUAL: u8 = 4;
/// The class of the exception has a name.
const NAMED: u8 = 8;
/// An event.
const MOMENT: u8 = 16;
/// A bit of the type byte: the capture belongs to [`SpanInfo::shown`].
pub(crate) const SHOWN: u8 = 1 << 7;
/// Capture number of the returned value.
pub(crate) const RETURNED: u8 = 255;
