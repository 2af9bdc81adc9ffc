//! Reading an event file, also one whose writer was killed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{
    Aggregate, BUCKETS, Call, Capture, Kind, Lost, MAGIC, NAMED, OPEN, Outcome, RETURNED, SpanInfo,
    THREW, ThreadInfo, VIRTUAL, Value, Which,
};
use crate::error::SnapshotError;
use crate::format::{HEADER_LENGTH, Incomplete, Meta};
use crate::log::read::{Fields, Record, check_header, corrupt, read_json, record_at};

/// What the spans of one JVM recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// What was run, where and when.
    pub meta: Meta,
    /// The spans by id.
    pub spans: BTreeMap<u32, SpanInfo>,
    /// The threads that made calls, by Java's thread id.
    pub threads: BTreeMap<u64, ThreadInfo>,
    /// Every call that was kept, by thread and then by start.
    pub calls: Vec<Call>,
    /// The sums by span, also of calls that were not kept.
    pub aggregates: BTreeMap<u32, Aggregate>,
    /// How often the spans that only count were entered.
    pub counts: BTreeMap<u32, u64>,
    /// What could not be kept.
    pub lost: Lost,
    /// Whether the JVM ended in good order.
    pub complete: bool,
    /// Whether the last record was cut off: the JVM was killed while writing. What is here is whole.
    pub truncated: bool,
    /// Why what came later could not be written.
    pub incomplete: Option<Incomplete>,
}

/// What happened to a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EventKind {
    /// It was entered.
    Enter,
    /// It was left, as its [`Call::outcome`] says.
    Exit,
}

/// An event of a thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event<'t> {
    /// Nanoseconds since the start.
    pub nanos: u64,
    /// Entered or left.
    pub kind: EventKind,
    /// What.
    pub call: &'t Call,
    /// Calls of this thread that are open around it.
    pub depth: usize,
}

impl Trace {
    /// Reads an event file.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn read(path: &Path) -> Result<Self, SnapshotError> {
        let bytes = std::fs::read(path).map_err(|source| SnapshotError::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::from_bytes(&bytes)
    }

    /// Reads an event file from its bytes.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        check_header(bytes, MAGIC)?;
        let mut decoder = Decoder::default();
        let mut offset = HEADER_LENGTH;
        while offset < bytes.len() {
            let Some(record) = record_at(bytes, offset)? else {
                decoder.trace.truncated = true;
                break;
            };
            decoder.take(&record)?;
            offset = record.end;
        }
        if !decoder.begun {
            let length = bytes.len() as u64;
            return Err(SnapshotError::Empty { length });
        }
        Ok(decoder.finish())
    }

    /// The calls of one thread by their start.
    #[must_use]
    pub fn calls_of(&self, thread: u64) -> &[Call] {
        let from = self.calls.partition_point(|call| call.thread < thread);
        let to = self.calls.partition_point(|call| call.thread <= thread);
        self.calls.get(from..to).unwrap_or_default()
    }

    /// Entries and exits of one thread in the order in which they happened. A call that had not ended has no exit.
    #[must_use]
    pub fn events(&self, thread: u64) -> Vec<Event<'_>> {
        let calls = self.calls_of(thread);
        let mut events = Vec::with_capacity(calls.len() * 2);
        let mut open: Vec<&Call> = Vec::new();
        for call in calls {
            leave(&mut open, &mut events, |ended| ended.end < call.start);
            events.push(Event {
                nanos: call.start,
                kind: EventKind::Enter,
                call,
                depth: open.len(),
            });
            open.push(call);
        }
        leave(&mut open, &mut events, |_| true);
        events
    }
}

/// Closes the innermost calls for as long as `ended` says so; one that never ended is taken away without an event.
fn leave<'t>(open: &mut Vec<&'t Call>, events: &mut Vec<Event<'t>>, ended: impl Fn(&Call) -> bool) {
    while let Some(call) = open.pop() {
        if call.outcome == Outcome::Open {
            if !ended(call) {
                open.push(call);
                return;
            }
            continue;
        }
        if !ended(call) {
            open.push(call);
            return;
        }
        events.push(Event {
            nanos: call.end,
            kind: EventKind::Exit,
            call,
            depth: open.len(),
        });
    }
}

#[derive(Default)]
struct Decoder {
    begun: bool,
    trace: Trace,
    names: BTreeMap<u32, Arc<str>>,
}

impl Decoder {
    fn take(&mut self, record: &Record<'_>) -> Result<(), SnapshotError> {
        let kind = Kind::from_number(record.kind).ok_or_else(|| {
            let found = record.kind.to_string();
            corrupt(record.offset, "a kind of record between 1 and 12", found)
        })?;
        if !self.begun && kind != Kind::Meta {
            let found = format!("{kind:?}");
            return Err(corrupt(record.offset, "the meta record first", found));
        }
        self.begun = true;
        let trace = &mut self.trace;
        trace.complete = kind == Kind::End;
        trace.incomplete = None;
        let mut fields = Fields::of(record);
        match kind {
            Kind::Meta => trace.meta = read_json(record)?,
            Kind::Span => {
                let span: SpanInfo = read_json(record)?;
                trace.spans.insert(span.id, span);
            }
            Kind::Name => {
                let number = fields.u32()?;
                self.names.insert(number, fields.text()?.into());
            }
            Kind::Thread => {
                let (id, [is_virtual]) = (fields.u64()?, fields.number()?);
                let thread = ThreadInfo {
                    id,
                    is_virtual: is_virtual != 0,
                    name: fields.text()?,
                };
                trace.threads.insert(id, thread);
            }
            Kind::Calls => self.take_calls(&mut fields)?,
            Kind::Aggregate => self.take_aggregates(&mut fields)?,
            Kind::Counts => {
                while !fields.rest.is_empty() {
                    let span = fields.varint32()?;
                    trace.counts.insert(span, fields.varint()?);
                }
            }
            Kind::Lost => trace.lost = read_json(record)?,
            Kind::Time => trace.meta.dump_ms = fields.u64()?,
            Kind::Reset => {
                trace.calls.clear();
                trace.aggregates.clear();
                trace.counts.clear();
                trace.lost = Lost::default();
            }
            Kind::End => {}
            Kind::Incomplete => trace.incomplete = Some(read_json(record)?),
        }
        Ok(())
    }

    fn take_calls(&mut self, fields: &mut Fields<'_>) -> Result<(), SnapshotError> {
        let mut last_start = 0_u64;
        while !fields.rest.is_empty() {
            let thread = fields.varint()?;
            let span = fields.varint32()?;
            let [flags] = fields.number()?;
            let start = last_start.wrapping_add(unzigzag(fields.varint()?) as u64);
            last_start = start;
            let end = start.saturating_add(fields.varint()?);
            let outcome = match (flags & THREW != 0, flags & OPEN != 0) {
                (true, _) if flags & NAMED != 0 => Outcome::Threw(Some(self.name(fields)?)),
                (true, _) => Outcome::Threw(None),
                (false, true) => Outcome::Open,
                (false, false) => Outcome::Returned,
            };
            let count = fields.varint()?;
            let mut captures = Vec::new();
            for _ in 0..count {
                captures.push(self.capture(fields)?);
            }
            self.trace
                .threads
                .entry(thread)
                .or_insert_with(|| ThreadInfo {
                    id: thread,
                    name: String::new(),
                    is_virtual: flags & VIRTUAL != 0,
                });
            self.trace.calls.push(Call {
                thread,
                span,
                start,
                end,
                outcome,
                captures,
            });
        }
        Ok(())
    }

    fn name(&self, fields: &mut Fields<'_>) -> Result<Arc<str>, SnapshotError> {
        let number = fields.varint32()?;
        let name = self.names.get(&number).cloned();
        name.ok_or_else(|| {
            fields.corrupt("the number of a name written before", number.to_string())
        })
    }

    fn capture(&self, fields: &mut Fields<'_>) -> Result<Capture, SnapshotError> {
        let [kind, which] = fields.number()?;
        let value = match kind {
            b'N' => Value::Null,
            b'?' => Value::Missing,
            b'Z' => Value::Boolean(unzigzag(fields.varint()?) != 0),
            b'B' => Value::Byte(unzigzag(fields.varint()?) as i8),
            b'C' => Value::Char(unzigzag(fields.varint()?) as u16),
            b'S' => Value::Short(unzigzag(fields.varint()?) as i16),
            b'I' => Value::Int(unzigzag(fields.varint()?) as i32),
            b'J' => Value::Long(unzigzag(fields.varint()?)),
            b'F' => Value::Float(f32::from_bits(fields.varint32()?)),
            b'D' => Value::Double(f64::from_bits(fields.varint()?)),
            b'T' => {
                let length = fields.varint32()?;
                let kept = fields.varint32()?;
                let bytes = fields.take(kept as usize)?;
                let text = String::from_utf8(bytes.to_vec())
                    .map_err(|error| fields.corrupt("UTF-8", error.to_string()))?;
                Value::Text { text, length }
            }
            b'[' => Value::Array {
                class: self.name(fields)?,
                length: fields.varint32()?,
            },
            b'L' => Value::Object {
                class: self.name(fields)?,
                identity: fields.varint32()?,
            },
            other => return Err(fields.corrupt("a type of capture", other.to_string())),
        };
        let which = match which {
            RETURNED => Which::Returned,
            index => Which::Argument(index),
        };
        Ok(Capture { which, value })
    }

    fn take_aggregates(&mut self, fields: &mut Fields<'_>) -> Result<(), SnapshotError> {
        while !fields.rest.is_empty() {
            let span = fields.varint32()?;
            let mut sums = Aggregate {
                count: fields.varint()?,
                errors: fields.varint()?,
                total: fields.varint()?,
                own: fields.varint()?,
                min: fields.varint()?,
                max: fields.varint()?,
                ..Aggregate::default()
            };
            for _ in 0..fields.varint()? {
                let bucket = fields.varint()?;
                if bucket >= BUCKETS as u64 {
                    let expected = format!("a bucket below {BUCKETS}");
                    return Err(fields.corrupt(expected, bucket.to_string()));
                }
                sums.histogram.add(bucket as usize, fields.varint()?);
            }
            self.trace.aggregates.insert(span, sums);
        }
        Ok(())
    }

    fn finish(self) -> Trace {
        let mut trace = self.trace;
        // A call seen open may be written again when it ends: the later record counts.
        trace.calls.sort_by_key(|call| {
            (
                call.thread,
                call.start,
                call.outcome == Outcome::Open,
                u64::MAX - call.end,
            )
        });
        trace
            .calls
            .dedup_by(|later, first| later.thread == first.thread && later.start == first.start);
        trace.meta.dump_ms = trace.meta.dump_ms.max(trace.meta.start_ms);
        trace.complete &= !trace.truncated;
        trace
    }
}

/// The inverse of the writer's `zigzag`.
fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
