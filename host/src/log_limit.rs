//! Limits the log output of plugins on standard error.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of lines of one plugin.
const MAX_LINES: usize = 1_000;
/// Maximum number of bytes of one plugin.
const MAX_BYTES: usize = 256 << 10;

/// The log output of a plugin so far, summed over its instances.
#[derive(Debug, Default)]
pub(crate) struct LogLimit {
    lines: AtomicUsize,
    bytes: AtomicUsize,
}

/// The decision about a log line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The line is written.
    Write,
    /// The line is dropped, and the limit is reported.
    ReportLimit,
    /// The line is dropped.
    Drop,
}

impl LogLimit {
    /// Counts a line, and decides about it.
    pub(crate) fn take(&self, line: &str) -> Decision {
        let before = self.bytes.fetch_add(line.len(), Ordering::Relaxed);
        if before + line.len() > MAX_BYTES {
            self.lines.fetch_max(MAX_LINES, Ordering::Relaxed);
        }
        match self.lines.fetch_add(1, Ordering::Relaxed) {
            0..MAX_LINES => Decision::Write,
            MAX_LINES => Decision::ReportLimit,
            _ => Decision::Drop,
        }
    }
}

/// The text that replaces the first dropped line.
pub(crate) fn left_out() -> String {
    let kib = MAX_BYTES >> 10;
    format!("further lines are left out: a plugin writes at most {MAX_LINES} lines and {kib} KiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_bytes_are_limited_and_the_limit_is_reported_once() {
        let many = LogLimit::default();
        assert!((0..MAX_LINES).all(|_| many.take("line") == Decision::Write));
        assert_eq!(
            [many.take("a"), many.take("b")],
            [Decision::ReportLimit, Decision::Drop]
        );
        let long = LogLimit::default();
        let line = "x".repeat(100 << 10);
        let taken: Vec<_> = (0..4).map(|_| long.take(&line)).collect();
        assert_eq!(
            taken,
            [
                Decision::Write,
                Decision::Write,
                Decision::ReportLimit,
                Decision::Drop
            ]
        );
    }
}
