//! The open calls of one Java thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::backoff::Backoff;
use super::capture::{ARENA, ARENA_OF_OPENED};
use super::coroutines::Segment;
use super::limits::MAX_SPANS;
use super::table::WATCHED;
use crate::events::SpanMode;

/// Number of frames in the first chunk, which lies in the stack itself; each further chunk has twice as many.
const FIRST: usize = 16;
const CHUNKS: usize = 17;
/// Maximum number of open calls on one thread, more than a stack of the usual size can hold.
pub(crate) const MAX_DEPTH: u64 = (FIRST as u64) * ((1 << CHUNKS) - 1);

/// The lowest mode that records times.
const TIMED: u8 = SpanMode::Aggregate as u8;
/// No captures are staged.
const NO_SPAN: u64 = u64::MAX;
/// The staged captures belong to a call that is about to be entered.
const OF_ENTRY: u64 = 1 << 32;
/// Tolerance, in bytes, by which the stack of a callee may be shorter than at the start of its caller: compiled
/// frames are smaller than interpreted ones.
const SLACK: u64 = 128;

/// One open call.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// See `Head`.
    head: AtomicU64,
    /// Start tick.
    start: AtomicU64,
    /// Time of the spans within it, so far.
    within: AtomicU64,
    /// A bit for each span with an open call from here outwards; all bits if little stack was left.
    spans: AtomicU64,
    /// The highest stack pointer at which a call within it may begin.
    mark: AtomicU64,
}

impl Frame {
    #[inline(always)]
    fn head(&self) -> Head {
        Head(get(&self.head))
    }
}

/// The first word of a frame: its span, its mode, the start of its captures in the arena, and the number, plus one,
/// of the innermost call from here outwards that is the outermost one of its span. It is one word because the return
/// from a native method waits for each of its stores.
#[derive(Debug, Clone, Copy)]
struct Head(u64);

const MODE_SHIFT: u32 = 24;
const ARENA_SHIFT: u32 = 28;
const OUTERMOST_SHIFT: u32 = 40;
const SPAN_MASK: u64 = (1 << MODE_SHIFT) - 1;
const MODE_MASK: u64 = (1 << (ARENA_SHIFT - MODE_SHIFT)) - 1;
/// A flag beside the mode: little stack was left.
const SCARCE: u8 = 1 << (ARENA_SHIFT - MODE_SHIFT - 1);
const ARENA_MASK: u64 = (1 << (OUTERMOST_SHIFT - ARENA_SHIFT)) - 1;
const _: () = assert!(
    MAX_SPANS as u64 <= SPAN_MASK
        && WATCHED < SCARCE
        && ARENA_OF_OPENED as u64 <= ARENA_MASK
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
        self.mode_and_scarcity() & !SCARCE
    }

    #[inline(always)]
    fn is_scarce(self) -> bool {
        self.mode_and_scarcity() & SCARCE != 0
    }

    #[inline(always)]
    fn mode_and_scarcity(self) -> u8 {
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

/// The data of a call when it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExitedCall {
    /// The mode at its entry.
    pub mode: u8,
    /// Start tick.
    pub start: u64,
    /// Time of the spans within it.
    pub within: u64,
    /// Its captures, as a range of arena words.
    pub captures: (u64, u64),
    /// `true` if no other call of this span is open around it.
    pub outermost: bool,
}

/// The start of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallStart {
    /// The current mode.
    pub mode: u8,
    /// Calls entered before belong to an earlier trace.
    pub base: u64,
    /// The stack pointer.
    pub pointer: u64,
    /// Set if little stack is left, so that its end may be lost.
    pub scarce: bool,
}

/// An open call that can be left without a function call.
#[derive(Debug)]
pub(crate) struct Plain<'s> {
    /// The mode at its entry; a different number if little stack was left.
    pub mode: u8,
    /// Start tick.
    pub start: u64,
    /// `true` if no other call of this span is open around it.
    pub outermost: bool,
    /// Its captures.
    pub captures: &'s [AtomicU64],
    /// Set if some of them are staged.
    has_staged: bool,
    /// Their start, unless they follow those of open calls.
    arena: Option<u64>,
    depth: u64,
    frame: &'s Frame,
    around: &'s Frame,
}

/// The stack of one Java thread. Only the native thread that runs it at the moment writes to it.
#[derive(Debug, Default)]
pub(crate) struct ThreadStack {
    /// Java's id of the thread. It is 0 while a stack for virtual threads is free, and always if threads are not
    /// identified by id.
    pub owner: AtomicU64,
    depth: AtomicU64,
    /// The last assigned time.
    last: AtomicU64,
    /// A frame around all calls, of which only the time within it is used, and the first chunk.
    first: [Frame; FIRST + 1],
    /// The further chunks.
    chunks: [OnceLock<Box<[Frame]>>; CHUNKS - 1],
    arena: OnceLock<Box<[AtomicU64]>>,
    /// End of the captures of open calls.
    top: AtomicU64,
    /// End of the captures staged for a call that is about to be entered or left.
    staged: AtomicU64,
    /// The span of the staged captures; a flag marks those of an entry.
    staged_for: AtomicU64,
    /// All bits if stack pointers are meaningless: a virtual thread continues on the stack of another native thread.
    mark_mask: AtomicU64,
    /// Last seen number of exceptions that left calls; used while little stack is left.
    unwound: AtomicU64,
    /// Limits the checks after a shorter stack.
    backoff: Backoff,
    /// Limits the checks with little stack, because exceptions of any thread are counted.
    scarce_backoff: Backoff,
    /// Set if an end with little stack may have been lost and was not checked for.
    doubt: AtomicBool,
    /// The number, plus one, of the innermost suspend function segment's frame; 0 if there is none.
    innermost_segment: AtomicU64,
    /// The segments, outermost first.
    segments: Mutex<Vec<Segment>>,
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
    /// Checks whether no call is open.
    #[inline]
    pub fn is_idle(&self) -> bool {
        get(&self.depth) == 0
    }

    /// Returns the number of open frames.
    #[inline(always)]
    pub fn open_frames(&self) -> u64 {
        get(&self.depth)
    }

    /// Checks whether a segment of a suspend function runs.
    #[inline(always)]
    pub fn is_in_segment(&self) -> bool {
        get(&self.innermost_segment) != 0
    }

    /// Returns the innermost segment of a suspend function.
    #[inline(always)]
    pub fn segment(&self) -> Option<Segment> {
        if !self.is_in_segment() {
            return None;
        }
        self.segments().last().copied()
    }

    /// Makes the innermost frame this segment.
    pub fn push_segment(&self, segment: Segment) {
        self.segments().push(segment);
        set(&self.innermost_segment, segment.depth);
    }

    /// Removes the segment whose frame has just been left.
    #[inline(always)]
    pub fn pop_segment(&self) -> Option<Segment> {
        if get(&self.innermost_segment) != get(&self.depth) + 1 {
            return None;
        }
        let mut segments = self.segments();
        let segment = segments.pop()?;
        let around = segments.last().map_or(0, |around| around.depth);
        set(&self.innermost_segment, around);
        Some(segment)
    }

    fn segments(&self) -> MutexGuard<'_, Vec<Segment>> {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a time that is at least `apart` ticks later than every earlier one of this thread.
    #[inline]
    pub fn moment(&self, now: u64, apart: u64) -> u64 {
        let now = now.max(get(&self.last) + apart);
        set(&self.last, now);
        now
    }

    /// Returns the frame at `depth`, and allocates it if `make` is set.
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

    /// Starts a call; `false` if it is nested too deeply to be recorded. It is counted nevertheless, so that its end
    /// is not mistaken for another's. `now` reads the clock, last, and only in a mode with times.
    #[inline(always)]
    pub fn enter(&self, span: u32, begin: CallStart, now: impl FnOnce() -> u64) -> bool {
        let depth = get(&self.depth);
        set(&self.depth, depth + 1);
        let Some(frame) = self.frame(depth, true) else {
            return false;
        };
        let (mut outermost, mut spans) = self.outermost_below(depth);
        let bit = 1 << (span % u64::BITS);
        let mut mode = begin.mode;
        // The bit may belong to another span.
        if mode >= TIMED && !(spans & bit != 0 && self.is_open(span, outermost, begin.base)) {
            outermost = depth + 1;
            spans |= bit;
        }
        let start_is_kept = mode >= TIMED;
        if begin.scarce {
            // Makes the fast path leave this call, and those within it, to the general path.
            mode |= SCARCE;
            spans = u64::MAX;
        }
        let head = Head::new(span, mode, get(&self.top), outermost);
        set(&frame.head, head.0);
        set(&frame.within, 0);
        set(&frame.spans, spans);
        set(&frame.mark, self.mark_at(begin.pointer));
        if get(&self.staged_for) == u64::from(span) | OF_ENTRY {
            set(&self.top, get(&self.staged));
            set(&self.staged_for, NO_SPAN);
        }
        set(&frame.start, if start_is_kept { now() } else { 0 });
        true
    }

    #[inline(always)]
    fn mark_at(&self, pointer: u64) -> u64 {
        pointer.saturating_add(SLACK) | get(&self.mark_mask)
    }

    /// Fast path of [`enter`](Self::enter) for a mode with times. It makes no function call, and does nothing if the
    /// end of a call may have been lost.
    #[inline(always)]
    pub fn enter_fast(
        &self,
        span: u32,
        mode: u8,
        pointer: u64,
        now: impl FnOnce() -> u64,
    ) -> Option<()> {
        let depth = get(&self.depth);
        let (around, frame) = self.innermost(depth)?;
        let (spans, bit) = (get(&around.spans), 1 << (span % u64::BITS));
        if spans & bit != 0 || pointer > get(&around.mark) {
            return None;
        }
        let top = get(&self.top);
        if get(&self.staged_for) == u64::from(span) | OF_ENTRY {
            set(&self.top, get(&self.staged));
            set(&self.staged_for, NO_SPAN);
        }
        set(&self.depth, depth + 1);
        set(&frame.head, Head::new(span, mode, top, depth + 1).0);
        set(&frame.within, 0);
        set(&frame.spans, spans | bit);
        set(&frame.mark, self.mark_at(pointer));
        set(&frame.start, now());
        Some(())
    }

    /// Returns the frame at `depth`, if it is in the first chunk, and the enclosing one.
    #[inline(always)]
    fn innermost(&self, depth: u64) -> Option<(&Frame, &Frame)> {
        let [around, frame] = self.first.get(depth as usize..)?.first_chunk()?;
        Some((around, frame))
    }

    /// Returns the innermost call if it is of this span and in the first chunk.
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
            mode: head.mode_and_scarcity(),
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

    /// Fast path of [`leave`](Self::leave) and [`add_callee_time`](Self::add_callee_time) for this call. Returns the
    /// number of ticks outside other spans.
    #[inline(always)]
    pub fn leave_fast(&self, call: &Plain<'_>, ticks: u64) -> u64 {
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

    /// Returns [`Head::outermost`] and [`Frame::spans`] of the call around the one at `depth`.
    #[inline(always)]
    fn outermost_below(&self, depth: u64) -> (u64, u64) {
        let around = depth
            .checked_sub(1)
            .and_then(|around| self.frame(around, false));
        around.map_or((0, 0), |frame| {
            (frame.head().outermost(), get(&frame.spans))
        })
    }

    /// Checks whether a call of `span` in this trace is open. The number of steps is the number of spans with open
    /// calls.
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

    /// Ends the innermost open call; `None` if it is of another span, or nested too deeply.
    #[inline(always)]
    pub fn leave(&self, span: u32) -> Option<ExitedCall> {
        let depth = get(&self.depth).checked_sub(1)?;
        if depth >= MAX_DEPTH {
            set(&self.depth, depth);
            return None;
        }
        let frame = self.frame(depth, false)?;
        if frame.head().span() != span {
            return None;
        }
        let end = if get(&self.staged_for) == u64::from(span) {
            set(&self.staged_for, NO_SPAN);
            get(&self.staged)
        } else {
            get(&self.top)
        };
        let left = self.pop(depth, frame, end);
        set(&self.top, left.captures.0);
        Some(left)
    }

    /// Ends the innermost open call, whose end was lost, and returns its span. Staged captures are kept.
    #[cold]
    pub fn abandon(&self) -> Option<(u32, ExitedCall)> {
        let depth = get(&self.depth).checked_sub(1)?;
        let frame = self.frame(depth, false)?;
        let left = self.pop(depth, frame, get(&self.top));
        if get(&self.staged_for) == NO_SPAN {
            set(&self.top, left.captures.0);
        }
        Some((frame.head().span(), left))
    }

    #[inline(always)]
    fn pop(&self, depth: u64, frame: &Frame, end: u64) -> ExitedCall {
        let head = frame.head();
        set(&self.depth, depth);
        ExitedCall {
            mode: head.mode(),
            start: get(&frame.start),
            within: get(&frame.within),
            captures: (head.arena(), end),
            outermost: head.outermost() == depth + 1,
        }
    }

    /// Returns the innermost open call's span; the flag is set if little stack was left. `None` if it is nested too
    /// deeply.
    #[inline(always)]
    pub fn top(&self) -> Option<(u32, bool)> {
        let depth = get(&self.depth).checked_sub(1)?;
        let head = self.frame(depth, false)?.head();
        Some((head.span(), head.is_scarce()))
    }

    /// Checks whether the innermost call is in the first chunk and no end within it can be lost. If this span is to
    /// be left, the call must be of it.
    #[inline(always)]
    pub fn is_plain(&self, span: u32, leaves: bool) -> bool {
        let frame = self.first.get(get(&self.depth) as usize);
        frame.is_some_and(|frame| {
            get(&frame.spans) != u64::MAX && !(leaves && frame.head().span() != span)
        })
    }

    /// Counts the calls open within the innermost call of this span; `None` without such a call.
    #[cold]
    pub fn within(&self, span: u32) -> Option<u64> {
        let depth = get(&self.depth);
        let is = |at: &u64| {
            self.frame(*at, false)
                .is_some_and(|frame| frame.head().span() == span)
        };
        let at = (0..depth).rev().find(is)?;
        Some(depth - 1 - at)
    }

    /// Checks whether the stack is shorter than that of a callee of the innermost call, and the next check is due.
    #[inline(always)]
    pub fn is_shorter(&self, pointer: u64) -> bool {
        let frame = get(&self.depth).checked_sub(1);
        let frame = frame.and_then(|depth| self.frame(depth, false));
        frame.is_some_and(|frame| pointer > get(&frame.mark)) && self.backoff.is_over()
    }

    /// Notes the result of a check. If nothing was `found`, the innermost call is still open, so its frame has become
    /// smaller.
    #[cold]
    pub fn looked_into(&self, pointer: u64, found: bool) {
        self.backoff.looked(found);
        let frame = get(&self.depth).checked_sub(1);
        if let Some(frame) = frame.and_then(|depth| self.frame(depth, false)) {
            let mark = get(&frame.mark).max(self.mark_at(pointer));
            set(&frame.mark, mark);
        }
    }

    /// Stores the number of exceptions that have left calls, and returns the previous one.
    pub fn replace_unwound(&self, now: u64) -> u64 {
        let before = get(&self.unwound);
        set(&self.unwound, now);
        before
    }

    /// Checks whether the next search for ends lost with little stack is due; if not, notes the doubt.
    pub fn is_time_to_look(&self) -> bool {
        let is_time = self.scarce_backoff.is_over();
        self.doubt.store(!is_time, Ordering::Relaxed);
        is_time
    }

    /// Notes the result of a search.
    pub fn looked(&self, found: bool) {
        self.scarce_backoff.looked(found);
        self.doubt.store(false, Ordering::Relaxed);
    }

    /// Checks whether an end with little stack may have been lost since the last search.
    pub fn is_in_doubt(&self) -> bool {
        self.doubt.load(Ordering::Relaxed)
    }

    /// Checks whether little stack was left for the innermost call, and more for the enclosing one.
    pub fn is_first_scarce(&self) -> bool {
        let is_scarce = |below: u64| {
            let depth = get(&self.depth).checked_sub(below);
            let frame = depth.and_then(|depth| self.frame(depth, false));
            frame.is_some_and(|frame| frame.head().is_scarce())
        };
        is_scarce(1) && !is_scarce(2)
    }

    /// Adds the time of a span within the innermost open call.
    #[inline]
    pub fn add_callee_time(&self, ticks: u64) {
        let Some(depth) = get(&self.depth).checked_sub(1) else {
            return;
        };
        if let Some(frame) = self.frame(depth, false) {
            set(&frame.within, get(&frame.within) + ticks);
        }
    }

    /// Makes this the stack of another virtual thread.
    pub fn begin(&self, owner: u64) {
        self.clear();
        set(&self.mark_mask, u64::MAX);
        set(&self.last, 0);
        set(&self.owner, owner);
    }

    /// Discards the open calls.
    pub fn clear(&self) {
        set(&self.depth, 0);
        set(&self.top, 0);
        set(&self.staged_for, NO_SPAN);
        self.backoff.reset();
        self.scarce_backoff.reset();
        self.doubt.store(false, Ordering::Relaxed);
        set(&self.innermost_segment, 0);
        self.segments().clear();
        let [around, ..] = &self.first;
        set(&around.mark, u64::MAX);
    }

    /// Calls `write` with the words after the captures staged for `span`, whose call is about to be entered if
    /// `of_entry`. `first` discards the earlier ones. `write` returns the number of used words, `None` without room.
    pub fn stage(
        &self,
        span: u32,
        (of_entry, first): (bool, bool),
        write: impl FnOnce(&[AtomicU64]) -> Option<usize>,
    ) -> bool {
        let staged_for = u64::from(span) | if of_entry { OF_ENTRY } else { 0 };
        if first || get(&self.staged_for) != staged_for {
            set(&self.staged, get(&self.top));
            set(&self.staged_for, staged_for);
        }
        let staged = get(&self.staged);
        let used = self.arena().get(staged as usize..).and_then(write);
        set(&self.staged, staged + used.unwrap_or(0) as u64);
        used.is_some()
    }

    /// Stages only these words for `span`, which is about to be entered if `of_entry`.
    pub fn stage_words(&self, span: u32, of_entry: bool, words: &[u64]) {
        self.stage(span, (of_entry, true), |room| {
            let room = room.get(..words.len())?;
            for (room, word) in room.iter().zip(words) {
                set(room, *word);
            }
            Some(words.len())
        });
    }

    /// Returns the captures of the innermost call's entry.
    pub fn captured(&self) -> Vec<u64> {
        let frame = get(&self.depth).checked_sub(1);
        let frame = frame.and_then(|depth| self.frame(depth, false));
        let words = frame.map(|frame| self.words((frame.head().arena(), get(&self.top))));
        words.unwrap_or_default().iter().map(get).collect()
    }

    /// Takes the captures staged for the event `span`, as words of the arena.
    pub fn take_staged(&self, span: u32) -> (u64, u64) {
        let top = get(&self.top);
        if get(&self.staged_for) != u64::from(span) {
            return (top, top);
        }
        set(&self.staged_for, NO_SPAN);
        (top, get(&self.staged))
    }

    /// Fast path of [`stage`](Self::stage) for an existing arena; `None` without room.
    #[inline(always)]
    pub fn stage_fast(
        &self,
        span: u32,
        (of_entry, first): (bool, bool),
        write: impl FnOnce(&[AtomicU64]) -> Option<usize>,
    ) -> Option<()> {
        let staged_for = u64::from(span) | if of_entry { OF_ENTRY } else { 0 };
        let is_new = first || get(&self.staged_for) != staged_for;
        let staged = get(if is_new { &self.top } else { &self.staged });
        let used = write(self.arena.get()?.get(staged as usize..)?)?;
        set(&self.staged, staged + used as u64);
        if is_new {
            set(&self.staged_for, staged_for);
        }
        Some(())
    }

    /// Returns the number of open calls, without the outermost ones entered before `base`, in an earlier trace.
    pub fn depth(&self, base: u64) -> u64 {
        let depth = get(&self.depth);
        let is_earlier = |at: &u64| {
            let frame = self.frame(*at, false);
            frame.is_some_and(|frame| get(&frame.start) < base)
        };
        depth - (0..depth).take_while(is_earlier).count() as u64
    }

    /// Calls `write` with the words after the captures of a call that has just been left, and adds the used words.
    pub fn extend(
        &self,
        (from, to): (u64, u64),
        write: impl FnOnce(&[AtomicU64]) -> Option<usize>,
    ) -> Option<(u64, u64)> {
        let used = self.arena().get(to as usize..).and_then(write)?;
        Some((from, to + used as u64))
    }

    fn arena(&self) -> &[AtomicU64] {
        self.arena_of(ARENA)
    }

    fn arena_of(&self, words: usize) -> &[AtomicU64] {
        self.arena
            .get_or_init(|| (0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// Returns the byte limit of an opened object: an eighth of the free bytes, so that calls within this one have
    /// room, too.
    pub fn room_to_open(&self) -> usize {
        let arena = self.arena_of(ARENA_OF_OPENED);
        let used = get(&self.top).max(get(&self.staged));
        arena.len().saturating_sub(used as usize)
    }

    /// Returns words of the arena.
    #[inline]
    pub fn words(&self, (from, to): (u64, u64)) -> &[AtomicU64] {
        if from == to {
            return &[];
        }
        let arena = self.arena.get().map_or(&[][..], |arena| arena);
        arena.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Returns span, mode and start of the open calls, outermost first. Another thread may change them, so the result
    /// may contain a call that has just ended.
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

    /// Returns the start of a call of this mode with plenty of stack.
    fn begin(mode: u8, base: u64) -> CallStart {
        CallStart {
            mode,
            base,
            pointer: 1 << 20,
            scarce: false,
        }
    }

    fn stack() -> ThreadStack {
        let stack = ThreadStack::default();
        stack.clear();
        stack
    }

    #[test]
    fn calls_end_in_reverse_order() {
        let stack = stack();
        for depth in 0..1_000 {
            assert!(stack.enter(depth % 7, begin(TIMED, 0), || u64::from(depth)));
        }
        for depth in (0..1_000).rev() {
            let left = stack.leave(depth % 7).unwrap();
            assert_eq!(left.start, u64::from(depth));
        }
        assert!(stack.is_idle());
        assert_eq!(stack.leave(1), None);
    }

    #[test]
    fn outermost_call_of_a_span_has_no_enclosing_call_of_it() {
        let stack = stack();
        let mode = SpanMode::Aggregate as u8;
        let enter = |span: u32| stack.enter(span, begin(mode, 5), || 10);
        let leave = |span: u32| stack.leave(span).unwrap().outermost;
        // 65 and 129 have the bit of 1.
        let spans = [1, 65, 2, 1, 65, 129, 2, 129];
        spans.iter().for_each(|span| assert!(enter(*span)));
        let found: Vec<bool> = spans.iter().rev().map(|span| leave(*span)).collect();
        assert_eq!(found, [false, false, true, false, false, true, true, true]);
        assert!(enter(1) && leave(1), "the others have ended");
    }

    #[test]
    fn calls_without_times_or_of_earlier_traces_enclose_no_call() {
        let stack = stack();
        let (off, mode) = (SpanMode::Off as u8, SpanMode::Aggregate as u8);
        stack.enter(1, begin(off, 5), || 0);
        stack.enter(1, begin(mode, 0), || 4);
        stack.enter(1, begin(mode, 5), || 6);
        stack.enter(1, begin(mode, 5), || 7);
        let found: Vec<bool> = (0..4).map(|_| stack.leave(1).unwrap().outermost).collect();
        assert_eq!(found, [false, true, true, false]);
    }

    #[test]
    fn calls_within_an_ended_call_are_abandoned_without_affecting_others() {
        let stack = stack();
        for span in 0..4 {
            stack.enter(span, begin(TIMED, 0), || u64::from(span));
        }
        assert_eq!((stack.within(1), stack.within(7)), (Some(2), None));
        assert_eq!(stack.leave(1), None, "the innermost is of another span");
        let abandoned = [3, 2].map(|_| stack.abandon().map(|(span, left)| (span, left.start)));
        assert_eq!(abandoned, [Some((3, 3)), Some((2, 2))]);
        assert_eq!(stack.leave(1).unwrap().start, 1);
        assert_eq!(stack.leave(0).unwrap().start, 0);
        assert!(stack.abandon().is_none());
    }

    #[test]
    fn call_with_a_shorter_stack_than_a_callee_is_detected() {
        let stack = stack();
        let at = |pointer| CallStart {
            pointer,
            ..begin(TIMED, 0)
        };
        assert!(!stack.is_shorter(u64::MAX), "no call is open");
        stack.enter(1, at(1_000), || 0);
        assert!(!stack.is_shorter(900) && !stack.is_shorter(1_000 + SLACK));
        assert!(stack.enter_fast(2, TIMED, 2_000, || 1).is_none());
        assert!(stack.is_shorter(2_000));
        stack.looked_into(2_000, false);
        assert!(!stack.is_shorter(2_000), "its frame has become smaller");
        let looks = (0..100).filter(|step| {
            let pointer = 3_000 + step * 1_000;
            let looks = stack.is_shorter(pointer);
            if looks {
                stack.looked_into(pointer, false);
            }
            looks
        });
        assert!(
            looks.count() < 10,
            "repeated checks without a result become rare"
        );
    }

    #[test]
    fn calls_within_a_call_with_scarce_stack_avoid_the_fast_path() {
        let stack = stack();
        let scarce = CallStart {
            scarce: true,
            ..begin(TIMED, 0)
        };
        stack.enter(1, scarce, || 0);
        assert_eq!(stack.top(), Some((1, true)));
        assert!(stack.enter_fast(2, TIMED, 0, || 1).is_none());
        assert!(!stack.is_plain(1, true));
        assert_ne!(stack.plain(1).unwrap().mode, TIMED);
        assert_eq!(stack.leave(1).unwrap().mode, TIMED);
    }

    #[test]
    fn calls_beyond_the_depth_limit_are_counted() {
        let stack = stack();
        for _ in 0..MAX_DEPTH {
            assert!(stack.enter(1, begin(TIMED, 0), || 5));
        }
        assert!(!stack.enter(2, begin(TIMED, 0), || 6));
        assert!(!stack.enter(1, begin(TIMED, 0), || 6));
        assert_eq!(stack.leave(1), None);
        assert_eq!(stack.leave(2), None);
        assert_eq!(stack.leave(1).unwrap().start, 5);
    }

    #[test]
    fn captures_belong_to_the_call_they_were_staged_for() {
        let stack = stack();
        let put = |span, when, word| {
            stack.stage(span, when, |words| {
                words[0].store(word, Ordering::Relaxed);
                Some(1)
            })
        };
        let words =
            |left: ExitedCall| -> Vec<u64> { stack.words(left.captures).iter().map(get).collect() };
        put(9, (true, true), 99); // its call is never entered: no stack was left
        put(1, (true, true), 11);
        put(1, (true, false), 12);
        stack.enter(1, begin(3, 0), || 0);
        stack.enter(2, begin(3, 0), || 1); // has no captures at entry
        put(2, (false, true), 21);
        assert_eq!(words(stack.leave(2).unwrap()), [21]);
        put(1, (true, true), 99); // its call is never entered, either
        put(1, (false, true), 13);
        assert_eq!(words(stack.leave(1).unwrap()), [11, 12, 13]);
        stack.enter(1, begin(3, 0), || 2);
        put(1, (true, true), 99);
        assert!(words(stack.leave(1).unwrap()).is_empty());
    }

    #[test]
    fn full_arena_refuses_a_capture_and_keeps_the_others() {
        let stack = stack();
        let put = |count: usize| {
            stack.stage(1, (true, false), |words| {
                (count <= words.len()).then_some(count)
            })
        };
        assert!(put(ARENA - 1) && !put(2) && put(1) && !put(1));
    }

    #[test]
    fn times_of_a_thread_keep_their_minimum_distance() {
        let stack = stack();
        let moments = [7, 7, 3, 20].map(|now| stack.moment(now, 3));
        assert_eq!(moments, [7, 10, 13, 20]);
    }
}
