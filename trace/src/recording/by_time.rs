//! Sorts entries and ends of calls, and events, chronologically.

use std::io;

use super::sort::{Sorter, write_varint};

/// Sorts events after the calls of the same time.
pub(super) const MOMENT: u64 = 1 << 63;

/// An open call at the current position in its thread.
struct Open {
    start: u64,
    end: u64,
    /// Set if it had not ended at the end of the trace.
    is_open: bool,
    stored: Vec<u8>,
}

/// Sorts the entries and ends of a recording's calls by time.
pub(super) struct CallBounds {
    sorter: Sorter,
    with_ends: bool,
    thread: u64,
    open: Vec<Open>,
    /// Keeps the order of entries and ends of a thread.
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

    /// Adds the ends of all calls, and returns the sorted data.
    pub fn finish(mut self) -> io::Result<Sorter> {
        self.leave(None)?;
        Ok(self.sorter)
    }

    /// Adds the entry of the next call, and the ends before it.
    pub fn enter(
        &mut self,
        thread: u64,
        start: u64,
        end: u64,
        is_open: bool,
        stored: &[u8],
    ) -> io::Result<()> {
        let is_same = thread == self.thread;
        self.leave(is_same.then_some(start))?;
        self.thread = thread;
        self.push(start, start, self.open.len() as u64 * 2, stored)?;
        self.open.push(Open {
            start,
            end,
            is_open,
            stored: if self.with_ends {
                stored.to_vec()
            } else {
                Vec::new()
            },
        });
        Ok(())
    }

    /// Adds the ends of the calls that ended before this time, or of all calls. An open call has no end.
    fn leave(&mut self, before: Option<u64>) -> io::Result<()> {
        while let Some(ended) = self
            .open
            .pop_if(|last| before.is_none_or(|before| last.end < before))
        {
            if self.with_ends && !ended.is_open {
                let side = self.open.len() as u64 * 2 + 1;
                self.push(ended.end, ended.start, side, &ended.stored)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, nanos: u64, start: u64, side: u64, stored: &[u8]) -> io::Result<()> {
        self.sequence += 1;
        self.sorter
            .push([nanos, self.thread, self.sequence], |out| {
                write_varint(out, side);
                write_varint(out, start);
                out.extend_from_slice(stored);
            })
    }
}
