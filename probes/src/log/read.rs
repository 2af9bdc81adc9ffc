//! Reads the records of a log, also of one that is cut off or damaged.

use crate::error::SnapshotError;
use crate::format::{HEAD_LENGTH, HEADER_LENGTH, TAIL_LENGTH, VERSION, read_head};

/// Checks the file header.
pub(crate) fn check_header(bytes: &[u8], magic: [u8; 8]) -> Result<(), SnapshotError> {
    let begins = bytes.len().min(magic.len());
    if bytes[..begins] != magic[..begins] {
        return Err(SnapshotError::NotASnapshot {
            expected: hex(&magic),
            found: hex(&bytes[..begins]),
        });
    }
    let Some(header) = bytes.first_chunk::<HEADER_LENGTH>() else {
        return Err(SnapshotError::Empty {
            length: bytes.len() as u64,
        });
    };
    let [.., v0, v1, v2, v3, c0, c1, c2, c3] = *header;
    let (stored, actual) = (
        u32::from_le_bytes([c0, c1, c2, c3]),
        crc32fast::hash(&header[..12]),
    );
    if stored != actual {
        return Err(corrupt(
            12,
            format!("checksum {actual:08x} of the header"),
            format!("{stored:08x}"),
        ));
    }
    match u32::from_le_bytes([v0, v1, v2, v3]) {
        VERSION => Ok(()),
        found if found > VERSION => Err(SnapshotError::Newer {
            found,
            supported: VERSION,
        }),
        found => Err(corrupt(
            8,
            format!("format version {VERSION}"),
            found.to_string(),
        )),
    }
}

/// A record with valid checksums.
pub(crate) struct Record<'a> {
    pub kind: u16,
    pub payload: &'a [u8],
    /// Offset of the payload in the file.
    pub offset: usize,
    pub end: usize,
}

/// The result of reading a record at an offset.
pub(crate) enum Framed<'a> {
    /// A whole record.
    Whole(Record<'a>),
    /// The beginning of a record with this many bytes, as far as is known.
    Part(usize),
    /// No record; holds a description of the expected content.
    Damaged(&'static str),
}

/// Reads the record at `offset`.
pub(crate) fn framed_at(bytes: &[u8], offset: usize) -> Framed<'_> {
    let rest = &bytes[offset..];
    let Some((kind, length)) = read_head(rest) else {
        return match rest.len() {
            ..HEAD_LENGTH => Framed::Part(HEAD_LENGTH),
            _ => Framed::Damaged("a record"),
        };
    };
    let start = offset + HEAD_LENGTH;
    let end = start
        .saturating_add(length as usize)
        .saturating_add(TAIL_LENGTH);
    let Some(framed) = bytes.get(start..end) else {
        return Framed::Part(end - offset);
    };
    let (payload, tail) = framed.split_at(length as usize);
    if crc32fast::hash(payload).to_le_bytes() != *tail {
        return Framed::Damaged("a payload that matches its checksum");
    }
    Framed::Whole(Record {
        kind,
        payload,
        offset: start,
        end,
    })
}

/// Reads the record at `offset`; `None` if the file is cut off within it.
pub(crate) fn record_at(bytes: &[u8], offset: usize) -> Result<Option<Record<'_>>, SnapshotError> {
    match framed_at(bytes, offset) {
        Framed::Whole(record) => Ok(Some(record)),
        Framed::Part(HEAD_LENGTH) => torn_or("a record", bytes, offset),
        Framed::Part(_) => Ok(None),
        Framed::Damaged(expected) => torn_or(expected, bytes, offset),
    }
}

/// Classifies unreadable bytes at `offset`: a torn tail if no whole record follows, else damage.
fn torn_or<'a>(
    expected: &str,
    bytes: &[u8],
    offset: usize,
) -> Result<Option<Record<'a>>, SnapshotError> {
    let whole = (offset + 1..bytes.len()).find(|at| read_head(&bytes[*at..]).is_some());
    let first = &bytes[offset..bytes.len().min(offset + HEAD_LENGTH)];
    // A file cut off in its first record holds the head, or zeros if the disk lost the data.
    let is_junk = offset == HEADER_LENGTH
        && first.len() == HEAD_LENGTH
        && first.iter().any(|byte| *byte != 0);
    match whole {
        None if is_junk => Err(corrupt(offset, expected, hex(first))),
        None => Ok(None),
        Some(next) => {
            let found = hex(&bytes[offset..bytes.len().min(offset + HEAD_LENGTH)]);
            Err(corrupt(
                offset,
                expected,
                format!("{found}, and a whole record at byte {next}"),
            ))
        }
    }
}

/// A payload that is read sequentially.
pub(crate) struct Fields<'a> {
    pub rest: &'a [u8],
    /// Offset of the payload's end in the file.
    end: usize,
}

impl<'a> Fields<'a> {
    pub fn of(record: &Record<'a>) -> Self {
        Self {
            rest: record.payload,
            end: record.offset + record.payload.len(),
        }
    }

    /// Reads bytes outside a file.
    pub fn of_bytes(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            end: bytes.len(),
        }
    }

    pub fn corrupt(&self, expected: impl Into<String>, found: impl Into<String>) -> SnapshotError {
        corrupt(self.end - self.rest.len(), expected, found)
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], SnapshotError> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(self.corrupt(
                format!("{length} bytes"),
                format!("{} in the record", self.rest.len()),
            ));
        };
        self.rest = rest;
        Ok(taken)
    }

    pub fn number<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let mut number = [0; N];
        number.copy_from_slice(self.take(N)?);
        Ok(number)
    }

    pub fn u16(&mut self) -> Result<u16, SnapshotError> {
        self.number().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, SnapshotError> {
        self.number().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, SnapshotError> {
        self.number().map(u64::from_le_bytes)
    }

    pub fn text(&mut self) -> Result<String, SnapshotError> {
        let length = self.u16()?;
        let bytes = self.take(usize::from(length))?;
        String::from_utf8(bytes.to_vec()).map_err(|error| self.corrupt("UTF-8", error.to_string()))
    }

    /// Reads a LEB128 number of at most ten bytes.
    pub fn varint(&mut self) -> Result<u64, SnapshotError> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let [byte] = self.number()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.corrupt("a number of at most 64 bits", "a longer one"))
    }

    /// Reads a LEB128 number of at most 32 bits.
    pub fn varint32(&mut self) -> Result<u32, SnapshotError> {
        let value = self.varint()?;
        u32::try_from(value)
            .map_err(|_| self.corrupt("a number of at most 32 bits", value.to_string()))
    }
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(
    record: &Record<'_>,
) -> Result<T, SnapshotError> {
    serde_json::from_slice(record.payload).map_err(|error| {
        corrupt(
            record.offset,
            format!("a record of kind {} as JSON", record.kind),
            error.to_string(),
        )
    })
}

pub(crate) fn corrupt(
    offset: usize,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> SnapshotError {
    SnapshotError::Corrupt {
        offset: offset as u64,
        expected: expected.into(),
        found: found.into(),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    bytes
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}
