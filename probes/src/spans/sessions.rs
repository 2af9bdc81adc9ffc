//! Sessions: recordings of spans side by side in one JVM, each with its spans, threads, sums and memory.
//!
//! Session 0 is the agent's own. The number of a span in the code of a method holds that of its session, so the running
//! code finds everything of its session at once, and no session costs another anything.

/// Sessions of one JVM at a time, the agent's own among them.
pub const SESSIONS: usize = 8;

/// The position of the session's number.
const SESSION_SHIFT: u32 = 24;
const SPAN_MASK: u32 = (1 << SESSION_SHIFT) - 1;
const _: () = assert!(super::limits::MAX_SPANS <= SPAN_MASK && SESSIONS.is_power_of_two());

/// The number by which the running code names a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanInCode(pub u32);

impl SpanInCode {
    /// Of the span of a session.
    #[must_use]
    pub fn new(session: u8, span: u32) -> Self {
        Self(u32::from(session) << SESSION_SHIFT | span & SPAN_MASK)
    }

    /// The number of the session, less than [`SESSIONS`].
    #[inline(always)]
    #[must_use]
    pub fn session(self) -> usize {
        (self.0 >> SESSION_SHIFT) as usize % SESSIONS
    }

    /// The number of the span within its session.
    #[inline(always)]
    #[must_use]
    pub fn span(self) -> u32 {
        self.0 & SPAN_MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_in_code_holds_session_and_span() {
        for (session, span) in [(0, 0), (0, 7), (3, 0), (7, super::super::MAX_SPANS - 1)] {
            let number = SpanInCode::new(session, span);
            assert_eq!((number.session(), number.span()), (session.into(), span));
        }
        assert_eq!(SpanInCode::new(0, 7).0, 7);
    }
}
