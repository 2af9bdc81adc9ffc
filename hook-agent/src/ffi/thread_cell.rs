//! A cell for each native thread and session, which holds where the thread records its spans.
//!
//! The general dynamic model of ELF TLS costs a call each time; initial exec would not, but then the C library must have
//! room for the library's variables in each thread, which it has for one copy of the agent and not for two.

use probes::spans::{SESSIONS, ThreadCell};

thread_local! {
    static CELLS: [ThreadCell; SESSIONS] = const { [const { ThreadCell::new(None) }; SESSIONS] };
}

/// Runs `body` with the cell of this thread for a session.
#[inline(always)]
pub(crate) fn with<R>(session: usize, body: impl FnOnce(&ThreadCell) -> R) -> R {
    CELLS.with(|cells| body(&cells[session % SESSIONS]))
}

/// Makes the cells empty again.
pub(crate) fn clear() {
    CELLS.with(|cells| cells.iter().for_each(|cell| cell.set(None)));
}
