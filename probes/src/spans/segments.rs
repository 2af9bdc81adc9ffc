//! Memory for calls waiting for the reader: segments of equal size, which all threads share.
//!
//! A thread writes into one segment at a time. When it is full, the thread takes another one and links it. The reader
//! follows the links and returns each segment once it is read. So a busy thread has as much memory as it needs, and
//! an idle one at most a segment.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::free_list::{FreeList, Link};

/// Number of words of a segment: 32 KiB.
pub(crate) const WORDS: usize = 4 << 10;
/// Maximum number of segments: 128 MiB.
const MAX_SEGMENTS: usize = 4 << 10;
/// Maximum number of full unread segments: 64 MiB, some 2.7 million calls without values.
const MAX_FULL: usize = 2 << 10;
/// Number of full segments that ends the reader's pause.
const MANY_FULL: usize = 32;

/// Allocates the words of segments: a number of zero words, preferably page-aligned.
pub type Memory = fn(usize) -> &'static [AtomicU64];

/// Words that one thread writes and one thread at a time reads.
#[derive(Debug)]
struct Segment {
    words: &'static [AtomicU64],
    /// Number of words written.
    written: AtomicUsize,
    /// Number of words read.
    read: AtomicUsize,
    /// The thread's next segment. Set once `written` no longer changes.
    next: AtomicU32,
    /// The link to the next free segment.
    free: AtomicU32,
}

/// All segments of one JVM. None is ever freed.
#[derive(Debug)]
pub(crate) struct Segments {
    all: Box<[OnceLock<Segment>]>,
    /// Number of allocated segments.
    made: AtomicUsize,
    free: FreeList,
    /// Number of full unread segments.
    full: AtomicUsize,
    limits: Limits,
}

/// Memory limits of segments, and their allocator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum number of segments.
    pub segments: usize,
    /// Maximum number of full unread segments.
    pub full: usize,
    /// Allocates the words.
    pub memory: Memory,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            segments: MAX_SEGMENTS,
            full: MAX_FULL,
            memory: heap_words,
        }
    }
}

/// Allocates words on the heap, which are never freed.
pub fn heap_words(length: usize) -> &'static [AtomicU64] {
    let words: Vec<AtomicU64> = (0..length).map(|_| AtomicU64::new(0)).collect();
    words.leak()
}

/// The segments of one thread: the current segment of the writer, and that of the reader.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    writing: AtomicU32,
    reading: AtomicU32,
}

/// The result of adding an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// The entry waits for the reader.
    Waits,
    /// The entry waits, and so many others do that the reader should not pause.
    ManyWait,
    /// No memory is left for the entry.
    Refused,
}

/// Space reserved for an entry.
#[derive(Debug)]
pub(crate) struct ReservedEntry<'s, const N: usize> {
    segment: &'s Segment,
    end: usize,
    words: &'s [AtomicU64; N],
    /// Target and source of the last words.
    tail: (&'s [AtomicU64], &'s [AtomicU64]),
    behind: &'s [AtomicU64],
}

/// Distance, in words, of the prefetched memory after the written words.
const AHEAD: usize = 64;

impl<const N: usize> ReservedEntry<'_, N> {
    /// Returns a word that will be written soon.
    #[inline(always)]
    pub fn ahead(&self) -> Option<&AtomicU64> {
        self.behind.get(AHEAD)
    }

    /// Writes the entry.
    #[inline(always)]
    pub fn fill(self, entry: [u64; N]) {
        for (word, value) in self.words.iter().zip(entry) {
            word.store(value, Ordering::Relaxed);
        }
        for (word, value) in self.tail.0.iter().zip(self.tail.1) {
            word.store(value.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.segment.written.store(self.end, Ordering::Release);
    }
}

impl Segments {
    /// Creates an empty set of segments.
    pub fn new(limits: Limits) -> Self {
        Self {
            all: (0..limits.segments).map(|_| OnceLock::new()).collect(),
            made: AtomicUsize::new(0),
            free: FreeList::default(),
            full: AtomicUsize::new(0),
            limits,
        }
    }

    /// Returns the memory limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Writes an entry of `head` and `tail` words to the end of `queue`, all or nothing. An entry has at most
    /// [`WORDS`] words. Called by the queue's thread only.
    #[inline]
    pub fn push(&self, queue: &Queue, head: &[u64], tail: &[AtomicU64]) -> Pushed {
        if let Some(segment) = self.get(queue.writing.load(Ordering::Relaxed))
            && segment.push(head, tail)
        {
            return Pushed::Waits;
        }
        self.push_to_another(queue, head, tail)
    }

    /// Reserves space for an entry of `N` words and those of `tail` in the current segment of `queue`. Called by the
    /// queue's thread only.
    #[inline(always)]
    pub fn room<'s, const N: usize>(
        &'s self,
        queue: &Queue,
        tail: &'s [AtomicU64],
    ) -> Option<ReservedEntry<'s, N>> {
        let segment = self.get(queue.writing.load(Ordering::Relaxed))?;
        let at = segment.written.load(Ordering::Relaxed);
        let (words, behind) = segment.words.get(at..)?.split_first_chunk()?;
        let (place, behind) = behind.split_at_checked(tail.len())?;
        Some(ReservedEntry {
            segment,
            end: at + N + tail.len(),
            words,
            tail: (place, tail),
            behind,
        })
    }

    #[cold]
    fn push_to_another(&self, queue: &Queue, head: &[u64], tail: &[AtomicU64]) -> Pushed {
        let last = self.get(queue.writing.load(Ordering::Relaxed));
        let full = self.full.load(Ordering::Relaxed) + usize::from(last.is_some());
        if full > self.limits.full {
            return Pushed::Refused;
        }
        let Some((link, segment)) = self.take() else {
            return Pushed::Refused;
        };
        segment.push(head, tail);
        queue.writing.store(link, Ordering::Relaxed);
        match last {
            None => queue.reading.store(link, Ordering::Release),
            Some(last) => {
                self.full.fetch_add(1, Ordering::Relaxed);
                last.next.store(link, Ordering::Release);
            }
        }
        // Also above the number: the reader may be notified and not have come yet.
        if full >= MANY_FULL {
            Pushed::ManyWait
        } else {
            Pushed::Waits
        }
    }

    /// Takes the unread words of one segment of `queue`; returns `true` if there may be more. Called by one thread at
    /// a time.
    pub fn pull(&self, queue: &Queue, out: &mut Vec<u64>) -> bool {
        let link = queue.reading.load(Ordering::Acquire);
        let Some(segment) = self.get(link) else {
            return false;
        };
        let next = segment.next.load(Ordering::Acquire);
        let written = segment.written.load(Ordering::Acquire);
        let read = segment.read.load(Ordering::Relaxed);
        let words = segment.words.get(read..written).unwrap_or_default();
        out.extend(words.iter().map(|word| word.load(Ordering::Relaxed)));
        segment.read.store(written, Ordering::Relaxed);
        if next == 0 {
            return false;
        }
        queue.reading.store(next, Ordering::Relaxed);
        self.full.fetch_sub(1, Ordering::Relaxed);
        self.give_back(link, segment);
        true
    }

    #[inline(always)]
    fn get(&self, link: Link) -> Option<&Segment> {
        self.all.get((link as usize).checked_sub(1)?)?.get()
    }

    /// Takes an empty segment.
    fn take(&self) -> Option<(Link, &Segment)> {
        let below = |link| self.get(link).map(|segment| &segment.free);
        if let Some(link) = self.free.take(below) {
            return Some((link, self.get(link)?));
        }
        self.make()
    }

    fn make(&self) -> Option<(Link, &Segment)> {
        let more = |made: usize| (made < self.all.len()).then_some(made + 1);
        let number = self
            .made
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()?;
        let segment = self
            .all
            .get(number)?
            .get_or_init(|| Segment::new((self.limits.memory)(WORDS)));
        Some((u32::try_from(number).ok()? + 1, segment))
    }

    /// Passes on the words without unread data that no thread writes at the moment: those of free segments, and the
    /// read words of others. Their values do not matter. No reader may run meanwhile.
    pub fn visit_read(&self, visit: impl Fn(&[AtomicU64])) {
        let below = |link| self.get(link).map(|segment| &segment.free);
        let free: Vec<Link> = std::iter::from_fn(|| self.free.take(below)).collect();
        let made = self.made.load(Ordering::Relaxed);
        for segment in self.all.iter().take(made).filter_map(OnceLock::get) {
            let read = segment.read.load(Ordering::Relaxed);
            visit(segment.words.get(..read).unwrap_or_default());
        }
        for (link, segment) in free
            .iter()
            .filter_map(|link| Some((*link, self.get(*link)?)))
        {
            visit(segment.words);
            self.free.give_back(link, &segment.free);
        }
    }

    /// Frees a segment that was read to the end.
    fn give_back(&self, link: Link, segment: &Segment) {
        segment.written.store(0, Ordering::Relaxed);
        segment.read.store(0, Ordering::Relaxed);
        segment.next.store(0, Ordering::Relaxed);
        self.free.give_back(link, &segment.free);
    }
}

impl Segment {
    fn new(words: &'static [AtomicU64]) -> Self {
        Self {
            words,
            written: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            next: AtomicU32::new(0),
            free: AtomicU32::new(0),
        }
    }

    /// Writes an entry; `false` if there is no room.
    #[inline]
    fn push(&self, head: &[u64], tail: &[AtomicU64]) -> bool {
        let at = self.written.load(Ordering::Relaxed);
        let end = at + head.len() + tail.len();
        let Some(words) = self.words.get(at..end) else {
            return false;
        };
        for (word, value) in words.iter().zip(head) {
            word.store(*value, Ordering::Relaxed);
        }
        for (word, value) in words.iter().skip(head.len()).zip(tail) {
            word.store(value.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.written.store(end, Ordering::Release);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(segments: &Segments, queue: &Queue) -> Vec<u64> {
        let mut out = Vec::new();
        while segments.pull(queue, &mut out) {}
        out
    }

    #[test]
    fn entries_of_any_length_are_read_complete_and_in_order() {
        let (segments, queue) = (Segments::new(Limits::default()), Queue::default());
        let tail: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(9)).collect();
        let mut expected = Vec::new();
        for length in [0, 1, WORDS - 1, 3, WORDS / 2, WORDS / 2, 0] {
            let head = [length as u64];
            assert_eq!(segments.push(&queue, &head, &tail[..length]), Pushed::Waits);
            expected.extend(head);
            expected.extend(vec![9; length]);
        }
        assert_eq!(all(&segments, &queue), expected);
        assert!(all(&segments, &queue).is_empty());
    }

    #[test]
    fn full_memory_refuses_entries_until_it_is_read() {
        let limits = Limits {
            segments: 5,
            full: 2,
            ..Limits::default()
        };
        let (segments, queue) = (Segments::new(limits), Queue::default());
        let whole = vec![1; WORDS];
        let push = || segments.push(&queue, &whole, &[]);
        assert_eq!([push(), push(), push()], [Pushed::Waits; 3]);
        assert_eq!(push(), Pushed::Refused);
        assert_eq!(all(&segments, &queue).len(), 3 * WORDS);
        assert_eq!([push(), push()], [Pushed::Waits; 2]);
        assert_eq!(segments.made.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn read_segments_are_visited_and_reusable() {
        let (segments, queue) = (Segments::new(Limits::default()), Queue::default());
        let whole = vec![1; WORDS];
        for _ in 0..2 {
            (0..3).for_each(|_| assert_eq!(segments.push(&queue, &whole, &[]), Pushed::Waits));
            assert_eq!(all(&segments, &queue), vec![1; 3 * WORDS]);
            let shown = std::cell::Cell::new(0);
            segments.visit_read(|words| {
                words
                    .iter()
                    .for_each(|word| word.store(0, Ordering::Relaxed));
                shown.set(shown.get() + words.len());
            });
            assert!(shown.get() >= 3 * WORDS, "the one that is held, too");
        }
        assert!(segments.made.load(Ordering::Relaxed) <= 5);
    }

    #[test]
    fn reader_is_woken_when_many_segments_are_full() {
        let (segments, queue) = (Segments::new(Limits::default()), Queue::default());
        let whole = vec![1; WORDS];
        let pushed: Vec<Pushed> = (0..MANY_FULL + 2)
            .map(|_| segments.push(&queue, &whole, &[]))
            .collect();
        let calm = pushed.iter().filter(|pushed| **pushed == Pushed::Waits);
        assert_eq!(calm.count(), MANY_FULL);
    }

    #[test]
    fn threads_that_share_segments_lose_and_mix_no_entries() {
        const THREADS: usize = 4;
        const ENTRIES: u64 = 200_000;
        let limits = Limits {
            segments: 40,
            full: 30,
            ..Limits::default()
        };
        let segments = Segments::new(limits);
        let queues: [Queue; THREADS] = std::array::from_fn(|_| Queue::default());
        let mut read: [Vec<u64>; THREADS] = std::array::from_fn(|_| Vec::new());
        let mut pushed = 0;
        std::thread::scope(|scope| {
            let writers: Vec<_> = queues
                .iter()
                .map(|queue| {
                    let segments = &segments;
                    scope.spawn(move || {
                        let tail = [AtomicU64::new(7), AtomicU64::new(7)];
                        let push = |number| segments.push(queue, &[number], &tail);
                        (0..ENTRIES)
                            .filter(|number| push(*number) != Pushed::Refused)
                            .count()
                    })
                })
                .collect();
            let mut pull = || {
                for (queue, out) in queues.iter().zip(&mut read) {
                    while segments.pull(queue, out) {}
                }
            };
            while writers.iter().any(|writer| !writer.is_finished()) {
                pull();
            }
            pull();
            for writer in writers {
                pushed += writer.join().unwrap();
            }
        });
        assert_eq!(read.iter().map(Vec::len).sum::<usize>(), pushed * 3);
        for words in &read {
            let numbers: Vec<u64> = words.chunks(3).map(|entry| entry[0]).collect();
            assert!(numbers.is_sorted_by(|one, next| one < next));
            assert!(words.chunks(3).all(|entry| entry[1..] == [7, 7]));
        }
    }
}
