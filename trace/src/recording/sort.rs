//! External sorting: runs are sorted in memory, stored, and merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use super::scratch::Scratch;

/// The sort key of records; the sort is stable.
pub type Key = [u64; 3];

/// Maximum number of record bytes sorted in memory.
const RUN: usize = 8 << 20;
/// Maximum number of records sorted in memory.
const RECORDS: usize = 1 << 19;
/// Maximum number of runs merged at once.
const MERGED: usize = 64;
/// Number of records between two marks of a cursor.
const MARKED: u64 = 4_096;
/// Number of bytes of a run read at once.
const PIECE: usize = 1 << 16;

/// Takes records to sort.
#[derive(Debug)]
pub struct Sorter {
    scratch: Scratch,
    bytes: Vec<u8>,
    records: Vec<Record>,
    runs: Vec<Run>,
    count: u64,
}

/// A record whose bytes are stored separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    key: Key,
    at: u32,
    length: u32,
}

/// Sorted and stored records.
#[derive(Debug, Clone, Copy)]
struct Run {
    begin: u64,
    end: u64,
}

/// Sorted records, which can be read several times.
#[derive(Debug, Clone)]
pub struct Sorted {
    scratch: Scratch,
    runs: Vec<Run>,
    count: u64,
}

impl Sorter {
    /// Creates an empty sorter.
    #[must_use]
    pub fn new(scratch: &Scratch) -> Self {
        Self {
            scratch: scratch.clone(),
            bytes: Vec::new(),
            records: Vec::new(),
            runs: Vec::new(),
            count: 0,
        }
    }

    /// Adds a record; `write` appends its bytes.
    ///
    /// # Errors
    /// If there is no room.
    pub fn push(&mut self, key: Key, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let at = self.bytes.len();
        write(&mut self.bytes);
        self.records.push(Record {
            key,
            at: at as u32,
            length: (self.bytes.len() - at) as u32,
        });
        self.count += 1;
        if self.bytes.len() >= RUN || self.records.len() >= RECORDS {
            self.store()?;
        }
        Ok(())
    }

    /// Discards all records.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
        self.runs.clear();
        self.count = 0;
    }

    /// Returns all records, sorted.
    ///
    /// # Errors
    /// If there is no room.
    pub fn finish(mut self) -> io::Result<Sorted> {
        self.store()?;
        let Self {
            scratch,
            mut runs,
            count,
            ..
        } = self;
        while runs.len() > MERGED {
            let mut merged = Vec::new();
            for some in runs.chunks(MERGED) {
                let mut writer = RunWriter::default();
                Merge::of(&scratch, some)?.each(&mut |key, bytes| {
                    writer.record(key, bytes);
                    writer.flush_if_long(&scratch)
                })?;
                merged.push(writer.finish(&scratch)?);
            }
            runs = merged;
        }
        Ok(Sorted {
            scratch,
            runs,
            count,
        })
    }

    fn store(&mut self) -> io::Result<()> {
        if self.records.is_empty() {
            return Ok(());
        }
        self.records.sort_unstable(); // offsets ascend, which keeps the order of equal keys
        let mut writer = RunWriter::default();
        for record in &self.records {
            let at = record.at as usize;
            writer.record(record.key, &self.bytes[at..at + record.length as usize]);
            writer.flush_if_long(&self.scratch)?;
        }
        self.runs.push(writer.finish(&self.scratch)?);
        self.bytes.clear();
        self.records.clear();
        Ok(())
    }
}

/// Writes a run, piece by piece. The pieces of a run are adjacent, because nothing else is stored meanwhile.
#[derive(Debug, Default)]
struct RunWriter {
    begin: Option<u64>,
    written: u64,
    piece: Vec<u8>,
    last: Key,
}

impl RunWriter {
    /// Adds a record: its key as differences to the previous one, its length and its bytes.
    fn record(&mut self, key: Key, bytes: &[u8]) {
        let mut is_same = true;
        for (number, last) in key.into_iter().zip(self.last) {
            let difference = if is_same { number - last } else { number };
            is_same &= difference == 0;
            write_varint(&mut self.piece, difference);
        }
        self.last = key;
        write_varint(&mut self.piece, bytes.len() as u64);
        self.piece.extend_from_slice(bytes);
    }

    fn flush_if_long(&mut self, scratch: &Scratch) -> io::Result<()> {
        match self.piece.len() >= 4 * PIECE {
            true => self.flush(scratch),
            false => Ok(()),
        }
    }

    fn flush(&mut self, scratch: &Scratch) -> io::Result<()> {
        let at = scratch.append(&self.piece)?;
        self.begin.get_or_insert(at);
        self.written += self.piece.len() as u64;
        self.piece.clear();
        Ok(())
    }

    fn finish(mut self, scratch: &Scratch) -> io::Result<Run> {
        self.flush(scratch)?;
        let begin = self.begin.unwrap_or_default();
        Ok(Run {
            begin,
            end: begin + self.written,
        })
    }
}

impl Sorted {
    /// Returns the number of records.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Passes all records on in order.
    ///
    /// # Errors
    /// If they cannot be read, and errors of `take`.
    pub fn each(&self, take: &mut dyn FnMut(Key, &[u8]) -> io::Result<()>) -> io::Result<()> {
        Merge::of(&self.scratch, &self.runs)?.each(take)
    }
}

impl Sorted {
    /// Returns a record by its number, with a cursor of these records.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn get<'c>(
        &self,
        number: u64,
        cursor: &'c mut Cursor,
    ) -> io::Result<Option<(Key, &'c [u8])>> {
        let is_behind = cursor.merge.is_some() && cursor.next <= number;
        if !is_behind {
            *cursor = self.nearest(cursor, number)?;
        }
        let Cursor { merge, next, marks } = cursor;
        let Some(merge) = merge else { return Ok(None) };
        loop {
            if next.is_multiple_of(MARKED) && *next / MARKED == marks.len() as u64 {
                marks.push(merge.mark());
            }
            *next += 1;
            if !merge.step()? {
                *next = u64::MAX;
                return Ok(None);
            }
            if *next > number {
                return Ok(merge.record());
            }
        }
    }

    /// Returns a cursor at the last known mark before a record.
    fn nearest(&self, cursor: &mut Cursor, number: u64) -> io::Result<Cursor> {
        let marks = std::mem::take(&mut cursor.marks);
        let mark = (number / MARKED).min(marks.len().saturating_sub(1) as u64);
        let (merge, next) = match marks.get(mark as usize) {
            Some(mark_there) => (Merge::at(&self.scratch, mark_there)?, mark * MARKED),
            None => (Merge::of(&self.scratch, &self.runs)?, 0),
        };
        Ok(Cursor {
            merge: Some(merge),
            next,
            marks,
        })
    }
}

/// A position among sorted records.
#[derive(Default)]
pub struct Cursor {
    merge: Option<Merge>,
    /// Number of the next record.
    next: u64,
    /// Positions at regular intervals.
    marks: Vec<Mark>,
}

/// For each run of a merge: its rest, and the previous key.
type Mark = Vec<(Run, Key)>;

/// Merges runs.
struct Merge {
    readers: Vec<RunReader>,
    /// The next key of each run, lowest first; among equal keys, the earlier run first.
    next: BinaryHeap<Reverse<(Key, usize)>>,
    /// The run of the last record.
    current: Option<usize>,
}

impl Merge {
    fn of(scratch: &Scratch, runs: &[Run]) -> io::Result<Self> {
        let begins = runs.iter().map(|run| (*run, Key::default()));
        Self::at(scratch, &begins.collect::<Mark>())
    }

    /// Continues at a mark.
    fn at(scratch: &Scratch, mark: &Mark) -> io::Result<Self> {
        let mut merge = Self {
            readers: Vec::new(),
            next: BinaryHeap::new(),
            current: None,
        };
        for (number, (run, last)) in mark.iter().enumerate() {
            let mut reader = RunReader::new(scratch, *run, *last);
            if reader.step()? {
                merge.next.push(Reverse((reader.key, number)));
            }
            merge.readers.push(reader);
        }
        Ok(merge)
    }

    /// Returns the position of each run before the next record.
    fn mark(&self) -> Mark {
        let is_given = |number: usize| self.current == Some(number);
        let readers = self.readers.iter().enumerate();
        readers
            .map(|(number, reader)| reader.mark(is_given(number)))
            .collect()
    }

    /// Moves to the next record; `false` after the last.
    fn step(&mut self) -> io::Result<bool> {
        if let Some(number) = self.current.take()
            && self.readers[number].step()?
        {
            self.next.push(Reverse((self.readers[number].key, number)));
        }
        self.current = self.next.pop().map(|Reverse((_, number))| number);
        Ok(self.current.is_some())
    }

    /// Returns the current record.
    fn record(&self) -> Option<(Key, &[u8])> {
        let reader = &self.readers[self.current?];
        Some((reader.key, reader.bytes()))
    }

    fn each(&mut self, take: &mut dyn FnMut(Key, &[u8]) -> io::Result<()>) -> io::Result<()> {
        while self.step()? {
            if let Some((key, bytes)) = self.record() {
                take(key, bytes)?;
            }
        }
        Ok(())
    }
}

/// Reads a run record by record.
struct RunReader {
    scratch: Scratch,
    /// The unread part.
    rest: Run,
    piece: Vec<u8>,
    /// Offset of the next record in the piece.
    at: usize,
    key: Key,
    /// The key of the previous record.
    before: Key,
    /// Distance of the last record's start from its end.
    length: usize,
    /// Offset of the last record's bytes.
    begin: usize,
}

impl RunReader {
    /// Starts after a record with the key `last`.
    fn new(scratch: &Scratch, run: Run, last: Key) -> Self {
        Self {
            scratch: scratch.clone(),
            rest: run,
            piece: Vec::new(),
            at: 0,
            key: last,
            before: last,
            length: 0,
            begin: 0,
        }
    }

    /// Returns the rest of the run, and the key before it. The rest starts after the last record if it `is_given`,
    /// else at that record.
    fn mark(&self, is_given: bool) -> (Run, Key) {
        let place = |at: usize| Run {
            begin: self.rest.begin - (self.piece.len() - at) as u64,
            ..self.rest
        };
        match is_given || self.length == 0 {
            true => (place(self.at), self.key),
            false => (place(self.at - self.length), self.before),
        }
    }

    /// Returns the bytes of the last record.
    fn bytes(&self) -> &[u8] {
        &self.piece[self.begin..self.at]
    }

    /// Reads the next record; `false` after the last.
    fn step(&mut self) -> io::Result<bool> {
        loop {
            if let Some((key, begin, end)) = self.parsed() {
                (self.before, self.length) = (self.key, end - self.at);
                (self.key, self.begin, self.at) = (key, begin, end);
                return Ok(true);
            }
            let left = self.rest.end - self.rest.begin;
            if left == 0 {
                self.length = 0;
                return match self.at == self.piece.len() {
                    true => Ok(false),
                    false => Err(io::Error::other("temporary data was cut off")),
                };
            }
            self.piece.drain(..self.at);
            (self.at, self.begin) = (0, 0);
            let kept = self.piece.len();
            // A record that is longer than a piece is read as a whole.
            let more = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
            self.piece.resize(kept + more, 0);
            self.scratch
                .read(self.rest.begin, &mut self.piece[kept..])?;
            self.rest.begin += more as u64;
        }
    }

    /// Parses the record at the offset, if it is complete: its key, and start and end of its bytes.
    fn parsed(&self) -> Option<(Key, usize, usize)> {
        let mut at = self.at;
        let (mut key, mut is_same) = (Key::default(), true);
        for (number, last) in key.iter_mut().zip(self.key) {
            let difference = varint(&self.piece, &mut at)?;
            *number = if is_same {
                last + difference
            } else {
                difference
            };
            is_same &= difference == 0;
        }
        let length = usize::try_from(varint(&self.piece, &mut at)?).ok()?;
        let end = at.checked_add(length)?;
        (end <= self.piece.len()).then_some((key, at, end))
    }
}

/// Appends a LEB128 number.
pub(crate) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads the number at an offset and advances the offset; `None` if it is cut off.
pub(crate) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(sorted: &Sorted) -> Vec<(Key, Vec<u8>)> {
        let mut all = Vec::new();
        let mut take = |key, bytes: &[u8]| {
            all.push((key, bytes.to_vec()));
            Ok(())
        };
        sorted.each(&mut take).unwrap();
        all
    }

    /// Returns pseudo-random numbers.
    fn lot(number: u64) -> u64 {
        number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20
    }

    #[test]
    fn records_of_many_runs_are_sorted_on_each_reading() {
        let mut sorter = Sorter::new(&Scratch::default());
        sorter.push([9; 3], |_| ()).unwrap();
        sorter.clear();
        let mut expected = Vec::new();
        for number in 0..300_u64 {
            let key = [lot(number) % 7, u64::MAX - lot(number) % 5, number % 2];
            let bytes = vec![number as u8; lot(number) as usize % 200_000];
            sorter
                .push(key, |out| out.extend_from_slice(&bytes))
                .unwrap();
            if number % 3 == 0 {
                sorter.store().unwrap();
            }
            expected.push((key, bytes));
        }
        assert!(sorter.runs.len() > MERGED);
        let sorted = sorter.finish().unwrap();
        assert!(sorted.runs.len() <= MERGED && sorted.count() == 300);
        expected.sort_by_key(|(key, _)| *key); // stable
        assert!(records(&sorted) == expected);
        assert!(records(&sorted) == expected);
    }

    #[test]
    fn record_is_found_by_number_from_any_position() {
        let mut sorter = Sorter::new(&Scratch::default());
        let count = 3 * MARKED + 10;
        for number in 0..count {
            let key = [number / 100, number / 10, number];
            sorter.push(key, |out| out.push(number as u8)).unwrap();
            if number % 5_000 == 0 {
                sorter.store().unwrap();
            }
        }
        let sorted = sorter.finish().unwrap();
        let mut cursor = Cursor::default();
        let far = [
            0,
            1,
            MARKED,
            3,
            2 * MARKED - 1,
            count - 1,
            count,
            5,
            MARKED + 1,
            count + 9,
            0,
        ];
        for number in far.into_iter().chain(0..count) {
            let found = sorted.get(number, &mut cursor).unwrap();
            let expected = [number / 100, number / 10, number];
            let expected = (number < count).then_some((expected, vec![number as u8]));
            assert_eq!(
                found.map(|(key, bytes)| (key, bytes.to_vec())),
                expected,
                "{number}"
            );
        }
    }

    #[test]
    fn empty_input_is_sorted() {
        let sorted = Sorter::new(&Scratch::default()).finish().unwrap();
        assert_eq!((sorted.count(), records(&sorted).len()), (0, 0));
    }

    #[test]
    fn numbers_round_trip() {
        for number in [0, 127, 128, 1 << 40, u64::MAX] {
            let (mut bytes, mut at) = (Vec::new(), 0);
            write_varint(&mut bytes, number);
            assert_eq!(varint(&bytes, &mut at), Some(number));
            assert_eq!(at, bytes.len());
            assert_eq!(varint(&bytes[..at - 1], &mut 0), None);
        }
    }
}
