//! What belongs to one native thread, and where the stacks of virtual threads are.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::ring::Ring;
use super::runtime::Runtime;
use super::stack::ThreadStack;
use super::sums::{Sums, raise};
use crate::events::{Lost, ThreadInfo};

/// Everything that one native thread writes. Never freed: a new thread takes over what an ended one has left.
#[derive(Debug)]
pub(crate) struct ThreadLog {
    /// Where it belongs to.
    pub runtime: &'static Runtime,
    /// The open calls of the platform thread itself.
    pub own: ThreadStack,
    /// Java's id of the platform thread.
    pub id: AtomicU64,
    /// Who it is.
    info: Mutex<ThreadInfo>,
    /// Calls with their captures, from the first that is to be kept.
    pub ring: OnceLock<Ring>,
    pub sums: Sums,
    pub lost: Losses,
    /// The thread has ended; what it wrote may still be unread.
    pub ended: AtomicBool,
}

impl ThreadLog {
    fn new(runtime: &'static Runtime) -> Self {
        Self {
            runtime,
            own: ThreadStack::default(),
            id: AtomicU64::default(),
            info: Mutex::default(),
            ring: OnceLock::new(),
            sums: Sums::default(),
            lost: Losses::default(),
            ended: AtomicBool::default(),
        }
    }
}

/// [`Lost`] as one thread counts it.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    pub full: AtomicU64,
    pub untracked: AtomicU64,
    pub sums: AtomicU64,
    pub captures: AtomicU64,
    pub unended: AtomicU64,
}

impl Losses {
    /// Adds one loss, from the thread they belong to.
    #[cold]
    pub fn note(&self, which: fn(&Losses) -> &AtomicU64, count: u64) {
        raise(which(self), count);
    }

    /// Adds them to `out`.
    pub fn collect(&self, out: &mut Lost) {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        out.full += read(&self.full);
        out.untracked += read(&self.untracked);
        out.sums += read(&self.sums);
        out.captures += read(&self.captures);
        out.unended += read(&self.unended);
    }
}

/// Stacks of one group.
const GROUP: usize = 16;
/// Groups; a virtual thread uses a stack of the group that its id names.
const GROUPS: usize = 4_096;

type Group = Box<[ThreadStack; GROUP]>;

/// The stacks of virtual threads that have a call open: 65,536 of them at most.
///
/// A virtual thread runs on one native thread at a time, so nobody else touches its stack; which stacks are in use is
/// told by their owners alone.
#[derive(Debug)]
pub(crate) struct VirtualStacks {
    groups: Box<[OnceLock<Group>]>,
}

impl Default for VirtualStacks {
    fn default() -> Self {
        Self {
            groups: (0..GROUPS).map(|_| OnceLock::new()).collect(),
        }
    }
}

impl VirtualStacks {
    /// The stack that a virtual thread has.
    pub fn find(&self, thread: u64) -> Option<&ThreadStack> {
        let group = self.groups.get(thread as usize % GROUPS)?.get()?;
        let owned = |stack: &&ThreadStack| stack.owner.load(Ordering::Relaxed) == thread;
        group.iter().find(owned)
    }

    /// The stack that a virtual thread has, or a free one; none if its group has none left.
    pub fn claim(&self, thread: u64) -> Option<&ThreadStack> {
        if let Some(found) = self.find(thread) {
            return Some(found);
        }
        let group = self.groups.get(thread as usize % GROUPS)?;
        let group = group.get_or_init(|| Box::new(std::array::from_fn(|_| ThreadStack::default())));
        let free = |stack: &&ThreadStack| {
            let owner = &stack.owner;
            owner.load(Ordering::Relaxed) == 0
                && owner
                    .compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
        };
        let stack = group.iter().find(free)?;
        stack.clear();
        Some(stack)
    }

    /// Stacks in use, with their owners.
    pub fn used(&self) -> impl Iterator<Item = (u64, &ThreadStack)> {
        let stacks = self
            .groups
            .iter()
            .filter_map(OnceLock::get)
            .flat_map(|group| group.iter());
        stacks.filter_map(|stack| {
            let owner = stack.owner.load(Ordering::Acquire);
            (owner != 0).then_some((owner, stack))
        })
    }
}

/// The native threads, living and dead.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    all: Vec<&'static ThreadLog>,
    /// Of ended threads, read to the end.
    free: Vec<&'static ThreadLog>,
    /// Not yet told to the reader.
    joined: Vec<ThreadInfo>,
}

impl Threads {
    /// Gives a thread its log. `owner` is the id by which its calls name it.
    pub fn join(
        &self,
        runtime: &'static Runtime,
        thread: ThreadInfo,
        owner: u64,
    ) -> &'static ThreadLog {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let log = match state.free.pop() {
            Some(log) => log,
            None => {
                let log: &'static ThreadLog = Box::leak(Box::new(ThreadLog::new(runtime)));
                state.all.push(log);
                log
            }
        };
        log.own.clear();
        log.own.owner.store(owner, Ordering::Relaxed);
        log.id.store(thread.id, Ordering::Relaxed);
        log.ended.store(false, Ordering::Release);
        *log.info.lock().unwrap_or_else(PoisonError::into_inner) = thread.clone();
        state.joined.push(thread);
        log
    }

    /// Lets the reader be told of every living thread again.
    pub fn tell_again(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let living = state
            .all
            .iter()
            .filter(|log| !log.ended.load(Ordering::Acquire));
        state.joined = living
            .map(|log| {
                let info = log.info.lock().unwrap_or_else(PoisonError::into_inner);
                info.clone()
            })
            .collect();
    }

    /// The threads that joined since the last call.
    pub fn take_joined(&self) -> Vec<ThreadInfo> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.joined)
    }

    /// Every log.
    pub fn all(&self) -> Vec<&'static ThreadLog> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.all.clone()
    }

    /// Lets other threads take over the logs of ended ones.
    pub fn recycle(&self, ended: &[&'static ThreadLog]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for log in ended {
            log.ended.store(false, Ordering::Relaxed);
            state.free.push(log);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_threads_of_one_group_find_their_own_stacks_until_it_is_full() {
        let stacks = VirtualStacks::default();
        let ids: Vec<u64> = (0..=GROUP as u64).map(|n| 7 + n * GROUPS as u64).collect();
        for id in &ids[..GROUP] {
            stacks.claim(*id).expect("a free stack").enter(1, 1, *id);
        }
        assert!(stacks.claim(ids[GROUP]).is_none());
        for id in &ids[..GROUP] {
            assert_eq!(
                stacks.find(*id).expect("its stack").leave(1).unwrap().start,
                *id
            );
        }
        stacks
            .find(ids[3])
            .unwrap()
            .owner
            .store(0, Ordering::Release);
        assert!(stacks.claim(ids[GROUP]).is_some());
        assert!(stacks.find(ids[3]).is_none());
        assert_eq!(stacks.used().count(), GROUP);
    }
}
