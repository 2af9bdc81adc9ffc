//! A cell for each native thread and session, which points to the memory where the thread records spans.
//!
//! The general dynamic model of ELF TLS costs a call at each access. Initial exec has no such cost, but the C library
//! must reserve space for the library's variables in each thread. It has space for one copy of the agent, not for two.

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

/// Runs `body` with the cell that is true while this thread calls the JVM for a span.
pub(crate) fn with_query_flag<R>(body: impl FnOnce(&Cell<bool>) -> R) -> R {
    ASKS.with(body)
}

/// Empties the cells.
pub(crate) fn clear() {
    CELLS.with(|cells| cells.iter().for_each(|cell| cell.set(None)));
}
