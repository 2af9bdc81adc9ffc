//! A writer with a size limit.

use std::fmt::{self, Write};

/// Passes text on until [`MAX_OUTPUT`] bytes.
pub(super) struct Bounded<'w> {
    out: &'w mut dyn Write,
    left: usize,
    full: bool,
}

impl<'w> Bounded<'w> {
    /// Runs `work`; reports a truncation at the end.
    pub(super) fn write(
        out: &'w mut dyn Write,
        work: impl FnOnce(&mut dyn Write) -> fmt::Result,
    ) -> fmt::Result {
        let mut bounded = Bounded {
            out,
            left: MAX_OUTPUT,
            full: false,
        };
        let result = work(&mut bounded);
        if bounded.full {
            return writeln!(bounded.out, "\n... cut off: more than {MAX_OUTPUT} bytes");
        }
        result
    }
}

impl Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self.left.checked_sub(text.len()) {
            Some(left) if !self.full => {
                self.left = left;
                self.out.write_str(text)
            }
            _ => {
                self.full = true;
                Err(fmt::Error)
            }
        }
    }
}

/// Maximum bytes of one call's output before it reports a truncation.
pub const MAX_OUTPUT: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_text_is_truncated_with_a_note() {
        let mut text = String::new();
        let chunk = "x".repeat(1 << 20);
        Bounded::write(&mut text, |out| {
            loop {
                out.write_str(&chunk)?;
            }
        })
        .unwrap();
        assert!(text.len() < MAX_OUTPUT + 100);
        assert!(text.ends_with("... cut off: more than 67108864 bytes\n"));
    }
}
