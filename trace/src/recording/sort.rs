//! Sorting of more than memory holds: runs are sorted in memory, put away, and merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use super::scratch::Scratch;

/// What records are sorted by; those with the same key stay in the order in which they came.
pub type Key = [u64; 3];

/// Bytes of records that are sorted in memory.
const RUN: usize = 8 << 20;
/// Records that are.
const RECORDS: usize = 1 << 19;
/// Runs that are merged at once.
const MERGED: usize = 64;
/// Records between two marks of a cursor.
const MARKED: u64 = 4_096;
/// Bytes of a run that are read at once.
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

/// A record of which the bytes lie elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    key: Key,
    at: u32,
    length: u32,
}

/// Sorted records that were put away.
#[derive(Debug, Clone, Copy)]
struct Run {
    begin: u64,
    end: u64,
}

/// Records in their order, which can be read many times.
#[derive(Debug, Clone)]
pub struct Sorted {
    scratch: Scratch,
    runs: Vec<Run>,
    count: u64,
}

impl Sorter {
    /// Without records.
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

    /// Adds a record, whose bytes `write` appends.
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
            self.put_away()?;
        }
        Ok(())
    }

    /// Forgets all records.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
        self.runs.clear();
        self.count = 0;
    }

    /// All records in their order.
    ///
    /// # Errors
    /// If there is no room.
    pub fn finish(mut self) -> io::Result<Sorted> {
        self.put_away()?;
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

    fn put_away(&mut self) -> io::Result<()> {
        if self.records.is_empty() {
            return Ok(());
        }
        self.records.sort_unstable(); // places rise, so the order of equal keys stays
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

/// Writes a run, piece by piece. Pieces of one run follow one another, since nothing else is put away meanwhile.
#[derive(Debug, Default)]
struct RunWriter {
    begin: Option<u64>,
    written: u64,
    piece: Vec<u8>,
    last: Key,
}

impl RunWriter {
    /// Adds a record: its key as differences to the one before, its length and its bytes.
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
    /// How many records there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Hands over all records in their order.
    ///
    /// # Errors
    /// If they cannot be read, and those of `take`.
    pub fn each(&self, take: &mut dyn FnMut(Key, &[u8]) -> io::Result<()>) -> io::Result<()> {
        Merge::of(&self.scratch, &self.runs)?.each(take)
    }
}

impl Sorted {
    /// A record by its number, from a cursor of these records.
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

    /// A cursor at the last mark that is known in front of a record.
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

/// A place among sorted records, from which the next ones are read.
#[derive(Default)]
pub struct Cursor {
    merge: Option<Merge>,
    /// The number of the next record.
    next: u64,
    /// Where every so many records were.
    marks: Vec<Mark>,
}

/// Where each run of a merge is: what is left of it, and the key before.
type Mark = Vec<(Run, Key)>;

/// Runs that are read side by side.
struct Merge {
    readers: Vec<RunReader>,
    /// The next key of each run, the lowest first; of the same the run that came first.
    next: BinaryHeap<Reverse<(Key, usize)>>,
    /// The run whose record was given last.
    current: Option<usize>,
}

impl Merge {
    fn of(scratch: &Scratch, runs: &[Run]) -> io::Result<Self> {
        let begins = runs.iter().map(|run| (*run, Key::default()));
        Self::at(scratch, &begins.collect::<Mark>())
    }

    /// Goes on at a mark.
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

    /// Where the runs are in front of the next record.
    fn mark(&self) -> Mark {
        let is_given = |number: usize| self.current == Some(number);
        let readers = self.readers.iter().enumerate();
        readers
            .map(|(number, reader)| reader.mark(is_given(number)))
            .collect()
    }

    /// Goes to the next record; false behind the last.
    fn step(&mut self) -> io::Result<bool> {
        if let Some(number) = self.current.take()
            && self.readers[number].step()?
        {
            self.next.push(Reverse((self.readers[number].key, number)));
        }
        self.current = self.next.pop().map(|Reverse((_, number))| number);
        Ok(self.current.is_some())
    }

    /// The record of the last step.
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
    /// What is not read yet.
    rest: Run,
    piece: Vec<u8>,
    /// Where the next record begins in the piece.
    at: usize,
    key: Key,
    /// The key of the record before.
    before: Key,
    /// Where the record that was read last begins, counted from its end.
    length: usize,
    /// Where the bytes of the record begin that was read last.
    begin: usize,
}

impl RunReader {
    /// Behind a record with the key `last`.
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

    /// What is left of the run: behind the record that was read last if it `is_given`, else from that on; and the key in
    /// front.
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

    /// The bytes of the record that was read last.
    fn bytes(&self) -> &[u8] {
        &self.piece[self.begin..self.at]
    }

    /// Reads the next record; false behind the last.
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
            // A record that is longer than a piece takes as many as it needs.
            let more = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
            self.piece.resize(kept + more, 0);
            self.scratch
                .read(self.rest.begin, &mut self.piece[kept..])?;
            self.rest.begin += more as u64;
        }
    }

    /// The record at the place, if it is whole: its key, and where its bytes begin and end.
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

/// Adds a number in LEB128.
pub(crate) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The number at a place, which goes on behind it; none if it is cut off.
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

    /// Numbers that follow from one another without an order.
    fn lot(number: u64) -> u64 {
        number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20
    }

    #[test]
    fn records_of_many_runs_come_in_their_order_as_often_as_they_are_asked_for() {
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
                sorter.put_away().unwrap();
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
    fn record_of_a_number_is_found_from_any_other() {
        let mut sorter = Sorter::new(&Scratch::default());
        let count = 3 * MARKED + 10;
        for number in 0..count {
            let key = [number / 100, number / 10, number];
            sorter.push(key, |out| out.push(number as u8)).unwrap();
            if number % 5_000 == 0 {
                sorter.put_away().unwrap();
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
    fn nothing_is_sorted_into_nothing() {
        let sorted = Sorter::new(&Scratch::default()).finish().unwrap();
        assert_eq!((sorted.count(), records(&sorted).len()), (0, 0));
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 127, 128, 1 << 40, u64::MAX] {
            let (mut bytes, mut at) = (Vec::new(), 0);
            write_varint(&mut bytes, number);
            assert_eq!(varint(&bytes, &mut at), Some(number));
            assert_eq!(at, bytes.len());
            assert_eq!(varint(&bytes[..at - 1], &mut 0), None);
        }
    }
}
