//! Numbered things that are free for any thread, taken and given back without a lock.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The number of a thing plus one; 0 is none.
pub(crate) type Link = u32;

/// The free things, the one that was given back last on top. Each holds the link to the one below it.
#[derive(Debug, Default)]
pub(crate) struct FreeList {
    /// The topmost one in the low half, and how often it was changed in the high one.
    top: AtomicU64,
}

impl FreeList {
    /// Takes one; `below` finds the link that a thing holds.
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

    /// Gives one back that holds the link `below`.
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
