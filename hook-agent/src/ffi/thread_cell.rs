//! A cell for each native thread, which holds where the thread records its spans.
//!
//! The general dynamic model of ELF TLS costs a call each time; initial exec would not, but then the C library must have
//! room for the library's variables in each thread, which it has for one copy of the agent and not for two.

use probes::spans::ThreadCell;

thread_local! {
    static CELL: ThreadCell = const { ThreadCell::new(None) };
}

/// Runs `body` with the cell of this thread.
#[inline(always)]
pub(crate) fn with<R>(body: impl FnOnce(&ThreadCell) -> R) -> R {
    CELL.with(body)
}

/// Makes the cell empty again.
pub(crate) fn clear() {
    with(|cell| cell.set(None));
}
