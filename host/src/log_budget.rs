//! Limits the log output of plugins on standard error.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of lines of one plugin.
const MAX_LINES: usize = 1_000;
/// Maximum number of bytes of one plugin.
const MAX_BYTES: usize = 256 << 10;

/// The log output of a plugin so far, summed over its instances.
#[derive(Debug, Default)]
pub(crate) struct LogBudget {
    lines: AtomicUsize,
    bytes: AtomicUsize,
}

/// The decision about a log line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// The line is written.
    Yes,
    /// The line is dropped, and the limit is reported.
    NoLonger,
    /// The line is dropped.
    No,
}

impl LogBudget {
    /// Counts a line, and decides about it.
    pub(crate) fn take(&self, line: &str) -> Room {
        let before = self.bytes.fetch_add(line.len(), Ordering::Relaxed);
        if before + line.len() > MAX_BYTES {
            self.lines.fetch_max(MAX_LINES, Ordering::Relaxed);
        }
        match self.lines.fetch_add(1, Ordering::Relaxed) {
            0..MAX_LINES => Room::Yes,
            MAX_LINES => Room::NoLonger,
            _ => Room::No,
        }
    }
}

/// The text that replaces the first dropped line.
pub(crate) fn left_out() -> String {
    let kib = MAX_BYTES >> 10;
    format!("what follows is left out: a plugin writes at most {MAX_LINES} lines and {kib} KiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_bytes_have_limits_and_that_is_said_once() {
        let many = LogBudget::default();
        assert!((0..MAX_LINES).all(|_| many.take("line") == Room::Yes));
        assert_eq!([many.take("a"), many.take("b")], [Room::NoLonger, Room::No]);
        let long = LogBudget::default();
        let line = "x".repeat(100 << 10);
        let taken: Vec<_> = (0..4).map(|_| long.take(&line)).collect();
        assert_eq!(taken, [Room::Yes, Room::Yes, Room::NoLonger, Room::No]);
    }
}
