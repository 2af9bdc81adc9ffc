//! A file that several threads read at once, each at its own position.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The file, read through a buffer. A clone starts at the same position and then moves
/// independently.
#[derive(Debug)]
pub struct SharedFile(BufReader<FilePosition>);

/// A position in a file.
#[derive(Debug, Clone)]
struct FilePosition {
    file: Arc<File>,
    length: u64,
    at: u64,
}

impl SharedFile {
    /// Opens the start of a file, which must not grow meanwhile.
    ///
    /// # Errors
    /// If its length is unknown.
    pub fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let file = Arc::new(file);
        Ok(Self(BufReader::new(FilePosition {
            file,
            length,
            at: 0,
        })))
    }
}

impl Clone for SharedFile {
    fn clone(&self) -> Self {
        let mut place = self.0.get_ref().clone();
        place.at -= self.0.buffer().len() as u64; // bytes read ahead of the position
        Self(BufReader::new(place))
    }
}

impl Read for SharedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Seek for SharedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl Read for FilePosition {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for FilePosition {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_continue_at_the_position_of_the_original() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"0123456789").unwrap();
        let mut one = SharedFile::new(file).unwrap();
        let read = |file: &mut SharedFile| {
            let mut bytes = [0; 2];
            file.read_exact(&mut bytes).map(|()| bytes)
        };
        assert_eq!(read(&mut one).unwrap(), *b"01");
        let mut other = one.clone();
        assert_eq!(read(&mut one).unwrap(), *b"23");
        assert_eq!(read(&mut other).unwrap(), *b"23");
        assert_eq!(other.seek(SeekFrom::End(-3)).unwrap(), 7);
        assert_eq!(read(&mut other).unwrap(), *b"78");
        assert_eq!(one.seek(SeekFrom::Current(1)).unwrap(), 5);
        assert_eq!(read(&mut one).unwrap(), *b"56");
        assert!(read(&mut other).is_err(), "behind the end");
        assert!(one.seek(SeekFrom::Current(-9)).is_err(), "before the begin");
    }
}
