//! Limits the number of stored calls or events per second.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::limits::MAX_SPANS;

/// Number of events on one page of the directory.
const PAGE: usize = 512;
/// No limit.
const UNLIMITED: u32 = u32::MAX;

/// The last second with stored items in the high half, and their number in the low half.
#[derive(Debug, Default)]
pub(crate) struct InSecond(AtomicU64);

impl InSecond {
    /// Counts one more item in this second; `false` if `most` is reached.
    pub fn admits(&self, second: u64, most: u32) -> bool {
        let more = |packed: u64| {
            let (last, count) = (packed >> 32, packed as u32);
            match second & 0xFFFF_FFFF {
                now if now != last && most > 0 => Some(now << 32 | 1),
                now if now == last && count < most => Some(packed + 1),
                _ => None,
            }
        };
        raise(&self.0, more)
    }

    /// Resets the count.
    pub fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Updates a number if `more` returns a new value; `false` otherwise.
pub(crate) fn raise(number: &AtomicU64, more: impl FnMut(u64) -> Option<u64>) -> bool {
    let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
    number.fetch_update(set, fetch, more).is_ok()
}

/// The limit of one event.
#[derive(Debug)]
struct Rate {
    most: AtomicU32,
    kept: InSecond,
}

type Page = Box<[Rate]>;

/// The limits of the events, by number. Memory is allocated when an event gets its limit, never when it is reached.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    pages: OnceLock<Box<[OnceLock<Page>]>>,
}

impl Rates {
    /// Sets the maximum number of stored events per second; `None` removes the limit.
    pub fn set(&self, event: u32, most: Option<u32>) {
        if most.is_none() && self.find(event).is_none() {
            return;
        }
        let pages = self.pages.get_or_init(|| {
            let count = (MAX_SPANS as usize).div_ceil(PAGE);
            (0..count).map(|_| OnceLock::new()).collect()
        });
        if let Some(page) = pages.get(event as usize / PAGE) {
            page.get_or_init(|| {
                let rate = |_| Rate {
                    most: AtomicU32::new(UNLIMITED),
                    kept: InSecond::default(),
                };
                (0..PAGE).map(rate).collect()
            });
        }
        if let Some(rate) = self.find(event) {
            rate.most
                .store(most.unwrap_or(UNLIMITED), Ordering::Relaxed);
        }
    }

    /// Checks whether one more event may be stored in this second, and counts it.
    pub fn admits(&self, event: u32, second: u64) -> bool {
        self.find(event)
            .is_none_or(|rate| match rate.most.load(Ordering::Relaxed) {
                UNLIMITED => true,
                most => rate.kept.admits(second, most),
            })
    }

    /// Starts another trace: all counts begin at zero.
    pub fn begin_again(&self) {
        let pages = self.pages.get().into_iter().flatten();
        let rates = pages.filter_map(OnceLock::get).flatten();
        rates.for_each(|rate| rate.kept.forget());
    }

    /// Resets the count of one event.
    pub fn forget(&self, event: u32) {
        if let Some(rate) = self.find(event) {
            rate.kept.forget();
        }
    }

    fn find(&self, event: u32) -> Option<&Rate> {
        let page = self.pages.get()?.get(event as usize / PAGE)?.get()?;
        page.get(event as usize % PAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_limited_in_each_second() {
        let rates = Rates::default();
        let last = MAX_SPANS - 1;
        rates.set(last, Some(2));
        let admitted = [0, 0, 0, 1, 1, 1].map(|second| rates.admits(last, second));
        assert_eq!(admitted, [true, true, false, true, true, false]);
        assert!(rates.admits(last - 1, 1) && rates.admits(0, 1));
        rates.begin_again();
        assert!(rates.admits(last, 1));
        rates.set(last, Some(0));
        assert!(!rates.admits(last, 1) && !rates.admits(last, 7));
        rates.set(last, None);
        assert!((0..9).all(|_| rates.admits(last, 7)));
    }
}
