//! Limits the frequency of an expensive check that rarely finds anything.

use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of skipped checks.
const MAX_SKIPPED: u64 = 1_023;

/// Doubles the number of skipped checks after each check without a result.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    left: AtomicU64,
    next: AtomicU64,
}

impl Backoff {
    /// Checks whether the next check is due; if not, counts a skipped one.
    #[cold]
    pub fn is_over(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }

    /// Notes the result of a check.
    #[cold]
    pub fn looked(&self, found: bool) {
        let next = match found {
            true => 0,
            false => (self.next.load(Ordering::Relaxed) * 2 + 1).min(MAX_SKIPPED),
        };
        self.next.store(next, Ordering::Relaxed);
        self.left.store(next, Ordering::Relaxed);
    }

    /// Makes the next check due at once.
    pub fn reset(&self) {
        self.looked(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_become_rarer_until_one_finds_something() {
        let backoff = Backoff::default();
        let look = |occasions: u64, found: bool| {
            let looks = (0..occasions).filter(|_| {
                let looks = backoff.is_over();
                if looks {
                    backoff.looked(found);
                }
                looks
            });
            looks.count()
        };
        assert_eq!(look(1_000, false), 9);
        assert_eq!(look(100_000, false), 98);
        backoff.reset();
        assert_eq!(look(100, true), 100);
    }
}
