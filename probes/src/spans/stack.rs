//! The open calls of one Java thread.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::capture::ARENA;
use super::limits::MAX_SPANS;
use super::table::WATCHED;
use crate::events::SpanMode;

/// Frames of the first chunk, which lies in the stack itself; each further one has twice as many.
const FIRST: usize = 16;
const CHUNKS: usize = 13;
/// Most calls that are open at once on one thread: more than a stack of the usual size can hold.
pub(crate) const MAX_DEPTH: u64 = (FIRST as u64) * ((1 << CHUNKS) - 1);

/// Modes from this one on keep times.
const TIMED: u8 = SpanMode::Aggregate as u8;
/// There are no staged captures.
const NO_SPAN: u64 = u64::MAX;

/// One open call.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// See `Head`.
    head: AtomicU64,
    /// When it was entered.
    start: AtomicU64,
    /// Time of the spans within it, so far.
    within: AtomicU64,
    /// A bit for the span of each call from here outwards that is the outermost one of its span.
    spans: AtomicU64,
}

impl Frame {
    #[inline(always)]
    fn head(&self) -> Head {
        Head(get(&self.head))
    }
}

/// The first word of a frame: its span, its mode, where its captures begin in the arena, and the number, plus one, of the
/// innermost call from here outwards that is the outermost one of its span. One word, because the return from a native
/// method waits for each of its stores.
#[derive(Debug, Clone, Copy)]
struct Head(u64);

const MODE_SHIFT: u32 = 24;
const ARENA_SHIFT: u32 = 28;
const OUTERMOST_SHIFT: u32 = 40;
const SPAN_MASK: u64 = (1 << MODE_SHIFT) - 1;
const MODE_MASK: u64 = (1 << (ARENA_SHIFT - MODE_SHIFT)) - 1;
const ARENA_MASK: u64 = (1 << (OUTERMOST_SHIFT - ARENA_SHIFT)) - 1;
const _: () = assert!(
    MAX_SPANS as u64 <= SPAN_MASK
        && WATCHED as u64 <= MODE_MASK
        && ARENA as u64 <= ARENA_MASK
        && MAX_DEPTH <= u64::MAX >> OUTERMOST_SHIFT
);

impl Head {
    #[inline(always)]
    fn new(span: u32, mode: u8, arena: u64, outermost: u64) -> Self {
        let mode = u64::from(mode) << MODE_SHIFT;
        Self(u64::from(span) | mode | arena << ARENA_SHIFT | outermost << OUTERMOST_SHIFT)
    }

    #[inline(always)]
    fn span(self) -> u32 {
        (self.0 & SPAN_MASK) as u32
    }

    #[inline(always)]
    fn mode(self) -> u8 {
        (self.0 >> MODE_SHIFT & MODE_MASK) as u8
    }

    #[inline(always)]
    fn arena(self) -> u64 {
        self.0 >> ARENA_SHIFT & ARENA_MASK
    }

    #[inline(always)]
    fn outermost(self) -> u64 {
        self.0 >> OUTERMOST_SHIFT
    }
}

/// What is known of a call when it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    /// The mode in force when it was entered.
    pub mode: u8,
    /// When it was entered.
    pub start: u64,
    /// Time of the spans within it.
    pub within: u64,
    /// Its captures: words of the arena.
    pub captures: (u64, u64),
    /// Calls within it whose end was never seen.
    pub unended: u64,
    /// Whether no other call of this span is open around it.
    pub outermost: bool,
}

/// An open call that can be left without the call of another function.
#[derive(Debug)]
pub(crate) struct Plain<'s> {
    /// The mode in force when it was entered.
    pub mode: u8,
    /// When it was entered.
    pub start: u64,
    /// Whether no other call of this span is open around it.
    pub outermost: bool,
    /// Its captures.
    pub captures: &'s [AtomicU64],
    /// Some of them are staged.
    has_staged: bool,
    /// Where they begin, if that is not where those of open calls end.
    arena: Option<u64>,
    depth: u64,
    frame: &'s Frame,
    around: &'s Frame,
}

/// The stack of one Java thread. Written by whichever native thread runs that thread, one at a time.
#[derive(Debug, Default)]
pub(crate) struct ThreadStack {
    /// Java's id of the thread; 0 while a stack for virtual threads has none, and always where threads are not
    /// identified by id.
    pub owner: AtomicU64,
    depth: AtomicU64,
    /// The last time given out.
    last: AtomicU64,
    /// A frame around all calls, which stays empty but for the time within it, and the first chunk.
    first: [Frame; FIRST + 1],
    /// The others.
    chunks: [OnceLock<Box<[Frame]>>; CHUNKS - 1],
    arena: OnceLock<Box<[AtomicU64]>>,
    /// End of the captures of open calls.
    top: AtomicU64,
    /// End of the captures staged for a call that is about to be entered or left.
    staged: AtomicU64,
    /// The span they belong to.
    staged_for: AtomicU64,
}

#[inline(always)]
fn get(number: &AtomicU64) -> u64 {
    number.load(Ordering::Relaxed)
}

#[inline(always)]
fn set(number: &AtomicU64, value: u64) {
    number.store(value, Ordering::Relaxed);
}

impl ThreadStack {
    /// Whether no call is open.
    #[inline]
    pub fn is_idle(&self) -> bool {
        get(&self.depth) == 0
    }

    /// A time later, by `apart` ticks at least, than every one before it on this thread.
    #[inline]
    pub fn moment(&self, now: u64, apart: u64) -> u64 {
        let now = now.max(get(&self.last) + apart);
        set(&self.last, now);
        now
    }

    /// The frame at `depth`, which is made if `make` says so.
    #[inline(always)]
    fn frame(&self, depth: u64, make: bool) -> Option<&Frame> {
        match self.first.get(depth as usize + 1) {
            Some(frame) => Some(frame),
            None => self.deep_frame(depth, make),
        }
    }

    fn deep_frame(&self, depth: u64, make: bool) -> Option<&Frame> {
        let number = depth as usize + FIRST;
        let power = number.ilog2();
        let chunk = (power - FIRST.ilog2()) as usize;
        let chunk = self.chunks.get(chunk.checked_sub(1)?)?;
        let frames = match chunk.get() {
            Some(frames) => frames,
            None if make => {
                chunk.get_or_init(|| (0..1 << power).map(|_| Frame::default()).collect())
            }
            None => return None,
        };
        frames.get(number - (1 << power))
    }

    /// A call begins; false if it is nested too deeply to be followed. It is counted all the same, so that its end
    /// is not taken for another's. Calls entered before `base` are not of this trace. `now` reads the clock,
    /// last, and only for a mode that keeps times.
    #[inline(always)]
    pub fn enter(&self, span: u32, mode: u8, base: u64, now: impl FnOnce() -> u64) -> bool {
        let depth = get(&self.depth);
        set(&self.depth, depth + 1);
        let Some(frame) = self.frame(depth, true) else {
            return false;
        };
        let (mut outermost, mut spans) = self.outermost_below(depth);
        let bit = 1 << (span % u64::BITS);
        // A bit may stand for another span, too.
        if mode >= TIMED && !(spans & bit != 0 && self.is_open(span, outermost, base)) {
            outermost = depth + 1;
            spans |= bit;
        }
        let head = Head::new(span, mode, get(&self.top), outermost);
        set(&frame.head, head.0);
        set(&frame.within, 0);
        set(&frame.spans, spans);
        if get(&self.staged_for) == u64::from(span) {
            set(&self.top, get(&self.staged));
            set(&self.staged_for, NO_SPAN);
        }
        let start = match mode {
            TIMED.. => now(),
            _ => 0,
        };
        set(&frame.start, start);
        true
    }

    /// Does what [`enter`](Self::enter) does for a mode that keeps times, where that takes no call of another function;
    /// else nothing.
    #[inline(always)]
    pub fn enter_quickly(&self, span: u32, mode: u8, now: impl FnOnce() -> u64) -> Option<()> {
        let depth = get(&self.depth);
        let (around, frame) = self.innermost(depth)?;
        let (spans, bit) = (get(&around.spans), 1 << (span % u64::BITS));
        if spans & bit != 0 {
            return None;
        }
        let top = get(&self.top);
        if get(&self.staged_for) == u64::from(span) {
            set(&self.top, get(&self.staged));
            set(&self.staged_for, NO_SPAN);
        }
        set(&self.depth, depth + 1);
        set(&frame.head, Head::new(span, mode, top, depth + 1).0);
        set(&frame.within, 0);
        set(&frame.spans, spans | bit);
        set(&frame.start, now());
        Some(())
    }

    /// The frame at `depth`, if it is in the first chunk, and the one around it.
    #[inline(always)]
    fn innermost(&self, depth: u64) -> Option<(&Frame, &Frame)> {
        let [around, frame] = self.first.get(depth as usize..)?.first_chunk()?;
        Some((around, frame))
    }

    /// The innermost call, if it is of this span and lies in the first chunk.
    #[inline(always)]
    pub fn plain(&self, span: u32) -> Option<Plain<'_>> {
        let depth = get(&self.depth).checked_sub(1)?;
        let (around, frame) = self.innermost(depth)?;
        let head = frame.head();
        if head.span() != span {
            return None;
        }
        let (arena, top) = (head.arena(), get(&self.top));
        let has_staged = get(&self.staged_for) == u64::from(span);
        let end = if has_staged { get(&self.staged) } else { top };
        let captures = if end == arena {
            &[][..]
        } else {
            self.arena.get()?.get(arena as usize..end as usize)?
        };
        Some(Plain {
            mode: head.mode(),
            captures,
            has_staged,
            arena: (top != arena).then_some(arena),
            start: get(&frame.start),
            outermost: head.outermost() == depth + 1,
            depth,
            frame,
            around,
        })
    }

    /// Does what [`leave`](Self::leave) and [`spent`](Self::spent) do with this call, which took so many ticks; says how
    /// many of them were not within other spans.
    #[inline(always)]
    pub fn leave_quickly(&self, call: &Plain<'_>, ticks: u64) -> u64 {
        if call.has_staged {
            set(&self.staged_for, NO_SPAN);
        }
        if let Some(arena) = call.arena {
            set(&self.top, arena);
        }
        set(&self.depth, call.depth);
        let within = &call.around.within;
        set(within, get(within) + ticks);
        ticks.saturating_sub(get(&call.frame.within))
    }

    /// [`Head::outermost`] and [`Frame::spans`] of the call around the one at `depth`.
    #[inline(always)]
    fn outermost_below(&self, depth: u64) -> (u64, u64) {
        let around = depth
            .checked_sub(1)
            .and_then(|around| self.frame(around, false));
        around.map_or((0, 0), |frame| {
            (frame.head().outermost(), get(&frame.spans))
        })
    }

    /// Whether a call of `span` of this trace is open. Takes as many steps as there are spans with open calls.
    #[cold]
    fn is_open(&self, span: u32, mut outermost: u64, base: u64) -> bool {
        while let Some(depth) = outermost.checked_sub(1) {
            let Some(frame) = self.frame(depth, false) else {
                return false;
            };
            if frame.head().span() == span {
                return get(&frame.start) >= base;
            }
            (outermost, _) = self.outermost_below(depth);
        }
        false
    }

    /// A call ends; none if its begin is not known.
    #[inline(always)]
    pub fn leave(&self, span: u32) -> Option<Left> {
        let depth = get(&self.depth).checked_sub(1)?;
        if depth >= MAX_DEPTH {
            set(&self.depth, depth);
            return None;
        }
        let frame = self.frame(depth, false)?;
        if frame.head().span() == span {
            return Some(self.pop(span, depth, frame, 0));
        }
        self.leave_outer(span, depth)
    }

    /// The innermost call is another one: its end was not seen, because the JVM had no stack left to report it.
    #[cold]
    fn leave_outer(&self, span: u32, depth: u64) -> Option<Left> {
        let outer = |at: &u64| {
            self.frame(*at, false)
                .is_some_and(|frame| frame.head().span() == span)
        };
        let at = (0..depth).rev().find(outer)?;
        let frame = self.frame(at, false)?;
        Some(self.pop(span, at, frame, depth - at))
    }

    #[inline(always)]
    fn pop(&self, span: u32, depth: u64, frame: &Frame, unended: u64) -> Left {
        let head = frame.head();
        let (arena, top) = (head.arena(), get(&self.top));
        let end = if get(&self.staged_for) == u64::from(span) {
            set(&self.staged_for, NO_SPAN);
            get(&self.staged)
        } else {
            top
        };
        if top != arena {
            set(&self.top, arena);
        }
        set(&self.depth, depth);
        Left {
            mode: head.mode(),
            start: get(&frame.start),
            within: get(&frame.within),
            captures: (arena, end),
            unended,
            outermost: head.outermost() == depth + 1,
        }
    }

    /// Time that a span within the innermost open call took.
    #[inline]
    pub fn spent(&self, ticks: u64) {
        let Some(depth) = get(&self.depth).checked_sub(1) else {
            return;
        };
        if let Some(frame) = self.frame(depth, false) {
            set(&frame.within, get(&frame.within) + ticks);
        }
    }

    /// Becomes the stack of another thread.
    pub fn begin(&self, owner: u64) {
        self.clear();
        set(&self.last, 0);
        set(&self.owner, owner);
    }

    /// Forgets what is open.
    pub fn clear(&self) {
        set(&self.depth, 0);
        set(&self.top, 0);
        set(&self.staged_for, NO_SPAN);
    }

    /// Calls `write` with the words behind the captures staged for `span`, all those before being forgotten if
    /// `first`; `write` says how many it used, none if it had no room.
    pub fn stage(
        &self,
        span: u32,
        first: bool,
        write: impl FnOnce(&[AtomicU64]) -> Option<usize>,
    ) -> bool {
        if first || get(&self.staged_for) != u64::from(span) {
            set(&self.staged, get(&self.top));
            set(&self.staged_for, u64::from(span));
        }
        let staged = get(&self.staged);
        let used = self.arena().get(staged as usize..).and_then(write);
        set(&self.staged, staged + used.unwrap_or(0) as u64);
        used.is_some()
    }

    /// The captures staged for `span`, as words of the arena; they are staged no more.
    pub fn take_staged(&self, span: u32) -> (u64, u64) {
        let top = get(&self.top);
        if get(&self.staged_for) != u64::from(span) {
            return (top, top);
        }
        set(&self.staged_for, NO_SPAN);
        (top, get(&self.staged))
    }

    /// Does what [`stage`](Self::stage) does, once there is an arena; none if there is no room either.
    #[inline(always)]
    pub fn stage_quickly(
        &self,
        span: u32,
        first: bool,
        write: impl FnOnce(&[AtomicU64]) -> Option<usize>,
    ) -> Option<()> {
        let is_new = first || get(&self.staged_for) != u64::from(span);
        let staged = get(if is_new { &self.top } else { &self.staged });
        let used = write(self.arena.get()?.get(staged as usize..)?)?;
        set(&self.staged, staged + used as u64);
        if is_new {
            set(&self.staged_for, u64::from(span));
        }
        Some(())
    }

    /// Calls that are open, but for the outermost ones that were entered before `base`, in an earlier trace.
    pub fn depth(&self, base: u64) -> u64 {
        let depth = get(&self.depth);
        let is_earlier = |at: &u64| {
            let frame = self.frame(*at, false);
            frame.is_some_and(|frame| get(&frame.start) < base)
        };
        depth - (0..depth).take_while(is_earlier).count() as u64
    }

    /// Calls `write` with the words behind the captures of a call that has just been left, and adds those that it used.
    pub fn extend(
        &self,
        (from, to): (u64, u64),
        write: impl FnOnce(&[AtomicU64]) -> Option<usize>,
    ) -> Option<(u64, u64)> {
        let used = self.arena().get(to as usize..).and_then(write)?;
        Some((from, to + used as u64))
    }

    fn arena(&self) -> &[AtomicU64] {
        self.arena
            .get_or_init(|| (0..ARENA).map(|_| AtomicU64::new(0)).collect())
    }

    /// Words of the arena.
    #[inline]
    pub fn words(&self, (from, to): (u64, u64)) -> &[AtomicU64] {
        if from == to {
            return &[];
        }
        let arena = self.arena.get().map_or(&[][..], |arena| arena);
        arena.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Span, mode and start of the open calls, outermost first. Another thread may be changing them: what is read
    /// then may be a call that has just ended.
    pub fn open(&self) -> Vec<(u32, u8, u64)> {
        let frames = (0..get(&self.depth)).map_while(|at| self.frame(at, false));
        frames
            .map(|frame| {
                let head = frame.head();
                (head.span(), head.mode(), get(&frame.start))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack() -> ThreadStack {
        let stack = ThreadStack::default();
        stack.clear();
        stack
    }

    #[test]
    fn calls_end_in_the_reverse_order_of_their_begin() {
        let stack = stack();
        for depth in 0..1_000 {
            assert!(stack.enter(depth % 7, TIMED, 0, || u64::from(depth)));
        }
        for depth in (0..1_000).rev() {
            let left = stack.leave(depth % 7).unwrap();
            assert_eq!((left.start, left.unended), (u64::from(depth), 0));
        }
        assert!(stack.is_idle());
        assert_eq!(stack.leave(1), None);
    }

    #[test]
    fn outermost_call_of_a_span_is_the_one_without_another_around_it() {
        let stack = stack();
        let mode = SpanMode::Aggregate as u8;
        let enter = |span: u32| stack.enter(span, mode, 5, || 10);
        let leave = |span: u32| stack.leave(span).unwrap().outermost;
        // 65 and 129 have the bit of 1.
        let spans = [1, 65, 2, 1, 65, 129, 2, 129];
        spans.iter().for_each(|span| assert!(enter(*span)));
        let found: Vec<bool> = spans.iter().rev().map(|span| leave(*span)).collect();
        assert_eq!(found, [false, false, true, false, false, true, true, true]);
        assert!(enter(1) && leave(1), "the others have ended");
    }

    #[test]
    fn call_that_keeps_no_times_or_belongs_to_an_earlier_trace_is_around_no_other() {
        let stack = stack();
        let (off, mode) = (SpanMode::Off as u8, SpanMode::Aggregate as u8);
        stack.enter(1, off, 5, || 0);
        stack.enter(1, mode, 0, || 4);
        stack.enter(1, mode, 5, || 6);
        stack.enter(1, mode, 5, || 7);
        let found: Vec<bool> = (0..4).map(|_| stack.leave(1).unwrap().outermost).collect();
        assert_eq!(found, [false, true, true, false]);
    }

    #[test]
    fn end_that_was_not_seen_does_not_shift_the_others() {
        let stack = stack();
        for span in 0..4 {
            stack.enter(span, TIMED, 0, || u64::from(span));
        }
        let left = stack.leave(1).unwrap();
        assert_eq!((left.start, left.unended), (1, 2));
        assert_eq!(stack.leave(7), None);
        assert_eq!(stack.leave(0).unwrap().unended, 0);
    }

    #[test]
    fn depth_beyond_the_limit_is_counted_and_left_again() {
        let stack = stack();
        for _ in 0..MAX_DEPTH {
            assert!(stack.enter(1, TIMED, 0, || 5));
        }
        assert!(!stack.enter(2, TIMED, 0, || 6));
        assert!(!stack.enter(1, TIMED, 0, || 6));
        assert_eq!(stack.leave(1), None);
        assert_eq!(stack.leave(2), None);
        assert_eq!(stack.leave(1).unwrap().start, 5);
    }

    #[test]
    fn captures_belong_to_the_call_they_were_staged_for() {
        let stack = stack();
        let put = |span, first, word| {
            stack.stage(span, first, |words| {
                words[0].store(word, Ordering::Relaxed);
                Some(1)
            })
        };
        let words =
            |left: Left| -> Vec<u64> { stack.words(left.captures).iter().map(get).collect() };
        put(9, true, 99); // its call is never entered: no stack was left
        put(1, true, 11);
        put(1, false, 12);
        stack.enter(1, 3, 0, || 0);
        stack.enter(2, 3, 0, || 1); // has no captures at entry
        put(2, true, 21);
        assert_eq!(words(stack.leave(2).unwrap()), [21]);
        put(1, true, 13);
        assert_eq!(words(stack.leave(1).unwrap()), [11, 12, 13]);
        stack.enter(1, 3, 0, || 2);
        assert!(words(stack.leave(1).unwrap()).is_empty());
    }

    #[test]
    fn full_arena_refuses_a_capture_and_keeps_the_others() {
        let stack = stack();
        let put =
            |count: usize| stack.stage(1, false, |words| (count <= words.len()).then_some(count));
        assert!(put(ARENA - 1) && !put(2) && put(1) && !put(1));
    }

    #[test]
    fn no_two_moments_of_a_thread_are_closer_than_they_may_be() {
        let stack = stack();
        let moments = [7, 7, 3, 20].map(|now| stack.moment(now, 3));
        assert_eq!(moments, [7, 10, 13, 20]);
    }
}
