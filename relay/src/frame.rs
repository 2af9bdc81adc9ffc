//! Messages between sender and receiver: `docs/wire-format.md`. Numbers are little-endian, as in event files.

use std::io::{self, Read, Write};

use crate::token::PROOF;

/// First bytes that each side sends.
pub const MAGIC: [u8; 8] = [0x8E, b'H', b'K', b'W', b'R', 0x0D, 0x0A, 0x1A];
/// The version of the format.
pub const VERSION: u16 = 1;
/// Most file bytes in one frame.
pub const BATCH: usize = 1 << 18;
/// Longest payload: a file number and a batch.
const LONGEST: usize = 4 + BATCH;
/// Longest file name, in bytes.
pub const LONGEST_NAME: usize = 200;

/// First message of each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// Proof of the token; zeros on a Unix domain socket.
    pub proof: [u8; PROOF],
}

impl Hello {
    /// Sends the message.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&MAGIC)?;
        to.write_all(&VERSION.to_le_bytes())?;
        to.write_all(&self.proof)?;
        to.flush()
    }

    /// Receives the message.
    ///
    /// # Errors
    /// If the peer sends other bytes, or another version.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let (mut magic, mut version, mut proof) = ([0; 8], [0; 2], [0; PROOF]);
        from.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(wrong("what answers is no `classhook collect` or sender"));
        }
        from.read_exact(&mut version)?;
        let version = u16::from_le_bytes(version);
        if version != VERSION {
            let found = format!("expected version {VERSION} of the wire format, found {version}");
            return Err(wrong(&found));
        }
        from.read_exact(&mut proof)?;
        Ok(Self { proof })
    }
}

/// Message after the [`Hello`]. A file has a number, which the sender assigns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Begins or resumes a file: its number and name. The answer is [`Frame::Have`].
    File(u32, String),
    /// Begins the file anew.
    Restart(u32),
    /// Appends bytes to the file. The answer is [`Frame::Kept`].
    Append(u32, Vec<u8>),
    /// Reports that the receiver has all bytes that the sender has now. The answer is [`Frame::Kept`].
    Current(u32),
    /// Reports that the file is complete. The answer is [`Frame::Kept`].
    End(u32),
    /// Keeps the connection open while there are no new bytes.
    Alive,
    /// The receiver's length of a file, and the CRC-32 of its content.
    Have(u64, u32),
    /// The length up to which the receiver has written the file.
    Kept(u64),
    /// The receiver refuses the frame, with the cause.
    Refused(String),
}

impl Frame {
    /// Sends the frame: kind, length of the payload, payload.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let number = |number: &u32| number.to_le_bytes().to_vec();
        let (kind, payload) = match self {
            Self::File(of, name) => (1, [&number(of), name.as_bytes()].concat()),
            Self::Restart(of) => (2, number(of)),
            Self::Append(of, bytes) => (3, [&number(of)[..], bytes].concat()),
            Self::Current(of) => (4, number(of)),
            Self::End(of) => (5, number(of)),
            Self::Alive => (6, Vec::new()),
            Self::Have(length, check) => (
                16,
                [&length.to_le_bytes()[..], &check.to_le_bytes()].concat(),
            ),
            Self::Kept(length) => (17, length.to_le_bytes().to_vec()),
            Self::Refused(cause) => (18, cause.as_bytes().to_vec()),
        };
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        to.write_all(&[kind])?;
        to.write_all(&length.to_le_bytes())?;
        to.write_all(&payload)?;
        to.flush()
    }

    /// Receives a frame.
    ///
    /// # Errors
    /// If the bytes are no frame. Memory is allocated only for bytes that have arrived.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let (mut kind, mut length) = ([0], [0; 4]);
        from.read_exact(&mut kind)?;
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST {
            return Err(wrong(&format!(
                "expected a frame of at most {LONGEST} bytes, found {length}"
            )));
        }
        let mut payload = Vec::new();
        from.take(length as u64).read_to_end(&mut payload)?;
        if payload.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let found = Self::of(kind[0], &payload);
        found.ok_or_else(|| {
            wrong(&format!(
                "no frame is of kind {} and {length} bytes",
                kind[0]
            ))
        })
    }

    fn of(kind: u8, payload: &[u8]) -> Option<Self> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let alone =
            |frame: fn(u32) -> Self| Some(frame(u32::from_le_bytes(payload.try_into().ok()?)));
        Some(match kind {
            1 => {
                let (of, name) = payload.split_first_chunk()?;
                Self::File(u32::from_le_bytes(*of), text(name)?)
            }
            2 => alone(Self::Restart)?,
            3 => {
                let (of, bytes) = payload.split_first_chunk()?;
                Self::Append(u32::from_le_bytes(*of), bytes.to_vec())
            }
            4 => alone(Self::Current)?,
            5 => alone(Self::End)?,
            6 if payload.is_empty() => Self::Alive,
            16 => {
                let (length, check) = payload.split_first_chunk()?;
                let check = u32::from_le_bytes(check.try_into().ok()?);
                Self::Have(u64::from_le_bytes(*length), check)
            }
            17 => Self::Kept(u64::from_le_bytes(payload.try_into().ok()?)),
            18 => Self::Refused(text(payload)?.chars().take(1000).collect()),
            _ => return None,
        })
    }
}

fn wrong(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written_and_damaged_ones_refused() {
        let frames = [
            Frame::File(7, "a.events".to_owned()),
            Frame::Restart(7),
            Frame::Append(7, vec![1, 2, 3]),
            Frame::Current(7),
            Frame::End(7),
            Frame::Alive,
            Frame::Have(1 << 40, 9),
            Frame::Kept(u64::MAX),
            Frame::Refused("no".to_owned()),
        ];
        let mut bytes = Vec::new();
        frames
            .iter()
            .for_each(|frame| frame.write(&mut bytes).unwrap());
        let mut rest = bytes.as_slice();
        for frame in &frames {
            assert_eq!(Frame::read(&mut rest).unwrap(), *frame);
        }
        assert!(rest.is_empty());
        for at in 0..bytes.len() {
            // Reading any cut or changed frame ends with an error or another frame.
            let mut cut = &bytes[..at];
            while Frame::read(&mut cut).is_ok() {}
            let mut other = bytes.clone();
            other[at] ^= 0xFF;
            let mut other = other.as_slice();
            while Frame::read(&mut other).is_ok() {}
        }
        let huge = [3, 0xFF, 0xFF, 0xFF, 0xFF];
        let error = Frame::read(&mut huge.as_slice()).unwrap_err();
        assert!(error.to_string().contains("found 4294967295"), "{error}");
    }

    #[test]
    fn hello_of_another_version_or_of_something_else_is_refused() {
        let hello = Hello { proof: [5; PROOF] };
        let mut bytes = Vec::new();
        hello.write(&mut bytes).unwrap();
        assert_eq!(Hello::read(&mut bytes.as_slice()).unwrap(), hello);
        bytes[8] = 2;
        let error = Hello::read(&mut bytes.as_slice()).unwrap_err();
        assert!(error.to_string().contains("found 2"), "{error}");
        let http = b"HTTP/1.1 400 Bad Request\r\n";
        let error = Hello::read(&mut http.as_slice()).unwrap_err();
        assert!(
            error.to_string().contains("no `classhook collect`"),
            "{error}"
        );
    }
}
