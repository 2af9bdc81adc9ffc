//! The data of one native thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::segments::Queue;
use super::shared::Shared;
use super::stack::ThreadStack;
use super::sums::{Sums, raise};
use crate::events::{Lost, ThreadInfo};

/// All data that one native thread writes. It is never freed: a new thread reuses the log of an ended one.
#[derive(Debug)]
pub(crate) struct ThreadLog {
    /// Data shared with all other threads.
    pub shared: &'static Shared,
    /// The open calls of the platform thread itself.
    pub own: ThreadStack,
    /// Java's id of the platform thread.
    pub id: AtomicU64,
    /// Below this stack pointer, little of the native thread's stack is left.
    pub scarce_below: AtomicU64,
    /// Id and name of the thread.
    info: Mutex<ThreadInfo>,
    /// The completed calls with their captures.
    pub queue: Queue,
    pub sums: Sums,
    pub lost: Losses,
    /// Set after the end of the thread. Its data may still be unread.
    pub ended: AtomicBool,
}

impl ThreadLog {
    /// Calls `read` with the name of the platform thread, unless another thread reads or changes it at this moment.
    pub fn with_name<R>(&self, read: impl FnOnce(&str) -> R) -> Option<R> {
        let info = self.info.try_lock().ok()?;
        Some(read(&info.name))
    }

    fn new(shared: &'static Shared) -> Self {
        Self {
            shared,
            own: ThreadStack::default(),
            id: AtomicU64::default(),
            scarce_below: AtomicU64::default(),
            info: Mutex::default(),
            queue: Queue::default(),
            sums: Sums::default(),
            lost: Losses::default(),
            ended: AtomicBool::default(),
        }
    }
}

/// The losses of one thread; see [`Lost`].
#[derive(Debug, Default)]
pub(crate) struct Losses {
    pub full: AtomicU64,
    pub untracked: AtomicU64,
    pub sums: AtomicU64,
    pub captures: AtomicU64,
    pub filtered: AtomicU64,
    pub undecided: AtomicU64,
    pub beyond_limit: AtomicU64,
    pub over_rate: AtomicU64,
}

impl Losses {
    /// Adds losses; called by the owning thread only.
    #[cold]
    pub fn note(&self, field: fn(&Losses) -> &AtomicU64, count: u64) {
        raise(field(self), count);
    }

    /// Adds the losses to `out`.
    pub fn collect(&self, out: &mut Lost) {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        out.full += read(&self.full);
        out.untracked += read(&self.untracked);
        out.sums += read(&self.sums);
        out.captures += read(&self.captures);
        out.filtered += read(&self.filtered);
        out.undecided += read(&self.undecided);
        out.beyond_limit += read(&self.beyond_limit);
        out.over_rate += read(&self.over_rate);
    }
}

/// The native threads, running and ended.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    all: Vec<&'static ThreadLog>,
    /// Logs of ended threads without unread data.
    free: Vec<&'static ThreadLog>,
    /// Threads that the reader does not know yet.
    joined: Vec<ThreadInfo>,
}

impl Threads {
    /// Creates the log of a platform thread. Its own calls carry the id `owner`; little stack is left below
    /// `scarce_below`.
    pub fn join(
        &self,
        shared: &'static Shared,
        thread: ThreadInfo,
        owner: u64,
        scarce_below: u64,
    ) -> &'static ThreadLog {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let log = match state.free.pop() {
            Some(log) => log,
            None => {
                let log: &'static ThreadLog = Box::leak(Box::new(ThreadLog::new(shared)));
                state.all.push(log);
                log
            }
        };
        log.own.clear();
        log.own.owner.store(owner, Ordering::Relaxed);
        log.id.store(thread.id, Ordering::Relaxed);
        log.scarce_below.store(scarce_below, Ordering::Relaxed);
        log.ended.store(false, Ordering::Release);
        *log.info.lock().unwrap_or_else(PoisonError::into_inner) = thread.clone();
        state.joined.push(thread);
        log
    }

    /// Reports every running thread to the reader again.
    pub fn report_again(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = |log: &&&ThreadLog| state.free.iter().any(|free| std::ptr::eq(*free, **log));
        let living = state
            .all
            .iter()
            .filter(|log| !log.ended.load(Ordering::Acquire) && !is_free(log));
        state.joined = living
            .map(|log| {
                let info = log.info.lock().unwrap_or_else(PoisonError::into_inner);
                info.clone()
            })
            .collect();
    }

    /// Returns the threads that joined since the last call.
    pub fn take_joined(&self) -> Vec<ThreadInfo> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.joined)
    }

    /// Returns all logs.
    pub fn all(&self) -> Vec<&'static ThreadLog> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.all.clone()
    }

    /// Makes the logs of ended threads available to other threads.
    pub fn recycle(&self, ended: &[&'static ThreadLog]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for log in ended {
            log.ended.store(false, Ordering::Relaxed);
            state.free.push(log);
        }
    }
}
