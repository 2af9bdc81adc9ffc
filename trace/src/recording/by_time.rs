//! Entries and ends of calls, and events, in the order of time.

use std::io;

use super::sort::{Sorter, write_varint};

/// Sorts events behind the calls of the same time.
pub(super) const MOMENT: u64 = 1 << 63;

/// A call that has not ended where the walk through its thread is.
struct Open {
    start: u64,
    end: u64,
    /// It had not ended when the trace did.
    is_open: bool,
    stored: Vec<u8>,
}

/// What is sorted of the calls of a recording.
pub(super) struct Sides {
    sorter: Sorter,
    with_ends: bool,
    thread: u64,
    open: Vec<Open>,
    /// Keeps the entries and ends of a thread in their order.
    sequence: u64,
}

impl Sides {
    /// Returns an empty value; entries alone are sorted if not `with_ends`.
    pub fn new(sorter: Sorter, with_ends: bool) -> Self {
        Self {
            sorter,
            with_ends,
            thread: 0,
            open: Vec::new(),
            sequence: 0,
        }
    }

    /// Adds the ends of all calls, and returns what is sorted.
    pub fn finish(mut self) -> io::Result<Sorter> {
        self.leave(None)?;
        Ok(self.sorter)
    }

    /// Adds the entry of the next call, and the ends of those before it.
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

    /// Adds the ends of the calls that ended before this time; of all without one. What never ended has none.
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
