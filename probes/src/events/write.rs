//! Writes an event file.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::limit::Limit;
use super::stored_value::{self, zigzag};
use super::{
    Aggregate, Call, Capture, CaptureSource, Lost, MAGIC, MOMENT, Moment, NAMED, OPEN, Outcome,
    RETURNED, RecordKind, SHOWN, SizeLimit, SpanInfo, THREW, ThreadInfo, VIRTUAL,
};
use crate::error::WriteError;
use crate::format::{Meta, write_varint};
use crate::log::{Flush, Log, Marks, WRITE_LENGTH, now_ms, write_json, write_text};

/// Maximum number of calls in one record.
const CALLS: u64 = 4_096;
/// Maximum length of a record of calls in bytes, not counting the last call.
const CALLS_LENGTH: usize = 256 << 10;
/// Limit of pending bytes while writing fails; further calls are lost.
const MAX_PENDING: usize = 16 << 20;
/// Pause between a failed write and the next attempt.
const RETRY: Duration = Duration::from_millis(200);

/// Writes one event file; owned by the agent's thread.
///
/// Added data stays in memory until [`EventWriter::flush`], which ends every write with a whole record.
#[derive(Debug)]
pub struct EventWriter {
    log: Log,
    /// Class names that were written, and their numbers.
    names: HashMap<Arc<str>, u32>,
    /// Calls that are not in a record yet: their bytes, their number, and the start of the last one.
    calls: Vec<u8>,
    count: u64,
    last_start: u64,
    /// Number of these calls that have ended.
    ended: u64,
    /// Calls lost while writing failed and the memory for pending calls was full.
    unwritten: u64,
    /// Time of the next attempt after a failed write.
    retry: Option<Instant>,
    /// An error that occurred between two flushes.
    failed: Option<WriteError>,
    limit: Option<Limit>,
    /// The losses that were added last.
    lost: Lost,
}

impl EventWriter {
    /// Creates `<stem>-<nonce>.events` in the existing `directory` and writes `meta` to it. The stem is
    /// [`Meta::stem`].
    ///
    /// # Errors
    /// [`WriteError::Create`] if the file cannot be created or its first record cannot be written.
    pub fn create(directory: &Path, meta: &Meta) -> Result<Self, WriteError> {
        Ok(Self {
            log: Log::create(
                directory,
                "events",
                MAGIC,
                meta,
                Marks {
                    kind: RecordKind::Incomplete as u16,
                    count: |_, _, _| (),
                },
            )?,
            names: HashMap::new(),
            calls: Vec::new(),
            count: 0,
            last_start: 0,
            ended: 0,
            unwritten: 0,
            retry: None,
            failed: None,
            limit: None,
            lost: Lost::default(),
        })
    }

    /// Sets a size limit. [`EventWriter::limited`] returns the number of calls lost to it.
    #[must_use]
    pub fn with_limit(mut self, limit: Option<SizeLimit>) -> Self {
        self.limit = limit.map(Limit::new);
        self
    }

    /// Returns the path of the event file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Returns the number of pending bytes.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.log.pending()
    }

    /// Adds a span, or its new state.
    pub fn span(&mut self, span: &SpanInfo) {
        self.enqueue(RecordKind::Span, |out| write_json(out, span));
    }

    /// Adds a thread.
    pub fn thread(&mut self, thread: &ThreadInfo) {
        self.enqueue(RecordKind::Thread, |out| {
            out.extend_from_slice(&thread.id.to_le_bytes());
            out.push(thread.is_virtual.into());
            write_text(out, &thread.name);
        });
    }

    /// Adds a call and numbers its class names. `is_virtual` is set for a virtual thread.
    pub fn call(&mut self, call: &Call, is_virtual: bool) {
        self.add(call, if is_virtual { VIRTUAL } else { 0 });
    }

    /// Adds an event, as [`EventWriter::call`] adds a call.
    pub fn moment(&mut self, moment: Moment, is_virtual: bool) {
        let call = moment.into_call();
        self.add(&call, MOMENT | if is_virtual { VIRTUAL } else { 0 });
    }

    fn add(&mut self, call: &Call, flags: u8) {
        let mut out = std::mem::take(&mut self.calls);
        self.encode(&mut out, call, flags);
        self.calls = out;
        self.count += 1;
        self.ended += u64::from(call.outcome != Outcome::Open);
        if self.count >= CALLS || self.calls.len() >= CALLS_LENGTH {
            self.end_calls();
        }
    }

    /// Writes a record of the added calls.
    fn end_calls(&mut self) {
        if self.is_clogged() {
            self.unwritten += self.count;
        } else if self.count > 0 && self.takes_calls() {
            let calls = std::mem::take(&mut self.calls);
            self.log.enqueue(RecordKind::Calls as u16, |out| {
                out.extend_from_slice(&calls)
            });
            self.calls = calls;
        }
        self.calls.clear();
        (self.count, self.last_start, self.ended) = (0, 0, 0);
        if self.log.pending() >= WRITE_LENGTH
            && let Err(error) = self.write()
        {
            self.failed = Some(error);
        }
    }

    /// Checks whether the added calls are written, and counts them if not.
    fn takes_calls(&mut self) -> bool {
        let length = self.log.length() + self.log.pending() as u64;
        let Some(limit) = &mut self.limit else {
            return true;
        };
        let takes = limit.takes_calls(length);
        limit.over_size += if takes { 0 } else { self.ended };
        takes
    }

    fn encode(&mut self, out: &mut Vec<u8>, call: &Call, more: u8) {
        let (flags, thrown) = match &call.outcome {
            Outcome::Returned => (0, None),
            Outcome::Threw(None) => (THREW, None),
            Outcome::Threw(Some(class)) => (THREW | NAMED, Some(self.name(class))),
            Outcome::Open => (OPEN, None),
        };
        write_varint(out, call.thread);
        write_varint(out, call.span);
        out.push(flags | more);
        let since = call.start.wrapping_sub(self.last_start);
        write_varint(out, zigzag(since as i64));
        self.last_start = call.start;
        write_varint(out, call.end.saturating_sub(call.start));
        if let Some(name) = thrown {
            write_varint(out, name);
        }
        write_varint(out, call.captures.len() as u64);
        for capture in &call.captures {
            self.capture(out, capture);
        }
    }

    fn capture(&mut self, out: &mut Vec<u8>, capture: &Capture) {
        let kind = stored_value::kind(&capture.value);
        out.extend(match capture.source {
            CaptureSource::Argument(index) => [kind, index],
            CaptureSource::Returned => [kind, RETURNED],
            CaptureSource::Shown(index) => [kind | SHOWN, index],
            CaptureSource::Stack => [kind, 0],
        });
        stored_value::write(out, &capture.value, &mut |name| self.name(name));
    }

    /// Returns the number of a name, and writes a new name first.
    fn name(&mut self, name: &Arc<str>) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.insert(Arc::clone(name), number);
        // The name precedes the calls that are not in a record yet.
        self.log.enqueue(RecordKind::Name as u16, |out| {
            out.extend_from_slice(&number.to_le_bytes());
            write_text(out, name);
        });
        number
    }

    /// Adds sums of spans since the start or the last reset.
    pub fn aggregates<'a>(&mut self, spans: impl IntoIterator<Item = (u32, &'a Aggregate)>) {
        let mut payload = Vec::new();
        for (span, sums) in spans {
            write_varint(&mut payload, span);
            let Aggregate {
                count,
                errors,
                total,
                own,
                min,
                max,
                histogram,
            } = sums;
            for number in [count, errors, total, own, min, max] {
                write_varint(&mut payload, *number);
            }
            write_varint(&mut payload, histogram.filled().count() as u64);
            for (bucket, count) in histogram.filled() {
                write_varint(&mut payload, bucket as u64);
                write_varint(&mut payload, count);
            }
        }
        if !payload.is_empty() {
            self.enqueue(RecordKind::Aggregate, |out| out.extend_from_slice(&payload));
        }
    }

    /// Adds entry counts of [`SpanMode::Count`](super::SpanMode) spans since the start or the last reset.
    pub fn counts(&mut self, counts: impl IntoIterator<Item = (u32, u64)>) {
        let mut payload = Vec::new();
        for (span, count) in counts {
            write_varint(&mut payload, span);
            write_varint(&mut payload, count);
        }
        if !payload.is_empty() {
            self.enqueue(RecordKind::Counts, |out| out.extend_from_slice(&payload));
        }
    }

    /// Adds the losses since the start or the last reset.
    pub fn lost(&mut self, lost: &Lost) {
        self.lost = *lost;
        self.enqueue(RecordKind::Lost, |out| write_json(out, lost));
    }

    /// Discards all calls, aggregates, counts and losses so far.
    pub fn reset(&mut self) {
        self.enqueue(RecordKind::Reset, |_| ());
        (self.unwritten, self.lost) = (0, Lost::default());
        self.limit.iter_mut().for_each(Limit::reset);
    }

    /// Returns the calls since the start or the last reset that the size limit cost: removed oldest calls, and
    /// unwritten ones.
    #[must_use]
    pub fn limited(&self) -> (u64, u64) {
        let limit = self.limit.as_ref();
        limit.map_or((0, 0), |limit| (limit.oldest, limit.over_size))
    }

    /// Returns the number of calls since the start or the last reset that were lost because writing failed.
    #[must_use]
    pub fn unwritten(&self) -> u64 {
        self.unwritten
    }

    /// Checks whether writing fails and the limit of pending bytes is reached, so that calls are lost. Callers should
    /// keep sums until then.
    #[must_use]
    pub fn is_clogged(&self) -> bool {
        self.log.is_stalled() && self.log.pending() >= MAX_PENDING
    }

    /// Writes the added data.
    ///
    /// # Errors
    /// [`WriteError::Write`] when writing begins to fail; while it goes on failing, [`Flush::Stalled`].
    pub fn flush(&mut self) -> Result<Flush, WriteError> {
        self.end_calls();
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.log.pending() == 0 {
            return Ok(Flush::Unchanged);
        }
        if !self.log.is_stalled() {
            self.time();
        }
        self.write()
    }

    /// Writes the pending data and the end record. If that fails, the file ends with an incomplete record.
    ///
    /// # Errors
    /// [`WriteError::Write`] if writing fails, even if the failure was reported before.
    pub fn complete(&mut self) -> Result<(), WriteError> {
        self.end_calls();
        self.failed = None;
        self.limit.iter_mut().for_each(Limit::end);
        self.log.report_again();
        self.time();
        self.enqueue(RecordKind::End, |_| ());
        self.log.write().map(drop)
    }

    /// Restores the file at its path if it was removed meanwhile; returns `true` if it was restored.
    ///
    /// # Errors
    /// The cause if copying fails.
    pub fn restore(&mut self) -> io::Result<bool> {
        self.log.restore()
    }

    fn write(&mut self) -> Result<Flush, WriteError> {
        if self.retry.is_some_and(|retry| Instant::now() < retry) {
            return Ok(Flush::Stalled(self.log.pending()));
        }
        let outcome = self.log.write();
        self.retry = self.log.is_stalled().then(|| Instant::now() + RETRY);
        let kept = match &mut self.limit {
            Some(limit) => limit.keep(&mut self.log, &self.lost),
            None => Ok(()),
        };
        outcome.and_then(|flush| match kept {
            Ok(()) => Ok(flush),
            Err(source) => Err(WriteError::Shorten {
                path: self.log.path().to_owned(),
                source,
            }),
        })
    }

    fn time(&mut self) {
        let now = now_ms().to_le_bytes();
        self.enqueue(RecordKind::Time, |out| out.extend_from_slice(&now));
    }

    /// Adds a record after all added calls.
    fn enqueue(&mut self, kind: RecordKind, payload: impl FnOnce(&mut Vec<u8>)) {
        self.end_calls();
        self.log.enqueue(kind as u16, payload);
    }
}
