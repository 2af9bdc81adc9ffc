//! Compacts an event file while it is written: removes sums that later ones replace and, on request, the oldest
//! calls.
//!
//! A new file is written beside the old one, a few mebibytes at a time, and renamed over it at the end. So a process
//! killed meanwhile leaves a whole file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::decode::{Decoder, Entry, StoredCall};
use super::{Compacted, Lost, MAGIC, Outcome, RecordKind};
use crate::error::SnapshotError;
use crate::format::{HEADER_LENGTH, write_header, write_record};
use crate::log::read::{Fields, Framed, Record, framed_at};
use crate::log::write_json;

/// Number of bytes of the old file read in one step.
const STEP: usize = 4 << 20;
/// File name suffix of the new file until it replaces the old one.
const SUFFIX: &str = ".new";

/// The calls of the old file that are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// The calls in the front part.
    Oldest,
    /// The calls before the last reset.
    Forgotten,
}

/// A compaction in progress.
#[derive(Debug)]
pub(super) struct Compaction {
    old: File,
    new: File,
    /// Path of the new file; `None` once it has the old file's name.
    path: Option<PathBuf>,
    leave: Leave,
    /// Offset up to which the old file was read.
    read: u64,
    /// Start of the part that is kept unchanged.
    tail: u64,
    /// Offset of the last reset found so far, with [`Leave::Forgotten`].
    reset: u64,
    /// Written and pending bytes of the new file.
    written: u64,
    waiting: Vec<u8>,
    merged: Merged,
    /// Adding this to an offset of the old file gives the offset in all bytes ever written.
    shift: u64,
    /// The same for the new file, from its tail on.
    new_shift: Option<u64>,
    /// Number of completed calls that are left out, except those before a reset.
    dropped: u64,
    is_forgotten: bool,
}

/// The state of the front part: the last record of each item.
#[derive(Debug, Default)]
struct Merged {
    decoder: Decoder,
    aggregates: BTreeMap<u32, Vec<u8>>,
    counts: BTreeMap<u32, Vec<u8>>,
    lost: Vec<u8>,
    time: Vec<u8>,
}

/// The compacted file.
#[derive(Debug)]
pub(super) struct CompactedFile {
    pub file: File,
    pub length: u64,
    pub shift: u64,
}

impl Compaction {
    /// Starts with a file of `length` bytes, whose last `keep` bytes stay unchanged.
    pub fn begin(
        old: &File,
        path: &Path,
        (length, keep): (u64, u64),
        leave: Leave,
        shift: u64,
    ) -> io::Result<Self> {
        let mut name = OsString::from(path);
        name.push(SUFFIX);
        let path = PathBuf::from(name);
        let _ = fs::remove_file(&path); // remains of an abandoned compaction
        let new = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .mode(old.metadata()?.mode())
            .open(&path)?;
        let mut begun = Self {
            old: old.try_clone()?,
            new,
            path: Some(path),
            leave,
            read: 0,
            tail: length - keep.min(length),
            reset: 0,
            written: 0,
            waiting: Vec::new(),
            merged: Merged::default(),
            shift,
            new_shift: None,
            dropped: 0,
            is_forgotten: false,
        };
        begun.restart()?;
        Ok(begun)
    }

    /// Starts again at the first record.
    fn restart(&mut self) -> io::Result<()> {
        self.new.set_len(0)?;
        self.written = 0;
        self.waiting.clear();
        write_header(&mut self.waiting, MAGIC);
        self.read = HEADER_LENGTH as u64;
        self.merged = Merged::default();
        self.new_shift = None;
        Ok(())
    }

    /// Handles a reset: discards all calls so far.
    pub fn reset(&mut self) {
        self.dropped = 0;
        self.is_forgotten = true;
    }

    /// Returns the number of calls left out so far.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Processes some mebibytes. Returns `true` once all of the old file's `length` bytes are done.
    pub fn step(&mut self, length: u64) -> io::Result<bool> {
        let wanted = usize::try_from(length - self.read).unwrap_or(usize::MAX);
        let mut buffer = vec![0; wanted.min(STEP)];
        self.old.read_exact_at(&mut buffer, self.read)?;
        let mut at = 0;
        while at < buffer.len() {
            match framed_at(&buffer, at) {
                Framed::Whole(record) => {
                    self.enter_tail()?;
                    let raw = &buffer[at..record.end];
                    let start = self.read;
                    self.read += raw.len() as u64;
                    if !self.take(&record, raw, start).map_err(io::Error::other)? {
                        self.restart()?;
                        return Ok(false);
                    }
                    at = record.end;
                }
                Framed::Part(needed) if at == 0 && needed <= wanted => {
                    buffer.resize(needed, 0);
                    self.old.read_exact_at(&mut buffer, self.read)?;
                }
                Framed::Part(_) if at > 0 => break,
                _ => return Err(io::Error::other("the event file is damaged")),
            }
        }
        self.flush()?;
        if self.read == length {
            self.tail = self.tail.min(length);
            self.enter_tail()?;
        }
        Ok(self.read == length)
    }

    /// Processes a record that begins at `start`. Returns `false` if a reset requires reading all records again.
    fn take(&mut self, record: &Record<'_>, raw: &[u8], start: u64) -> Result<bool, SnapshotError> {
        let kind = RecordKind::from_number(record.kind);
        if kind == Some(RecordKind::Reset) {
            self.dropped = 0;
            if self.leave == Leave::Forgotten && start > self.reset {
                self.reset = start;
                return Ok(false);
            }
        }
        if self.new_shift.is_some() {
            self.waiting.extend_from_slice(raw);
            return Ok(true);
        }
        match kind {
            Some(RecordKind::Calls) if self.leave == Leave::Forgotten && start > self.reset => {
                self.waiting.extend_from_slice(raw);
            }
            Some(RecordKind::Calls) if self.leave == Leave::Oldest && !self.is_forgotten => {
                let dropped = &mut self.dropped;
                let mut count = |entry, _: Option<StoredCall<'_>>| {
                    let has_ended = match entry {
                        Entry::Call(call, _) => call.outcome != Outcome::Open,
                        entry => matches!(entry, Entry::Moment(..)),
                    };
                    *dropped += u64::from(has_ended);
                };
                self.merged.decoder.take(record, &mut count)?;
            }
            Some(
                RecordKind::Calls
                | RecordKind::Incomplete
                | RecordKind::Compacted
                | RecordKind::End,
            )
            | None => {}
            Some(
                RecordKind::Aggregate | RecordKind::Counts | RecordKind::Lost | RecordKind::Time,
            ) => {
                self.merged.take(kind, record)?;
            }
            Some(
                RecordKind::Meta
                | RecordKind::Span
                | RecordKind::Name
                | RecordKind::Thread
                | RecordKind::Reset,
            ) => {
                if kind == Some(RecordKind::Reset) {
                    self.merged.reset();
                }
                self.merged.decoder.take(record, &mut |_, _| ())?;
                self.waiting.extend_from_slice(raw);
            }
        }
        Ok(true)
    }

    /// Writes the merged front part, once it is read.
    fn enter_tail(&mut self) -> io::Result<()> {
        if self.new_shift.is_some() || self.read < self.tail {
            return Ok(());
        }
        self.merged.write(&mut self.waiting);
        let compacted = Compacted {
            end: self.read.wrapping_add(self.shift),
        };
        write_record(&mut self.waiting, RecordKind::Compacted as u16, |out| {
            write_json(out, &compacted);
        });
        self.flush()?;
        self.new_shift = Some(compacted.end.wrapping_sub(self.written));
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.new.write_all(&self.waiting)?;
        self.written += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Renames the new file over the old one. The current losses end it.
    pub fn finish(mut self, path: &Path, lost: &Lost) -> io::Result<CompactedFile> {
        write_record(&mut self.waiting, RecordKind::Lost as u16, |out| {
            write_json(out, lost);
        });
        self.flush()?;
        let new = self.path.as_ref().ok_or(io::ErrorKind::NotFound)?;
        fs::rename(new, path)?;
        self.path = None;
        Ok(CompactedFile {
            file: self.new.try_clone()?,
            length: self.written,
            shift: self.new_shift.unwrap_or(self.shift),
        })
    }
}

impl Drop for Compaction {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path); // abandoned
        }
    }
}

impl Merged {
    fn take(&mut self, kind: Option<RecordKind>, record: &Record<'_>) -> Result<(), SnapshotError> {
        match kind {
            Some(RecordKind::Aggregate) => keep_last(&mut self.aggregates, record, after_aggregate),
            Some(RecordKind::Counts) => {
                keep_last(&mut self.counts, record, |fields| fields.varint().map(drop))
            }
            Some(RecordKind::Lost) => {
                self.lost = record.payload.to_vec();
                Ok(())
            }
            _ => {
                self.time = record.payload.to_vec();
                Ok(())
            }
        }
    }

    fn reset(&mut self) {
        self.aggregates.clear();
        self.counts.clear();
        self.lost.clear();
    }

    fn write(&self, out: &mut Vec<u8>) {
        let all = |parts: &BTreeMap<u32, Vec<u8>>| parts.values().flatten().copied().collect();
        let records: [(RecordKind, Vec<u8>); 4] = [
            (RecordKind::Aggregate, all(&self.aggregates)),
            (RecordKind::Counts, all(&self.counts)),
            (RecordKind::Lost, self.lost.clone()),
            (RecordKind::Time, self.time.clone()),
        ];
        let filled = records.iter().filter(|(_, payload)| !payload.is_empty());
        for (kind, payload) in filled {
            write_record(out, *kind as u16, |out| out.extend_from_slice(payload));
        }
    }
}

/// Keeps the bytes of each span, which start with its number; `skip` passes over the rest.
fn keep_last(
    parts: &mut BTreeMap<u32, Vec<u8>>,
    record: &Record<'_>,
    skip: fn(&mut Fields<'_>) -> Result<(), SnapshotError>,
) -> Result<(), SnapshotError> {
    let mut fields = Fields::of(record);
    while !fields.rest.is_empty() {
        let before = fields.rest;
        let span = fields.varint32()?;
        skip(&mut fields)?;
        let part = &before[..before.len() - fields.rest.len()];
        parts.insert(span, part.to_vec());
    }
    Ok(())
}

/// Skips the sums of a span.
fn after_aggregate(fields: &mut Fields<'_>) -> Result<(), SnapshotError> {
    for _ in 0..6 {
        fields.varint()?;
    }
    for _ in 0..fields.varint()? {
        fields.varint()?;
        fields.varint()?;
    }
    Ok(())
}
