//! Writing an event file.

use std::path::Path;

use super::{
    Aggregate, Call, Capture, Kind, Lost, MAGIC, NAMED, OPEN, Outcome, RETURNED, SpanInfo, THREW,
    ThreadInfo, VIRTUAL, Value, Which,
};
use crate::error::WriteError;
use crate::format::{Meta, write_varint};
use crate::log::{Flush, Log, now_ms, write_json, write_text};

/// Writes one event file; owned by the agent's thread.
///
/// What is added waits in memory until [`EventWriter::flush`], which ends every write with a whole record.
#[derive(Debug)]
pub struct EventWriter {
    log: Log,
    /// Class names by number, as far as they are written.
    names: Vec<Box<str>>,
}

impl EventWriter {
    /// Creates `classhook-<pid>-<start>-<nonce>.events` in `directory`, which must exist, and writes `meta` to it.
    ///
    /// # Errors
    /// [`WriteError::Create`] if the file cannot be made or its first record not be written.
    pub fn create(directory: &Path, meta: &Meta) -> Result<Self, WriteError> {
        Ok(Self {
            log: Log::create(directory, "events", MAGIC, meta)?,
            names: Vec::new(),
        })
    }

    /// The event file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// Bytes that wait to be written.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.log.pending()
    }

    /// Adds a span, or says what has become of one.
    pub fn span(&mut self, span: &SpanInfo) {
        self.enqueue(Kind::Span, |out| write_json(out, span));
    }

    /// Adds a thread.
    pub fn thread(&mut self, thread: &ThreadInfo) {
        self.enqueue(Kind::Thread, |out| {
            out.extend_from_slice(&thread.id.to_le_bytes());
            out.push(thread.is_virtual.into());
            write_text(out, &thread.name);
        });
    }

    /// Adds calls, whose class names are given their numbers here. `is_virtual` says of each call whether its
    /// thread is virtual.
    pub fn calls<'c>(&mut self, calls: impl IntoIterator<Item = (&'c Call, bool)>) {
        let mut payload = Vec::new();
        let mut last_start = 0;
        for (call, is_virtual) in calls {
            self.call(&mut payload, call, is_virtual, last_start);
            last_start = call.start;
        }
        if !payload.is_empty() {
            self.enqueue(Kind::Calls, |out| out.extend_from_slice(&payload));
        }
    }

    fn call(&mut self, out: &mut Vec<u8>, call: &Call, is_virtual: bool, last_start: u64) {
        let (flags, thrown) = match &call.outcome {
            Outcome::Returned => (0, None),
            Outcome::Threw(None) => (THREW, None),
            Outcome::Threw(Some(class)) => (THREW | NAMED, Some(self.name(class))),
            Outcome::Open => (OPEN, None),
        };
        write_varint(out, call.thread);
        write_varint(out, call.span);
        out.push(flags | if is_virtual { VIRTUAL } else { 0 });
        write_varint(out, zigzag(call.start.wrapping_sub(last_start) as i64));
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
        let mut head = |kind: u8| {
            out.push(kind);
            out.push(match capture.which {
                Which::Argument(index) => index,
                Which::Returned => RETURNED,
            });
        };
        let mut signed = |kind, value: i64| {
            head(kind);
            Some(zigzag(value))
        };
        let number = match &capture.value {
            Value::Null => {
                head(b'N');
                None
            }
            Value::Missing => {
                head(b'?');
                None
            }
            Value::Boolean(value) => signed(b'Z', i64::from(*value)),
            Value::Byte(value) => signed(b'B', i64::from(*value)),
            Value::Char(value) => signed(b'C', i64::from(*value)),
            Value::Short(value) => signed(b'S', i64::from(*value)),
            Value::Int(value) => signed(b'I', i64::from(*value)),
            Value::Long(value) => signed(b'J', *value),
            Value::Float(value) => {
                head(b'F');
                Some(u64::from(value.to_bits()))
            }
            Value::Double(value) => {
                head(b'D');
                Some(value.to_bits())
            }
            Value::Text { length, .. } => {
                head(b'T');
                Some(u64::from(*length))
            }
            Value::Array { class, .. } => {
                head(b'[');
                Some(u64::from(self.name(class)))
            }
            Value::Object { class, .. } => {
                head(b'L');
                Some(u64::from(self.name(class)))
            }
        };
        if let Some(number) = number {
            write_varint(out, number);
        }
        match &capture.value {
            Value::Text { text, .. } => {
                write_varint(out, text.len() as u64);
                out.extend_from_slice(text.as_bytes());
            }
            Value::Array { length, .. } => write_varint(out, *length),
            Value::Object { identity, .. } => write_varint(out, *identity),
            _ => {}
        }
    }

    /// The number of a class name; a new one is written first.
    fn name(&mut self, name: &str) -> u32 {
        if let Some(at) = self.names.iter().position(|known| **known == *name) {
            return at as u32;
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.enqueue(Kind::Name, |out| {
            out.extend_from_slice(&number.to_le_bytes());
            write_text(out, name);
        });
        number
    }

    /// Adds the sums of spans, each since the start or the last reset.
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
            self.enqueue(Kind::Aggregate, |out| out.extend_from_slice(&payload));
        }
    }

    /// Adds how often spans of [`SpanMode::Count`](super::SpanMode) were entered, since the start or the last reset.
    pub fn counts(&mut self, counts: impl IntoIterator<Item = (u32, u64)>) {
        let mut payload = Vec::new();
        for (span, count) in counts {
            write_varint(&mut payload, span);
            write_varint(&mut payload, count);
        }
        if !payload.is_empty() {
            self.enqueue(Kind::Counts, |out| out.extend_from_slice(&payload));
        }
    }

    /// Adds what was lost since the start.
    pub fn lost(&mut self, lost: &Lost) {
        self.enqueue(Kind::Lost, |out| write_json(out, lost));
    }

    /// Forgets all calls, aggregates and counts so far.
    pub fn reset(&mut self) {
        self.enqueue(Kind::Reset, |_| ());
    }

    /// Writes what was added since the last flush.
    ///
    /// # Errors
    /// [`WriteError::Write`] when writing begins to fail; while it goes on failing, [`Flush::Stalled`].
    pub fn flush(&mut self) -> Result<Flush, WriteError> {
        if self.log.pending() == 0 {
            return Ok(Flush::Unchanged);
        }
        if !self.log.is_stalled() {
            self.enqueue(Kind::Time, |out| {
                out.extend_from_slice(&now_ms().to_le_bytes())
            });
        }
        self.log.write()
    }

    /// Writes what is left and the end record.
    ///
    /// # Errors
    /// [`WriteError::Write`] if it cannot be written, also if that was reported before.
    pub fn complete(&mut self) -> Result<(), WriteError> {
        self.log.report_again();
        self.enqueue(Kind::Time, |out| {
            out.extend_from_slice(&now_ms().to_le_bytes())
        });
        self.enqueue(Kind::End, |_| ());
        self.log.write().map(drop)
    }

    fn enqueue(&mut self, kind: Kind, payload: impl FnOnce(&mut Vec<u8>)) {
        self.log.enqueue(kind as u16, payload);
    }
}

/// Small numbers of either sign as small numbers.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}
