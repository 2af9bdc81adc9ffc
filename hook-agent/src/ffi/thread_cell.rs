//! A cell for each native thread and session, which holds where the thread records its spans.
//!
//! The general dynamic model of ELF TLS costs a call each time; initial exec would not, but then the C library must have
//! room for the library's variables in each thread, which it has for one copy of the agent and not for two.

use probes::spans::{SESSIONS, ThreadCell};
use std::cell::Cell;

thread_local! {
    static CELLS: [ThreadCell; SESSIONS] = const { [const { ThreadCell::new(None) }; SESSIONS] };
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body` with the cell of this thread for a session.
#[inline(always)]
pub(crate) fn with<R>(session: usize, body: impl FnOnce(&ThreadCell) -> R) -> R {
    CELLS.with(|cells| body(&cells[session % SESSIONS]))
}

/// Runs `body` with the cell that says whether this thread asks the JVM for a call.
pub(crate) fn with_asks<R>(body: impl FnOnce(&Cell<bool>) -> R) -> R {
    ASKS.with(body)
}

/// Makes the cells empty again.
pub(crate) fn clear() {
    CELLS.with(|cells| cells.iter().for_each(|cell| cell.set(None)));
}
