//! The change of loaded classes that is under way: its progress and its cancellation.

use control::message::Progress;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

/// The state that the changing thread shares with threads that query or cancel the change.
#[derive(Debug, Default)]
pub(crate) struct Work {
    state: Mutex<Option<State>>,
    /// Held by the thread that changes classes.
    alone: Mutex<()>,
}

#[derive(Debug)]
struct State {
    /// `None` while the change is only announced.
    thread: Option<ThreadId>,
    progress: Progress,
    can_be_cancelled: bool,
    cancelled: bool,
}

impl Work {
    /// Announces a change that another thread is about to begin, so that commands wait for it.
    pub fn announce(&self) {
        *self.state() = Some(State {
            thread: None,
            progress: Progress::default(),
            can_be_cancelled: true,
            cancelled: false,
        });
    }

    /// Begins a change of this thread, which ends when the value is dropped.
    pub fn begin(&self, can_be_cancelled: bool) -> UnderWay<'_> {
        let mut state = self.state();
        let announced = state.take().filter(|state| state.thread.is_none());
        *state = Some(State {
            thread: Some(thread::current().id()),
            progress: Progress::default(),
            can_be_cancelled,
            cancelled: announced.is_some_and(|announced| announced.cancelled),
        });
        UnderWay(self)
    }

    /// Waits until no other thread changes classes, and blocks others until the guard is dropped.
    pub fn alone(&self) -> MutexGuard<'_, ()> {
        self.alone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Work::alone`], but returns `None` if another thread changes classes.
    pub fn try_alone(&self) -> Option<MutexGuard<'_, ()>> {
        match self.alone.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Adds classes that are to be changed.
    pub fn add(&self, classes: usize) {
        self.with_own(|state| state.progress.total += classes);
    }

    /// Adds classes that are done: changed or failed.
    pub fn advance(&self, classes: usize) {
        self.with_own(|state| state.progress.done += classes);
    }

    /// Checks whether the change of this thread is cancelled.
    pub fn is_cancelled(&self) -> bool {
        let mut cancelled = false;
        self.with_own(|state| cancelled = state.cancelled);
        cancelled
    }

    /// Cancels the change that is under way before its next batch, if it can be cancelled or the JVM ends.
    pub fn cancel(&self, jvm_ends: bool) {
        if let Some(state) = self.state().as_mut() {
            state.cancelled |= jvm_ends || state.can_be_cancelled;
        }
    }

    /// The progress of the change; `None` without a change.
    pub fn progress(&self) -> Option<Progress> {
        self.state().as_ref().map(|state| state.progress)
    }

    fn with_own(&self, body: impl FnOnce(&mut State)) {
        let mut state = self.state();
        let own = state
            .as_mut()
            .filter(|state| state.thread == Some(thread::current().id()));
        if let Some(state) = own {
            body(state);
        }
    }

    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A change that is under way.
#[derive(Debug)]
pub(crate) struct UnderWay<'a>(&'a Work);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        *self.0.state() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_thread_of_a_change_advances_it_and_sees_its_cancellation() {
        let work = Work::default();
        work.add(3);
        assert_eq!(work.progress(), None);
        let under_way = work.begin(true);
        work.add(3);
        work.advance(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                work.advance(1);
                work.cancel(false);
                assert!(!work.is_cancelled());
            });
        });
        assert_eq!(work.progress(), Some(Progress { done: 2, total: 3 }));
        assert!(work.is_cancelled());
        drop(under_way);
        assert!(!work.is_cancelled() && work.progress().is_none());
    }

    #[test]
    fn announced_change_has_progress_and_can_be_cancelled() {
        let work = Work::default();
        work.announce();
        assert_eq!(work.progress(), Some(Progress::default()));
        work.cancel(false);
        let _under_way = work.begin(true);
        assert!(work.is_cancelled());
    }

    #[test]
    fn restoring_classes_is_cancelled_only_by_the_end_of_the_jvm() {
        let work = Work::default();
        let _under_way = work.begin(false);
        work.cancel(false);
        assert!(!work.is_cancelled());
        work.cancel(true);
        assert!(work.is_cancelled());
    }
}
