//! The open calls of Kotlin's suspend functions.
//!
//! Such a function returns when it suspends, and is entered again when it resumes, perhaps on another thread. It may
//! resume there before it has returned here. So its calls are no frames of a thread's stack: the span and the
//! continuation that resumes after a call identify it. A frame of a stack is one *segment* of a call, and refers to
//! it.
//!
//! The last continuation of a chain identifies the coroutine. Its calls nest, on whatever threads they run. So it has
//! a track of its own among the threads.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::segments::{Pushed, Queue, Segments};
use crate::events::{FIRST_COROUTINE, SpanMode};

/// Modes from this one on keep times.
const TIMED: u8 = SpanMode::Aggregate as u8;
/// Maximum number of open calls.
const MAX_CALLS: usize = 1 << 18;
/// Maximum number of coroutines without an open call that keep their numbers.
const MAX_IDLE: usize = 1 << 16;
/// Maximum number of continuations from that of a call to the end of its chain.
const MAX_CHAIN: usize = 1 << 17;

/// The continuations of the program: objects that the agent compares and reads, and never calls.
pub trait Continuations {
    /// A reference that lives as long as the native method.
    type Object;

    /// Returns the identity hash.
    fn hash(&self, object: &Self::Object) -> u32;

    /// Returns the continuation that resumes when this one has completed; `None` at the end of the chain.
    fn completion(&self, object: &Self::Object) -> Option<Self::Object>;

    /// Makes a reference that lives until it is released and does not keep the object alive.
    fn keep(&self, object: &Self::Object) -> Option<Kept>;

    /// Checks whether both refer to the same object.
    fn is(&self, object: &Self::Object, kept: &Kept) -> bool;

    /// Checks whether the object was collected.
    fn is_collected(&self, kept: &Kept) -> bool;

    /// Ends the reference.
    fn release(&self, kept: Kept);
}

/// A weak reference to a continuation, as the JVM returns it.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept(pub usize);

/// A reference to a call, which may have ended since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallRef {
    index: u32,
    serial: u64,
}

/// The part of a call that runs on a thread: a frame of the thread's stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The call.
    pub call: CallRef,
    /// The number of the segment within the call, from 0.
    turn: u32,
    /// The number of the frame, plus one.
    pub depth: u64,
}

/// The track of a single call, and its depth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TrackPosition {
    /// The number of the coroutine; 0 for the thread itself.
    pub track: u64,
    /// Number of open calls of the coroutine around it.
    pub depth: u64,
}

/// A call that has ended.
#[derive(Debug)]
pub(crate) struct CompletedSuspendCall {
    pub span: u32,
    pub mode: u8,
    pub outermost: bool,
    pub start: u64,
    pub end: u64,
    pub within: u64,
    /// Values of its arguments, as words of captures.
    pub captures: Vec<u64>,
    pub place: TrackPosition,
    /// The call that completes with it, because it passed its own continuation on.
    pub caller: Option<CallRef>,
}

/// A call at its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SuspendCallStart {
    pub span: u32,
    /// The mode in force.
    pub mode: u8,
    /// Calls entered before belong to an earlier trace.
    pub base: u64,
}

#[derive(Debug)]
struct Open {
    serial: u64,
    begun: SuspendCallStart,
    outermost: bool,
    start: u64,
    /// Time of the spans within it, so far.
    within: u64,
    captures: Vec<u64>,
    key: Kept,
    hash: u32,
    coroutine: u32,
    turn: u32,
    /// `true` while a segment of it runs.
    runs: bool,
    /// Set if the call around it has the same continuation.
    is_passed_on: bool,
}

#[derive(Debug)]
struct Coroutine {
    root: Kept,
    hash: u32,
    track: u64,
    /// The last assigned time.
    last: u64,
    /// Its open calls, the outermost first.
    calls: Vec<u32>,
}

/// Values by number; numbers are reused.
#[derive(Debug)]
struct Slab<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        let (all, free) = (Vec::new(), Vec::new());
        Self { all, free }
    }
}

impl<T> Slab<T> {
    fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }

    fn add(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            if let Some(slot) = self.all.get_mut(index as usize) {
                *slot = Some(value);
            }
            return index;
        }
        self.all.push(Some(value));
        u32::try_from(self.all.len() - 1).unwrap_or(u32::MAX)
    }

    fn get(&self, index: u32) -> Option<&T> {
        self.all.get(index as usize)?.as_ref()
    }

    fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.all.get_mut(index as usize)?.as_mut()
    }

    fn take(&mut self, index: u32) -> Option<T> {
        let taken = self.all.get_mut(index as usize)?.take()?;
        self.free.push(index);
        Some(taken)
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..)
            .zip(&self.all)
            .filter_map(|(index, slot)| Some((index, slot.as_ref()?)))
    }
}

/// The coroutines of one session, and their completed calls that wait for the reader.
#[derive(Debug, Default)]
pub(crate) struct Coroutines {
    state: Mutex<State>,
    /// The number of open calls.
    open: AtomicUsize,
    /// Completed calls on tracks of coroutines, in the order of their ends.
    pub queue: Queue,
    pushing: Mutex<()>,
}

/// The open calls by continuation, and the coroutines by the ends of their chains.
#[derive(Debug, Default)]
pub(crate) struct State {
    calls: Slab<Open>,
    coroutines: Slab<Coroutine>,
    /// Identity hashes of continuations with the numbers of calls.
    keys: BTreeSet<(u32, u32)>,
    /// Identity hashes of the ends of chains with the numbers of coroutines.
    roots: BTreeSet<(u32, u32)>,
    /// Open calls of each span in a coroutine.
    spans: HashMap<(u32, u32), u32>,
    serial: u64,
    tracks: u64,
    /// References that another thread must release.
    garbage: Vec<Kept>,
}

impl Coroutines {
    /// Checks whether no call is open.
    pub fn are_idle(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0
    }

    /// Runs `body` with exclusive access to the calls.
    pub fn with<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state();
        let result = body(&mut state);
        self.open.store(state.calls.len(), Ordering::Relaxed);
        result
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a call on the track of a coroutine.
    pub fn push(&self, segments: &Segments, head: &[u64], captures: &[AtomicU64]) -> Pushed {
        let _alone = self.pushing.lock().unwrap_or_else(PoisonError::into_inner);
        segments.push(&self.queue, head, captures)
    }
}

impl State {
    /// Returns the open call of a span with this continuation.
    pub fn find<C: Continuations>(
        &self,
        objects: &C,
        span: u32,
        key: &C::Object,
    ) -> Option<CallRef> {
        let is = |index: &u32| {
            self.calls
                .get(*index)
                .is_some_and(|call| call.begun.span == span)
        };
        let index = self
            .with_key(objects, key)
            .filter(is)
            .max_by_key(|index| self.calls.get(*index).map(|call| call.serial))?;
        self.reference(index)
    }

    /// Returns the innermost open call with this continuation.
    pub fn waiting_for<C: Continuations>(&self, objects: &C, key: &C::Object) -> Option<CallRef> {
        let latest = self
            .with_key(objects, key)
            .max_by_key(|index| self.calls.get(*index).map(|call| call.serial))?;
        self.reference(latest)
    }

    fn with_key<C: Continuations>(
        &self,
        objects: &C,
        key: &C::Object,
    ) -> impl Iterator<Item = u32> {
        let hash = objects.hash(key);
        let range = self.keys.range((hash, 0)..=(hash, u32::MAX));
        range.map(|(_, index)| *index).filter(|index| {
            let call = self.calls.get(*index);
            call.is_some_and(|call| objects.is(key, &call.key))
        })
    }

    fn reference(&self, index: u32) -> Option<CallRef> {
        let serial = self.calls.get(index)?.serial;
        Some(CallRef { index, serial })
    }

    fn call(&self, call: CallRef) -> Option<&Open> {
        let found = self.calls.get(call.index)?;
        (found.serial == call.serial).then_some(found)
    }

    fn call_mut(&mut self, call: CallRef) -> Option<&mut Open> {
        let found = self.calls.get_mut(call.index)?;
        (found.serial == call.serial).then_some(found)
    }

    /// Starts a call, within the call of `around` if its chain of continuations leads there. `moment` returns a time
    /// after the last one of the coroutine. `None` if too many calls are open.
    pub fn begin<C: Continuations>(
        &mut self,
        objects: &C,
        around: Option<Segment>,
        begun: SuspendCallStart,
        key: &C::Object,
        moment: impl FnOnce(u64) -> u64,
    ) -> Option<CallRef> {
        self.release(objects);
        if self.calls.len() >= MAX_CALLS {
            return None;
        }
        let coroutine = self.coroutine_of(objects, around, key)?;
        let kept = objects.keep(key)?;
        self.serial += 1;
        let calls = &self.calls;
        let found = self.coroutines.get_mut(coroutine)?;
        let caller = found.calls.last().and_then(|caller| calls.get(*caller));
        let is_passed_on = caller.is_some_and(|caller| objects.is(key, &caller.key));
        let start = moment(found.last);
        found.last = start;
        let same = self.spans.entry((coroutine, begun.span)).or_default();
        *same += 1;
        let call = Open {
            serial: self.serial,
            begun,
            outermost: *same == 1,
            start,
            within: 0,
            captures: Vec::new(),
            key: kept,
            hash: objects.hash(key),
            coroutine,
            turn: 0,
            runs: true,
            is_passed_on,
        };
        let hash = call.hash;
        let index = self.calls.add(call);
        self.keys.insert((hash, index));
        found.calls.push(index);
        self.reference(index)
    }

    /// Returns the coroutine of a continuation.
    fn coroutine_of<C: Continuations>(
        &mut self,
        objects: &C,
        around: Option<Segment>,
        key: &C::Object,
    ) -> Option<u32> {
        let around = around.and_then(|segment| {
            let call = self.call(segment.call)?;
            (call.turn == segment.turn).then_some(call)
        });
        let is_around =
            |object: &C::Object| around.is_some_and(|call| objects.is(object, &call.key));
        if is_around(key) {
            return around.map(|call| call.coroutine);
        }
        let mut root = objects.completion(key);
        for _ in 0..MAX_CHAIN {
            let Some(object) = &root else { break };
            if is_around(object) {
                return around.map(|call| call.coroutine);
            }
            let Some(next) = objects.completion(object) else {
                break;
            };
            root = Some(next);
        }
        self.with_root(objects, root.as_ref().unwrap_or(key))
    }

    fn with_root<C: Continuations>(&mut self, objects: &C, root: &C::Object) -> Option<u32> {
        let hash = objects.hash(root);
        let mut same = self.roots.range((hash, 0)..=(hash, u32::MAX));
        let found = same.find(|(_, index)| {
            let coroutine = self.coroutines.get(*index);
            coroutine.is_some_and(|coroutine| objects.is(root, &coroutine.root))
        });
        if let Some((_, index)) = found {
            return Some(*index);
        }
        if self.coroutines.len() >= MAX_IDLE + self.calls.len() {
            self.remove_idle(|_| true);
        }
        let root = objects.keep(root)?;
        self.tracks += 1;
        let index = self.coroutines.add(Coroutine {
            root,
            hash,
            track: FIRST_COROUTINE + self.tracks,
            last: 0,
            calls: Vec::new(),
        });
        self.roots.insert((hash, index));
        Some(index)
    }

    /// Removes the coroutines without an open call for which `is_done` holds.
    fn remove_idle(&mut self, is_done: impl Fn(&Kept) -> bool) {
        let idle = self.coroutines.iter();
        let idle = idle.filter(|(_, found)| found.calls.is_empty() && is_done(&found.root));
        let idle: Vec<u32> = idle.map(|(index, _)| index).collect();
        for index in idle {
            if let Some(gone) = self.coroutines.take(index) {
                self.roots.remove(&(gone.hash, index));
                self.garbage.push(gone.root);
            }
        }
    }

    /// Stores the values of a call's arguments.
    pub fn keep_captures(&mut self, call: CallRef, captures: Vec<u64>) {
        if let Some(call) = self.call_mut(call) {
            call.captures = captures;
        }
    }

    /// Starts a segment in the frame of this number. Returns the values of the arguments if the call resumes.
    pub fn segment(
        &mut self,
        call: CallRef,
        goes_on: bool,
        depth: u64,
    ) -> Option<(Segment, Vec<u64>)> {
        let open = self.call_mut(call)?;
        open.turn += u32::from(goes_on);
        open.runs = true;
        let turn = open.turn;
        let captures = if goes_on {
            open.captures.clone()
        } else {
            Vec::new()
        };
        Some((Segment { call, turn, depth }, captures))
    }

    /// Ends a segment because the call suspends, at a time that `moment` returns.
    pub fn suspend(&mut self, segment: Segment, moment: impl FnOnce(u64) -> u64) {
        let Some(call) = self.call_mut(segment.call) else {
            return;
        };
        if call.turn != segment.turn {
            return; // it has resumed elsewhere
        }
        call.runs = false;
        let coroutine = call.coroutine;
        if let Some(found) = self.coroutines.get_mut(coroutine) {
            found.last = moment(found.last);
        }
    }

    /// Adds the time of a call of a normal function within the segment.
    pub fn add_callee_time(&mut self, segment: Segment, ticks: u64) {
        if let Some(call) = self.call_mut(segment.call) {
            call.within += ticks;
        }
    }

    /// Returns the place of calls within a segment; that of the thread if the call has resumed elsewhere.
    pub fn place(&self, segment: Segment) -> TrackPosition {
        let call = self.call(segment.call);
        let call = call.filter(|call| call.turn == segment.turn);
        call.and_then(|call| self.place_of(segment.call.index, call))
            .unwrap_or_default()
    }

    fn place_of(&self, index: u32, call: &Open) -> Option<TrackPosition> {
        let coroutine = self.coroutines.get(call.coroutine)?;
        let depth = coroutine.calls.iter().rposition(|found| *found == index)?;
        Some(TrackPosition {
            track: coroutine.track,
            depth: depth as u64 + 1,
        })
    }

    /// Checks whether no call is open within `call`.
    pub fn is_innermost(&self, call: CallRef) -> bool {
        let coroutine = self
            .call(call)
            .and_then(|call| self.coroutines.get(call.coroutine));
        coroutine.is_none_or(|coroutine| coroutine.calls.last() == Some(&call.index))
    }

    /// Ends the innermost call within `call`, or the call itself, at a time that `moment` returns. The flag is set if
    /// it is `call`.
    pub fn end(
        &mut self,
        call: CallRef,
        moment: impl FnOnce(u64) -> u64,
    ) -> Option<(CompletedSuspendCall, bool)> {
        let coroutine = self.call(call)?.coroutine;
        let found = self.coroutines.get_mut(coroutine)?;
        let index = found.calls.pop()?;
        let open = self.calls.take(index)?;
        let end = moment(found.last);
        found.last = end;
        let place = TrackPosition {
            track: found.track,
            depth: found.calls.len() as u64,
        };
        let caller = found.calls.last().copied();
        self.keys.remove(&(open.hash, index));
        self.garbage.push(open.key);
        let span = (coroutine, open.begun.span);
        if let Some(same) = self.spans.get_mut(&span) {
            *same -= 1;
            if *same == 0 {
                self.spans.remove(&span);
            }
        }
        let is_of_trace = open.begun.mode >= TIMED && open.start >= open.begun.base;
        if let Some(caller) = caller.and_then(|caller| self.calls.get_mut(caller))
            && is_of_trace
        {
            caller.within += end.saturating_sub(open.start);
        }
        let goes_with = open.is_passed_on && open.turn > 0;
        let caller = caller
            .filter(|_| goes_with)
            .and_then(|caller| self.reference(caller));
        let completed = CompletedSuspendCall {
            span: open.begun.span,
            mode: open.begun.mode,
            outermost: open.outermost,
            start: open.start,
            end,
            within: open.within,
            captures: open.captures,
            place,
            caller,
        };
        Some((completed, index == call.index))
    }

    /// Lists the number of the coroutine, the span, the mode and the start of each open call.
    pub fn open(&self) -> impl Iterator<Item = (u64, u32, u8, u64)> {
        self.calls.iter().filter_map(|(_, call)| {
            let track = self.coroutines.get(call.coroutine)?.track;
            Some((track, call.begun.span, call.begun.mode, call.start))
        })
    }

    /// Removes the calls that can never resume because nothing refers to their continuations. Returns them as
    /// [`open`](Self::open) does.
    pub fn remove_collected<C: Continuations>(&mut self, objects: &C) -> Vec<(u64, u32, u8, u64)> {
        let is_collected = |call: &Open| !call.runs && objects.is_collected(&call.key);
        let gone = self.calls.iter().filter(|(_, call)| is_collected(call));
        let gone: Vec<u32> = gone.map(|(index, _)| index).collect();
        let mut forgotten = Vec::new();
        for index in gone {
            let Some(call) = self.calls.take(index) else {
                continue;
            };
            self.keys.remove(&(call.hash, index));
            if let Some(coroutine) = self.coroutines.get_mut(call.coroutine) {
                coroutine.calls.retain(|found| *found != index);
                forgotten.push((
                    coroutine.track,
                    call.begun.span,
                    call.begun.mode,
                    call.start,
                ));
            }
            let span = (call.coroutine, call.begun.span);
            if let Some(same) = self.spans.get_mut(&span) {
                *same = same.saturating_sub(1);
            }
            self.garbage.push(call.key);
        }
        self.remove_idle(|root| objects.is_collected(root));
        self.spans.retain(|_, same| *same > 0);
        self.release(objects);
        forgotten
    }

    /// Removes all calls.
    pub fn clear(&mut self) {
        let (serial, tracks) = (self.serial, self.tracks);
        let mut before = std::mem::take(self);
        let calls = before.calls.all.into_iter().flatten().map(|call| call.key);
        let coroutines = before.coroutines.all.into_iter().flatten();
        before
            .garbage
            .extend(calls.chain(coroutines.map(|found| found.root)));
        *self = Self {
            serial,
            tracks,
            garbage: before.garbage,
            ..Self::default()
        };
    }

    fn release<C: Continuations>(&mut self, objects: &C) {
        self.garbage
            .drain(..)
            .for_each(|kept| objects.release(kept));
    }
}
