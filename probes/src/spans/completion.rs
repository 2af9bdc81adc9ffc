//! Records the ends of Kotlin's suspend function calls, and of calls whose ends were lost.

use super::coroutines::{CallRef, CompletedSuspendCall};
use super::current::{AGGREGATE, CurrentThread, EVENTS, Jvm};
use super::recording;
use super::stack::ExitedCall;

/// Records a call that ended earlier, by an unknown exception.
#[cold]
pub(super) fn ended_unseen(jvm: &impl Jvm, here: CurrentThread, span: u32, left: ExitedCall) {
    if let Some(segment) = here.stack.pop_segment() {
        ended(jvm, here, segment.call, None, true, || None);
    } else if left.mode >= AGGREGATE && left.start >= here.log.shared.base() {
        let end = here.stack.moment(jvm.ticks(), here.log.shared.apart());
        recording::ended(jvm, here, span, left, end, true, || None);
    }
}

/// Returns a time after the last one of the thread and of the coroutine.
pub(super) fn moment(jvm: &impl Jvm, here: CurrentThread, last: u64) -> u64 {
    let apart = here.log.shared.apart();
    here.stack.moment(jvm.ticks().max(last + apart), apart)
}

/// Ends the calls within a resumed call: their ends were not reported.
pub(super) fn end_within(jvm: &impl Jvm, here: CurrentThread, call: CallRef) {
    let coroutines = &here.log.shared.coroutines;
    while let Some((completed, _)) = coroutines.with(|state| {
        if state.is_innermost(call) {
            return None;
        }
        state.end(call, |last| moment(jvm, here, last))
    }) {
        write(jvm, here, &completed, None, false, || None);
    }
}

/// Records the end of a call whose final values are among `captures`, and of the calls that complete with it.
pub(super) fn ended(
    jvm: &impl Jvm,
    here: CurrentThread,
    call: CallRef,
    captures: Option<(u64, u64)>,
    failed: bool,
    class: impl FnOnce() -> Option<u32>,
) {
    let coroutines = &here.log.shared.coroutines;
    let next = |call| coroutines.with(|state| state.end(call, |last| moment(jvm, here, last)));
    // One exception leaves all these calls, so they share its class.
    let mut class = Some(class);
    let mut number = None;
    let mut number = || {
        if let Some(class) = class.take() {
            number = class();
        }
        number
    };
    let mut call = Some(call);
    let mut captures = captures;
    while let Some(ending) = call {
        let Some((completed, is_it)) = next(ending) else {
            return;
        };
        if is_it {
            call = completed.caller;
            write(jvm, here, &completed, captures.take(), failed, &mut number);
        } else {
            write(jvm, here, &completed, None, false, || None);
        }
    }
}

/// Adds a call to the sums, and writes it according to its mode.
fn write(
    jvm: &impl Jvm,
    here: CurrentThread,
    completed: &CompletedSuspendCall,
    captures: Option<(u64, u64)>,
    failed: bool,
    class: impl FnOnce() -> Option<u32>,
) {
    if completed.mode < AGGREGATE || completed.start < here.log.shared.base() {
        return;
    }
    let captures = captures.unwrap_or_else(|| {
        if completed.mode < EVENTS || completed.captures.is_empty() {
            return (0, 0);
        }
        here.stack
            .stage_words(completed.span, false, &completed.captures);
        here.stack.take_staged(completed.span)
    });
    let left = ExitedCall {
        mode: completed.mode,
        start: completed.start,
        within: completed.within,
        captures,
        outermost: completed.outermost,
    };
    recording::record(
        jvm,
        here,
        completed.span,
        left,
        completed.end,
        completed.place,
        failed,
        class,
    );
}
