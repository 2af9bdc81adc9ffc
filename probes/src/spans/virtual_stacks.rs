//! The stacks of virtual threads.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use super::stack::ThreadStack;

/// Stacks of one group.
const GROUP: usize = 16;
/// Groups; a virtual thread uses a stack of the group that its id names.
const GROUPS: usize = 4_096;

type Group = Box<[ThreadStack; GROUP]>;

/// The stacks of virtual threads that have a call open: 65,536 of them at most.
///
/// A virtual thread runs on one native thread at a time, which alone touches its stack; a stack is in use while it has
/// an owner.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_threads_of_one_group_find_their_own_stacks_until_it_is_full() {
        let stacks = VirtualStacks::default();
        let ids: Vec<u64> = (0..=GROUP as u64).map(|n| 7 + n * GROUPS as u64).collect();
        for id in &ids[..GROUP] {
            stacks.claim(*id).expect("a free stack").enter(1, 1, *id, 0);
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
