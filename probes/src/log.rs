//! An append-only file of records, the common base of snapshot and event file.

pub(crate) mod read;

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::WriteError;
use crate::format::{
    HEAD_LENGTH, Incomplete, Meta, TAIL_LENGTH, read_head, write_header, write_record,
};

/// Approximate length of one write to the kernel. Each write ends with a whole record.
pub(crate) const WRITE_LENGTH: usize = 1 << 20;

/// Number of the last records that can be taken back to make room for the incomplete record: more bytes than a file
/// system block.
pub(crate) const MAX_TAKEN_BACK: usize = 4_096;

/// Upper bound of the incomplete record's length.
const MARK_LENGTH: usize = 256;

/// The result of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Nothing was pending.
    Unchanged,
    /// This many bytes were written, and nothing is pending.
    Written(u64),
    /// Writing still fails, as reported before; this many bytes are pending.
    Stalled(usize),
}

/// Appends records to one file.
///
/// After a failed write the file is truncated to its last whole record. The pending data is kept and later calls try
/// again. Meanwhile an incomplete record ends the file. If the disk has no room even for it, records are taken back
/// until it fits.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) file: File,
    path: PathBuf,
    /// Length of the file up to the end of its last complete record, in bytes.
    length: u64,
    /// Complete pending records.
    queue: Vec<u8>,
    /// End offset of each record in `queue`.
    ends: Vec<usize>,
    /// Set if writing failed and the failure was reported.
    stalled: bool,
    /// Set if a failed write may have left a partial record after `length`.
    torn: bool,
    marks: Marks,
    /// The incomplete record, if it is the last one of the file.
    mark: Option<Mark>,
    /// Start offsets of the last records in the file, except the first.
    starts: VecDeque<u64>,
}

/// Defines the incomplete record of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks {
    /// Kind of the record.
    pub kind: u16,
    /// Adds a pending record, given by kind and payload, to the missing data.
    pub count: fn(u16, &[u8], &mut Incomplete),
}

/// The incomplete record at the end of the file.
#[derive(Debug)]
struct Mark {
    start: u64,
    says: Incomplete,
}

impl Log {
    /// Creates `<stem>-<nonce>.<extension>` in the existing `directory`. Writes the header and `meta`, the record of
    /// kind 1. The stem is [`Meta::stem`].
    pub fn create(
        directory: &Path,
        extension: &str,
        magic: [u8; 8],
        meta: &Meta,
        marks: Marks,
    ) -> Result<Self, WriteError> {
        let failed = |source| WriteError::Create {
            directory: directory.to_owned(),
            source,
        };
        let (file, path) = create_new(directory, extension, meta).map_err(failed)?;
        let mut log = Self {
            file,
            path,
            length: 0,
            queue: Vec::new(),
            ends: Vec::new(),
            stalled: false,
            torn: false,
            marks,
            mark: None,
            starts: VecDeque::new(),
        };
        write_header(&mut log.queue, magic);
        log.enqueue(1, |out| write_json(out, meta));
        if let Err(source) = log.drain().and_then(|()| log.check_room()) {
            let _ = std::fs::remove_file(&log.path); // an empty file has no use; the cause is reported
            return Err(failed(source));
        }
        log.starts.clear();
        Ok(log)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length of the whole records in the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Continues with another file of this name, which holds `length` bytes of whole records.
    pub fn replace(&mut self, file: File, length: u64) {
        (self.file, self.length) = (file, length);
        (self.torn, self.mark) = (false, None);
        self.starts.clear();
    }

    /// Returns the number of pending bytes.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Checks whether the last write failed.
    pub fn is_stalled(&self) -> bool {
        self.stalled
    }

    /// Reports the next failure even if one was reported before.
    pub fn report_again(&mut self) {
        self.stalled = false;
    }

    /// Adds a record; the closure appends its payload. [`Log::write`] passes it to the kernel.
    pub fn enqueue(&mut self, kind: u16, payload: impl FnOnce(&mut Vec<u8>)) {
        write_record(&mut self.queue, kind, payload);
        self.ends.push(self.queue.len());
    }

    /// Restores the file at its path, folders included, if it was removed meanwhile, for example by a clean build.
    /// The kernel keeps the content of an open file. Returns `true` if the file was restored.
    ///
    /// # Errors
    /// The cause if copying fails; the content is lost then.
    pub fn restore(&mut self) -> io::Result<bool> {
        if self.file.metadata()?.nlink() > 0 {
            return Ok(false);
        }
        let mut removed = File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd()))?;
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .mode(removed.metadata()?.mode())
            .open(&self.path)?;
        io::copy(&mut removed, &mut file)?;
        self.file = file;
        Ok(true)
    }

    /// Writes the pending records.
    ///
    /// # Errors
    /// [`WriteError::Write`] when writing begins to fail; while it goes on failing, [`Flush::Stalled`].
    pub fn write(&mut self) -> Result<Flush, WriteError> {
        let before = self.length;
        match self.drain() {
            Ok(()) => {
                self.stalled = false;
                Ok(Flush::Written(self.length - before))
            }
            Err(source) => {
                let pending = self.queue.len();
                self.mark(&source);
                if std::mem::replace(&mut self.stalled, true) {
                    return Ok(Flush::Stalled(self.queue.len()));
                }
                Err(WriteError::Write {
                    path: self.path.clone(),
                    pending,
                    source,
                })
            }
        }
    }

    /// Checks that the disk has room for an incomplete record.
    fn check_room(&mut self) -> io::Result<()> {
        let length = self.length;
        self.append_bytes(&[0; MARK_LENGTH])?;
        self.length = length;
        self.file.set_len(length)
    }

    /// Ends the file with an incomplete record that counts the missing data.
    fn mark(&mut self, cause: &io::Error) {
        let last = self.mark.take();
        let mut says = Incomplete {
            since_ms: last.as_ref().map_or_else(now_ms, |last| last.says.since_ms),
            cause: cause.to_string(),
            ..Incomplete::default()
        };
        let mut begin = 0;
        for end in &self.ends {
            self.count(&self.queue[begin..*end], &mut says);
            begin = *end;
        }
        match last {
            Some(last) if last.says == says => {
                self.mark = Some(last);
                return;
            }
            Some(last) => (self.length, self.torn) = (last.start, true),
            None => {}
        }
        self.append_mark(says);
    }

    fn append_mark(&mut self, mut says: Incomplete) {
        loop {
            let start = self.length;
            let mut record = Vec::new();
            write_record(&mut record, self.marks.kind, |out| write_json(out, &says));
            if self.append_bytes(&record).is_ok() {
                self.mark = Some(Mark { start, says });
                return;
            }
            if self.take_back().is_none() {
                return;
            }
            self.count(&self.queue[..self.ends[0]], &mut says);
        }
    }

    /// Counts the data of a pending record as missing.
    fn count(&self, record: &[u8], says: &mut Incomplete) {
        if let Some((kind, _)) = read_head(record) {
            let payload = &record[HEAD_LENGTH..record.len() - TAIL_LENGTH];
            (self.marks.count)(kind, payload, says);
        }
    }

    /// Moves the last record of the file back to the queue. `None` if there is no such record.
    fn take_back(&mut self) -> Option<()> {
        let start = self.starts.pop_back()?;
        let mut record = vec![0; usize::try_from(self.length - start).ok()?];
        self.file.read_exact_at(&mut record, start).ok()?;
        self.file.set_len(start).ok()?;
        self.length = start;
        self.ends.iter_mut().for_each(|end| *end += record.len());
        self.ends.insert(0, record.len());
        self.queue.splice(0..0, record);
        Some(())
    }

    /// Writes the queue in steps that end with whole records; keeps the rest after a failure.
    fn drain(&mut self) -> io::Result<()> {
        let mut done = 0;
        let mut records = 0;
        let outcome = loop {
            let Some(count) = step(&self.ends[records..], done) else {
                break Ok(());
            };
            let end = self.ends[records + count - 1];
            if let Err(error) = self.append(done, end) {
                break Err(error);
            }
            self.note_starts(done, records, count);
            done = end;
            records += count;
        };
        self.queue.drain(..done);
        self.ends.drain(..records);
        self.ends.iter_mut().for_each(|end| *end -= done);
        if self.queue.is_empty() && self.queue.capacity() > 4 * WRITE_LENGTH {
            self.queue = Vec::new(); // frees the memory of the burst at start-up
        }
        outcome
    }

    /// Notes the start offsets of the `count` records from `ends[first]` on, which were just appended. Their bytes in
    /// `queue` start at `from`.
    fn note_starts(&mut self, from: usize, first: usize, count: usize) {
        if self.mark.take().is_some() {
            self.starts.clear(); // records before a mark stay in the file
        }
        let ends = &self.ends[first..first + count];
        let begin = self.length - (ends[count - 1] - from) as u64;
        let starts = std::iter::once(from).chain(ends[..count - 1].iter().copied());
        let skipped = count.saturating_sub(MAX_TAKEN_BACK);
        self.starts.extend(
            starts
                .skip(skipped)
                .map(|start| begin + (start - from) as u64),
        );
        let superfluous = self.starts.len().saturating_sub(MAX_TAKEN_BACK);
        self.starts.drain(..superfluous);
    }

    /// Appends `queue[from..to]` to the file, all or nothing.
    fn append(&mut self, from: usize, to: usize) -> io::Result<()> {
        let queue = std::mem::take(&mut self.queue);
        let outcome = self.append_bytes(&queue[from..to]);
        self.queue = queue;
        outcome
    }

    /// Appends bytes to the file, all or nothing.
    fn append_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.length)?;
            self.torn = false;
        }
        match self.file.write_all(bytes) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                self.torn = self.file.set_len(self.length).is_err();
                Err(error)
            }
        }
    }
}

/// Returns the number of records, given by their `ends`, in one write that starts at `start`.
fn step(ends: &[usize], start: usize) -> Option<usize> {
    if ends.is_empty() {
        return None;
    }
    let fitting = ends
        .iter()
        .take_while(|end| **end - start <= WRITE_LENGTH)
        .count();
    Some(fitting.max(1))
}

/// Appends a plain struct of texts and numbers as JSON, which cannot fail.
pub(crate) fn write_json(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    out.extend(serde_json::to_vec(value).unwrap_or_default());
}

/// Appends length and text. A text above 65,535 bytes is cut at a character boundary.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    let mut length = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    out.extend_from_slice(&(length as u16).to_le_bytes());
    out.extend_from_slice(&text.as_bytes()[..length]);
}

/// Creates a file with a unique name; retries a clash with another nonce.
fn create_new(directory: &Path, extension: &str, meta: &Meta) -> io::Result<(File, PathBuf)> {
    let mut tries = 0;
    loop {
        let nonce = RandomState::new().build_hasher().finish() as u32;
        let path = directory.join(format!("{}-{nonce:08x}.{extension}", meta.stem()));
        let mut options = OpenOptions::new();
        match options.read(true).append(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 8 => tries += 1,
            outcome => return outcome.map(|file| (file, path)),
        }
    }
}

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let elapsed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_at_a_character() {
        let mut out = Vec::new();
        write_text(&mut out, &"é".repeat(40_000));
        assert_eq!(out.len(), 2 + 65_534);
        assert!(std::str::from_utf8(&out[2..]).is_ok());
    }

    #[test]
    fn writes_end_with_whole_records() {
        assert_eq!(step(&[], 0), None);
        assert_eq!(step(&[10, 20, WRITE_LENGTH, WRITE_LENGTH + 1], 0), Some(3));
        assert_eq!(step(&[5 * WRITE_LENGTH, 6 * WRITE_LENGTH], 0), Some(1));
        assert_eq!(step(&[WRITE_LENGTH + 5, WRITE_LENGTH + 11], 10), Some(1));
    }
}
