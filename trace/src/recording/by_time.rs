//! Sorts entries and ends of calls, and events, chronologically.

use std::io;

use super::sort::{Sorter, write_varint};

/// Sorts events after the calls of the same time.
pub(super) const MOMENT: u64 = 1 << 63;

/// Sorts ends after the entries of the same thread and time: a call that begins when another ends is within it.
const END: u64 = 1 << 63;

/// Sorts the entries and ends of a recording's calls by time.
pub(super) struct CallBounds {
    sorter: Sorter,
    with_ends: bool,
    thread: u64,
    /// Ends of the calls around the current position in its thread.
    open: Vec<u64>,
    /// Keeps the order of a thread's calls.
    sequence: u64,
}

impl CallBounds {
    /// Creates an empty value; without `with_ends` it sorts only entries.
    pub fn new(sorter: Sorter, with_ends: bool) -> Self {
        Self {
            sorter,
            with_ends,
            thread: 0,
            open: Vec::new(),
            sequence: 0,
        }
    }

    /// Returns the sorted data.
    pub fn finish(self) -> Sorter {
        self.sorter
    }

    /// Adds the entry of the next call, and its end if the call has ended.
    pub fn enter(
        &mut self,
        thread: u64,
        start: u64,
        end: u64,
        is_open: bool,
        stored: &[u8],
    ) -> io::Result<()> {
        if thread != self.thread {
            self.open.clear();
        }
        self.thread = thread;
        while self.open.pop_if(|end| *end < start).is_some() {}
        let side = self.open.len() as u64 * 2;
        self.open.push(end);
        self.sequence += 1;
        let sequence = self.sequence;
        self.push([start, sequence], start, side, stored)?;
        match self.with_ends && !is_open {
            // Of calls that end together, the last one entered ends first.
            true => self.push([end, END | (END - 1 - sequence)], start, side + 1, stored),
            false => Ok(()),
        }
    }

    fn push(
        &mut self,
        [nanos, order]: [u64; 2],
        start: u64,
        side: u64,
        stored: &[u8],
    ) -> io::Result<()> {
        self.sorter.push([nanos, self.thread, order], |out| {
            write_varint(out, side);
            write_varint(out, start);
            out.extend_from_slice(stored);
        })
    }
}
