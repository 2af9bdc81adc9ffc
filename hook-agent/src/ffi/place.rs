//! A place of its own for each native thread.
//!
//! The general dynamic model of ELF TLS costs a call each time; initial exec would not, but then the C library must have
//! room for the library's variables in each thread, which it has for one copy of the agent and not for two.

use probes::spans::Place;

thread_local! {
    static PLACE: Place = const { Place::new(None) };
}

/// Runs `body` with the place of this thread.
#[inline(always)]
pub(crate) fn with<R>(body: impl FnOnce(&Place) -> R) -> R {
    PLACE.with(body)
}

/// Makes the place empty again.
pub(crate) fn clear() {
    with(|place| place.set(None));
}
