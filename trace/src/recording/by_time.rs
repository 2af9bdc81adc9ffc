//! Entries and ends of calls, and events, in the order of time.

use std::io;

use super::sort::{Sorter, varint, write_varint};
use super::{Happening, Placed, Recording, restored_call, restored_moment};

/// Sorts events behind the calls of the same time.
const MOMENT: u64 = 1 << 63;

/// A call that has not ended where the walk through its thread is.
struct Open {
    start: u64,
    end: u64,
    /// It had not ended when the trace did.
    is_open: bool,
    stored: Vec<u8>,
}

/// What is sorted of the calls of a recording.
struct Sides {
    sorter: Sorter,
    with_ends: bool,
    thread: u64,
    open: Vec<Open>,
    /// Keeps the entries and ends of a thread in their order.
    sequence: u64,
}

/// Hands over what happened.
pub(super) fn each(
    recording: &Recording,
    with_ends: bool,
    take: &mut dyn FnMut(Happening<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let singles = recording.sorted()?;
    let mut sides = Sides {
        sorter: Sorter::new(&recording.scratch),
        with_ends,
        thread: 0,
        open: Vec::new(),
        sequence: 0,
    };
    let mut last = None;
    singles.calls.each(&mut |[thread, start, _], stored| {
        let before = last.replace((thread, start));
        if before == last {
            return Ok(()); // it was seen open before
        }
        let (call, _) = restored_call(&recording.file, thread, start, stored)?;
        let is_open = call.outcome == probes::events::Outcome::Open;
        sides.enter(thread, start, call.end, is_open, stored)
    })?;
    sides.leave(None)?;
    let mut sorter = sides.sorter;
    singles.moments.each(&mut |[nanos, thread, _], stored| {
        sorter.push([nanos, thread | MOMENT, 0], |out| {
            out.extend_from_slice(stored)
        })
    })?;
    let cut = || io::Error::other("temporary data was cut off");
    sorter.finish()?.each(&mut |[nanos, thread, _], bytes| {
        if thread & MOMENT != 0 {
            let file = &recording.file;
            let (moment, is_virtual) = restored_moment(file, thread & !MOMENT, nanos, bytes)?;
            return take(Happening::Moment(&moment, is_virtual));
        }
        let mut at = 0;
        let side = varint(bytes, &mut at).ok_or_else(cut)?;
        let start = varint(bytes, &mut at).ok_or_else(cut)?;
        let (call, is_virtual) = restored_call(&recording.file, thread, start, &bytes[at..])?;
        let placed = Placed {
            call: &call,
            is_virtual,
            depth: (side >> 1) as usize,
        };
        take(match side & 1 {
            0 => Happening::Entry(placed),
            _ => Happening::End(placed),
        })
    })
}

impl Sides {
    /// Adds the entry of the next call, and the ends of those before it.
    fn enter(
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
