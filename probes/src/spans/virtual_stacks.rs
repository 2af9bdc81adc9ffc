//! The stacks of virtual threads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::free_list::{FreeList, Link};
use super::stack::ThreadStack;

/// Number of threads in one group.
const GROUP: usize = 16;
/// Number of groups; the id of a virtual thread determines its group.
const GROUPS: usize = 4_096;

type Group = Box<[Entry; GROUP]>;

/// The stack of a virtual thread.
#[derive(Debug, Default)]
struct Entry {
    /// The thread; 0 for none.
    thread: AtomicU64,
    stack: AtomicU32,
}

/// A stack, and the link to the next free one.
#[derive(Debug, Default)]
struct Slot {
    stack: ThreadStack,
    below: AtomicU32,
}

/// The stacks of virtual threads with open calls, at most 65,536. Memory is allocated for the highest number in use
/// at once.
///
/// A virtual thread runs on one native thread at a time, which alone accesses its stack. A stack is in use while it
/// has an owner.
#[derive(Debug)]
pub(crate) struct VirtualStacks {
    groups: Box<[OnceLock<Group>]>,
    /// The stacks by pages, and the number of stacks given out for the first time.
    pages: Box<[OnceLock<Box<[Slot; GROUP]>>]>,
    made: AtomicUsize,
    free: FreeList,
}

impl Default for VirtualStacks {
    fn default() -> Self {
        Self {
            groups: (0..GROUPS).map(|_| OnceLock::new()).collect(),
            pages: (0..GROUPS).map(|_| OnceLock::new()).collect(),
            made: AtomicUsize::new(0),
            free: FreeList::default(),
        }
    }
}

impl VirtualStacks {
    /// Returns the stack of a virtual thread.
    pub fn find(&self, thread: u64) -> Option<&ThreadStack> {
        let link = self.entry(thread)?.stack.load(Ordering::Relaxed);
        self.slot(link).map(|slot| &slot.stack)
    }

    /// Returns the stack of a virtual thread, or assigns a free one. `None` if its group is full.
    pub fn claim(&self, thread: u64) -> Option<&ThreadStack> {
        if let Some(found) = self.find(thread) {
            return Some(found);
        }
        let group = self.groups.get(thread as usize % GROUPS)?;
        let group = group.get_or_init(|| Box::new(std::array::from_fn(|_| Entry::default())));
        let free = |entry: &&Entry| {
            let owner = &entry.thread;
            owner.load(Ordering::Relaxed) == 0
                && owner
                    .compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
        };
        let entry = group.iter().find(free)?;
        let Some((link, slot)) = self.take() else {
            entry.thread.store(0, Ordering::Release);
            return None;
        };
        slot.stack.begin(thread);
        entry.stack.store(link, Ordering::Relaxed);
        Some(&slot.stack)
    }

    /// Frees the stack of a virtual thread without open calls. Called by the thread itself.
    pub fn release(&self, stack: &ThreadStack) {
        let thread = stack.owner.swap(0, Ordering::Relaxed);
        let Some(entry) = self.entry(thread) else {
            return;
        };
        let link = entry.stack.swap(0, Ordering::Relaxed);
        entry.thread.store(0, Ordering::Release);
        if let Some(slot) = self.slot(link) {
            self.free.give_back(link, &slot.below);
        }
    }

    /// Iterates over the stacks in use, with their owners.
    pub fn used(&self) -> impl Iterator<Item = (u64, &ThreadStack)> {
        let slots = self
            .pages
            .iter()
            .map_while(OnceLock::get)
            .flat_map(|page| page.iter());
        slots.filter_map(|slot| {
            let owner = slot.stack.owner.load(Ordering::Acquire);
            (owner != 0).then_some((owner, &slot.stack))
        })
    }

    fn entry(&self, thread: u64) -> Option<&Entry> {
        let group = self.groups.get(thread as usize % GROUPS)?.get()?;
        let has = |entry: &&Entry| entry.thread.load(Ordering::Relaxed) == thread;
        group.iter().find(has).filter(|_| thread != 0)
    }

    fn slot(&self, link: Link) -> Option<&Slot> {
        let number = (link as usize).checked_sub(1)?;
        let page = self.pages.get(number / GROUP)?.get()?;
        page.get(number % GROUP)
    }

    /// Takes a free stack.
    fn take(&self) -> Option<(Link, &Slot)> {
        let below = |link| self.slot(link).map(|slot| &slot.below);
        if let Some(link) = self.free.take(below) {
            return Some((link, self.slot(link)?));
        }
        let more = |made: usize| (made < GROUPS * GROUP).then_some(made + 1);
        let number = self
            .made
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()?;
        let page = self.pages.get(number / GROUP)?;
        page.get_or_init(|| Box::new(std::array::from_fn(|_| Slot::default())));
        let link = u32::try_from(number).ok()? + 1;
        Some((link, self.slot(link)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::stack::CallStart;
    use super::*;

    fn begin() -> CallStart {
        CallStart {
            mode: 2,
            base: 0,
            pointer: 0,
            scarce: false,
        }
    }

    #[test]
    fn virtual_threads_find_their_stacks_until_their_group_is_full() {
        let stacks = VirtualStacks::default();
        let ids: Vec<u64> = (0..=GROUP as u64).map(|n| 7 + n * GROUPS as u64).collect();
        for id in &ids[..GROUP] {
            stacks
                .claim(*id)
                .expect("a free stack")
                .enter(1, begin(), || *id);
        }
        assert!(stacks.claim(ids[GROUP]).is_none());
        for id in &ids[..GROUP] {
            assert_eq!(
                stacks.find(*id).expect("its stack").leave(1).unwrap().start,
                *id
            );
        }
        let third = stacks.find(ids[3]).unwrap();
        assert!(third.is_idle());
        stacks.release(third);
        assert!(stacks.claim(ids[GROUP]).is_some());
        assert!(stacks.find(ids[3]).is_none());
        assert_eq!(stacks.used().count(), GROUP);
    }

    /// Short-lived threads take no more memory than those that exist at once.
    #[test]
    fn stacks_are_reused_by_threads_of_other_groups() {
        let stacks = VirtualStacks::default();
        std::thread::scope(|scope| {
            for carrier in 0..4 {
                let stacks = &stacks;
                scope.spawn(move || {
                    for round in 0..20_000 {
                        let id = 1 + round * 4 + carrier;
                        let stack = stacks.claim(id).expect("a free stack");
                        stack.enter(1, begin(), || id);
                        let found = stacks.find(id).expect("its stack");
                        assert!(std::ptr::eq(found, stack));
                        assert_eq!(found.leave(1).unwrap().start, id);
                        stacks.release(stack);
                    }
                });
            }
        });
        assert_eq!(stacks.used().count(), 0);
        assert!(stacks.made.load(Ordering::Relaxed) <= 4);
    }
}
