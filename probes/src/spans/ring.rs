//! A queue of entries between one thread that writes and one that reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// Keeps what the two threads write in cache lines of their own.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Line<T>(T);

/// A ring of words. The writer never waits: an entry for which there is no room is refused.
#[derive(Debug)]
pub(crate) struct Ring {
    words: Box<[AtomicU64]>,
    /// Words written so far, and what the writer last saw of `tail`.
    head: Line<(AtomicU64, AtomicU64)>,
    /// Words read so far.
    tail: Line<AtomicU64>,
}

impl Ring {
    /// A ring of at least `words` words; a power of two.
    pub fn new(words: usize) -> Self {
        let length = words.next_power_of_two();
        Self {
            words: (0..length).map(|_| AtomicU64::new(0)).collect(),
            head: Line::default(),
            tail: Line::default(),
        }
    }

    /// Writes an entry of `head` and `tail` words, all or nothing. Called by one thread only.
    #[inline]
    pub fn push(&self, head: &[u64], tail: &[AtomicU64]) -> bool {
        let (written, seen) = &self.head.0;
        let at = written.load(Ordering::Relaxed);
        let end = at + (head.len() + tail.len()) as u64;
        let length = self.words.len() as u64;
        if end - seen.load(Ordering::Relaxed) > length {
            let tail = self.tail.0.load(Ordering::Acquire);
            seen.store(tail, Ordering::Relaxed);
            if end - tail > length {
                return false;
            }
        }
        let mask = self.words.len() - 1;
        for (value, at) in head.iter().zip(at as usize..) {
            if let Some(word) = self.words.get(at & mask) {
                word.store(*value, Ordering::Relaxed);
            }
        }
        for (value, at) in tail.iter().zip(at as usize + head.len()..) {
            if let Some(word) = self.words.get(at & mask) {
                word.store(value.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        written.store(end, Ordering::Release);
        true
    }

    /// Takes every word written so far. Called by one thread at a time.
    pub fn take(&self, out: &mut Vec<u64>) {
        let head = self.head.0.0.load(Ordering::Acquire);
        let tail = self.tail.0.load(Ordering::Relaxed);
        let mask = self.words.len() - 1;
        let words = (tail..head).filter_map(|at| self.words.get(at as usize & mask));
        out.extend(words.map(|word| word.load(Ordering::Relaxed)));
        self.tail.0.store(head, Ordering::Release);
    }

    /// Whether everything was taken.
    pub fn is_empty(&self) -> bool {
        self.head.0.0.load(Ordering::Acquire) == self.tail.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_without_room_is_refused_whole_and_order_is_kept() {
        let ring = Ring::new(8);
        let rest = [AtomicU64::new(9)];
        assert!(ring.push(&[1, 2, 3], &rest));
        assert!(ring.push(&[4, 5, 6], &[]));
        assert!(!ring.push(&[7, 8], &[]));
        let mut out = Vec::new();
        ring.take(&mut out);
        assert_eq!(out, [1, 2, 3, 9, 4, 5, 6]);
        assert!(ring.is_empty() && ring.push(&[7, 8], &[]));
    }

    #[test]
    fn reader_beside_a_writer_sees_whole_entries_in_order() {
        let ring = Ring::new(64);
        let (mut taken, mut refused) = (Vec::new(), 0_u64);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut refused = 0;
                for number in 0..200_000_u64 {
                    let copies = [AtomicU64::new(number), AtomicU64::new(number)];
                    refused += u64::from(!ring.push(&[number], &copies));
                }
                refused
            });
            while !writer.is_finished() {
                ring.take(&mut taken);
            }
            refused = writer.join().unwrap();
        });
        ring.take(&mut taken);
        assert_eq!(taken.len() as u64, (200_000 - refused) * 3);
        assert!(
            taken
                .chunks(3)
                .all(|copies| copies.iter().all(|copy| *copy == copies[0]))
        );
        assert!(taken.chunks(3).map(|copies| copies[0]).is_sorted());
    }
}
