//! A writer that reports only one error.

use std::io::{self, ErrorKind, Seek, SeekFrom, Write};

/// Returns the first error, and then accepts and discards everything. A `ZipWriter` that is dropped
/// after an error writes its directory, and prints a second error to standard error.
#[derive(Debug)]
pub struct FailingOnce<W> {
    out: W,
    failed: bool,
}

impl<W> FailingOnce<W> {
    /// Wraps `out`.
    pub fn new(out: W) -> Self {
        Self { out, failed: false }
    }

    fn first<T>(
        &mut self,
        otherwise: T,
        ask: impl FnOnce(&mut W) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.failed {
            return Ok(otherwise);
        }
        let answer = ask(&mut self.out);
        let error = answer.as_ref().err();
        self.failed = error.is_some_and(|error| error.kind() != ErrorKind::Interrupted);
        answer
    }
}

impl<W: Write> Write for FailingOnce<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.first(buffer.len(), |out| out.write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.first((), W::flush)
    }
}

impl<W: Seek> Seek for FailingOnce<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.first(0, |out| out.seek(to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for four bytes.
    #[derive(Default)]
    struct Disk(Vec<u8>);

    impl Write for Disk {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            if self.0.len() + buffer.len() > 4 {
                return Err(ErrorKind::StorageFull.into());
            }
            self.0.write(buffer)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn second_error_is_suppressed() {
        let mut out = FailingOnce::new(Disk::default());
        out.write_all(b"123").unwrap();
        assert!(out.write_all(b"45").is_err());
        out.write_all(b"6789").unwrap();
        out.write_all(b"0").unwrap();
        out.flush().unwrap();
        assert_eq!(out.out.0, b"123");
    }
}
