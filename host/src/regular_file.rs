//! Reads whole regular files of bounded length, and rejects devices, pipes and endless files.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file of at most `most` bytes; does not wait for the writer of a pipe.
///
/// # Errors
/// I/O errors, or [`io::ErrorKind::InvalidInput`] with the kind of file found.
pub fn open(path: &Path, most: u64) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = options.read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    let found = kind(&metadata);
    let found = match found {
        None if metadata.len() > most => format!("a file of {} bytes", metadata.len()),
        None => return Ok((file, metadata)),
        Some(found) => found.to_owned(),
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, found))
}

/// Reads from the file's position to its end. Allocates once if the rest has `length` bytes, as
/// [`open`] reported.
///
/// # Errors
/// I/O errors, or [`io::ErrorKind::InvalidInput`] if the file now has more than `most` bytes.
pub fn read(file: &mut impl Read, length: u64, most: u64) -> io::Result<Vec<u8>> {
    // The spare byte lets the read detect the end without growing the buffer.
    let expected = usize::try_from(length.min(most)).unwrap_or_default() + 1;
    let mut bytes = Vec::with_capacity(expected);
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let found = format!("a file of more than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, found));
    }
    Ok(bytes)
}

/// Returns the kind of file, unless it is a regular one.
fn kind(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    match () {
        () if kind.is_file() => None,
        () if kind.is_dir() => Some("a folder"),
        () if kind.is_fifo() => Some("a named pipe"),
        () if kind.is_socket() => Some("a socket"),
        () => Some("a device"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &Path) -> String {
        open(path, 10).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn only_regular_files_of_bounded_length_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(found(&pipe), "a named pipe");
        assert_eq!(found(folder.path()), "a folder");
        assert_eq!(found(Path::new("/dev/zero")), "a device");
        let sparse = folder.path().join("sparse");
        File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(found(&sparse), "a file of 1099511627776 bytes");
        std::fs::write(&sparse, "0123456789").unwrap();
        let (mut file, metadata) = open(&sparse, 10).unwrap();
        let bytes = read(&mut file, metadata.len(), 10).unwrap();
        assert_eq!(bytes, b"0123456789");
        assert_eq!(bytes.capacity(), 11, "memory is taken once");
    }

    #[test]
    fn file_that_grows_while_it_is_read_is_refused() {
        assert!(read(&mut io::repeat(0), 5, 10).is_err());
        assert_eq!(read(&mut io::empty(), 0, 0).unwrap(), b"");
        assert_eq!(read(&mut &b"0123"[..], 2, 10).unwrap(), b"0123");
    }
}
