//! Sessions: independent recordings of spans in one JVM, each with its spans, threads, sums and memory.
//!
//! Session 0 is the agent's own. The span number in the code of a method contains the session number. So the running
//! code finds its session's data at once, and sessions do not slow each other down.

/// Maximum number of sessions in one JVM, including the agent's own.
pub const SESSIONS: usize = 8;

/// Bit position of the session number.
const SESSION_SHIFT: u32 = 24;
const SPAN_MASK: u32 = (1 << SESSION_SHIFT) - 1;
const _: () = assert!(super::limits::MAX_SPANS <= SPAN_MASK && SESSIONS.is_power_of_two());

/// The span number in instrumented code: session and span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanInCode(pub u32);

impl SpanInCode {
    /// Combines the numbers of session and span.
    #[must_use]
    pub fn new(session: u8, span: u32) -> Self {
        Self(u32::from(session) << SESSION_SHIFT | span & SPAN_MASK)
    }

    /// Returns the number of the session, less than [`SESSIONS`].
    #[inline(always)]
    #[must_use]
    pub fn session(self) -> usize {
        (self.0 >> SESSION_SHIFT) as usize % SESSIONS
    }

    /// Returns the number of the span within its session.
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
