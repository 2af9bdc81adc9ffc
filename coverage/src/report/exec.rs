//! JaCoCo's `.exec` files: sessions and executed probes.
//!
//! All numbers are big-endian. A file is a sequence of blocks, each with a kind byte: a header (magic `C0C0`, version
//! `1007`), sessions, and classes. The probes of a class are packed eight to a byte, the first in the lowest bit.
//! Files may be concatenated; the records of one class are united.

mod read;

use std::collections::HashMap;
use std::io::{self, Write};

use jvms::modified_utf8;

pub use read::{ReadError, read, read_since};

use super::{ExecutionData, Session};

const HEADER: u8 = 0x01;
const SESSION: u8 = 0x10;
const CLASS: u8 = 0x11;
const MAGIC: u16 = 0xC0C0;
const VERSION: u16 = 0x1007;

/// The content of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecFile {
    /// Sessions in the order of the file.
    pub sessions: Vec<Session>,
    /// Classes without duplicate ids, in the order of their first records.
    pub classes: Vec<ExecutionData>,
}

/// Two records with one class id that cannot belong to the same class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "class id {id:016x} belongs to {name} with {probes} probes and to {other_name} with \
     {other_probes}; do not mix runs of different programs"
)]
pub struct Incompatible {
    /// The id.
    pub id: u64,
    /// Name in the first record.
    pub name: String,
    /// Number of probes in the first record.
    pub probes: usize,
    /// Name in the second record.
    pub other_name: String,
    /// Number of probes in the second record.
    pub other_probes: usize,
}

/// Unites records by class id: a probe is executed if it is in any record.
#[derive(Debug, Clone, Default)]
pub struct Union {
    classes: Vec<ExecutionData>,
    places: HashMap<u64, usize>,
}

impl Union {
    /// Adds a record.
    ///
    /// # Errors
    /// The id was added with another name or number of probes; nothing changes.
    pub fn add(&mut self, data: ExecutionData) -> Result<(), Incompatible> {
        let place = *self.places.entry(data.id).or_insert(self.classes.len());
        let Some(known) = self.classes.get_mut(place) else {
            self.classes.push(data);
            return Ok(());
        };
        if known.name != data.name || known.probes.len() != data.probes.len() {
            return Err(Incompatible {
                id: data.id,
                name: known.name.clone(),
                probes: known.probes.len(),
                other_name: data.name,
                other_probes: data.probes.len(),
            });
        }
        known
            .probes
            .iter_mut()
            .zip(data.probes)
            .for_each(|(known, new)| *known |= new);
        Ok(())
    }

    /// Returns all classes in order of insertion.
    #[must_use]
    pub fn into_classes(self) -> Vec<ExecutionData> {
        self.classes
    }
}

/// Writes a whole file: header, sessions by dump time, and executed classes.
///
/// # Errors
/// `out` cannot be written, or a text is longer than the format allows (65,535 bytes).
pub fn write(
    out: &mut (impl Write + ?Sized),
    sessions: &[Session],
    classes: &[ExecutionData],
) -> io::Result<()> {
    let mut bytes = vec![HEADER];
    bytes.extend(MAGIC.to_be_bytes());
    bytes.extend(VERSION.to_be_bytes());
    bytes.extend(blocks(sessions, classes)?);
    out.write_all(&bytes)
}

/// Encodes the blocks after the header of a file.
///
/// # Errors
/// A text is longer than the format allows (65,535 bytes).
pub fn blocks(sessions: &[Session], classes: &[ExecutionData]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for session in Session::sorted(sessions) {
        bytes.push(SESSION);
        write_text(&session.id, &mut bytes)?;
        bytes.extend(session.start_ms.to_be_bytes());
        bytes.extend(session.dump_ms.to_be_bytes());
    }
    for class in classes.iter().filter(|class| class.probes.contains(&true)) {
        bytes.push(CLASS);
        bytes.extend(class.id.to_be_bytes());
        write_text(&class.name, &mut bytes)?;
        write_probes(&class.probes, &mut bytes);
    }
    Ok(bytes)
}

/// Writes a text as `DataOutput.writeUTF` does: length in bytes, then modified UTF-8.
fn write_text(text: &str, bytes: &mut Vec<u8>) -> io::Result<()> {
    let text = modified_utf8::encode(text);
    let length = u16::try_from(text.len()).map_err(|_| {
        let length = text.len();
        let text = format!("a text of {length} bytes where the format allows 65535");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })?;
    bytes.extend(length.to_be_bytes());
    bytes.extend(text);
    Ok(())
}

fn write_probes(probes: &[bool], bytes: &mut Vec<u8>) {
    let mut length = probes.len();
    while length > 0x7F {
        bytes.push((length & 0x7F) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    let pack = |eight: &[bool]| {
        eight
            .iter()
            .rev()
            .fold(0, |byte, &probe| byte << 1 | u8::from(probe))
    };
    bytes.extend(probes.chunks(8).map(pack));
}

#[cfg(test)]
mod tests;
