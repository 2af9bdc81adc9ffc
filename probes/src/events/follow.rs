//! Reads an event file while it grows.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::decode::{Decoder, Entry};
use super::{Compacted, MAGIC, RecordKind};
use crate::error::SnapshotError;
use crate::format::{HEAD_LENGTH, HEADER_LENGTH, TAIL_LENGTH};
use crate::log::MAX_TAKEN_BACK;
use crate::log::read::{Framed, Record, check_header, corrupt, framed_at, hex, read_json};

/// Length of a batch in bytes, unless one record is longer.
const BATCH: usize = 1 << 20;

/// Reads the records appended to an event file, batch by batch, without keeping them.
///
/// After the writer compacted its file, reading continues in the new file. A partial record is read again later. If
/// the disk is full, the writer takes records back and writes them again later; they are passed on once.
///
/// ```
/// # use probes::{Meta, events::{Entry, EventWriter, Followed, Follower}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let mut writer = EventWriter::create(folder.path(), &Meta::default())?;
/// let mut follower = Follower::open(writer.path())?;
/// writer.counts([(7, 1)]);
/// writer.flush()?;
/// let mut counts = Vec::new();
/// let mut take = |entry| {
///     if let Entry::Count(span, calls) = entry {
///         counts.push((span, calls));
///     }
/// };
/// while follower.read(&mut take)? == Followed::More {}
/// assert_eq!(counts, [(7, 1)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Follower {
    file: File,
    path: PathBuf,
    decoder: Decoder,
    /// Start of the next record; 0 until the header was read.
    offset: u64,
    /// Adding this to an offset of the file gives the offset in all bytes ever written.
    shift: u64,
    /// Set if the file is read a second time from its start, because parts of it were removed.
    again: bool,
    /// The bytes read; its length is the length of a batch.
    buffer: Vec<u8>,
    /// The last records passed on that the writer may still take back.
    last: VecDeque<PassedRecord>,
    /// Records taken back after they were passed on, and not written again yet.
    taken_back: VecDeque<PassedRecord>,
}

/// The result of [`Follower::read`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Followed {
    /// More data is available.
    More,
    /// All whole records were passed on.
    All,
}

/// A record that was passed on, identified by its offsets and checksums.
#[derive(Debug, Clone, Copy)]
struct PassedRecord {
    start: u64,
    end: u64,
    head: [u8; HEAD_LENGTH],
    tail: [u8; TAIL_LENGTH],
}

impl Follower {
    /// Opens the file; reading starts at its first entry.
    ///
    /// # Errors
    /// [`SnapshotError::Io`] if it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, SnapshotError> {
        let path = path.to_owned();
        match File::open(&path) {
            Ok(file) => Ok(Self {
                file,
                path,
                decoder: Decoder::default(),
                offset: 0,
                shift: 0,
                again: false,
                buffer: Vec::new(),
                last: VecDeque::new(),
                taken_back: VecDeque::new(),
            }),
            Err(source) => Err(SnapshotError::Io { path, source }),
        }
    }

    /// Passes the next whole records on, about a mebibyte of them.
    ///
    /// # Errors
    /// See [`SnapshotError`]. A partial record is no error, but a damaged one is, also at the end. After an error the
    /// same data is read again.
    pub fn read(&mut self, take: &mut impl FnMut(Entry)) -> Result<Followed, SnapshotError> {
        let has_moved = self.has_moved();
        let outcome = match self.read_batch(take) {
            // The writer may have truncated the file during the read.
            Err(SnapshotError::Corrupt { .. }) => self.read_batch(take),
            outcome => outcome,
        };
        if has_moved && outcome.as_ref().is_ok_and(|read| *read == Followed::All) {
            self.move_on()?;
            return Ok(Followed::More);
        }
        outcome
    }

    /// Checks whether another file has replaced this one, which then no longer grows.
    fn has_moved(&self) -> bool {
        let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let ours = self.file.metadata().map(identity);
        let theirs = fs::metadata(&self.path).map(identity);
        matches!((ours, theirs), (Ok(ours), Ok(theirs)) if ours != theirs)
    }

    /// Continues in the file that replaced this one, after the data that both hold. This file was read to its end.
    fn move_on(&mut self) -> Result<(), SnapshotError> {
        let mut next = Self::open(&self.path)?;
        let (tail, end) = next.find_tail()?.unwrap_or((0, 0));
        let read = self.offset.wrapping_add(self.shift);
        next.shift = end.wrapping_sub(tail);
        next.decoder = std::mem::take(&mut self.decoder);
        if self.offset == 0 {
            next.offset = 0;
        } else if read >= end {
            next.offset = read.wrapping_sub(next.shift);
        } else {
            (next.offset, next.again) = (HEADER_LENGTH as u64, true);
        }
        *self = next;
        Ok(())
    }

    /// Finds the start of the part that was not compacted, and the number of bytes ever written before it.
    fn find_tail(&mut self) -> Result<Option<(u64, u64)>, SnapshotError> {
        if !self.read_header()? {
            return Ok(None);
        }
        let mut wanted = BATCH;
        loop {
            let read = self.fill(wanted).map_err(|source| self.failed(source))?;
            let mut at = 0;
            while let Framed::Whole(record) = framed_at(&self.buffer[..read], at) {
                at = record.end;
                if record.kind == RecordKind::Compacted as u16 {
                    let compacted: Compacted = read_json(&record)?;
                    return Ok(Some((self.offset + at as u64, compacted.end)));
                }
            }
            match at {
                _ if read < wanted => return Ok(None),
                0 => wanted *= 2,
                _ => self.offset += at as u64,
            }
        }
    }

    fn read_batch(&mut self, take: &mut impl FnMut(Entry)) -> Result<Followed, SnapshotError> {
        if self.offset == 0 && !self.read_header()? {
            return Ok(Followed::All);
        }
        self.go_back().map_err(|source| self.failed(source))?;
        let mut wanted = BATCH;
        loop {
            let read = self.fill(wanted).map_err(|source| self.failed(source))?;
            let buffer = std::mem::take(&mut self.buffer);
            let outcome = self.take_records(&buffer[..read], take);
            self.buffer = buffer;
            match outcome? {
                // The batch does not hold a whole record.
                (0, length) if read == wanted && length > wanted => wanted = length,
                _ if read == wanted => return Ok(Followed::More),
                _ => return Ok(Followed::All),
            }
        }
    }

    /// Reads and checks the header; `false` if it is not complete yet.
    fn read_header(&mut self) -> Result<bool, SnapshotError> {
        let read = self
            .fill(HEADER_LENGTH)
            .map_err(|source| self.failed(source))?;
        match check_header(&self.buffer[..read], MAGIC) {
            Ok(()) => {
                self.offset = HEADER_LENGTH as u64;
                Ok(true)
            }
            Err(SnapshotError::Empty { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Passes the whole records of `bytes` on, which start at the offset. Returns their length in bytes, and the
    /// length of the following record as far as it is known.
    fn take_records(
        &mut self,
        bytes: &[u8],
        take: &mut impl FnMut(Entry),
    ) -> Result<(usize, usize), SnapshotError> {
        let begin = self.offset;
        let mut at = 0;
        loop {
            match framed_at(bytes, at) {
                Framed::Part(length) => return Ok((at, length)),
                Framed::Damaged(expected) => {
                    let found = hex(&bytes[at..bytes.len().min(at + HEAD_LENGTH)]);
                    return Err(corrupt(self.offset as usize, expected, found));
                }
                Framed::Whole(record) => {
                    let handed = PassedRecord::of(&bytes[at..record.end], self.offset);
                    if !self.was_taken_back(&handed) {
                        let in_file = Record {
                            offset: begin as usize + record.offset,
                            ..record
                        };
                        let again = self.again;
                        self.decoder.take(&in_file, &mut |entry, _| {
                            if !again || !matches!(entry, Entry::Meta(_)) {
                                take(entry);
                            }
                        })?;
                    }
                    at = record.end;
                    self.offset = handed.end;
                    self.last.push_back(handed);
                    if self.last.len() > MAX_TAKEN_BACK {
                        self.last.pop_front();
                    }
                }
            }
        }
    }

    /// Checks whether this record is the next one of those taken back.
    fn was_taken_back(&mut self, record: &PassedRecord) -> bool {
        let is_next =
            |next: &mut PassedRecord| (next.head, next.tail) == (record.head, record.tail);
        self.taken_back.pop_front_if(is_next).is_some()
    }

    /// Goes back to the end of the last record that the file still holds.
    fn go_back(&mut self) -> io::Result<()> {
        while let Some(last) = self.last.back() {
            if last.is_in(&self.file)? {
                return Ok(());
            }
            self.offset = last.start;
            self.taken_back.extend(self.last.pop_back());
            self.taken_back.rotate_right(1);
        }
        Ok(())
    }

    /// Fills the buffer with up to `wanted` bytes from the offset on, and returns their number.
    fn fill(&mut self, wanted: usize) -> io::Result<usize> {
        self.buffer.resize(wanted, 0);
        self.buffer.shrink_to(wanted);
        let mut read = 0;
        while read < wanted {
            let place = self.offset + read as u64;
            match self.file.read_at(&mut self.buffer[read..], place) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn failed(&self, source: io::Error) -> SnapshotError {
        SnapshotError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

impl PassedRecord {
    /// Describes a whole record that begins at `start`.
    fn of(record: &[u8], start: u64) -> Self {
        Self {
            start,
            end: start + record.len() as u64,
            head: record.first_chunk().copied().unwrap_or_default(),
            tail: record.last_chunk().copied().unwrap_or_default(),
        }
    }

    /// Checks whether the file still holds the record at its offset.
    fn is_in(&self, file: &File) -> io::Result<bool> {
        let mut head = [0; HEAD_LENGTH];
        let mut tail = [0; TAIL_LENGTH];
        let outcome = file
            .read_exact_at(&mut head, self.start)
            .and_then(|()| file.read_exact_at(&mut tail, self.end - TAIL_LENGTH as u64));
        match outcome {
            Ok(()) => Ok((head, tail) == (self.head, self.tail)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Call, EventWriter, Outcome};
    use crate::format::Meta;

    #[test]
    fn memory_is_limited_to_a_batch() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = EventWriter::create(folder.path(), &Meta::default()).unwrap();
        for start in 0..1_000_000 {
            let call = Call {
                thread: 1,
                span: 1,
                start,
                end: start + 1,
                outcome: Outcome::Returned,
                captures: Vec::new(),
            };
            writer.call(&call, false);
        }
        writer.complete().unwrap();
        let mut follower = Follower::open(writer.path()).unwrap();
        let (mut calls, mut batches, mut ended) = (0, 1, false);
        let mut take = |entry| match entry {
            Entry::Call(..) => calls += 1,
            other => ended = other == Entry::End,
        };
        while follower.read(&mut take).unwrap() == Followed::More {
            assert!(follower.buffer.capacity() <= BATCH);
            batches += 1;
        }
        assert!(ended && batches > 3, "{batches}");
        assert_eq!(calls, 1_000_000);
    }
}
