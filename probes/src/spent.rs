//! Probes that need not be set any more, because it is on record that they were hit.

use std::sync::Arc;

use crate::arrays::ARRAY_LENGTH;

const WORDS: usize = ARRAY_LENGTH / u64::BITS as usize;

/// Those of one array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentProbes(Box<[u64; WORDS]>);

impl SpentProbes {
    /// Whether the probe at this index of the array is among them.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        let word = self.0.get(index / 64);
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

/// Those of all arrays, by number.
#[derive(Debug, Default)]
pub(crate) struct Spent(Vec<Option<Arc<SpentProbes>>>);

impl Spent {
    /// Those of one array; none if there are none.
    pub fn of(&self, array: u16) -> Option<Arc<SpentProbes>> {
        self.0.get(usize::from(array))?.clone()
    }

    /// Adds one; says whether it was not there yet.
    pub fn insert(&mut self, array: u16, index: usize) -> bool {
        let array = usize::from(array);
        if self.0.len() <= array {
            self.0.resize(array + 1, None);
        }
        let Some(probes) = self.0.get_mut(array) else {
            return false;
        };
        let probes = probes.get_or_insert_with(|| Arc::new(SpentProbes(Box::new([0; WORDS]))));
        let Some(word) = Arc::make_mut(probes).0.get_mut(index / 64) else {
            return false;
        };
        let before = *word;
        *word |= 1 << (index % 64);
        *word != before
    }

    /// Takes out `count` of an array from `base` on.
    pub fn remove(&mut self, array: u16, base: u16, count: u32) {
        let Some(Some(probes)) = self.0.get_mut(usize::from(array)) else {
            return;
        };
        let probes = Arc::make_mut(probes);
        let base = usize::from(base);
        for index in base..base + count as usize {
            if let Some(word) = probes.0.get_mut(index / 64) {
                *word &= !(1 << (index % 64));
            }
        }
    }

    /// Takes out all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_handed_out_does_not_change_any_more() {
        let mut spent = Spent::default();
        assert_eq!(spent.of(3), None);
        assert!(spent.insert(3, 64) && spent.insert(3, 65) && !spent.insert(3, 64));
        assert!(spent.insert(3, ARRAY_LENGTH - 1) && !spent.insert(3, ARRAY_LENGTH));
        let before = spent.of(3).unwrap();
        spent.remove(3, 65, 2);
        let after = spent.of(3).unwrap();
        assert!(before.contains(65) && !after.contains(65));
        assert!(after.contains(64) && after.contains(ARRAY_LENGTH - 1) && !after.contains(1));
        assert_eq!(spent.of(0), None);
        spent.clear();
        assert_eq!(spent.of(3), None);
    }
}
