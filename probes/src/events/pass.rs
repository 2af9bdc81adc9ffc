//! Reads an event file sequentially, with the memory of one batch.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::MAGIC;
use super::decode::{Decoder, Entry, RestoredItem, StoredCall};
use super::read::Trace;
use crate::error::SnapshotError;
use crate::format::{HEAD_LENGTH, HEADER_LENGTH, read_head};
use crate::log::read::{Framed, Record, check_header, corrupt, framed_at, hex};

/// Number of bytes read at once.
const BATCH: usize = 1 << 20;

/// An event file whose single calls and events stay on disk.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    /// End of its last whole record during the first pass.
    end: u64,
    decoder: Decoder,
}

impl EventFile {
    /// Reads all entries; single calls and events are counted only.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn read(path: &Path) -> Result<(Self, Trace), SnapshotError> {
        let unread = |source| SnapshotError::Io {
            path: path.to_owned(),
            source,
        };
        let (mut decoder, mut trace) = (Decoder::default(), Trace::default());
        let file = File::open(path).map_err(unread)?;
        let mut pass = Pass::new(file);
        let end = pass.records(path, |record| {
            decoder.take(record, &mut |entry, _| trace.take_summed(entry))
        })?;
        trace.truncated = end.is_torn;
        if !decoder.has_begun() {
            return Err(SnapshotError::Empty { length: end.length });
        }
        trace.finish_summed();
        let file = Self {
            path: path.to_owned(),
            end: end.whole,
            decoder,
        };
        Ok((file, trace))
    }

    /// Passes on the calls and events of the first pass; `None` marks a reset.
    ///
    /// # Errors
    /// A [`SnapshotError`] as the cause, or the error of `take`.
    pub fn calls(
        &self,
        take: &mut impl FnMut(Option<StoredCall<'_>>) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = File::open(&self.path)?;
        let mut decoder = Decoder::default();
        let mut outcome = Ok(());
        let mut pass = Pass::new(file.take(self.end));
        let end = pass.records(&self.path, |record| {
            decoder.take(record, &mut |entry, stored| {
                if outcome.is_ok() {
                    match (entry, stored) {
                        (Entry::Reset, _) => outcome = take(None),
                        (_, Some(stored)) => outcome = take(Some(stored)),
                        _ => {}
                    }
                }
            })
        });
        outcome?;
        match end {
            Err(error) => Err(io::Error::other(error)),
            Ok(end) if end.whole == self.end => Ok(()),
            Ok(_) => Err(io::Error::other(format!(
                "another file replaced {} while it was read",
                self.path.display()
            ))),
        }
    }

    /// Restores a stored call or event; the flag is set for a virtual thread.
    ///
    /// # Errors
    /// If the bytes are not a call of this file.
    pub fn restore(
        &self,
        thread: u64,
        start: u64,
        stored: &[u8],
    ) -> io::Result<(RestoredItem, bool)> {
        let restored = self.decoder.restore(thread, start, stored);
        restored.map_err(io::Error::other)
    }
}

impl Trace {
    /// Reads an event file with all its calls and events.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn read(path: &Path) -> Result<Self, SnapshotError> {
        let unread = |source| SnapshotError::Io {
            path: path.to_owned(),
            source,
        };
        Self::from_reader(File::open(path).map_err(unread)?, path)
    }

    /// Reads an event file from its bytes.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        Self::from_reader(bytes, Path::new(""))
    }

    fn from_reader(source: impl Read, path: &Path) -> Result<Self, SnapshotError> {
        let (mut decoder, mut trace) = (Decoder::default(), Self::default());
        let end = Pass::new(source).records(path, |record| {
            decoder.take(record, &mut |entry, _| trace.take(entry))
        })?;
        trace.truncated = end.is_torn;
        if !decoder.has_begun() {
            return Err(SnapshotError::Empty { length: end.length });
        }
        trace.finish();
        Ok(trace)
    }
}

/// The end of a pass.
struct End {
    /// End of the last whole record.
    whole: u64,
    /// Length of the file.
    length: u64,
    /// Set if a partial record follows.
    is_torn: bool,
}

/// A source that is read once, batch by batch.
struct Pass<R> {
    source: R,
    /// Bytes read and not passed on yet.
    buffer: Vec<u8>,
    /// Offset of the buffer in the file.
    offset: u64,
    is_at_end: bool,
}

impl<R: Read> Pass<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            offset: 0,
            is_at_end: false,
        }
    }

    /// Passes each whole record on. Unreadable bytes are a torn tail if no whole record follows, else damage.
    fn records(
        &mut self,
        path: &Path,
        mut take: impl FnMut(&Record<'_>) -> Result<(), SnapshotError>,
    ) -> Result<End, SnapshotError> {
        let unread = |source| SnapshotError::Io {
            path: path.to_owned(),
            source,
        };
        self.fill(BATCH).map_err(unread)?;
        check_header(&self.buffer, MAGIC)?;
        let mut at = HEADER_LENGTH;
        loop {
            match framed_at(&self.buffer, at) {
                Framed::Whole(record) => {
                    take(&Record {
                        offset: self.offset as usize + record.offset,
                        ..record
                    })?;
                    at = record.end;
                }
                Framed::Part(wanted) if !self.is_at_end => {
                    self.drop_front(at);
                    at = 0;
                    self.fill(wanted.max(BATCH)).map_err(unread)?;
                }
                Framed::Part(_) => return Ok(self.end(at)),
                Framed::Damaged(expected) => {
                    self.drop_front(at);
                    return self.torn_or(expected).map_err(unread)?;
                }
            }
        }
    }

    fn end(&self, at: usize) -> End {
        End {
            whole: self.offset + at as u64,
            length: self.offset + self.buffer.len() as u64,
            is_torn: at < self.buffer.len(),
        }
    }

    fn drop_front(&mut self, count: usize) {
        self.buffer.drain(..count);
        self.offset += count as u64;
    }

    /// Reads until the buffer holds `wanted` bytes or the source ends.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        let missing = wanted.saturating_sub(self.buffer.len());
        let mut part = (&mut self.source).take(missing as u64);
        self.is_at_end = part.read_to_end(&mut self.buffer)? < missing;
        Ok(())
    }

    /// The buffer starts with an unreadable record: searches for a whole record after it.
    fn torn_or(&mut self, expected: &str) -> io::Result<Result<End, SnapshotError>> {
        let (begin, found) = (
            self.offset,
            hex(&self.buffer[..self.buffer.len().min(HEAD_LENGTH)]),
        );
        let mut at = 1;
        loop {
            let whole = (at..self.buffer.len()).find(|at| read_head(&self.buffer[*at..]).is_some());
            if let Some(next) = whole {
                let next = self.offset + next as u64;
                let found = format!("{found}, and a whole record at byte {next}");
                return Ok(Err(corrupt(begin as usize, expected, found)));
            }
            if self.is_at_end {
                return Ok(Ok(End {
                    whole: begin,
                    length: self.offset + self.buffer.len() as u64,
                    is_torn: true,
                }));
            }
            let kept = self.buffer.len().saturating_sub(HEAD_LENGTH - 1).max(1);
            self.drop_front(kept);
            at = 0;
            self.fill(BATCH)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Call, EventWriter, Outcome};
    use crate::format::Meta;

    fn call(start: u64, end: u64, outcome: Outcome) -> Call {
        Call {
            thread: 7,
            span: 1,
            start,
            end,
            outcome,
            captures: Vec::new(),
        }
    }

    /// Writes calls before a reset, an open call that ends later, and one that stays open.
    fn written(folder: &Path) -> PathBuf {
        let mut writer = EventWriter::create(folder, &Meta::default()).unwrap();
        writer.call(&call(1, 2, Outcome::Returned), false);
        writer.reset();
        for (start, end, outcome) in [
            (30, 40, Outcome::Threw(Some("a/Thrown".into()))),
            (10, 45, Outcome::Open),
            (20, 46, Outcome::Open),
            (20, 50, Outcome::Open),
            (10, 60, Outcome::Returned),
        ] {
            writer.call(&call(start, end, outcome), true);
        }
        writer.complete().unwrap();
        writer.path().to_owned()
    }

    #[test]
    fn calls_stay_on_disk_and_all_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let (file, summed) = EventFile::read(&path).unwrap();
        let whole = Trace::read(&path).unwrap();
        assert!(summed.calls.is_empty());
        assert_eq!(summed.single, whole.single);
        let single = &summed.single;
        assert_eq!(
            (single.calls(), single.open(), single.ends()),
            (3, 1, Some((40, 60)))
        );
        let mut calls: Vec<Call> = Vec::new();
        let mut take = |stored: Option<StoredCall<'_>>| {
            let Some(stored) = stored else {
                calls.clear();
                return Ok(());
            };
            let mut bytes = Vec::new();
            stored.write(&mut bytes);
            let (restored, is_virtual) = file.restore(stored.thread, stored.start, &bytes).unwrap();
            assert!(is_virtual || stored.start == 1);
            match restored {
                RestoredItem::Call(call) => calls.push(call),
                RestoredItem::Moment(_) => panic!("an event"),
            }
            Ok(())
        };
        file.calls(&mut take).unwrap();
        assert_eq!(calls.len(), 5);
        assert!(whole.calls.iter().all(|call| calls.contains(call)));
    }

    /// Data appended after the first pass, or in a file that replaced this one, is not part of the second pass.
    #[test]
    fn second_pass_covers_the_data_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let (file, _) = EventFile::read(&path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend([0; 5]);
        std::fs::write(&path, &bytes).unwrap();
        assert!(file.calls(&mut |_| Ok(())).is_ok());
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let error = file.calls(&mut |_| Ok(())).unwrap_err();
        assert!(
            error.to_string().contains("another file replaced"),
            "{error}"
        );
    }
}
