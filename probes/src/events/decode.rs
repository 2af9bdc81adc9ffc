//! Decodes the records of an event file to entries.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stored_value::{self, unzigzag};
use super::{
    Aggregate, BUCKETS, Call, Capture, CaptureSource, Lost, MOMENT, Moment, NAMED, OPEN, Outcome,
    RETURNED, RecordKind, SHOWN, SpanInfo, THREW, ThreadInfo, VIRTUAL, Value,
};
use crate::error::SnapshotError;
use crate::format::{Incomplete, Meta, write_varint};
use crate::log::read::{Fields, Record, corrupt, read_json};

/// A call or an event, restored from the bytes of [`StoredCall::write`].
#[derive(Debug, Clone, PartialEq)]
pub enum RestoredItem {
    /// A call.
    Call(Call),
    /// An event.
    Moment(Moment),
}

/// An entry of an event file, in the order of writing. Times of calls are nanoseconds since [`Meta::start_ms`].
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "entries are passed on at once and not stored"
)]
pub enum Entry {
    /// Description of the run; the first entry.
    Meta(Box<Meta>),
    /// A span or its new state. A later entry with the same id replaces the earlier one.
    Span(SpanInfo),
    /// The number of a class name, for readers of records; other entries hold the names themselves.
    Name(u32, Arc<str>),
    /// A thread with calls.
    Thread(ThreadInfo),
    /// A call that ended or is open; the flag is set for a virtual thread. Calls are roughly in the order of their
    /// ends. An open call occurs again each time it is seen open, and once it has ended.
    Call(Call, bool),
    /// An event; the flag is set for a virtual thread.
    Moment(Moment, bool),
    /// The sums of a span since the start or the last reset. They replace the earlier ones.
    Aggregate(u32, Aggregate),
    /// The number of entries of a span since the start or the last reset. It replaces the earlier number.
    Count(u32, u64),
    /// The losses since the start or the last reset. They replace the earlier numbers.
    Lost(Lost),
    /// Time at which the preceding entries were written: milliseconds since 1970.
    Time(u64),
    /// Discards all calls, sums, counts and losses so far.
    Reset,
    /// The writer ended in good order.
    End,
    /// Later data is missing, unless another entry follows.
    Incomplete(Incomplete),
}

/// The encoded form of a call or event within its record.
#[derive(Debug, Clone, Copy)]
pub struct StoredCall<'a> {
    /// Java's id of the thread.
    pub thread: u64,
    /// The span, or the place of an event.
    pub span: u32,
    /// Time of the entry, or of the event: nanoseconds since the start.
    pub start: u64,
    /// Time of the end, or of the last observation.
    pub end: u64,
    flags: u8,
    /// The remaining bytes: duration, names and captures.
    rest: &'a [u8],
}

impl StoredCall<'_> {
    /// Checks whether the call had not ended.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.flags & (OPEN | THREW) == OPEN
    }

    /// Checks whether it is an event.
    #[must_use]
    pub fn is_moment(&self) -> bool {
        self.flags & MOMENT != 0
    }

    /// Appends bytes that [`EventFile::restore`](super::EventFile::restore) decodes.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_varint(out, self.span);
        out.push(self.flags);
        out.extend_from_slice(self.rest);
    }
}

/// Decodes records. Its only state is the class names that calls refer to.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    begun: bool,
    names: BTreeMap<u32, Arc<str>>,
}

impl Decoder {
    /// Checks whether a record was decoded.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Passes the entries of a record on; calls and events also in their stored form.
    pub fn take(
        &mut self,
        record: &Record<'_>,
        take: &mut impl FnMut(Entry, Option<StoredCall<'_>>),
    ) -> Result<(), SnapshotError> {
        let kind = RecordKind::from_number(record.kind).ok_or_else(|| {
            let found = record.kind.to_string();
            corrupt(record.offset, "a kind of record between 1 and 13", found)
        })?;
        if !self.begun && kind != RecordKind::Meta {
            let found = format!("{kind:?}");
            return Err(corrupt(record.offset, "the meta record first", found));
        }
        self.begun = true;
        let mut fields = Fields::of(record);
        let entry = match kind {
            RecordKind::Meta => Entry::Meta(read_json(record)?),
            RecordKind::Span => Entry::Span(read_json(record)?),
            RecordKind::Name => {
                let number = fields.u32()?;
                let name: Arc<str> = fields.text()?.into();
                self.names.insert(number, Arc::clone(&name));
                Entry::Name(number, name)
            }
            RecordKind::Thread => {
                let (id, [is_virtual]) = (fields.u64()?, fields.number()?);
                Entry::Thread(ThreadInfo {
                    id,
                    is_virtual: is_virtual != 0,
                    name: fields.text()?,
                })
            }
            RecordKind::Calls => return self.calls(&mut fields, take),
            RecordKind::Aggregate => return aggregates(&mut fields, take),
            RecordKind::Counts => return counts(&mut fields, take),
            RecordKind::Lost => Entry::Lost(read_json(record)?),
            RecordKind::Time => Entry::Time(fields.u64()?),
            RecordKind::Reset => Entry::Reset,
            RecordKind::End => Entry::End,
            RecordKind::Incomplete => Entry::Incomplete(read_json(record)?),
            RecordKind::Compacted => return Ok(()), // for followers only
        };
        take(entry, None);
        Ok(())
    }

    /// Decodes the stored bytes of a call or event; the flag is set for a virtual thread.
    pub fn restore(
        &self,
        thread: u64,
        start: u64,
        stored: &[u8],
    ) -> Result<(RestoredItem, bool), SnapshotError> {
        let mut fields = Fields::of(&Record {
            kind: RecordKind::Calls as u16,
            payload: stored,
            offset: 0,
            end: stored.len(),
        });
        let span = fields.varint32()?;
        let [flags] = fields.number()?;
        let call = self.call(&mut fields, (thread, span, start), flags)?;
        let restored = match flags & MOMENT {
            0 => RestoredItem::Call(call),
            _ => RestoredItem::Moment(call.into()),
        };
        Ok((restored, flags & VIRTUAL != 0))
    }

    fn calls(
        &self,
        fields: &mut Fields<'_>,
        take: &mut impl FnMut(Entry, Option<StoredCall<'_>>),
    ) -> Result<(), SnapshotError> {
        let mut last_start = 0_u64;
        while !fields.rest.is_empty() {
            let thread = fields.varint()?;
            let span = fields.varint32()?;
            let [flags] = fields.number()?;
            let start = last_start.wrapping_add(unzigzag(fields.varint()?) as u64);
            last_start = start;
            let rest = fields.rest;
            let call = self.call(fields, (thread, span, start), flags)?;
            let stored = StoredCall {
                thread,
                span,
                start,
                end: call.end,
                flags,
                rest: &rest[..rest.len() - fields.rest.len()],
            };
            let is_virtual = flags & VIRTUAL != 0;
            let entry = match flags & MOMENT {
                0 => Entry::Call(call, is_virtual),
                _ => Entry::Moment(call.into(), is_virtual),
            };
            take(entry, Some(stored));
        }
        Ok(())
    }

    /// Decodes the rest of a call after thread, span, start and flags.
    fn call(
        &self,
        fields: &mut Fields<'_>,
        (thread, span, start): (u64, u32, u64),
        flags: u8,
    ) -> Result<Call, SnapshotError> {
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
        Ok(Call {
            thread,
            span,
            start,
            end,
            outcome,
            captures,
        })
    }

    fn name(&self, fields: &mut Fields<'_>) -> Result<Arc<str>, SnapshotError> {
        let number = fields.varint32()?;
        let name = self.names.get(&number).cloned();
        name.ok_or_else(|| {
            fields.corrupt("the number of a name written before", number.to_string())
        })
    }

    fn capture(&self, fields: &mut Fields<'_>) -> Result<Capture, SnapshotError> {
        let [kind, source] = fields.number()?;
        let names = |number| self.names.get(&number).cloned();
        let value = stored_value::read(kind & !SHOWN, fields, &names)?;
        let source = match (source, &value) {
            (_, Value::Stack(_)) => CaptureSource::Stack,
            (index, _) if kind & SHOWN != 0 => CaptureSource::Shown(index),
            (RETURNED, _) => CaptureSource::Returned,
            (index, _) => CaptureSource::Argument(index),
        };
        Ok(Capture { source, value })
    }
}

/// Decodes the aggregates of a record, span by span.
fn aggregates(
    fields: &mut Fields<'_>,
    take: &mut impl FnMut(Entry, Option<StoredCall<'_>>),
) -> Result<(), SnapshotError> {
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
        take(Entry::Aggregate(span, sums), None);
    }
    Ok(())
}

/// Decodes the counts of a record, span by span.
fn counts(
    fields: &mut Fields<'_>,
    take: &mut impl FnMut(Entry, Option<StoredCall<'_>>),
) -> Result<(), SnapshotError> {
    while !fields.rest.is_empty() {
        let span = fields.varint32()?;
        take(Entry::Count(span, fields.varint()?), None);
    }
    Ok(())
}
