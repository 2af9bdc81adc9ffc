//! Checks that a heap dump is complete: a JVM stops the dump when the disk is full.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Begin of an HPROF file. The version and a zero byte follow.
const MAGIC: &[u8] = b"JAVA PROFILE 1.0.";
/// The version of JDK 8 for heaps below 2 GB. All objects are in one record, the last one.
const IN_ONE_RECORD: &[u8] = b"JAVA PROFILE 1.0.1\0";
/// Longest version, with the zero byte.
const LONGEST_VERSION: u64 = 32;
/// Bytes behind the version: size of an id, and time.
const HEADER: u32 = 4 + 8;
/// Bytes before the content of a record: tag, time and length.
const RECORD: usize = 1 + 4 + 4;
/// The tag of a record with all objects.
const HEAP_DUMP: u8 = 0x0C;
/// The tag of the record behind the last segment with objects.
const HEAP_DUMP_END: u8 = 0x2C;

/// Checks whether a file is an HPROF file that ends with the last record of a dump.
pub fn is_complete(file: &Path) -> bool {
    File::open(file)
        .and_then(ends_with_its_end)
        .unwrap_or(false)
}

fn ends_with_its_end(file: File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let mut input = BufReader::new(file);
    let mut version = Vec::new();
    Read::take(&mut input, LONGEST_VERSION).read_until(0, &mut version)?;
    if !version.starts_with(MAGIC) {
        return Ok(false);
    }
    input.seek_relative(HEADER.into())?;
    let mut at = version.len() as u64 + u64::from(HEADER);
    let mut last = None;
    while at < length {
        let mut record = [0; RECORD];
        input.read_exact(&mut record)?;
        let [tag, _, _, _, _, content @ ..] = record;
        let content = u32::from_be_bytes(content);
        input.seek_relative(content.into())?;
        at += RECORD as u64 + u64::from(content);
        last = Some(tag);
    }
    let end = match version == IN_ONE_RECORD {
        true => [HEAP_DUMP, HEAP_DUMP_END].as_slice(),
        false => &[HEAP_DUMP_END],
    };
    Ok(at == length && last.is_some_and(|tag| end.contains(&tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32).to_be_bytes();
        [&[tag, 0, 0, 0, 0], length.as_slice(), content].concat()
    }

    #[test]
    fn dumps_are_complete_only_with_their_last_record() {
        let header = |version: &[u8]| [version, &[0, 0, 0, 8], &[0; 8]].concat();
        let in_segments = [
            header(b"JAVA PROFILE 1.0.2\0"),
            record(0x01, b"12345678name"),
            record(0x1C, &[0x2C; 20_000]),
            record(HEAP_DUMP_END, b""),
        ];
        let in_one = [
            header(b"JAVA PROFILE 1.0.1\0"),
            record(0x01, b"12345678name"),
            record(HEAP_DUMP, &[0x2C; 20_000]),
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.hprof");
        let written = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            is_complete(&file)
        };
        for dump in [in_segments.concat(), in_one.concat()] {
            assert!(written(&dump));
            for length in (0..80).chain(dump.len() - 12..dump.len()) {
                assert!(!written(&dump[..length]), "{length} bytes");
            }
            assert!(!written(&[dump.as_slice(), b"x"].concat()), "more");
        }
        assert!(!written(&in_segments[..3].concat()), "no end");
        assert!(!is_complete(folder.path()));
    }
}
