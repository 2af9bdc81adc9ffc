//! An event file with its sums in memory and its single calls on disk, sorted on demand.

mod by_time;
mod scratch;
pub(crate) mod sort;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use probes::error::SnapshotError;
use probes::events::{
    Call, EventFile, Moment, Outcome, RestoredItem, SpanInfo, StoredCall, TaskStep, Trace, Wait,
};

use crate::losses::LostCalls;
use by_time::{CallBounds, MOMENT};
pub use scratch::Scratch;
use sort::{Sorted, Sorter, varint};

/// Calls of at least this many nanoseconds are known as open before they end.
const LONG: u64 = 1_000_000_000;

/// The recorded data of one JVM.
#[derive(Debug)]
pub struct Recording {
    /// All data except single calls and events.
    pub trace: Trace,
    file: Arc<EventFile>,
    scratch: Scratch,
    sorted: OnceLock<Singles>,
    /// Number of tasks that an output could not follow.
    lost_tasks: AtomicU64,
    /// Numbers of calls that are missing in trees of slow calls.
    lost_calls: Mutex<LostCalls>,
}

/// Single calls and events, sorted for outputs.
#[derive(Debug)]
struct Singles {
    /// By thread and start. Among several records of a call, the last one comes first.
    calls: Sorted,
    /// By time and thread.
    moments: Sorted,
    /// Waits by end, and task steps by time and thread.
    aside: Sorted,
}

impl Singles {
    /// Passes each call on once, by thread and start, without earlier records of an open call.
    fn each_call(&self, mut take: impl FnMut(u64, u64, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut last = None;
        self.calls.each(&mut |[thread, start, _], stored| {
            let before = last.replace((thread, start));
            match before == last {
                true => Ok(()),
                false => take(thread, start, stored),
            }
        })
    }
}

/// A call and its depth on the thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NestedCall<'a> {
    /// The call.
    pub call: &'a Call,
    /// `true` for a virtual thread.
    pub is_virtual: bool,
    /// Number of enclosing open calls of this thread.
    pub depth: usize,
}

/// Receives time, thread, place and stored bytes of an event.
pub(crate) type TakeStored<'t> = dyn FnMut(u64, u64, u32, &[u8]) -> io::Result<()> + 't;

/// An item at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TimelineItem<'a> {
    /// A call was entered.
    Entry(NestedCall<'a>),
    /// A call ended.
    End(NestedCall<'a>),
    /// An event; the flag is set for a virtual thread.
    Moment(&'a Moment, bool),
    /// A step of a task.
    Step(&'a TaskStep),
}

/// An item that ended on a thread.
#[derive(Debug, Clone, PartialEq)]
pub enum EndedItem<'a> {
    /// A call; the flag is set for a virtual thread. A call that never ended comes at its start. A long call comes at
    /// its start as an open one, and again at its end.
    Call(&'a Call, bool),
    /// A wait or a collection.
    Wait(Wait),
    /// A step of a task.
    Step(TaskStep),
}

impl Recording {
    /// Reads an event file; `scratch` receives the sorted data later.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn read(path: &Path, scratch: &Scratch) -> Result<Self, SnapshotError> {
        let (file, trace) = EventFile::read(path)?;
        Ok(Self {
            trace,
            file: Arc::new(file),
            scratch: scratch.clone(),
            sorted: OnceLock::new(),
            lost_tasks: AtomicU64::new(0),
            lost_calls: Mutex::default(),
        })
    }

    /// Keeps only the wanted spans and places, and their data.
    pub fn retain(&mut self, is_wanted: impl Fn(&SpanInfo) -> bool) {
        self.trace.retain(is_wanted);
        self.sorted = OnceLock::new();
    }

    /// Notes the number of tasks and calls whose callers an output could not find.
    pub fn lose_tasks(&self, count: u64) {
        self.lost_tasks.fetch_max(count, Ordering::Relaxed);
    }

    /// Returns the number of tasks and calls whose callers an output could not find, because too many tasks waited or
    /// too many calls were open at once.
    #[must_use]
    pub fn lost_tasks(&self) -> u64 {
        self.lost_tasks.load(Ordering::Relaxed)
    }

    /// Notes the numbers of calls that are missing in trees of slow calls.
    pub fn lose_calls(&self, lost: LostCalls) {
        let mut all = self
            .lost_calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *all = all.and(lost);
    }

    /// Returns the numbers of calls that are missing in trees of slow calls.
    #[must_use]
    pub fn lost_calls(&self) -> LostCalls {
        *self
            .lost_calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the file, which restores stored calls and events.
    pub(crate) fn file(&self) -> &Arc<EventFile> {
        &self.file
    }

    /// Returns the storage for sorting.
    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    fn sorted(&self) -> io::Result<&Singles> {
        if let Some(sorted) = self.sorted.get() {
            return Ok(sorted);
        }
        let sorted = self.sort()?;
        Ok(self.sorted.get_or_init(|| sorted))
    }

    fn sort(&self) -> io::Result<Singles> {
        let [mut calls, mut moments, mut aside] = [(); 3].map(|()| Sorter::new(&self.scratch));
        self.file.calls(&mut |stored: Option<StoredCall<'_>>| {
            let Some(stored) = stored else {
                calls.clear();
                moments.clear();
                aside.clear();
                return Ok(());
            };
            let (thread, start) = (stored.thread, stored.start);
            match stored.is_moment() {
                true if self.trace.places.contains_key(&stored.span) => {
                    moments.push([start, thread, 0], |out| stored.write(out))
                }
                true if self.is_aside(stored.span) => {
                    aside.push([start, thread, 0], |out| stored.write(out))
                }
                // A call seen open may be written again when it ends: the later record replaces the earlier one.
                false if self.trace.spans.contains_key(&stored.span) => {
                    let (open, end) = (u64::from(stored.is_open()), u64::MAX / 2 - stored.end / 2);
                    calls.push([thread, start, open << 63 | end], |out| stored.write(out))
                }
                _ => Ok(()),
            }
        })?;
        Ok(Singles {
            calls: calls.finish()?,
            moments: moments.finish()?,
            aside: aside.finish()?,
        })
    }

    /// Checks whether the events of a place are waits or steps of tasks.
    fn is_aside(&self, place: u32) -> bool {
        self.trace.waits.contains_key(&place) || self.trace.tasks.contains_key(&place)
    }

    /// Passes each call on once, by thread and start.
    ///
    /// # Errors
    /// If calls cannot be read or sorted, and errors of `take`.
    pub fn each_call(
        &self,
        take: &mut dyn FnMut(NestedCall<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut last = None;
        let mut open: Vec<u64> = Vec::new(); // ends of the calls around the next one
        self.sorted()?.each_call(|thread, start, stored| {
            if last.replace(thread) != Some(thread) {
                open.clear();
            }
            let (call, is_virtual) = restored_call(&self.file, thread, start, stored)?;
            while open.pop_if(|end| *end < start).is_some() {}
            let depth = open.len();
            open.push(call.end);
            take(NestedCall {
                call: &call,
                is_virtual,
                depth,
            })
        })
    }

    /// Passes each event on, by time; the flag is set for a virtual thread.
    ///
    /// # Errors
    /// If events cannot be read or sorted, and errors of `take`.
    pub fn each_moment(
        &self,
        take: &mut dyn FnMut(&Moment, bool) -> io::Result<()>,
    ) -> io::Result<()> {
        self.sorted()?
            .moments
            .each(&mut |[nanos, thread, _], stored| {
                let (moment, is_virtual) = restored_moment(&self.file, thread, nanos, stored)?;
                take(&moment, is_virtual)
            })
    }

    /// Passes time, thread, place and stored bytes of each event on, by time.
    ///
    /// # Errors
    /// As [`Recording::each_moment`].
    pub(crate) fn each_stored_moment(&self, take: &mut TakeStored<'_>) -> io::Result<()> {
        self.sorted()?
            .moments
            .each(&mut |[nanos, thread, _], stored| take(nanos, thread, place_of(stored), stored))
    }

    /// Passes on entries, with `with_ends` ends of calls, events, and task steps, in chronological order.
    ///
    /// # Errors
    /// If they cannot be read or sorted, and errors of `take`.
    pub fn each_happening(
        &self,
        with_ends: bool,
        take: &mut dyn FnMut(TimelineItem<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let singles = self.sorted()?;
        let mut bounds = CallBounds::new(Sorter::new(&self.scratch), with_ends);
        singles.each_call(|thread, start, stored| {
            let (call, _) = restored_call(&self.file, thread, start, stored)?;
            let is_open = call.outcome == Outcome::Open;
            bounds.enter(thread, start, call.end, is_open, stored)
        })?;
        let mut sorter = bounds.finish();
        singles.moments.each(&mut |[nanos, thread, _], stored| {
            sorter.push([nanos, thread | MOMENT, 0], |out| {
                out.extend_from_slice(stored)
            })
        })?;
        if !self.trace.tasks.is_empty() {
            singles
                .aside
                .each(&mut |[nanos, thread, _], stored| match self
                    .trace
                    .tasks
                    .contains_key(&place_of(stored))
                {
                    false => Ok(()),
                    true => sorter.push([nanos, thread | MOMENT, 0], |out| {
                        out.extend_from_slice(stored);
                    }),
                })?;
        }
        sorter.finish()?.each(&mut |[nanos, thread, _], bytes| {
            if thread & MOMENT != 0 {
                let (moment, is_virtual) =
                    restored_moment(&self.file, thread & !MOMENT, nanos, bytes)?;
                let Some(place) = self.trace.tasks.get(&moment.place) else {
                    return take(TimelineItem::Moment(&moment, is_virtual));
                };
                let step = TaskStep::of(&moment, is_virtual, place);
                return step.map_or(Ok(()), |step| take(TimelineItem::Step(&step)));
            }
            self.take_side(thread, bytes, take)
        })
    }

    /// Passes calls, waits and task steps on in the order of their ends, each with its time.
    ///
    /// # Errors
    /// If they cannot be read or sorted, and errors of `take`.
    pub fn each_end(
        &self,
        take: &mut dyn FnMut(u64, EndedItem<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let singles = self.sorted()?;
        let mut sorter = Sorter::new(&self.scratch);
        singles.each_call(|thread, start, stored| {
            let (call, _) = restored_call(&self.file, thread, start, stored)?;
            let is_open = call.outcome == Outcome::Open;
            if is_open || call.end - start >= LONG {
                sorter.push([start, thread, start << 1 | 1], |out| {
                    out.extend_from_slice(stored);
                })?;
            }
            if is_open {
                return Ok(());
            }
            sorter.push([call.end, thread, start << 1], |out| {
                out.extend_from_slice(stored);
            })
        })?;
        singles.aside.each(&mut |[nanos, thread, _], stored| {
            sorter.push([nanos, thread | MOMENT, 0], |out| {
                out.extend_from_slice(stored);
            })
        })?;
        sorter.finish()?.each(&mut |[time, thread, key], stored| {
            if thread & MOMENT == 0 {
                let (mut call, is_virtual) = restored_call(&self.file, thread, key >> 1, stored)?;
                if key & 1 == 1 {
                    call.outcome = Outcome::Open;
                }
                return take(time, EndedItem::Call(&call, is_virtual));
            }
            let thread = thread & !MOMENT;
            let (moment, is_virtual) = restored_moment(&self.file, thread, time, stored)?;
            if let Some(place) = self.trace.tasks.get(&moment.place) {
                let step = TaskStep::of(&moment, is_virtual, place);
                return step.map_or(Ok(()), |step| take(time, EndedItem::Step(step)));
            }
            let place = self.trace.waits.get(&moment.place);
            let wait = place.and_then(|place| Wait::of(&moment, is_virtual, place));
            wait.map_or(Ok(()), |wait| take(time, EndedItem::Wait(wait)))
        })
    }

    /// Passes on the sorted entry or end of a call.
    fn take_side(
        &self,
        thread: u64,
        bytes: &[u8],
        take: &mut dyn FnMut(TimelineItem<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let cut = || io::Error::other("temporary data was cut off");
        let mut at = 0;
        let side = varint(bytes, &mut at).ok_or_else(cut)?;
        let start = varint(bytes, &mut at).ok_or_else(cut)?;
        let (call, is_virtual) = restored_call(&self.file, thread, start, &bytes[at..])?;
        let placed = NestedCall {
            call: &call,
            is_virtual,
            depth: (side >> 1) as usize,
        };
        take(match side & 1 {
            0 => TimelineItem::Entry(placed),
            _ => TimelineItem::End(placed),
        })
    }
}

/// Returns the place of a stored event.
fn place_of(stored: &[u8]) -> u32 {
    let place = varint(stored, &mut 0).unwrap_or_default();
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn restored_call(
    file: &EventFile,
    thread: u64,
    start: u64,
    stored: &[u8],
) -> io::Result<(Call, bool)> {
    match file.restore(thread, start, stored)? {
        (RestoredItem::Call(call), is_virtual) => Ok((call, is_virtual)),
        (RestoredItem::Moment(_), _) => Err(io::Error::other("expected a call, found an event")),
    }
}

/// Restores a stored event; the flag is set for a virtual thread.
pub(crate) fn restored_moment(
    file: &EventFile,
    thread: u64,
    nanos: u64,
    stored: &[u8],
) -> io::Result<(Moment, bool)> {
    match file.restore(thread, nanos, stored)? {
        (RestoredItem::Moment(moment), is_virtual) => Ok((moment, is_virtual)),
        (RestoredItem::Call(_), _) => Err(io::Error::other("expected an event, found a call")),
    }
}
