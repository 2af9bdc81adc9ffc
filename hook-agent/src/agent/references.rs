//! Global references of JNI that the program creates during a recording, shared by its threads and the recording
//! thread.

use crate::ffi::jvm_events::GlobalRefHandle;
use crate::ffi::jvmti::StackFrame;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Largest number of open references that are followed, some 40 bytes each.
const MOST: usize = 1 << 20;
/// Capacity of the queue of new references, in frames of 16 bytes; a reference counts as one more.
const WAITING: usize = 1 << 20;
/// Longest wait at the end of a recording for threads that are reporting a reference.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The references of one recording.
#[derive(Debug, Default)]
pub(crate) struct References {
    state: Mutex<State>,
    /// Number of threads that are reporting a reference.
    inside: AtomicUsize,
    is_closed: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// The references that were created and not deleted.
    open: HashMap<GlobalRefHandle, Open>,
    /// The references that the recording thread has not read.
    waiting: Vec<CreatedReference>,
    /// Number of these references and of their frames.
    length: usize,
    /// Number of references so far.
    count: u64,
    /// Number of references that are not followed.
    lost: u64,
    /// Numbers of deleted strong and weak references that were not followed.
    deleted_others: [u64; 2],
}

/// An open reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Not read yet; identified by its number.
    Waits(u64),
    /// Read, and assigned to this row.
    Row(u32),
}

/// A created reference.
#[derive(Debug)]
pub(crate) struct CreatedReference {
    number: u64,
    pub handle: GlobalRefHandle,
    /// The name of the thread.
    pub thread: String,
    /// The signature of the class of its object.
    pub class: Vec<u8>,
    /// The stack, the innermost frame first.
    pub frames: Vec<StackFrame>,
}

/// The counts of references at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// The number of open references of each row.
    pub open: HashMap<u32, u64>,
    /// Number of references that are not followed.
    pub lost: u64,
    /// Number of deleted strong references from before the recording.
    pub deleted: u64,
    /// Number of deleted weak references from before the recording.
    pub deleted_weak: u64,
}

/// A thread that is reporting a reference. The environment of the recording stays until it is dropped.
#[derive(Debug)]
pub(crate) struct Reporting<'a>(&'a References);

impl Drop for Reporting<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Release);
    }
}

impl References {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a report of this thread. Returns `None` if the recording ends.
    pub fn enter(&self) -> Option<Reporting<'_>> {
        self.inside.fetch_add(1, Ordering::SeqCst);
        let reporting = Reporting(self);
        (!self.is_closed.load(Ordering::SeqCst)).then_some(reporting)
    }

    /// Refuses further reports, and waits for those that have begun. Returns false if one does not end.
    pub fn close(&self) -> bool {
        self.is_closed.store(true, Ordering::SeqCst);
        let until = Instant::now() + TIMEOUT;
        while self.inside.load(Ordering::SeqCst) > 0 {
            if until <= Instant::now() {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// Adds a created reference.
    pub fn create(
        &self,
        handle: GlobalRefHandle,
        thread: String,
        class: Vec<u8>,
        frames: Vec<StackFrame>,
    ) {
        let mut state = self.state();
        let state = &mut *state;
        if state.open.len() >= MOST || state.length >= WAITING {
            state.lost += 1;
            return;
        }
        state.count += 1;
        state.length += frames.len() + 1;
        state.open.insert(handle, Open::Waits(state.count));
        state.waiting.push(CreatedReference {
            number: state.count,
            handle,
            thread,
            class,
            frames,
        });
    }

    /// Removes a deleted reference.
    pub fn delete(&self, handle: GlobalRefHandle) {
        let mut state = self.state();
        if state.open.remove(&handle).is_none() {
            state.deleted_others[usize::from(handle.is_weak)] += 1;
        }
    }

    /// Takes the references that were created since the last call.
    pub fn take(&self) -> Vec<CreatedReference> {
        let mut state = self.state();
        state.length = 0;
        std::mem::take(&mut state.waiting)
    }

    /// Assigns a reference to its row. Without a row it is no longer followed.
    pub fn settle(&self, created: &CreatedReference, row: Option<u32>) {
        let mut state = self.state();
        // It may have been deleted, and its handle reused.
        let Some(open) = state.open.get_mut(&created.handle) else {
            return;
        };
        if *open == Open::Waits(created.number) {
            match row {
                Some(row) => *open = Open::Row(row),
                None => drop(state.open.remove(&created.handle)),
            }
        }
    }

    /// Returns the current counts, without references that were not read yet.
    pub fn sums(&self) -> Sums {
        let state = self.state();
        let [deleted, deleted_weak] = state.deleted_others;
        let mut sums = Sums {
            lost: state.lost,
            deleted,
            deleted_weak,
            ..Sums::default()
        };
        for open in state.open.values() {
            if let Open::Row(row) = open {
                *sums.open.entry(*row).or_default() += 1;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(address: usize, is_weak: bool) -> GlobalRefHandle {
        GlobalRefHandle { address, is_weak }
    }

    fn create(references: &References, handle: GlobalRefHandle) {
        references.create(handle, String::new(), Vec::new(), Vec::new());
    }

    #[test]
    fn reference_is_open_until_deleted_even_if_its_handle_is_reused() {
        let references = References::default();
        let one = handle(8, false);
        create(&references, one);
        let first = references.take().remove(0);
        references.delete(one);
        create(&references, one);
        references.settle(&first, Some(0));
        assert!(references.sums().open.is_empty(), "the first one is gone");
        let second = references.take().remove(0);
        references.settle(&second, Some(1));
        assert_eq!(references.sums().open, HashMap::from([(1, 1)]));
        references.delete(one);
        references.delete(one); // that of a reference from before the recording
        references.delete(handle(8, true));
        let expected = Sums {
            deleted: 1,
            deleted_weak: 1,
            ..Sums::default()
        };
        assert_eq!(references.sums(), expected);
    }

    #[test]
    fn references_beyond_the_limits_are_counted_and_not_followed() {
        let references = References::default();
        for address in 0..=WAITING {
            create(&references, handle(address, false));
        }
        assert_eq!(references.sums().lost, 1);
        for created in references.take() {
            references.settle(&created, Some(7));
        }
        create(&references, handle(MOST, false));
        let sums = references.sums();
        assert_eq!((sums.lost, &sums.open[&7]), (2, &(MOST as u64)));
        references.delete(handle(0, false));
        create(&references, handle(0, false));
        assert_eq!(references.sums().lost, 2, "there is room again");
    }

    #[test]
    fn closed_recording_refuses_further_reports() {
        let references = References::default();
        let inside = references.enter();
        assert!(inside.is_some());
        drop(inside);
        assert!(references.close());
        assert!(references.enter().is_none());
    }
}
