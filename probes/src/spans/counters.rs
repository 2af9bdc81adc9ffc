//! Allocates the counters of spans in count mode: elements of arrays that all sessions share.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::sessions::SpanInCode;
use crate::arrays::COUNTS_LENGTH;

/// The location of a span's counter: element `index` of counter array number `array`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Number of the array.
    pub array: u16,
    /// Index of the element.
    pub index: u16,
}

/// The counters in use. All methods are thread-safe.
#[derive(Debug, Default)]
pub struct Counters {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The span of each counter.
    spans: Vec<u32>,
    /// The counter of each span.
    by_span: HashMap<u32, u32>,
}

impl Counters {
    /// Returns the counter of a span, given by its number in the code. The first request allocates it.
    pub fn of(&self, span: u32) -> Counter {
        let mut state = self.state();
        let next = u32::try_from(state.spans.len()).unwrap_or(u32::MAX);
        let number = *state.by_span.entry(span).or_insert(next);
        if number == next {
            state.spans.push(span);
        }
        let length = COUNTS_LENGTH as u32;
        Counter {
            array: u16::try_from(number / length).unwrap_or(u16::MAX), // below SESSIONS * MAX_SPANS / COUNTS_LENGTH
            index: (number % length) as u16,                           // below COUNTS_LENGTH
        }
    }

    /// Returns the number of counters.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state().spans.len()
    }

    /// Returns the spans of an array's counters in the order of its elements, by their numbers in the code.
    #[must_use]
    pub fn counted(&self, array: u16) -> Vec<SpanInCode> {
        let state = self.state();
        let mut counters = state.spans.chunks(COUNTS_LENGTH);
        let spans = counters.nth(usize::from(array)).unwrap_or_default();
        spans.iter().copied().map(SpanInCode).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_dense_and_stable() {
        let counters = Counters::default();
        assert_eq!(counters.of(7), Counter { array: 0, index: 0 });
        assert_eq!(counters.of(3), Counter { array: 0, index: 1 });
        assert_eq!(counters.of(7), Counter { array: 0, index: 0 });
        assert_eq!(counters.counted(0), [7, 3].map(SpanInCode));
        assert!(counters.counted(1).is_empty());
    }
}
