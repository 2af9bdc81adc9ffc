//! Reads `.exec` files.

use jvms::modified_utf8;

use super::{CLASS, ExecFile, HEADER, Incompatible, MAGIC, SESSION, Union, VERSION};
use crate::report::{ExecutionData, Session};

/// The reason why bytes are no `.exec` file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file does not start with the header.
    #[error(
        "expected JaCoCo execution data, which begins with the bytes 01 C0 C0, found {found:02X?}"
    )]
    NotExec {
        /// The first bytes.
        found: Vec<u8>,
    },
    /// A header has another version.
    #[error(
        "expected execution data of version 1007, found {found:04X} at byte {offset}; use a JaCoCo of 0.5 or later"
    )]
    Version {
        /// The version of the file.
        found: u16,
        /// Offset of the header.
        offset: usize,
    },
    /// The file ends early.
    #[error("the file ends at byte {offset} inside {inside}; it is incomplete")]
    Truncated {
        /// Length of the file.
        offset: usize,
        /// The part that is cut off.
        inside: &'static str,
    },
    /// A block of unknown kind.
    #[error("expected a block of kind 01, 10 or 11 at byte {offset}, found {found:02X}")]
    UnknownBlock {
        /// Offset of the block.
        offset: usize,
        /// The kind byte.
        found: u8,
    },
    /// A text is not modified UTF-8.
    #[error("expected modified UTF-8 (JVMS 4.4.7) at byte {offset}")]
    Text {
        /// Offset of the text.
        offset: usize,
    },
    /// Two records contradict each other.
    #[error(transparent)]
    Incompatible(#[from] Incompatible),
}

/// Reads a file, or several concatenated ones. Empty input is a file without records, as in JaCoCo.
///
/// # Errors
/// The first problem in the file.
pub fn read(bytes: &[u8]) -> Result<ExecFile, ReadError> {
    read_since(bytes, i64::MIN)
}

/// Reads the sessions that began at `start_ms` (milliseconds since 1970) or later, with their classes. JaCoCo's agent
/// appends a session with its classes to an existing file.
///
/// # Errors
/// As [`read`].
pub fn read_since(bytes: &[u8], start_ms: i64) -> Result<ExecFile, ReadError> {
    let mut is_wanted = start_ms == i64::MIN;
    let mut reader = Reader { bytes, offset: 0 };
    let mut sessions = Vec::new();
    let mut union = Union::default();
    if !bytes.is_empty() && !bytes.starts_with(&[HEADER, 0xC0, 0xC0]) {
        return Err(ReadError::NotExec {
            found: bytes.iter().copied().take(8).collect(),
        });
    }
    while reader.offset < bytes.len() {
        let offset = reader.offset;
        let [kind] = reader.take("a block")?;
        match kind {
            HEADER => reader.header()?,
            SESSION => {
                let session = reader.session()?;
                is_wanted = session.start_ms >= start_ms;
                sessions.extend(is_wanted.then_some(session));
            }
            CLASS => {
                let class = reader.class()?;
                if is_wanted {
                    union.add(class)?;
                }
            }
            found => return Err(ReadError::UnknownBlock { offset, found }),
        }
    }
    Ok(ExecFile {
        sessions,
        classes: union.into_classes(),
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    fn slice(&mut self, length: usize, inside: &'static str) -> Result<&'a [u8], ReadError> {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let slice = rest.get(..length).ok_or(ReadError::Truncated {
            offset: self.bytes.len(),
            inside,
        })?;
        self.offset += length;
        Ok(slice)
    }

    fn take<const N: usize>(&mut self, inside: &'static str) -> Result<[u8; N], ReadError> {
        let slice = self.slice(N, inside)?;
        slice.try_into().map_err(|_| ReadError::Truncated {
            offset: self.bytes.len(),
            inside,
        })
    }

    fn header(&mut self) -> Result<(), ReadError> {
        let magic = u16::from_be_bytes(self.take("a header")?);
        if magic != MAGIC {
            return Err(ReadError::NotExec {
                found: magic.to_be_bytes().to_vec(),
            });
        }
        let offset = self.offset;
        match u16::from_be_bytes(self.take("a header")?) {
            VERSION => Ok(()),
            found => Err(ReadError::Version { found, offset }),
        }
    }

    fn text(&mut self, inside: &'static str) -> Result<String, ReadError> {
        let offset = self.offset;
        let length = u16::from_be_bytes(self.take(inside)?);
        let bytes = self.slice(usize::from(length), inside)?;
        modified_utf8::decode(bytes).map_err(|_| ReadError::Text { offset })
    }

    fn session(&mut self) -> Result<Session, ReadError> {
        let inside = "a session";
        Ok(Session {
            id: self.text(inside)?,
            start_ms: i64::from_be_bytes(self.take(inside)?),
            dump_ms: i64::from_be_bytes(self.take(inside)?),
            ..Session::default()
        })
    }

    fn class(&mut self) -> Result<ExecutionData, ReadError> {
        let inside = "the data of a class";
        let id = u64::from_be_bytes(self.take(inside)?);
        let name = self.text(inside)?;
        let length = self.length(inside)?;
        let packed = self.slice(length.div_ceil(8), inside)?;
        let bits = packed
            .iter()
            .flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
        Ok(ExecutionData {
            id,
            name,
            probes: bits.take(length).collect(),
        })
    }

    /// Reads a number in groups of seven bits, the lowest first.
    fn length(&mut self, inside: &'static str) -> Result<usize, ReadError> {
        let mut length = 0;
        for shift in (0..35).step_by(7) {
            let [byte] = self.take(inside)?;
            length |= usize::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(length);
            }
        }
        Err(ReadError::Truncated {
            offset: self.bytes.len(),
            inside,
        })
    }
}
