//! A lock-free list of numbered items that any thread takes and returns.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The number of an item plus one; 0 is the end of the list.
pub(crate) type Link = u32;

/// The free items, last returned first. Each holds the link to the next one.
#[derive(Debug, Default)]
pub(crate) struct FreeList {
    /// The top item in the low half, and the number of changes in the high half.
    top: AtomicU64,
}

impl FreeList {
    /// Takes the top item; `below` finds the link that an item holds.
    pub fn take<'t>(&self, below: impl Fn(Link) -> Option<&'t AtomicU32>) -> Option<Link> {
        let mut top = self.top.load(Ordering::Acquire);
        loop {
            let next = below(top as Link)?.load(Ordering::Relaxed);
            match self.replace(top, next) {
                Ok(_) => return Some(top as Link),
                Err(found) => top = found,
            }
        }
    }

    /// Returns an item to the list; `below` is its link.
    pub fn give_back(&self, link: Link, below: &AtomicU32) {
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            below.store(top as Link, Ordering::Relaxed);
            match self.replace(top, link) {
                Ok(_) => return,
                Err(found) => top = found,
            }
        }
    }

    fn replace(&self, top: u64, link: Link) -> Result<u64, u64> {
        let changed = (top >> 32).wrapping_add(1) << 32 | u64::from(link);
        self.top
            .compare_exchange_weak(top, changed, Ordering::AcqRel, Ordering::Acquire)
    }
}
