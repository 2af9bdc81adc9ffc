//! Records entries and ends of Kotlin's suspend functions; instrumented code calls these functions.
//!
//! A call lasts from its first entry until it returns a value or throws. A function that only passes its own
//! continuation on is not entered again: its call ends when that continuation resumes.

use super::completion::{end_within, ended, ended_unseen, moment};
use super::coroutines::{CallRef, Continuations, Segment, SuspendCallStart};
use super::current::{AGGREGATE, CurrentThread, Jvm, unrecorded};
use super::lost_ends;
use super::recording::{self, give_back, here};
use super::stack::{CallStart, ExitedCall};

/// The entry of a suspend function.
#[derive(Debug)]
pub struct SuspendEntry<O> {
    /// The continuation that resumes when the call has completed.
    pub completion: O,
    /// `true` if the call began earlier and resumes now.
    pub goes_on: bool,
}

/// Records the entry of a suspend function, the first or a further one of a call.
pub fn begin<C: Continuations>(
    jvm: &impl Jvm,
    objects: &C,
    thread: u64,
    span: u32,
    entry: impl FnOnce() -> Option<SuspendEntry<C::Object>>,
) {
    let Some(here) = here(jvm, thread, Some(span)) else {
        return;
    };
    let pointer = jvm.stack_pointer();
    let lost = |span, left| ended_unseen(jvm, here, span, left);
    lost_ends::before_entry(jvm, here, span, pointer, lost);
    let entry = unrecorded(jvm, entry);
    let Some(entry) = entry else {
        // A call without a continuation cannot suspend.
        return begin_plainly(jvm, here, span, pointer);
    };
    let call = unrecorded(jvm, || call_of(jvm, here, objects, span, &entry));
    if let Some((call, true)) = call {
        end_within(jvm, here, call);
    }
    let coroutines = &here.log.shared.coroutines;
    let depth = here.stack.open_frames() + 1;
    let segment = call
        .and_then(|(call, goes_on)| coroutines.with(|state| state.segment(call, goes_on, depth)));
    let goes_on = call.is_some_and(|(_, goes_on)| goes_on);
    if let (Some((_, captures)), true) = (&segment, goes_on) {
        // The values of a further entry are no arguments of the call.
        here.stack.stage_words(span, true, captures);
    }
    let begin = CallStart {
        mode: 0,
        base: 0,
        pointer,
        scarce: false,
    };
    here.stack.enter(span, begin, || 0);
    if let Some((segment, _)) = segment {
        let captures = here.stack.captured();
        if !goes_on && !captures.is_empty() {
            coroutines.with(|state| state.keep_captures(segment.call, captures));
        }
        here.stack.push_segment(segment);
    }
}

fn begin_plainly(jvm: &impl Jvm, here: CurrentThread, span: u32, pointer: u64) {
    let shared = here.log.shared;
    let begin = CallStart {
        mode: shared.mode(span),
        base: shared.base(),
        pointer,
        scarce: false,
    };
    here.stack.enter(span, begin, || moment(jvm, here, 0));
}

/// Returns the entered call; the flag is set if it resumes.
fn call_of<C: Continuations>(
    jvm: &impl Jvm,
    here: CurrentThread,
    objects: &C,
    span: u32,
    entry: &SuspendEntry<C::Object>,
) -> Option<(CallRef, bool)> {
    let shared = here.log.shared;
    let key = &entry.completion;
    if entry.goes_on {
        // An unknown call began before the trace.
        let call = shared
            .coroutines
            .with(|state| state.find(objects, span, key));
        return call.map(|call| (call, true));
    }
    let begun = SuspendCallStart {
        span,
        mode: shared.mode(span),
        base: shared.base(),
    };
    if begun.mode < AGGREGATE {
        return None;
    }
    let around = here.stack.segment();
    let call = shared
        .coroutines
        .with(|state| state.begin(objects, around, begun, key, |last| moment(jvm, here, last)));
    if call.is_none() {
        here.log.lost.note(|lost| &lost.untracked, 1);
    }
    call.map(|call| (call, false))
}

/// Records that a suspend function returns because it suspends.
pub fn suspend(jvm: &impl Jvm, thread: u64, span: u32) {
    let Some((here, left, segment)) = left(jvm, thread, span, false) else {
        return;
    };
    match segment {
        Some(segment) => {
            let coroutines = &here.log.shared.coroutines;
            coroutines.with(|state| state.suspend(segment, |last| moment(jvm, here, last)));
        }
        None => ended_plainly(jvm, here, span, left),
    }
    give_back(here);
}

/// Records that a suspend function returns a value.
pub fn complete(jvm: &impl Jvm, thread: u64, span: u32) {
    let Some((here, left, segment)) = left(jvm, thread, span, false) else {
        return;
    };
    match segment {
        Some(segment) => ended(jvm, here, segment.call, Some(left.captures), false, || None),
        None => ended_plainly(jvm, here, span, left),
    }
    give_back(here);
}

/// Records a call without a continuation.
fn ended_plainly(jvm: &impl Jvm, here: CurrentThread, span: u32, left: ExitedCall) {
    if left.mode >= AGGREGATE && left.start >= here.log.shared.base() {
        let end = moment(jvm, here, 0);
        recording::ended(jvm, here, span, left, end, false, || None);
    }
}

/// Leaves the frame of a segment.
fn left(
    jvm: &impl Jvm,
    thread: u64,
    span: u32,
    failed: bool,
) -> Option<(CurrentThread, ExitedCall, Option<Segment>)> {
    let here = here(jvm, thread, None)?;
    let lost = |span, left| ended_unseen(jvm, here, span, left);
    lost_ends::before_end(jvm, here, span, failed, lost);
    let left = here.stack.leave(span)?;
    Some((here, left, here.stack.pop_segment()))
}

/// Handles a resumed continuation, with a failure if it `failed`: the calls that passed it on end.
pub fn resumed<C: Continuations>(
    jvm: &impl Jvm,
    objects: &C,
    thread: u64,
    continuation: &C::Object,
    failed: bool,
    class: impl Fn() -> Option<u32>,
) {
    let Some(here) = here(jvm, thread, Some(0)) else {
        return;
    };
    let coroutines = &here.log.shared.coroutines;
    while let Some(call) = unrecorded(jvm, || {
        coroutines.with(|state| state.waiting_for(objects, continuation))
    }) {
        ended(jvm, here, call, None, failed, &class);
    }
    give_back(here);
}
